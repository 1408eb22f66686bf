package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
)

// sentence is the reason of a verdict from the facts.
func (s restated) sentence(needed int) string {
	quantity, unit, edge, yes, no := s.words()
	if s.pooled == nil && len(s.cells) > 1 {
		return s.sentenceOfEvery() + s.would(needed)
	}
	c, over := s.cells[0], ""
	if s.pooled != nil {
		c, over = *s.pooled, count(len(s.cells), "cell")+", "
	}
	over += count(c.n, "seed")
	if c.n < enough {
		return count(c.n, "seed") + " can be judged; a verdict needs 5"
	}
	begin := quantity + " is " + s.write(c.value) + unit + ", "
	if math.IsNaN(c.lo) {
		return begin + "without an interval, because the divisor may be zero (" + over + ")"
	}
	begin += "95 % interval " + s.write(c.lo) + unit + " to " + s.write(c.hi) + unit + " (" + over + "): "
	open, opens := s.names(func(_ int, c restatedCell) bool { return !c.inside })
	switch {
	case s.verdict == judge.Holds:
		return begin + "entirely " + yes + " " + edge
	case s.verdict == judge.Partly:
		var names []string
		for _, i := range s.against {
			names = append(names, s.cells[i].name)
		}
		return begin + fmt.Sprintf("entirely %s %s, but not in %s: %s", yes, edge, count(len(names), "cell"), strings.Join(names, "; "))
	case s.verdict == judge.Fails && c.inside:
		return begin + "the mean is " + yes + " " + edge + ", but every cell is " + no
	case s.verdict == judge.Fails:
		return begin + "entirely " + no + " " + edge
	case c.inside:
		return begin + fmt.Sprintf("entirely %s %s over all cells, but not on its own in %s: %s", yes, edge, count(opens, "cell"), open) + s.would(needed)
	}
	where := "it reaches both sides of "
	if s.effect.Band != nil {
		where = "it crosses an end of "
	}
	return begin + where + edge + s.would(needed)
}

func (s restated) would(needed int) string {
	switch {
	case needed == 0:
		return ""
	case len(s.cells) == 1, s.effect.Mean:
		return fmt.Sprintf("; about %d seeds of this spread would decide it", needed)
	}
	return fmt.Sprintf("; about %d seeds of this spread would decide all that is open", needed)
}

// sentenceOfEvery is that of a claim of difference about many cells.
func (s restated) sentenceOfEvery() string {
	quantity, _, edge, yes, no := s.words()
	text := fmt.Sprintf("%s is entirely %s %s in %d of %s", quantity, yes, edge, s.inside(), count(len(s.cells), "cell"))
	if names, n := s.names(func(i int, _ restatedCell) bool { return slices.Contains(s.against, i) }); n > 0 && s.verdict != judge.Holds {
		return text + ", and entirely " + no + " in: " + names
	}
	s.cells = slices.Clone(s.cells)
	for i, c := range s.cells {
		if c.n < enough {
			s.cells[i].name += " has " + count(c.n, "seed")
		}
	}
	if names, n := s.names(func(_ int, c restatedCell) bool { return !c.inside }); n > 0 {
		return text + ", and open in: " + names
	}
	return text
}

// TestVerdictsAreRestated compares the verdicts on drawn effects, the sentences that explain them and the tables behind them with the same,
// said a second time. Every verdict of every kind of claim occurs.
func TestVerdictsAreRestated(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 46))
	seen := map[string]int{}
	for range longtest.Of(3000, 30000) {
		e := drawEffect(r)
		want := restate(e)
		got, err := judge.Claim{ID: "x", Effect: &e}.FromSeeds()
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		scale := same
		if e.Unit == judge.LogRatio {
			scale = math.Log
		}
		needed := want.needed(scale)
		if near(got.Effect.Needed, needed) {
			needed = got.Effect.Needed
		}
		if got.Verdict != want.verdict || got.Reason != want.sentence(needed) || got.Lacking != want.lacking() || got.Effect.Needed != needed {
			t.Fatalf("%+v\n%s, lacking %d, needed %d: %s\nrestated: %s, lacking %d, needed %d: %s", e, got.Verdict, got.Lacking, got.Effect.Needed, got.Reason, want.verdict, want.lacking(), needed, want.sentence(needed))
		}
		sameCells(t, got.Effect, want)
		sameEvidence(t, got, want)
		how := "over"
		switch {
		case len(e.Cells) == 1:
			how = "alone"
		case e.Kind == judge.Differ:
			how = "every"
		case e.Mean:
			how = "mean"
		}
		seen[how+": "+string(got.Verdict)]++
		seen[e.Kind+" "+e.Unit]++
		seen[fmt.Sprint("needed ", needed > 0)]++
		seen[fmt.Sprint("lacking ", got.Lacking > 0)]++
	}
	for _, name := range strings.Split("alone: holds,alone: does not hold,alone: cannot tell,every: holds,every: partly,every: does not hold,every: cannot tell,over: holds,over: partly,over: does not hold,over: cannot tell,"+
		"mean: holds,mean: partly,mean: does not hold,mean: cannot tell,less difference,more log-ratio,equal quotient,linear quotient,differ log-ratio,needed true,lacking true", ",") {
		if seen[name] < 5 {
			t.Errorf("%d effects drawn of %q: %v", seen[name], name, seen)
		}
	}
}

