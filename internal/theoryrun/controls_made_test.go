package theoryrun

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// arrived makes a descent that has converged: optimal, collapsed, at the pace of its model.
var arrived = on(func(d *descent, _ int) {
	d.found.Gap = ufm.Number(1e-9 * d.exact.Objective)
	d.found.Objective = d.exact.Objective + d.found.Gap
	if !d.exact.Available {
		d.found.Objective = 1e-9
	}
	key, _ := d.nc2Key()
	for _, k := range []string{measure.KeyNC1Pinv, measure.KeyNC3Direct, key, "h1_" + key} {
		d.measured(k, 1e-9)
	}
	if d.paced(110, 100); d.cfg.Model == ufm.ReLU3 {
		d.paced(200, 100)
	}
})

// measured sets a measure of the descent's end.
func (d *descent) measured(key string, v float64) {
	d.found.Measures = d.found.Measures.With(key, v)
}

// paced makes six descents whose H1 and H2 collapse after about so many iterations.
func (d *descent) paced(h1, h2 float64) {
	d.paces = nil
	for i := range 6 {
		d.paces = append(d.paces, pace{uint64(i), h1 * (1 + .01*float64(i)), h2})
	}
}

func firstNegative(v []float64) int {
	return slices.IndexFunc(v, func(x float64) bool { return x < 0 })
}

// at is curve i of all, to be changed: f's curves are copies then.
func (f *xiCurves) at(i int) *xiCurve {
	j, k := i/len(f.curves[0]), i%len(f.curves[0])
	row := item(&f.curves, j)
	return item(row, k)
}

// onDilated is on for the parts that recipes of the dilation model share.
func onDilated[T any](change func(d *dilated, i int)) func(results, int) results {
	return on(func(r *T, i int) {
		switch r := any(r).(type) {
		case *feasible:
			change(&r.dilated, i)
		case *swept:
			change(&r.dilated, i)
		}
	})
}

// reversed is a setting outside Assumption 4.2 at which CE dilates less than LS.
func reversed() *dilation.Solution {
	law, err := dilation.NamedLaw("circle")
	if err != nil {
		panic(err)
	}
	sol, err := dilation.Solve(dilation.Params{LW: .001, LH: .001, Alpha: .1, CMD: .5, Eta: .4, Law: law})
	if err != nil {
		panic(err)
	}
	return sol
}

func ce(s *dilation.Solution) **dilation.Side { return &s.CE }
func ls(s *dilation.Solution) **dilation.Side { return &s.LS }

// lemmaControls spoil one number of a side for each lemma, in the order of Side.Lemmas. Lemma C.5 is true of any numbers, but not
// of a law of v that is wider than r or not centred.
func lemmaControls(on func(func(*dilated, int)) func(results, int) results, of func(*dilation.Solution) **dilation.Side) []control {
	change := func(what string, law float64, spoil [6]func(s *dilation.Side)) control {
		return control{what, on(func(d *dilated, i int) {
			sol := *d.solution
			side := **of(&sol)
			if i == 4 {
				r := side.RStar
				side = **of(underLaw(d.Dilation, law))
				side.RStar = r
			} else {
				spoil[i](&side)
			}
			*of(&sol), d.solution = &side, &sol
		}), nil}
	}
	beyond := func(s *dilation.Side) { s.RStar = 1.01 * s.RMax }
	return []control{
		change("a number that is too large", 10, [6]func(*dilation.Side){beyond, func(s *dilation.Side) { s.Memorization *= 1.01 },
			func(s *dilation.Side) { s.U1 = [2]float64{0, s.HNorm} }, func(s *dilation.Side) { s.U1 = [2]float64{0, 10 * s.HNorm} }, nil, beyond}),
		change("a number that is too small", -1, [6]func(*dilation.Side){func(s *dilation.Side) { s.RStar = -.01 * s.RMax }, func(s *dilation.Side) { s.Memorization *= .99 },
			func(s *dilation.Side) { s.U1 = [2]float64{s.HNorm, 0} }, func(s *dilation.Side) { s.U1 = [2]float64{-10 * s.HNorm, 0} }, nil,
			func(s *dilation.Side) { low, high := s.Bracket(); s.RStar = low - .01*high }}),
	}
}

// underLaw solves the model of a recipe under a law that Assumption 4.2 forbids: v_1 = at·r, always.
func underLaw(t recipe.Dilation, at float64) *dilation.Solution {
	params, err := dilationParams(t)
	if err != nil {
		panic(err)
	}
	params.Law = dilation.Law{Name: "not centred", Nodes: []float64{at}, Weights: []float64{1}, A: 1}
	sol, err := dilation.Solve(params)
	if err != nil {
		panic(err)
	}
	return sol
}

