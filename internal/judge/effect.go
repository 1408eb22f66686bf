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

// effect evaluates every seed in every cell, then the statistics over them.
func (c *compiled) effect(e eligible) *found {
	asked := Effect{Kind: c.Kind, Unit: c.unit(), Sides: [2]string{c.Left, c.Right}, Band: c.Band, Mean: c.Mean, Percent: c.Percent, Early: c.Early, Blocked: e.blocked,
		Replicates: Seeds(e.kept), How: c.how(len(c.Cells) > 0)}
	if c.Band != nil && c.Percent {
		asked.Band = &[2]float64{100 * c.Band[0], 100 * c.Band[1]}
	}
	if c.Kind == Linear {
		asked.Sides = [2]string{c.X, c.Y}
	}
	bySeed := bySeed(e.kept)
	var first error
	for _, at := range cellsOf(c.Cells, c.inCells(e.kept)) {
		answers, err := c.ask(asked.Replicates, bySeed, sample{at: at, all: ofEverySeed(e.all)})
		first = cmp.Or(first, err)
		asked.Cells = append(asked.Cells, Cell{Name: settingsText([]selection{at}), Each: answers})
	}
	out := asked.conclude()
	out.first = first
	return out
}

// ask evaluates both sides in each seed; shares are percentages from here on.
func (c *compiled) ask(seeds []uint64, runs map[uint64][]*JudgedRun, of sample) (out *BySeed, first error) {
	out = new(BySeed)
	unit := 1.0
	if c.Percent {
		unit = 100
	}
	for _, seed := range seeds {
		of.runs = runs[seed]
		left, right, err := c.both(of)
		if err != nil && first == nil {
			first = fmt.Errorf("seed %d: %w", seed, err)
		}
		out.Left, out.Right = append(out.Left, Quantity(unit*left)), append(out.Right, Quantity(unit*right))
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
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN(), fmt.Errorf("its value is %g", v)
	}
	if unit == LogRatio && v <= 0 {
		return math.NaN(), fmt.Errorf("its value is %g, and a log-ratio needs positive ones", v)
	}
	return v, nil
}
