package judge_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// question is a statement with the sides that its expressions say.
type question struct {
	judge.Statement
	left, right side
	seen        map[string]int // reasons
}

func drawQuestion(r *rand.Rand) question {
	q := question{left: drawSide(r), right: drawSide(r)}
	q.Statement = judge.Statement{ID: "x", Says: "so", Kind: []string{judge.Less, judge.More, judge.Equal, judge.Linear}[r.IntN(4)], Left: q.left.expression(), Right: q.right.expression()}
	q.Early, q.Percent, q.Runs = r.IntN(4) == 0, r.IntN(4) == 0, []string{"", "", "regular", "degenerate"}[r.IntN(4)]
	q.Source = []judge.Source{judge.Ours, judge.FromFigure}[r.IntN(2)]
	keys := []string{"loss.kind", "data.noise", "net.width"}
	for _, key := range keys {
		if r.IntN(3) == 0 && (q.Kind != judge.Linear || key != "data.noise") {
			q.Cells = append(q.Cells, key)
		}
	}
	switch r.IntN(4) {
	case 0:
		q.Where = map[string]any{"data.noise": []any{0., .1, int64(1)}}
	case 1:
		q.Where = map[string]any{"loss.kind": "ce", "net.width": []int{8, 9}[r.IntN(4)/3]}
	}
	if len(q.Cells) > 0 && r.IntN(3) == 0 {
		q.Except = map[string]any{"net.width": 8.}
	}
	if q.Kind == judge.Linear {
		q.Cells, q.Except, q.Left, q.Right, q.X, q.Y, q.Band, q.Because = nil, nil, "", "", "data.noise", q.left.name, &[2]float64{-1, 1}, "a test"
	} else if r.IntN(2) == 0 {
		q.Unit = judge.LogRatio
	}
	if q.Kind == judge.Equal {
		q.Band, q.Because = &[2]float64{.25, 1.5}, "a test"
	}
	return q
}

// matches says of a setting's text what a selection allows.
func matches(m made, where map[string]any) bool {
	for k, v := range where {
		allowed, isList := v.([]any)
		if !isList {
			allowed = []any{v}
		}
		if !slices.ContainsFunc(allowed, func(one any) bool { return fmt.Sprint(one) == m.setting(k) }) {
			return false
		}
	}
	return true
}

// chosen are the runs that a question is about, those of them that may be judged, and the counts of those left out.
func (q question) chosen(all []made) (about, kept []made, early, other int) {
	for _, m := range all {
		if m.status != store.Done || !matches(m, q.Where) {
			continue
		}
		about = append(about, m)
		switch {
		case q.Runs != "" && m.degenerate != (q.Runs == "degenerate"):
			other++
		case m.early && !q.Early:
			early++
		default:
			kept = append(kept, m)
		}
	}
	return about, kept, early, other
}

// reasons are why a seed may have no answer.
var reasons = []string{"no finished run has", "only", "missing", "not measured at epoch 0", "not measured near", "three values", "has no test.dilation", "its value is"}

// answer is what each seed answers in a cell, and the first reason why one does not.
func (q question) answer(kept, about []made, seeds []uint64, at map[string]string) (left, right []float64, first string) {
	unit := map[bool]float64{false: 1, true: 100}[q.Percent]
	for _, seed := range seeds {
		of := pick(kept, func(m made) bool { return m.seed == int(seed) })
		var l, r float64
		var why string
		if q.Kind == judge.Linear {
			l, r, why = bend(of, at, q.Y)
		} else {
			var other string
			l, why = q.value(q.left, of, about, at)
			if r, other = q.value(q.right, of, about, at); why == "" {
				why = other
			}
		}
		for _, name := range reasons {
			if strings.Contains(why, name) {
				q.seen[name]++
			}
		}
		if why != "" && first == "" {
			first = fmt.Sprintf("seed %d: %s", seed, why)
		}
		left, right = append(left, unit*l), append(right, unit*r)
	}
	return left, right, first
}

func (q question) value(s side, kept, about []made, at map[string]string) (float64, string) {
	v, why := s.of(kept, about, at)
	if why == "" && q.Unit == judge.LogRatio && v <= 0 {
		why = fmt.Sprintf("its value is %g", v)
	}
	if why != "" {
		return math.NaN(), why
	}
	return v, ""
}

// inSize are the values of settings, small numbers first.
var inSize = map[string][]string{"loss.kind": {"ce", "ls"}, "data.noise": {"0", "0.05", "0.1", "0.2"}, "net.width": {"8", "64", "256"}}