// lastNoMore are losses whose last, a rescaled MSE, turns a feature as much as plain MSE does.
func lastNoMore(t turnings) []turning {
	item(&t.losses, len(t.losses)-1).share = t.plain
	return t.losses
}

func last(c *attenuated, factor, residual float64) {
	n := len(c.n) - 1
	*item(&c.factor, n) = factor * c.limit
	*item(&c.residual, n) *= residual
}

// beside returns a point near another.
func beside(at ufm.Point, cfg ufm.Config, seed uint64) ufm.Point {
	out, rng := cfg.NewPoint(), rand.New(rand.NewPCG(seed, 1))
	for i, x := range at.X {
		out.X[i] = x + 1e-6*rng.NormFloat64()
	}
	return out
}

// at certifies another point of problem i's model.
func (s *saddles) at(i int, point func(p criticalPoint) (ufm.Point, error)) {
	p := item(&s.points, i)
	at, err := point(*p)
	if err == nil {
		*p, err = certified(p.name, p.setting, at)
	}
	if err != nil {
		panic(err)
	}
}

func optimum(p criticalPoint) (ufm.Point, error) {
	return p.cfg.Instance(p.exact, rand.New(rand.NewPCG(1, 1)))
}

func spoiledReport(key string, v float64) control {
	return control{key + " is off", on(func(o *optima, i int) {
		s := item(&o.solved, i)
		s.cert.NonnegReport = s.cert.NonnegReport.With(key, v)
	}), nil}
}

var solvedControls = map[string][]control{
	"optima/gap": {
		{"a point above the closed form", on(func(o *optima, i int) { item(&o.solved, i).found.Gap = 1e-9 }), nil},
		{"a point below it", on(func(o *optima, i int) { item(&o.solved, i).found.Gap = -1e-9 }), nil},
		{"three steps of descent", on(func(o *optima, i int) {
			s, err := solve(context.Background(), o.Cases[i], ufm.Run{Method: ufm.GD, Iterations: 3, Step: .1, Init: ufm.InitScale{W: 1, H: 1}})
			if err != nil {
				panic(err)
			}
			*item(&o.solved, i) = s
		}), nil},
		{"no closed form", on(func(o *optima, i int) { item(&o.solved, i).exact.Available = false }), nil}},
	"optima/configuration": {spoiledReport(measure.KeyConfSmallestEntry, -1e-9), spoiledReport(measure.KeyConfMaxCos, 2e-5), spoiledReport(measure.KeyConfOverlap, 2e-5),
		spoiledReport(measure.KeyConfWeightAngle, 2e-5), spoiledReport(measure.KeyNC2NormCV, 2e-5), spoiledReport(measure.KeyConfWeightAngle, math.NaN())},
	"saddles/saddle": {
		{"the global optimum", on(func(s *saddles, i int) { s.at(i, optimum) }), nil},
		{"a point beside the critical one", on(func(s *saddles, i int) {
			s.at(i, func(p criticalPoint) (ufm.Point, error) {
				at, err := optimum(p)
				return beside(at, p.cfg, uint64(i)), err
			})
		}), nil},
		{"a gradient that is not zero", on(func(s *saddles, i int) { item(&s.points, i).cert.Residual = 1e-9 }), nil},
		{"a flat direction at most", on(func(s *saddles, i int) { item(&s.points, i).cert.MinHessian = -1e-9 }), nil}},
}

// draw is the first draw of case 0 with 1ᵀb on one side of 1, to be changed.
func (z *biases) draw(above bool) *drawnBias {
	c := item(&z.cases, 0)
	return item(&c.draws, slices.IndexFunc(c.draws, func(d drawnBias) bool { return (d.sum > 1) == above }))
}

// small is a drawn bias with √K‖b‖ ≤ 1, along the ones vector or not.
func (z *biases) small(along bool) *drawnBias {
	c := item(&z.cases, 0)
	return item(&c.draws, slices.IndexFunc(c.draws, func(d drawnBias) bool { return d.norm <= 1 && (d.norm-d.sum < 1e-12) == along }))
}