// TestTheClosestCell of a claim that holds in all is the one whose interval reaches farthest towards the other side.
func TestTheClosestCell(t *testing.T) {
	cell := func(name string, by float64) judge.Cell {
		each := &judge.BySeed{}
		for i := range 6 {
			each.Left, each.Right = append(each.Left, judge.Quantity(10+by+.1*float64(i%3))), append(each.Right, 10)
		}
		return judge.Cell{Name: name, Each: each}
	}
	seeds := []uint64{1, 2, 3, 4, 5, 6}
	for _, of := range []struct {
		kind string
		band *[2]float64
		by   [3]float64
		want string
	}{{judge.More, nil, [3]float64{3, 1, 2}, "closest in b: 1.10 (1.01 to 1.19)"}, {judge.Less, nil, [3]float64{-1, -3, -2}, "closest in a: −0.900 (−0.994 to −0.806)"},
		{judge.Equal, &[2]float64{-4, 2}, [3]float64{-3, 0, 1}, "closest in c: 1.10 (1.01 to 1.19)"}, {judge.More, nil, [3]float64{3, -1, 2}, ""}, {judge.Differ, &[2]float64{-1, 1}, [3]float64{3, 4, 5}, ""}} {
		e := judge.Effect{Kind: of.kind, Unit: "difference", Band: of.band, Replicates: seeds, Cells: []judge.Cell{cell("a", of.by[0]), cell("b", of.by[1]), cell("c", of.by[2])}}
		got, err := judge.Claim{Effect: &e}.FromSeeds()
		if err != nil || got.Closest() != of.want || of.want != "" && got.Verdict != judge.Holds {
			t.Errorf("%s %v: %s, %q; wanted %q (%v)", of.kind, of.by, got.Verdict, got.Closest(), of.want, err)
		}
	}
}

// TestSeedsThatAllGiveTheEdge: the interval is a point, which lies on neither side.
func TestSeedsThatAllGiveTheEdge(t *testing.T) {
	six := []judge.Quantity{1, 2, 3, 4, 5, 6}
	got, err := judge.Claim{Effect: &judge.Effect{Kind: judge.Less, Unit: "difference", Replicates: []uint64{1, 2, 3, 4, 5, 6}, Cells: []judge.Cell{{Each: &judge.BySeed{Left: six, Right: six}}}}}.FromSeeds()
	if err != nil || got.Verdict != judge.CannotTell || !strings.HasSuffix(got.Reason, "0 to 0 (6 seeds): exactly zero") {
		t.Errorf("%s: %s, %v", got.Verdict, got.Reason, err)
	}
}

// near allows for a count that rounds up from just above or below a whole number.
func near(a, b int) bool { return a != 0 && b != 0 && max(a-b, b-a) <= 1 }

func sameCells(t *testing.T, e *judge.Effect, want restated) {
	t.Helper()
	cells, restatedCells := slices.Clone(e.Cells), slices.Clone(want.cells)
	if (e.Pooled == nil) != (want.pooled == nil) {
		t.Fatalf("pooled %+v, restated %+v", e.Pooled, want.pooled)
	}
	if e.Pooled != nil {
		cells, restatedCells = append(cells, *e.Pooled), append(restatedCells, *want.pooled)
	}
	for i, got := range cells {
		w := restatedCells[i]
		against := i < len(want.cells) && slices.Contains(want.against, i) && !(want.effect.Kind == judge.Differ && want.verdict == judge.Holds)
		if got.Name != w.name || got.Seeds != w.n || got.Contradicts != against {
			t.Fatalf("cell %+v, restated %+v, contradicts %v", got, w, against)
		}
		for _, pair := range [][2]float64{{float64(got.Left), w.left}, {float64(got.Right), w.right}, {float64(got.Value), w.value}, {float64(got.Lo), w.lo}, {float64(got.Hi), w.hi}} {
			if close := math.Abs(pair[0]-pair[1]) <= 1e-9*(1+math.Abs(pair[1])); !close && !(math.IsNaN(pair[0]) && math.IsNaN(pair[1])) {
				t.Fatalf("cell %+v, restated %+v", got, w)
			}
		}
	}
}