// cells are the combinations of settings of the runs, small numbers first.
func (q question) cells(kept []made) []map[string]string {
	out := []map[string]string{{}}
	for _, key := range q.Cells {
		var longer []map[string]string
		for _, at := range out {
			for _, v := range inSize[key] {
				one := maps.Clone(at)
				one[key] = v
				longer = append(longer, one)
			}
		}
		out = longer
	}
	return slices.DeleteFunc(out, func(at map[string]string) bool {
		return !slices.ContainsFunc(kept, func(m made) bool {
			for k, v := range at {
				if m.setting(k) != v {
					return false
				}
			}
			return len(q.Except) == 0 || !matches(m, q.Except)
		})
	})
}

// TestQuestionsAreAnsweredSeedBySeed asks drawn questions of drawn studies and compares what each seed answers in each cell, which runs were
// left out and what stands in the way of a verdict with a plain reading of the runs.
func TestQuestionsAreAnsweredSeedBySeed(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 46))
	seen := map[string]int{}
	for range longtest.Of(200, 4000) {
		all := drawRuns(r)
		var runs []judge.Run
		for _, m := range all {
			runs = append(runs, m.run(t))
		}
		slices.SortFunc(all, byHash)
		q := drawQuestion(r)
		answers, err := judge.Questions{Claims: []judge.Statement{q.Statement}}.Judge(runs)
		if err != nil {
			t.Fatal(err)
		}
		q.seen = seen
		q.compare(t, answers.Claims[0], all, seen)
	}
	for _, name := range append(reasons, "answer", "none", "except", "no finished run has ", "no run of", "the terminal phase", "same run") {
		if seen[name] == 0 {
			t.Errorf("no world with %q, of %v", name, seen)
		}
	}
}

func (q question) compare(t *testing.T, claim judge.Claim, all []made, seen map[string]int) {
	t.Helper()
	about, kept, early, other := q.chosen(all)
	var notes []string
	if early > 0 {
		notes = append(notes, count(early, "run")+" left out, below 99.9 % train accuracy")
	}
	if other > 0 {
		notes = append(notes, count(other, "run")+" left out, not "+q.Runs+" (M-D Fig. 4)")
	}
	if !slices.Equal(claim.Statistics, notes) {
		t.Fatalf("%q, want %q", claim.Statistics, notes)
	}
	q.blocked(t, claim, all, about, kept, seen)
	if len(q.cells(kept)) == 0 || len(kept) == 0 {
		if claim.Effect != nil || claim.Verdict != judge.CannotTell {
			t.Fatalf("of no runs: %+v", claim)
		}
		return
	}
	e, seeds := claim.Effect, []uint64{}
	for _, m := range kept {
		seeds = append(seeds, uint64(m.seed))
	}
	slices.Sort(seeds)
	seeds = slices.Compact(seeds)
	cells := q.cells(kept)
	if !slices.Equal(e.Replicates, seeds) || len(e.Cells) != len(cells) || e.Percent != q.Percent || e.Mean != q.Mean {
		t.Fatalf("seeds %v, %d cells, want %v and %v", e.Replicates, len(e.Cells), seeds, cells)
	}
	if e.Blocked != "" && (claim.Lacking != 0 || claim.Verdict != judge.CannotTell) {
		t.Fatalf("%s, but lacking %d: %s", e.Blocked, claim.Lacking, claim.Verdict)
	}
	if unit := map[bool]float64{false: 1, true: 100}[q.Percent]; (e.Band == nil) != (q.Band == nil) || e.Band != nil && *e.Band != [2]float64{unit * q.Band[0], unit * q.Band[1]} {
		t.Fatalf("band %v, want %g times %v", e.Band, unit, q.Band)
	}
	first := ""
	for i, at := range cells {
		left, right, why := q.answer(kept, about, seeds, at)
		if first == "" {
			first = why
		}
		if e.Cells[i].Name != inOrder(at) {
			t.Fatalf("cell %q, want %q", e.Cells[i].Name, inOrder(at))
		}
		for j := range seeds {
			sameNumber(t, q, float64(e.Cells[i].Each.Left[j]), left[j])
			sameNumber(t, q, float64(e.Cells[i].Each.Right[j]), right[j])
		}
	}
	said, _, _ := strings.Cut(claim.Reason, "its value is") // whose last digit depends on the order of a sum
	first, _, _ = strings.Cut(first+")", "its value is")
	if strings.Contains(said, "can be judged") && !strings.HasSuffix(said, "a verdict needs 5 ("+first) && !strings.HasSuffix(said, "a verdict needs 5") {
		t.Fatalf("%s; first %q", claim.Reason, first)
	}
	seen["answer"]++
}

