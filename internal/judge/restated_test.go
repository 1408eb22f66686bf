package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/inference"
)

// restated is an effect's answers and what they mean, computed from the rules in words (judge.Rules) and on the scale that people see.
type restated struct {
	effect  judge.Effect
	cells   []restatedCell
	pooled  *restatedCell
	against []int
	verdict judge.Verdict
}

// restatedCell is an estimate with its interval, shown, and the probabilities of it if the truth were an end of the claim: too low, too high.
type restatedCell struct {
	name                       string
	left, right, value, lo, hi float64
	n                          int
	inside, outside            bool
	contradictory              float64
}

const enough = 5

// drawEffect draws an effect: cells about a few places, some of them with seeds that give no answer, some without spread.
func drawEffect(r *rand.Rand) judge.Effect {
	units := []string{"difference", "log-ratio", "quotient"}
	e := judge.Effect{Kind: []string{judge.Less, judge.More, judge.Equal, judge.Differ, judge.Linear}[r.IntN(5)], Unit: units[r.IntN(3)], Percent: r.IntN(4) == 0, Sides: [2]string{"a", "b"}, How: "so"}
	if e.Kind == judge.Linear {
		e.Unit = "quotient"
	}
	cells := 1 + r.IntN(6)
	if e.Unit == "quotient" {
		cells = 1
	}
	e.Mean = cells > 1 && e.Kind != judge.Differ && r.IntN(3) == 0
	if e.Kind != judge.Less && e.Kind != judge.More {
		e.Band = &[2]float64{-1, 2}
		if e.Ratio() {
			e.Band = &[2]float64{.8, 1.5}
		}
	}
	for seed := range 3 + r.IntN(6) {
		e.Replicates = append(e.Replicates, uint64(seed+1))
	}
	usual := []float64{-6, 0, 6}[r.IntN(3)]
	for c := range cells {
		at, spread := usual, []float64{.01, .5, 3}[r.IntN(3)]
		if r.IntN(4) == 0 {
			at = []float64{-6, -1.1, 0, .1, 2.1, 6}[r.IntN(6)]
		}
		e.Cells = append(e.Cells, judge.Cell{Name: fmt.Sprint("cell ", c+1), Each: drawAnswers(r, e, at, spread)})
	}
	return e
}

func drawAnswers(r *rand.Rand, e judge.Effect, at, spread float64) *judge.BySeed {
	each := new(judge.BySeed)
	missing := []float64{0, 0, 0, .3, 1}[r.IntN(5)]
	for range e.Replicates {
		right := 10 + r.NormFloat64()
		left := right + at + spread*r.NormFloat64()
		if e.Kind == judge.Linear { // a bend and a rise
			left = right * (at/2 + spread*r.NormFloat64()/10)
		} else if e.Ratio() {
			left = right * math.Exp(at/6+spread/6*r.NormFloat64())
		}
		if r.Float64() < missing {
			left = math.NaN()
		}
		if r.Float64() < missing/2 {
			right = math.NaN()
		}
		each.Left, each.Right = append(each.Left, judge.Quantity(left)), append(each.Right, judge.Quantity(right))
	}
	return each
}

func known(q []judge.Quantity, of func(float64) float64) (out []float64) {
	for _, v := range q {
		if x := float64(v); !math.IsNaN(x) {
			out = append(out, of(x))
		}
	}
	return out
}

func same(x float64) float64 { return x }

// restate computes everything again.
func restate(e judge.Effect) restated {
	out := restated{effect: e}
	scale, back := same, same
	if e.Unit == judge.LogRatio {
		scale, back = math.Log, math.Exp
	}
	var effects [][]float64
	for _, c := range e.Cells {
		var each []float64
		for i := range c.Each.Left {
			each = append(each, scale(float64(c.Each.Left[i]))-scale(float64(c.Each.Right[i])))
		}
		effects = append(effects, each)
		est := inference.Mean(each)
		if e.Unit == "quotient" {
			est = inference.Quotient(floats(c.Each.Left), floats(c.Each.Right))
		}
		if len(e.Cells) == 1 && est.N < enough {
			est = independent(e, c, est)
		}
		cell := restatedCell{name: c.Name, left: back(average(known(c.Each.Left, scale))), right: back(average(known(c.Each.Right, scale)))}
		out.cells = append(out.cells, cell.of(e, est, scale, back))
	}
	if len(e.Cells) > 1 && e.Kind != judge.Differ {
		all := restatedCell{name: "all", left: math.NaN(), right: math.NaN()}.of(e, inference.Pooled(effects), scale, back)
		out.pooled = &all
	}
	if len(e.Cells) > 1 {
		out.against = out.contradicting()
	}
	out.verdict = out.judge()
	return out
}