var biasControls = map[string][]control{
	"biases/spectrum":        {{"a singular value beside its closed form", on(func(z *biases, _ int) { z.draw(false).off = 1e-11 }), nil}},
	"biases/printed-largest": {{"σ_1 below the bound", on(func(z *biases, _ int) { z.draw(true).p *= .5 }), nil}},
	"biases/printed-ball": {{"σ_1 below √n", on(func(z *biases, _ int) { z.small(false).p = 1 - 1e-9 }), nil},
		{"σ_K below the bound", on(func(z *biases, _ int) { d := z.small(false); d.q = 1 - d.norm - 1e-9 }), nil},
		{"no equality at b = c/√K·1", on(func(z *biases, _ int) { z.small(true).q += 1e-9 }), nil},
		{"equality elsewhere", on(func(z *biases, _ int) { d := z.small(false); d.p, d.q = 1, 1-d.norm }), nil}},
	"biases/ends": {{"σ_1 below √n", on(func(z *biases, _ int) { z.draw(false).p = 1 - 1e-9 }), nil},
		{"σ_K above √n", on(func(z *biases, _ int) { z.draw(true).q = 1 + 1e-9 }), nil}},
	"biases/spread": {{"a spread above the bound where 1ᵀb ≤ 1", on(func(z *biases, _ int) { z.draw(false).norm *= .99 }), nil},
		{"a spread above it where 1ᵀb > 1", on(func(z *biases, _ int) { z.draw(true).norm = 0 }), nil},
		{"no equality where 1ᵀb ≤ 1", on(func(z *biases, _ int) { z.draw(false).norm *= 1.01 }), nil},
		{"equality where 1ᵀb > 1", on(func(z *biases, _ int) { d := z.draw(true); d.norm = d.p - d.q }), nil}},
	"biases/held": {{"a fit that ends above", on(func(z *biases, i int) { *item(&item(&z.cases, i).fitted, 3) += 1e-6 }), nil},
		{"a fit that ends below", on(func(z *biases, i int) { *item(&item(&z.cases, i).fitted, 3) -= 1e-6 }), nil}},
	"biases/optimum": {{"a bias below the bound", on(func(z *biases, i int) { d := item(&item(&z.cases, i).draws, 5); d.value = d.bound - 1e-9 }), nil},
		{"a bound below f*", on(func(z *biases, i int) {
			c := item(&z.cases, i)
			*item(&c.bound, 50) = float64(c.exact.Objective) - 1e-9
		}), nil},
		{"an exact bias that is not optimal", on(func(z *biases, i int) { item(&z.cases, i).atStar += 1e-9 }), nil}},
}

// onProof is on for the point at which the steps of the proof are judged.
func onProof(change func(p *proof)) func(results, int) results {
	return on(func(t *relu, _ int) {
		t.proof.exact.Gram = slices.Clone(t.proof.exact.Gram)
		change(&t.proof)
	})
}

// convex puts every s_k² where g is convex.
func convex(p *proof) {
	for i := range p.exact.Gram {
		p.exact.Gram[i] = 1.5 * p.border()
	}
}

var reluControls = map[string][]control{
	"relu/theorem": {{"one point below the frame", on(func(t *relu, _ int) { item(&t.cases, 1).found.Objective -= 1e-5 }), on(func(t *relu, _ int) {
		for i := range t.cases {
			c := item(&t.cases, i)
			c.found.Objective = ufm.Number(c.theorem)
		}
	})}},
	"relu/below": {{"a point no lower", on(func(t *relu, i int) { c := item(&t.cases, i); c.found.Objective = ufm.Number(c.theorem) }), nil},
		{"a point that is not critical", on(func(t *relu, i int) { item(&t.cases, i).cert.Residual = 1e-3 }), nil}},
	"relu/safe": {{"an end below", on(func(t *relu, _ int) { *item(&t.safe, 3) = -1e-5 }), nil},
		{"no end at the theorem's value", on(func(t *relu, _ int) { t.safe = []float64{.1, .2} }), nil}},
	"relu/proof-convex":   {{"one s_k² at the border", onProof(func(p *proof) { p.exact.Gram[2] = p.border() }), onProof(convex)}},
	"relu/proof-jensen":   {{"a flat spectrum with a larger value", onProof(func(p *proof) { p.exact.Objective -= 1e-6 }), onProof(func(p *proof) { p.exact.Objective = ufm.Number(g(p.mean(), p.border())) })}},
	"relu/proof-flat":     {{"another nuclear norm", onProof(func(p *proof) { p.cfg.LH1 *= 1.01 }), onProof(flatFeasible)}, {"a smaller one", onProof(func(p *proof) { p.cfg.LH1 *= .99 }), onProof(flatFeasible)}},
	"relu/proof-feasible": {{"another nuclear norm", onProof(func(p *proof) { p.exact.HNorm2 *= 1.01 }), nil}, {"a smaller one", onProof(func(p *proof) { p.exact.HNorm2 *= .99 }), nil}},
}

// flatFeasible chooses λ_H1 so that (86) allows the flat spectrum.
func flatFeasible(p *proof) {
	mean, border := p.mean(), p.border()
	wanted := p.cfg.L2 * math.Sqrt(mean) / ((mean + border) * (mean + border)) // √(nλ_1λ_H1)
	p.cfg.LH1 = wanted * wanted / (float64(p.cfg.N) * p.cfg.L1)
}
