package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/judge/inference"
)

// found is an effect and the answer it gives.
type found struct {
	Effect
	answer inference.Answer
	only   inference.Estimate   // the pooled estimate, or the only one
	every  []inference.Estimate // one per cell if no mean over cells is judged; nil: only counts
	each   []inference.Estimate // one per cell
	region inference.Region
	first  error // the first reason why a seed has no value; nil: all have one, or it is not known
}

// conclude computes everything else from the kind of the claim and what each seed answers in each cell. It asks nothing of a lab, so
// that whoever has an effect can repeat it.
func (e Effect) conclude() *found {
	out := &found{Effect: e, region: e.region()}
	out.Cells, out.Pooled, out.Needed = slices.Clone(e.Cells), nil, 0
	var effects [][]float64
	for i, cell := range out.Cells {
		estimate, effect := e.estimate(cell.Each, len(out.Cells) == 1)
		out.each, effects = append(out.each, estimate), append(effects, effect)
		out.Cells[i] = e.cell(cell.Name, cell.Each, estimate)
	}
	var against []int
	out.only = out.each[0]
	over := inference.Over
	if e.Mean {
		over = inference.OnAverage
	}
	switch {
	case len(out.each) == 1:
		out.answer = inference.Single(out.only, out.region)
	case e.kind().apart:
		out.every = out.each
		out.answer, against = inference.Every(out.each, slices.Repeat([]inference.Region{out.region}, len(out.each)))
	default:
		out.only = inference.Pooled(effects)
		pooled := e.cell("all", nil, out.only)
		out.Pooled = &pooled
		out.answer, against = over(out.each, out.only, out.region)
	}
	for _, i := range against {
		out.Cells[i].Contradicts = true
	}
	if out.answer == inference.CannotTell {
		out.Needed = out.needed()
	}
	return out
}

// needed is about how many seeds would decide an open claim: as many as the estimate needs that needs most, of those that have to be decided.
// It is 0 if one of them needs more than can be told.
func (f *found) needed() (most int) {
	each := []inference.Estimate{f.only}
	switch {
	case f.every != nil:
		each = f.every
	case f.Pooled != nil && !f.Mean && f.region.Holds(f.only.Value, f.only.Value) == inference.Yes: // so each cell has to support it
		each = append(each, f.each...)
	}
	for _, e := range each {
		if inference.Single(e, f.region) != inference.CannotTell {
			continue
		}
		n := f.region.Needed(e)
		if n == 0 || e.N < inference.Enough {
			return 0
		}
		most = max(most, n)
	}
	return most
}

// claim gives a claim the effect, its verdict and the reason.
func (f *found) claim(c Claim) Claim {
	c.Effect, c.Verdict, c.Reason, c.Lacking = &f.Effect, CannotTell, f.Blocked, 0
	if f.Blocked == "" {
		c.Verdict, c.Reason, c.Lacking = inWords[f.answer], f.reason(), f.lacking()
	}
	return c
}

// alike reports whether each seed gives the same numbers in every cell.
func (e *Effect) alike() bool {
	return !slices.ContainsFunc(e.Cells, func(c Cell) bool {
		return c.Each == nil || !slices.Equal(c.Each.Left, e.Cells[0].Each.Left) || !slices.Equal(c.Each.Right, e.Cells[0].Each.Right)
	})
}

// FromSeeds judges a claim from the answers of its seeds alone. It is an error if the claim does not have them.
func (c Claim) FromSeeds() (Claim, error) {
	if c.Effect == nil {
		return c, ErrNoAnswers
	}
	if err := c.Effect.checkAnswers(); err != nil {
		return c, err
	}
	return c.Effect.conclude().claim(c), nil
}

// ErrNoAnswers says that a claim is not judged over seeds, or was before their answers were kept.
var ErrNoAnswers = errors.New("judge: the claim has no answers of seeds")

// checkAnswers reports what a file may lack that anybody can change.
func (e *Effect) checkAnswers() error {
	n := len(e.Replicates)
	if len(e.Cells) == 0 || n == 0 {
		return ErrNoAnswers
	}
	for _, c := range e.Cells {
		if c.Each == nil {
			return ErrNoAnswers
		}
		if len(c.Each.Left) != n || len(c.Each.Right) != n {
			return fmt.Errorf("judge: cell %q has %d and %d answers of %d seeds", c.Name, len(c.Each.Left), len(c.Each.Right), n)
		}
	}
	kind, known := kindOf(e.Kind)
	if !known || !slices.Contains(statementUnits, e.Unit) || kind.banded != (e.Band != nil) || e.Unit == quotient && len(e.Cells) > 1 {
		return fmt.Errorf("judge: an effect of kind %q in %q with band %v and %d cells is none that claims have", e.Kind, e.Unit, e.Band, len(e.Cells))
	}
	return nil
}

// region is where the claim says its effect lies.
func (e Effect) region() inference.Region {
	middle, scale := 0.0, func(x float64) float64 { return x }
	switch {
	case e.Unit == LogRatio:
		scale = math.Log
	case e.Ratio():
		middle = 1
	}
	var band [2]float64
	if e.Band != nil {
		band = [2]float64{scale(e.Band[0]), scale(e.Band[1])}
	}
	return e.kind().region(middle, band[0], band[1])
}

// estimate estimates a cell's effect, and returns the effect of each seed. Seeds with both sides are pairs; if too few have both
// (in M-D Fig. 4 a seed may be degenerate under one loss only), the two sides of a claim without cells are treated as independent
// samples.
func (e Effect) estimate(a *BySeed, alone bool) (inference.Estimate, []float64) {
	left, right := numbers(a.Left), numbers(a.Right)
	if e.Unit == LogRatio {
		left, right = logs(left), logs(right)
	}
	each := make([]float64, len(left))
	for i := range each {
		each[i] = left[i] - right[i]
	}
	paired, apart := inference.Paired, inference.Welch
	if e.Unit == quotient {
		paired, apart = inference.Quotient, inference.QuotientApart
	}
	out := paired(left, right)
	if alone && out.N < inference.Enough {
		if other := apart(left, right); other.N >= inference.Enough {
			out = other
		}
	}
	return out, each
}

// cell writes an estimate for people: logarithms as ratios.
func (e Effect) cell(name string, a *BySeed, of inference.Estimate) Cell {
	mean, scale := func(v []float64) float64 { return inference.Mean(v).Value }, func(v float64) float64 { return v }
	if e.Unit == LogRatio {
		mean, scale = geometricMean, math.Exp
	}
	out := Cell{Name: name, Left: Quantity(math.NaN()), Right: Quantity(math.NaN()), Value: Quantity(scale(of.Value)),
		Lo: Quantity(scale(of.Lo)), Hi: Quantity(scale(of.Hi)), Seeds: of.N, Each: a}
	if a != nil {
		out.Left, out.Right = Quantity(mean(numbers(a.Left))), Quantity(mean(numbers(a.Right)))
	}
	return out
}

func geometricMean(v []float64) float64 { return math.Exp(inference.Mean(logs(v)).Value) }

func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
	}
	return out
}

func numbers(q []Quantity) []float64 {
	out := make([]float64, len(q))
	for i, v := range q {
		out[i] = float64(v)
	}
	return out
}