// independent is the estimate of two samples where too few seeds have both sides.
func independent(e judge.Effect, c judge.Cell, paired inference.Estimate) inference.Estimate {
	left, right := floats(c.Each.Left), floats(c.Each.Right)
	if min(len(known(c.Each.Left, same)), len(known(c.Each.Right, same))) < enough {
		return paired
	}
	switch e.Unit {
	case "quotient":
		return inference.QuotientApart(left, right)
	case judge.LogRatio:
		for i := range left {
			left[i], right[i] = math.Log(left[i]), math.Log(right[i])
		}
	}
	return inference.Welch(left, right)
}

func floats(q []judge.Quantity) []float64 {
	out := make([]float64, len(q))
	for i, v := range q {
		out[i] = float64(v)
	}
	return out
}

func average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// of places the estimate beside what is claimed.
func (c restatedCell) of(e judge.Effect, est inference.Estimate, scale, back func(float64) float64) restatedCell {
	c.value, c.lo, c.hi, c.n = back(est.Value), back(est.Lo), back(est.Hi), est.N
	none := 0.0
	if e.Ratio() {
		none = 1
	}
	low, high := math.Inf(-1), math.Inf(1)
	switch {
	case e.Kind == judge.Less:
		high = none
	case e.Kind == judge.More:
		low = none
	default:
		low, high = e.Band[0], e.Band[1]
	}
	if c.n < enough || math.IsNaN(c.lo) {
		c.contradictory = 1
		return c
	}
	within, apart := low < c.lo && c.hi < high, c.hi < low || c.lo > high
	beyond := func(end, side float64) float64 { // if the truth were this end of the claim
		t := distuv.StudentsT{Nu: est.DF, Sigma: 1}
		if math.IsInf(end, 0) {
			return 1
		}
		return t.Survival(side * (est.Value - scale(end)) / est.Error)
	}
	c.contradictory = math.Min(beyond(high, 1), beyond(low, -1))
	if e.Kind == judge.Differ {
		within, apart = apart, within
		c.contradictory = math.Max(beyond(low, 1), beyond(high, -1))
	}
	c.inside, c.outside = within, apart
	return c
}

// contradicting are the cells that Holm's step-down procedure rejects: the smallest probability against 2.5 % divided by their number, and so on.
func (s restated) contradicting() (against []int) {
	for left := len(s.cells); left > 0; left-- {
		best := -1
		for i, c := range s.cells {
			if !slices.Contains(against, i) && (best < 0 || c.contradictory < s.cells[best].contradictory) {
				best = i
			}
		}
		if s.cells[best].contradictory > .025/float64(left) {
			break
		}
		against = append(against, best)
	}
	slices.Sort(against)
	return against
}

func (s restated) inside() (n int) {
	for _, c := range s.cells {
		if c.inside {
			n++
		}
	}
	return n
}

func (s restated) judge() judge.Verdict {
	all := s.inside() == len(s.cells)
	switch {
	case s.pooled == nil && (all || len(s.cells) == 1 && s.cells[0].inside):
		return judge.Holds
	case s.pooled == nil && len(s.cells) == 1:
		return map[bool]judge.Verdict{true: judge.Fails, false: judge.CannotTell}[s.cells[0].outside]
	case s.pooled == nil && len(s.against) == 0:
		return judge.CannotTell
	case s.pooled == nil:
		return map[bool]judge.Verdict{true: judge.Fails, false: judge.Partly}[s.inside() == 0]
	case s.pooled.outside, s.pooled.inside && len(s.against) == len(s.cells):
		return judge.Fails
	case !s.pooled.inside:
		return judge.CannotTell
	case len(s.against) > 0:
		return judge.Partly
	case all || s.effect.Mean:
		return judge.Holds
	}
	return judge.CannotTell
}