// sameEvidence reads the table behind a verdict.
func sameEvidence(t *testing.T, c judge.Claim, want restated) {
	t.Helper()
	table := c.Evidence([2]string{"one", "other"})
	value := "ratio"
	switch {
	case want.effect.Kind == judge.Linear:
		value = "bend ÷ rise"
	case want.effect.Unit == "difference":
		value = "difference"
	}
	if !slices.Equal(table.Columns, []string{"", "one", "other", value, "95 % interval", "seeds"}) {
		t.Fatalf("columns %q", table.Columns)
	}
	cells := slices.Clone(want.cells)
	if want.pooled != nil {
		cells = append(cells, *want.pooled)
	}
	for i, w := range cells {
		name, interval := w.name, format.Digits(w.lo)+" to "+format.Digits(w.hi)
		if i < len(want.cells) && c.Effect.Cells[i].Contradicts {
			name += " (contradicts)"
		}
		if math.IsNaN(w.lo) {
			interval = "–"
		}
		row := []string{name, format.Digits(w.left), format.Digits(w.right), format.Digits(w.value), interval, fmt.Sprint(w.n)}
		if len(table.Rows) != len(cells) || !slices.Equal(table.Rows[i], row) {
			t.Fatalf("%q, restated %q", table.Rows, row)
		}
	}
	judged := "left = a; right = b: so."
	if want.effect.Kind == judge.Linear {
		judged = "x = a, y = b: so."
	}
	if c.Effect.Judged() != judged {
		t.Fatalf("%q, want %q", c.Effect.Judged(), judged)
	}
}

// TestAnswersOfFilesAreChecked: what a file says of a claim is judged again only if it is what claims have.
func TestAnswersOfFilesAreChecked(t *testing.T) {
	three := []judge.Quantity{1, 2, 3}
	good := func() judge.Effect {
		return judge.Effect{Kind: judge.Equal, Unit: "difference", Band: &[2]float64{-1, 1}, Replicates: []uint64{1, 2, 3},
			Cells: []judge.Cell{{Name: "a", Each: &judge.BySeed{Left: three, Right: three}}, {Name: "b", Each: &judge.BySeed{Left: three, Right: three}}}}
	}
	for name, of := range map[string]struct {
		change func(*judge.Effect)
		want   string // "" if it is judged
	}{
		"good":                {func(*judge.Effect) {}, ""},
		"no cells":            {func(e *judge.Effect) { e.Cells = nil }, "no answers of seeds"},
		"no seeds":            {func(e *judge.Effect) { e.Replicates = nil }, "no answers of seeds"},
		"a cell without":      {func(e *judge.Effect) { e.Cells[1].Each = nil }, "no answers of seeds"},
		"short left":          {func(e *judge.Effect) { e.Cells[1].Each = &judge.BySeed{Left: three[:2], Right: three} }, `cell "b" has 2 and 3 answers of 3 seeds`},
		"long right":          {func(e *judge.Effect) { e.Cells[1].Each = &judge.BySeed{Left: three, Right: append(three, 4)} }, `cell "b" has 3 and 4 answers of 3 seeds`},
		"an unknown kind":     {func(e *judge.Effect) { e.Kind = "odd" }, "none that claims have"},
		"an unknown unit":     {func(e *judge.Effect) { e.Unit = "odd" }, "none that claims have"},
		"no band":             {func(e *judge.Effect) { e.Band = nil }, "none that claims have"},
		"less with a band":    {func(e *judge.Effect) { e.Kind = judge.Less }, "none that claims have"},
		"more with a band":    {func(e *judge.Effect) { e.Kind = judge.More }, "none that claims have"},
		"less without one":    {func(e *judge.Effect) { e.Kind, e.Band = judge.Less, nil }, ""},
		"quotient, two cells": {func(e *judge.Effect) { e.Unit = "quotient" }, "none that claims have"},
		"quotient, one cell":  {func(e *judge.Effect) { e.Unit, e.Cells = "quotient", e.Cells[:1] }, ""},
	} {
		e := good()
		of.change(&e)
		got, err := judge.Claim{Effect: &e, Verdict: "as it was"}.FromSeeds()
		if of.want == "" && (err != nil || got.Verdict != judge.CannotTell) || of.want != "" && (err == nil || !strings.Contains(err.Error(), of.want) || got.Verdict != "as it was") {
			t.Errorf("%s: %s, %v; wanted %q", name, got.Verdict, err, of.want)
		}
	}
	if _, err := (judge.Claim{}).FromSeeds(); err != judge.ErrNoAnswers {
		t.Errorf("without an effect: %v", err)
	}
	if rows := (judge.Claim{}).Evidence([2]string{}); len(rows.Rows)+len(rows.Columns) > 0 {
		t.Errorf("without an effect: %v", rows)
	}
}
