package theoryrun

import (
	"maps"
	"math"
	"slices"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// controls are the negative controls by kind and claim. A claim of several parts has one for each.
var controls = map[string][]control{
	"descent/objective": {
		{"a run that ends above the optimum", on(func(d *descent, _ int) { d.found.Gap = ufm.Number(.002 * d.exact.Objective) }), arrived},
		{"an “optimum” that the run undercuts", on(func(d *descent, _ int) { d.found.Gap = ufm.Number(-.002 * d.exact.Objective) }), arrived}},
	"descent/nc1": {
		{"variability that stays", on(func(d *descent, _ int) { d.measured(measure.KeyNC1Pinv, 2e-5) }), arrived},
		{"no NC1", on(func(d *descent, _ int) { d.measured(measure.KeyNC1Pinv, math.NaN()) }), arrived}},
	"descent/nc2": {{"class means away from the frame", on(func(d *descent, _ int) {
		key, _ := d.nc2Key()
		d.measured(key, 1.1*d.bound())
	}), arrived}},
	"descent/nc3": {{"a classifier beside the means", on(func(d *descent, _ int) { d.measured(measure.KeyNC3Direct, 1.1*d.bound()) }), arrived}},
	"descent/h1": {{"H1 in another geometry", on(func(d *descent, _ int) {
		key, _ := d.nc2Key()
		d.measured("h1_"+key, 1.1*d.bound())
	}), arrived}},
	"descent/pace": {{"the other model's pace", on(func(d *descent, _ int) {
		if d.cfg.Model == ufm.ReLU3 {
			d.paced(90, 100)
		} else {
			d.paced(140, 100)
		}
	}), arrived}, {"H1 first", on(func(d *descent, _ int) { d.paced(60, 100) }), arrived}},
	"descent/doomed":       {{"a run that gets close to f*", on(func(d *descent, _ int) { d.found.Gap = .01 }), nil}},
	"descent/dead-entries": {{"an entry that comes back", on(func(d *descent, _ int) { *item(&d.end, firstNegative(d.start)) = 1e-9 }), nil}, {"a start without negative entries", on(func(d *descent, _ int) { d.start = make([]float64, len(d.start)) }), nil}},
	"descent/zero-loss":    {{"a loss that stays", on(func(d *descent, _ int) { d.found.Objective = 2e-5 }), arrived}},
	"descent/no-collapse":  {{"features that collapse", on(func(d *descent, _ int) { d.measured(measure.KeyNC1Pinv, .009) }), nil}},

	"attenuation/factor": {
		{"a factor beside the limit", on(func(a *attenuation, i int) { last(item(&a.cases, i), 1.02, 1) }), nil},
		{"the factor of the printed λ_H", on(func(a *attenuation, i int) { item(&a.cases, i).limit = 1 }), nil},
		{"a residual that grows", on(func(a *attenuation, i int) {
			c := item(&a.cases, i)
			c.residual = slices.Clone(c.residual)
			slices.Reverse(c.residual)
		}), nil}},
	"nc1-map/generic": {{"a map that changes NC1", on(func(m *nc1Map, i int) {
		*item(&item(&m.cases, i).generic, 7) *= 1 + 1e-8
	}), on(func(m *nc1Map, i int) {
		c := item(&m.cases, i)
		c.generic = c.orthogonal
	})}},
	"nc1-map/orthogonal": {{"maps that change NC1", on(func(m *nc1Map, i int) {
		c := item(&m.cases, i)
		c.orthogonal = c.generic
	}), nil}, {"one map that changes NC1 a little", on(func(m *nc1Map, i int) {
		*item(&item(&m.cases, i).orthogonal, 7) *= 1 + 1e-8
	}), nil}},
	"curve/minimum": {
		{"a minimum elsewhere", on(func(f *xiCurves, i int) { *item(&f.at(i).y, 3) = f.at(i).objective - 1e-10 }), nil},
		{"another value at the minimum", on(func(f *xiCurves, i int) {
			_, smallest := f.at(i).lowest()
			f.at(i).objective = smallest + 1e-6
		}), nil}},

	"surfaces/plain": {{"plain MSE that is steep along θ", on(func(s *surfaces, _ int) { s.plain = .51 }), nil}},
	"surfaces/ce": {{"CE that is flat along θ", on(func(s *surfaces, _ int) {
		i := slices.IndexFunc(s.losses, func(t turning) bool { return t.Kind == "ce" })
		item(&s.losses, i).share = .49
	}), nil}},
	"surfaces/rescaled":  {{"a rescaled MSE that turns less", on(func(s *surfaces, _ int) { s.losses = lastNoMore(s.turnings) }), nil}, {"no rescaled MSE", on(func(s *surfaces, _ int) { s.losses = s.losses[:2] }), nil}},
	"gradients/rescaled": {{"a rescaled MSE that turns less", on(func(g *gradients, _ int) { g.losses = lastNoMore(g.turnings) }), nil}},
	"gradients/limit": {
		{"a gradient of the other sign along s", on(func(g *gradients, i int) { item(&g.limits, i).far.DS *= -1 }), nil},
		{"a gradient of the other sign along θ", on(func(g *gradients, i int) { item(&g.limits, i).far.DTheta *= -1 }), nil},
		{"the gradient for the K of the figure", on(func(g *gradients, i int) {
			l := item(&g.limits, i)
			l.far = l.here
		}), nil}},
	"outputs/outputs": {{"one K for which the formulas differ", on(func(o *outputs, _ int) { *item(&o.differences, 0) = 1e-9 }), nil}},

	"feasible/theorem":  {{"a setting where CE dilates less", onDilated[feasible](func(d *dilated, _ int) { d.solution = reversed() }), nil}},
	"dilation/theorem":  {{"a setting where CE dilates less", onDilated[swept](func(d *dilated, _ int) { d.solution = reversed() }), nil}},
	"feasible/ce-lemma": lemmaControls(onDilated[feasible], ce), "feasible/ls-lemma": lemmaControls(onDilated[feasible], ls),
	"dilation/ce-lemma": lemmaControls(onDilated[swept], ce), "dilation/ls-lemma": lemmaControls(onDilated[swept], ls),
	"dilation/inside": {
		{"a setting inside at which the theorem fails", on(func(s *swept, _ int) {
			i := slices.IndexFunc(s.points, func(p dilation.SweepPoint) bool { return p.Solution.Assumption.Holds })
			p := item(&s.points, i)
			contradiction := *p.Solution
			contradiction.Theorem = false
			p.Solution = &contradiction
		}), nil},
		{"no setting inside", on(func(s *swept, _ int) {
			s.points = slices.DeleteFunc(slices.Clone(s.points), func(p dilation.SweepPoint) bool { return p.Solution.Assumption.Holds })
		}), nil}},
	"dilation/outside": {{"no setting at which it is reversed", on(func(s *swept, _ int) {
		s.points = slices.DeleteFunc(slices.Clone(s.points), func(p dilation.SweepPoint) bool { return !p.Solution.Theorem })
	}), nil}},
}

func init() {
	maps.Copy(controls, solvedControls)
	maps.Copy(controls, biasControls)
	maps.Copy(controls, reluControls)
	maps.Copy(controls, beyondControls)
}
