package theoryrun

import (
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/sphere"
)

// optimumAt is the optimum at ratio i of a sweep, to be changed: the sweep is a copy then.
func (m *imbalanced) optimumAt(i int) *imbalance.Optimum {
	sweep := *m.sweep
	m.sweep = &sweep
	if i < 0 {
		i += len(sweep.Optima)
	}
	o := item(&m.sweep.Optima, i)
	o.Groups = slices.Clone(o.Groups)
	return o
}

// solutionAt is the solution at width i, to be changed.
func (c *codes) solutionAt(i int) *sphere.Solution {
	widths := theoryfig.Widths{Problems: c.widths.Problems, Solutions: slices.Clone(c.widths.Solutions)}
	if i < 0 {
		i += len(widths.Solutions)
	}
	one := *widths.Solutions[i]
	widths.Solutions[i] = &one
	c.widths = &widths
	return &one
}

// onAll changes all problems of a depth recipe.
func onAll(change func(l *lowRank)) func(results, int) results {
	return on(func(d *depth, _ int) {
		d.lowest = slices.Clone(d.lowest)
		for i := range d.lowest {
			change(&d.lowest[i])
		}
	})
}

var nothingBelow = onAll(func(l *lowRank) { l.known.Lower = false })

// beyondControls are those of the recipes that go beyond the papers.
var beyondControls = map[string][]control{
	"imbalance/gap": {
		{"an optimum with a gap", on(func(m *imbalanced, _ int) { m.optimumAt(3).Gap = 1e-8 }), nil},
		{"a descent below the optimum", on(func(m *imbalanced, _ int) { m.smallest = -1e-7 }), nil},
		{"descents that do not arrive", on(func(m *imbalanced, _ int) { m.smallest = 1e-7 }), nil}},
	"imbalance/threshold": {
		{"classes apart below their threshold", on(func(m *imbalanced, _ int) { m.near[0] = false }), nil},
		{"classes that are one above it", on(func(m *imbalanced, _ int) { m.near[1] = true }), nil}},
	"imbalance/margin": {
		{"a margin that grows with the ratio", on(func(m *imbalanced, _ int) {
			g := m.optimumAt(5).Groups
			g[len(g)-1].Margin *= 2
		}), nil},
		{"a margin at the largest ratio", on(func(m *imbalanced, _ int) {
			g := m.optimumAt(-1).Groups
			g[len(g)-1].Margin = 1e-5
		}), nil}},
	"imbalance/orthogonal": {{"two means at an angle", on(func(m *imbalanced, _ int) {
		tilted := 1e-6
		o := m.optimumAt(2)
		o.CosMeans = [][]*float64{{nil, &tilted}, {&tilted, nil}}
	}), nil}},
	"imbalance/turn": {
		{"classifiers that turn apart", on(func(m *imbalanced, _ int) {
			apart := -0.5
			o := m.optimumAt(4)
			o.CosW = [][]*float64{{nil, nil}, {nil, &apart}}
		}), nil},
		{"another angle at equal numbers", on(func(m *imbalanced, _ int) {
			other := -0.2
			m.optimumAt(0).CosW = [][]*float64{{&other}}
		}), nil}},
	"imbalance/seli": {
		{"a limit elsewhere", on(func(m *imbalanced, _ int) { item(&m.limits, len(m.limits)-1).classifiers = 0.2 }), nil},
		{"means that go elsewhere", on(func(m *imbalanced, _ int) { item(&m.limits, len(m.limits)-1).means = 0.2 }), nil},
		{"a distance that grows on the way", on(func(m *imbalanced, _ int) { item(&m.limits, 1).classifiers = 2 }), nil},
		{"margins that may not be the largest", on(func(m *imbalanced, _ int) { item(&m.limits, 0).proved = false }), nil}},

	"sphere/simplex": {
		{"a simplex that is not reached", on(func(c *codes, _ int) { c.solutionAt(-1).Objective += 1e-8 }), nil},
		{"a width below the bound", on(func(c *codes, _ int) { s := c.solutionAt(0); s.Objective = s.Bound - 1e-9 }), nil}},
	"sphere/code": {
		{"another margin", on(func(c *codes, i int) { item(&c.found, i).margin -= 1e-5 }), nil},
		{"a higher end", on(func(c *codes, i int) { item(&c.found, i).above = 1e-6 }), nil},
		{"an end below the code", on(func(c *codes, i int) { item(&c.found, i).above = -1e-6 }), nil}},
	"sphere/duality": {{"a feature beside its classifier", on(func(c *codes, _ int) { item(&c.found, 2).duality = 1e-3 }), nil}},
	"sphere/cold": {
		{"a value away from the margin", on(func(c *codes, _ int) { item(&c.cold, 1).logF -= 1 }), nil},
		{"a margin that shrinks", on(func(c *codes, _ int) {
			last := item(&c.cold, len(c.cold)-1)
			last.margin, last.logF = c.cold[0].margin-0.01, 0.01-c.cold[0].margin
		}), nil}},

	"depth/collapse": {{"a point below neural collapse", on(func(d *depth, _ int) {
		l := item(&d.lowest, 0)
		l.known.Lower, l.placed = true, 0.9*l.known.Collapse
		l.known.Objective = l.placed
	}), nothingBelow}},
	"depth/below": {
		{"points that are not there", onAll(func(l *lowRank) { l.placed += 1e-6 }), nil},
		{"nothing below", nothingBelow, nil}},
	"depth/safe": {
		{"a start that ends lower", on(func(d *depth, _ int) { item(&d.safe, 0).Objective *= 0.99 }), nil},
		{"no start that arrives", on(func(d *depth, _ int) {
			for i := range d.safe {
				item(&d.safe, i).Arrive = 0
			}
		}), nil},
		{"a block below, for few classes", on(func(d *depth, _ int) {
			l := item(&d.lowest, 0) // two classes
			l.known.Lower, l.placed = true, 0.9*l.known.Collapse
			l.known.Objective = l.placed
		}), nil}},
	"depth/beaten": {{"searches that end at neural collapse", on(func(d *depth, _ int) {
		for i := range d.beaten {
			one := item(&d.beaten, i)
			one.Objective = one.collapse
		}
	}), nil}},
	"depth/linear": {
		{"a descent below the exact optimum", on(func(d *depth, _ int) { d.linear = -1e-6 }), nil},
		{"descents that do not arrive", on(func(d *depth, _ int) { d.linear = 1e-6 }), nil}},
}

// TestDeepNeuralCollapseIsJudged: the hope that it is optimal does not hold, the points that show it do.
func TestDeepNeuralCollapseIsJudged(t *testing.T) {
	longtest.Only(t)
	found, err := briefly(t, "deep-lowrank")
	if err != nil {
		t.Fatal(err)
	}
	p := resultOf(found)
	want := map[string]judge.Verdict{"neural collapse is optimal": judge.Fails, "4 layers: a point": judge.Holds, "for K = 2 this": judge.Holds, "for K = 3 points": judge.Holds, "linear models": judge.Holds}
	for prefix, verdict := range want {
		i := slices.IndexFunc(p.Claims, func(c judge.Claim) bool { return strings.HasPrefix(c.Statement, prefix) })
		if i < 0 || p.Claims[i].Verdict != verdict {
			t.Errorf("%s: %+v, wanted %s", prefix, p.Claims, verdict)
		}
	}
	if most := p.Figures[0].Panels[0].Series[1]; most.Label != "L = 4" || !(most.Y[0] == 0) || !(most.Y[len(most.Y)-1] > 5) {
		t.Errorf("the figure's curve for four layers: %+v", most)
	}
}