// lacking is how many seeds more would be judged.
func (s restated) lacking() int {
	n := math.MaxInt
	for _, c := range s.cells {
		n = min(n, c.n)
	}
	if s.pooled != nil {
		n = s.pooled.n
	}
	if s.verdict != judge.CannotTell || n == 0 || n >= enough {
		return 0
	}
	return enough - n
}

// needed tries more and more seeds of the same spread until the interval would be as narrow as the value is far from the nearest end.
func (s restated) needed(scale func(float64) float64) int {
	if s.verdict != judge.CannotTell {
		return 0
	}
	asked := slices.Clone(s.cells)
	if s.pooled != nil {
		if !s.effect.Mean && s.within(s.pooled.value) {
			asked = append(asked, *s.pooled)
		} else {
			asked = []restatedCell{*s.pooled}
		}
	}
	most := 0
	for _, c := range asked {
		if c.inside || c.outside {
			continue
		}
		n := s.neededOf(c, scale)
		if n == 0 {
			return 0
		}
		most = max(most, n)
	}
	return most
}

// within reports whether the claim would hold of a value that is exact.
func (s restated) within(v float64) bool {
	none := 0.0
	if s.effect.Ratio() {
		none = 1
	}
	switch s.effect.Kind {
	case judge.Less:
		return v < none
	case judge.More:
		return v > none
	}
	return s.effect.Band[0] < v && v < s.effect.Band[1] // a claim of difference has no mean
}

func (s restated) neededOf(c restatedCell, scale func(float64) float64) int {
	if c.n < enough || math.IsNaN(c.lo) {
		return 0
	}
	ends := []float64{0}
	if s.effect.Ratio() {
		ends[0] = 1
	}
	if s.effect.Band != nil {
		ends = s.effect.Band[:]
	}
	near, half := math.Inf(1), math.Max(scale(c.hi)-scale(c.value), scale(c.value)-scale(c.lo))
	for _, end := range ends {
		near = math.Min(near, math.Abs(scale(c.value)-scale(end)))
	}
	for n := enough; n <= 10000; n++ {
		if half*math.Sqrt(float64(c.n)/float64(n)) <= near*(1+1e-12) {
			return n
		}
	}
	return 0
}

// names joins the names of cells that something is so of; of more than four, three and a count.
func (s restated) names(of func(i int, c restatedCell) bool) (text string, n int) {
	var names []string
	for i, c := range s.cells {
		if of(i, c) {
			names = append(names, c.name)
		}
	}
	n = len(names)
	if n > 4 {
		names = append(names[:3], "and "+strconv.Itoa(n-3)+" more")
	}
	return strings.Join(names, "; "), n
}

// count writes a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// words are what the claim compares: the quantity, its unit in text, the edge, and where the claim and its opposite lie.
// write writes a number with three digits, or so many that neither end of the interval reads like an end of the claim that it is not.
func (s restated) write(v float64) string {
	if s.pooled == nil && len(s.cells) > 1 {
		return format.Digits(v)
	}
	c, n := s.cells[0], 3
	if s.pooled != nil {
		c = *s.pooled
	}
	ends := []float64{0}
	if s.effect.Ratio() {
		ends[0] = 1
	}
	if s.effect.Band != nil {
		ends = s.effect.Band[:]
	}
	for _, end := range ends {
		for _, x := range []float64{c.lo, c.hi} {
			for x != end && n < 8 && format.Significant(x, n) == format.Significant(end, n) {
				n++
			}
		}
	}
	return format.Significant(v, n)
}

func (s restated) words() (quantity, unit, edge, yes, no string) {
	e := s.effect
	quantity, edge = "the ratio", "1"
	if e.Unit == "difference" {
		quantity, edge = "the difference", "zero"
		if e.Percent {
			unit = " points"
		}
	}
	if e.Kind == judge.Linear {
		quantity = "the bend as a fraction of the rise"
	}
	if e.Band != nil {
		edge = "the band " + s.write(e.Band[0]) + unit + " to " + s.write(e.Band[1]) + unit
	}
	yes, no = "inside", "outside"
	switch e.Kind {
	case judge.Less:
		yes, no = "below", "above"
	case judge.More:
		yes, no = "above", "below"
	case judge.Differ:
		yes, no = no, yes
	}
	return quantity, unit, edge, yes, no
}