func sameNumber(t *testing.T, q question, got, want float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Fatalf("%+v: %g, want %g", q, got, want)
	}
}

// blocked compares what stands in the way of a verdict.
func (q question) blocked(t *testing.T, claim judge.Claim, runs, about, kept []made, seen map[string]int) {
	t.Helper()
	inside := pick(about, func(m made) bool { return q.Runs == "" || m.degenerate == (q.Runs == "degenerate") })
	all, judged, there := kinds(inside), kinds(kept), kinds(about)
	short := map[string]bool{}
	for k, n := range all {
		if 2*judged[k] < n {
			short[k] = true
		}
	}
	got := claim.Reason
	if claim.Effect != nil {
		got = claim.Effect.Blocked
	}
	want := ""
	switch {
	case len(all) < len(there):
		want = fmt.Sprintf("no run of %s is %s (M-D Fig. 4)", count(len(there)-len(all), "configuration"), q.Runs)
	case len(all) == 0 && len(runs) > 0:
		want = "no finished run has "
	case len(all) == 0:
		want = "no run is finished"
	case len(short) > 0:
		want = fmt.Sprintf("the terminal phase (train accuracy ≥ 99.9 %% on observed labels) was not reached in %d of %s", len(short), count(len(all), "configuration"))
		if q.Source == judge.Ours != strings.HasSuffix(got, "; in the claim, early = true judges unfitted runs, too, and where = { … } leaves configurations out") {
			t.Fatalf("no remedy, or one for a paper's claim: %q", got)
		}
		namesTell(t, got, short, all, there)
	default:
		want = sameSeeds(kept)
	}
	for _, name := range []string{"no finished run has ", "no run of", "the terminal phase", "same run"} {
		if strings.Contains(want, name) {
			seen[name]++
		}
	}
	if want == "" && claim.Effect == nil {
		want = "except leaves out every run that could make a cell"
		seen["except"]++
	}
	if want == "" {
		seen["none"]++
	}
	if !strings.HasPrefix(got, want) || want == "" && got != "" {
		t.Fatalf("%q, want %q", got, want)
	}
}

// sameSeeds are two seeds of a configuration with the same losses and NC1 at the end.
func sameSeeds(kept []made) string {
	seen := map[string]int{}
	for _, m := range kept {
		text, n := m.configuration(), 0
		for _, name := range []string{"train.loss", "train.nc1_pinv", "test.loss"} {
			if v := m.values[name][20]; !math.IsNaN(v) && v != 0 {
				text += fmt.Sprint(" ", name, v)
				n++
			}
		}
		if other, again := seen[text]; again && n >= 2 && other != m.seed {
			return fmt.Sprintf("seeds %d and %d gave the same run, to the last bit", other, m.seed)
		}
		seen[text] = m.seed
	}
	return ""
}

var inBrackets = regexp.MustCompile(` configurations? \((.*?)\)(;|$)`)

// namesTell reads the names of configurations: three at most, then a count; each fits one that is short and none other.
func namesTell(t *testing.T, text string, short map[string]bool, all, there map[string]int) {
	t.Helper()
	found := inBrackets.FindStringSubmatch(text)
	if len(there) == 1 {
		if found != nil {
			t.Fatalf("%q names what is alone", text)
		}
		return
	}
	if found == nil {
		t.Fatalf("%q names nothing of %v", text, there)
	}
	names := strings.Split(found[1], "; ")
	more := 0
	if last := names[len(names)-1]; strings.HasSuffix(last, " more") {
		more, _ = strconv.Atoi(strings.TrimSuffix(last, " more"))
		names = names[:len(names)-1]
	}
	if len(names) != min(len(short), 3) || len(names)+more != len(short) || !slices.IsSorted(names) {
		t.Fatalf("%q names %q of %v", text, names, short)
	}
	for _, name := range names {
		var fits []string
		for k := range there {
			if !slices.ContainsFunc(strings.Split(name, ", "), func(s string) bool { return !strings.Contains(k+",", s+",") }) {
				fits = append(fits, k)
			}
		}
		if len(fits) != 1 || !short[fits[0]] {
			t.Fatalf("%q is %q of %v, short are %v", name, fits, all, short)
		}
	}
}
