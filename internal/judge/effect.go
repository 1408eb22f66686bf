package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"collapse.example/collapse/internal/judge/inference"
)

// found is an effect and the answer it gives.
type found struct {
	Effect
	Percent bool // shares
	answer  inference.Answer
	only    inference.Estimate   // the pooled estimate, or the only one
	every   []inference.Estimate // one per cell if no mean over cells is judged; nil: only counts
	each    []inference.Estimate // one per cell
	region  inference.Region
	first   error // the first reason why a seed has no value; nil: all have one
}

// sides are the values of left and right in each seed of a cell; NaN if a seed gives none.
type sides struct{ left, right []float64 }

// effect evaluates every seed in every cell, then the statistics over them.
func (c *compiled) effect(e eligible) *found {
	out := &found{Effect: Effect{Kind: c.Kind, Unit: c.unit(), Sides: [2]string{c.Left, c.Right}, Band: c.Band, How: c.how(len(c.Cells) > 0)}, Percent: c.Percent, region: c.region()}
	if c.Band != nil && c.Percent {
		out.Band = &[2]float64{100 * c.Band[0], 100 * c.Band[1]}
	}
	if c.Kind == Linear {
		out.Sides = [2]string{c.X, c.Y}
	}
	seeds := Seeds(e.kept)
	bySeed := bySeed(e.kept)
	var estimates []inference.Estimate
	var effects [][]float64
	cells := cellsOf(c.Cells, c.inCells(e.kept))
	for _, at := range cells {
		both, err := c.ask(seeds, bySeed, sample{at: at, all: ofEverySeed(e.all)})
		if out.first == nil {
			out.first = err
		}
		estimate, effect := c.estimate(both, len(cells) == 1)
		estimates, effects = append(estimates, estimate), append(effects, effect)
		out.Cells = append(out.Cells, c.cell(settingsText([]selection{at}), both, estimate))
	}
	var against []int
	out.only, out.each = estimates[0], estimates
	over := inference.Over
	if c.Mean {
		over = inference.OnAverage
	}
	switch {
	case len(estimates) == 1:
		out.answer = inference.Single(out.only, out.region)
	case c.Kind == Differ: // differences of both signs would cancel in a mean
		out.every = estimates
		out.answer, against = inference.Every(estimates, slices.Repeat([]inference.Region{out.region}, len(estimates)))
	default:
		out.only = inference.Pooled(effects)
		pooled := c.cell("all", sides{}, out.only)
		out.Pooled = &pooled
		out.answer, against = over(estimates, out.only, out.region)
	}
	for _, i := range against {
		out.Cells[i].Contradicts = true
	}
	if out.answer == inference.CannotTell && out.every == nil && out.only.N >= inference.Enough && inference.Single(out.only, out.region) == inference.CannotTell {
		out.Needed = out.region.Needed(out.only)
	}
	return out
}

// ask evaluates both sides in each seed.
func (c *compiled) ask(seeds []uint64, runs map[uint64][]*JudgedRun, of sample) (out sides, first error) {
	for _, seed := range seeds {
		of.runs = runs[seed]
		left, right, err := c.both(of)
		if err != nil && first == nil {
			first = fmt.Errorf("seed %d: %w", seed, err)
		}
		out.left, out.right = append(out.left, left), append(out.right, right)
	}
	return out, first
}

// both are the two sides in the runs of one seed, NaN if it gives none; for a line, its bend and its rise.
func (c *compiled) both(of sample) (left, right float64, err error) {
	if c.Kind == Linear {
		x, y, err := of.points(c.X, c.Y, nil)
		if err != nil {
			return math.NaN(), math.NaN(), err
		}
		bend, rise := inference.Bend(x, y)
		if math.IsNaN(bend) {
			err = fmt.Errorf("a line needs runs at three values of %s or more", c.X)
		}
		return bend, rise, err
	}
	left, errLeft := evaluate(c.left, of, c.unit())
	right, errRight := evaluate(c.right, of, c.unit())
	return left, right, cmp.Or(errLeft, errRight)
}

// estimate estimates a cell's effect, and returns the effect of each seed. Seeds with both sides are pairs; if too few have both
// (in M-D Fig. 4 a seed may be degenerate under one loss only), the two sides of a claim without cells are treated as independent
// samples.
func (c *compiled) estimate(s sides, alone bool) (inference.Estimate, []float64) {
	left, right := s.left, s.right
	if c.unit() == logRatio {
		left, right = logs(left), logs(right)
	}
	each := make([]float64, len(left))
	for i := range each {
		each[i] = left[i] - right[i]
	}
	paired, apart := inference.Paired, inference.Welch
	if c.unit() == quotient {
		paired, apart = inference.Quotient, inference.QuotientApart
	}
	e := paired(left, right)
	if alone && e.N < inference.Enough {
		if other := apart(left, right); other.N >= inference.Enough {
			e = other
		}
	}
	return e, each
}

func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
	}
	return out
}

// cell writes an estimate for people: logarithms as ratios, shares as percentages.
func (c *compiled) cell(name string, s sides, e inference.Estimate) Cell {
	unit := 1.0
	if c.Percent {
		unit = 100
	}
	mean := func(v []float64) float64 { return unit * inference.Mean(v).Value }
	scale := func(v float64) float64 { return unit * v }
	switch c.unit() {
	case logRatio:
		mean, scale = geometricMean, math.Exp
	case quotient:
		scale = func(v float64) float64 { return v }
	}
	return Cell{Name: name, Left: Quantity(mean(s.left)), Right: Quantity(mean(s.right)), Value: Quantity(scale(e.Value)),
		Lo: Quantity(scale(e.Lo)), Hi: Quantity(scale(e.Hi)), Seeds: e.N}
}

func geometricMean(v []float64) float64 { return math.Exp(inference.Mean(logs(v)).Value) }

// inCells are the runs whose settings make cells.
func (s Statement) inCells(kept []*JudgedRun) []*JudgedRun {
	if len(s.Except) == 0 {
		return kept
	}
	return slices.DeleteFunc(slices.Clone(kept), func(r *JudgedRun) bool { return r.Matches(s.Except) })
}

// cellsOf are the combinations of settings among the runs, in order.
func cellsOf(keys []string, runs []*JudgedRun) (out []selection) {
	seen := map[string]selection{}
	for _, r := range runs {
		at, name := selection{}, ""
		for _, key := range keys {
			at[key] = r.Settings[key]
			name += sortable(r.Settings[key]) + "\x00"
		}
		seen[name] = at
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, seen[name])
	}
	return out
}

// sortable writes a value so that texts sort like numbers.
func sortable(value string) string {
	whole, _, _ := strings.Cut(value, ".")
	if strings.Trim(whole, "0123456789") == "" && len(whole) < 20 {
		return strings.Repeat("0", 20-len(whole)) + value
	}
	return value
}

// evaluate runs an expression on the runs of one seed.
func evaluate(p *vm.Program, of sample, unit string) (float64, error) {
	out, err := expr.Run(p, of.functions())
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) { // its text without the position in the expression
			err = errors.New(at.Message)
		}
		return math.NaN(), err
	}
	v := out.(float64)
	if math.IsNaN(v) || math.IsInf(v, 0) || unit == logRatio && v <= 0 {
		return math.NaN(), fmt.Errorf("its value is %g", v)
	}
	return v, nil
}
