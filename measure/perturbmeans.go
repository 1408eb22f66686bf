package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// For sets that are too large to measure again, class means are moved at random by a fraction step of the size of their numbers,
// and the measures of class means are reevaluated. Their change divided by step is their sensitivity to rounding; it is multiplied
// by the rounding of sums, and by that of the given numbers.
const (
	step        = 0x1p-26 // far above the rounding of an evaluation, far below the nonlinear range
	perturbWork = 4e8     // floating-point operations of an evaluation beyond which only one is made
	mostMoves   = 2
	oneMove     = 1 << 21 // numbers in class means beyond which only one move is evaluated at a time: each holds several copies
)

// meanPerturber reevaluates the measures of class means.
type meanPerturber struct {
	opt      Options
	m        *Moments
	variance []float64     // (d) of each coordinate within classes
	w, b     []float64     // nil: no classifier
	within   withinScatter // nil: no nc1_pinv
	base     float64       // NC1 of within by the operator of the report
	op       []float64     // that operator, applied to residuals
	rank     int
}

// ofWeights are the measures of the classifier alone, which do not depend on class means.
var ofWeights = keysOf(func(d *Definition) bool { return d.needs.any(needNoFeatures) })

// sampleKeys are the measures that need every sample, spreadKeys those of the spread within classes that class means and scatters give.
var (
	sampleKeys = keysOf(func(d *Definition) bool { return d.needs.any(needSamples) })
	spreadKeys = keysOf(func(d *Definition) bool { return d.needs&(needSpread|needCovariance|needOperator) == needSpread })
)

// meanMoves returns how many evaluations are made for k classes of width d.
func meanMoves(k, d int) int {
	if pairsWork(k, d) > perturbWork || k*d > oneMove {
		return 1
	}
	return mostMoves
}

// pairsWork estimates the floating-point operations of the measures of k class means of width d: products of all pairs, and
// logarithms and powers of their distances.
func pairsWork(k, d int) float64 { return 12 * float64(k) * float64(k) * (float64(d) + 20) }

// perturb fills the uncertainties of measures of class means, class variances and the classifier.
func (x *meanPerturber) perturb(r *Report, random *rand.Rand) error {
	x.opt = x.opt.plain(r.Measures.of)
	x.opt.Measures = slices.DeleteFunc(x.opt.Measures, func(key string) bool { return slices.Contains(ofWeights, key) })
	moves := moveTask{x: x, r: r, seed: random.Uint64(), values: make([]map[string]float64, meanMoves(x.m.K, x.m.D))}
	moves.errs = make([]error, len(moves.values))
	if len(moves.values) == 1 {
		moves.team = x.opt.Team
		moves.Run(0)
	} else {
		x.opt.Team.Do(len(moves.values), &moves)
	}
	if err := vec.FirstError(moves.errs); err != nil {
		return err
	}
	again := newMoved(r.Measures.of)
	for _, values := range moves.values {
		again.add(values, 1)
	}
	sums, given := x.roundings()
	least := x.leastDependence()
	n := 0
	for _, c := range x.m.Count {
		n += c
	}
	wide, white := x.noise(n)
	for key, v := range r.Measures.of {
		dependence := certainty(len(moves.values)) * max(again.size(key)/step, least*math.Abs(v)/4)
		own := dependence*sums + sumsRounding(n, x.m.D)*math.Abs(v)
		var noise float64
		switch {
		case key == KeyNC1Pinv:
			noise = white
		case slices.Contains(spreadKeys, key):
			noise = wide
		}
		r.state(key, own, dependence*given/3+noise*math.Abs(v))
	}
	return nil
}

// moveTask evaluates measures for several moves, one thread each, or for one move with a team.
type moveTask struct {
	team   *parallel.Team // of a move
	x      *meanPerturber
	r      *Report
	seed   uint64
	values []map[string]float64
	errs   []error
}

// Run makes one move.
func (t *moveTask) Run(i int) {
	t.values[i], t.errs[i] = t.x.once(t.team, t.r, rand.New(rand.NewPCG(t.seed, uint64(i))))
}

// leastDependence is the ratio of the numbers' size to the distances of class means: the least sensitivity of anything that
// depends on these distances, in case few moves happen not to show it.
func (x *meanPerturber) leastDependence() float64 {
	var square, between float64
	centre := make([]float64, x.m.D)
	for at := 0; at < len(x.m.Mean); at += x.m.D {
		axpy(centre, 1/float64(x.m.K), x.m.Mean[at:][:x.m.D])
	}
	for at := 0; at < len(x.m.Mean); at += x.m.D {
		mean := x.m.Mean[at:][:x.m.D]
		square, between = square+dot(mean, mean), between+distance2(mean, centre)
	}
	for _, v := range x.variance {
		square += float64(x.m.K) * v
	}
	if !(between > 0) {
		return 1
	}
	return math.Sqrt(square / between)
}

// roundings returns the standard deviations of the rounding of a class mean, relative to the size of its numbers: from sums, and
// from the rounding of the numbers, which averages out unless samples are too close to each other. It takes the largest over
// classes.
func (x *meanPerturber) roundings() (sums, given float64) {
	alike := x.alike()
	for _, n := range x.m.Count {
		sums = max(sums, sumRounding(n, x.m.Float32 || x.m.Rest != nil))
		given = max(given, inputRoundoff(x.m.Float32)*math.Sqrt((alike+(1-alike)/float64(max(n, 1)))/3))
	}
	return sums, given
}

// alike returns the share, weighted by squares, of coordinates whose spread within classes is within the rounding of their
// numbers: there the samples of a class are one or a few numbers, which are rounded alike.
func (x *meanPerturber) alike() float64 {
	const few = 4
	square := make([]float64, x.m.D)
	for at := 0; at < len(x.m.Mean); at += x.m.D {
		addSquares(square, 1/float64(x.m.K), x.m.Mean[at:][:x.m.D])
	}
	var same, all float64
	u := few * inputRoundoff(x.m.Float32)
	for i, v := range x.variance {
		all += square[i] + v
		if v <= u*u*square[i] {
			same += square[i] + v
		}
	}
	if !(all > 0) {
		return 0
	}
	return same / all
}

// noise returns, relative to the spread within classes and to NC1, what the rounding of the given numbers adds to them: its mean,
// and twice the deviation of its product with what it is added to.
func (x *meanPerturber) noise(n int) (spread, white float64) {
	u := inputRoundoff(x.m.Float32)
	added := make(diagonalScatter, x.m.D) // per sample
	for c, count := range x.m.Count {
		addSquares(added, float64(count)/float64(n), x.m.Mean[c*x.m.D:][:x.m.D])
	}
	var all, variance float64
	for i, v := range x.variance {
		added[i] = u * u / 3 * (added[i] + v)
		all, variance = all+added[i], variance+v
	}
	share := func(part float64) float64 {
		if !(part > 0) {
			return 0
		}
		return part + 2*math.Sqrt(part/float64(n))
	}
	if x.within != nil && x.base > 0 {
		white = share(added.trace(nil, x.op, x.rank, x.m.D) / x.base)
	}
	return share(all / variance), white
}

// sumsRounding bounds the relative rounding of a sum of squares over n samples of width d, whose errors are independent.
func sumsRounding(n, d int) float64 {
	return roundoff64 * (4 + math.Sqrt(float64(n)*float64(d))/16)
}

// once evaluates the measures for one move of the class means. What one pass cannot give is taken from the report.
func (x *meanPerturber) once(team *parallel.Team, r *Report, random *rand.Rand) (map[string]float64, error) {
	opt := x.opt
	opt.Team = team
	e, err := NewEngine[float64](opt)
	if err != nil {
		return nil, err
	}
	again, err := e.moments(x.moved(random), x.w, x.b)
	if err != nil {
		return nil, err
	}
	if white, ok := again.Measures.of[KeyNC1Pinv]; ok && x.base > 0 {
		again.Measures.of[KeyNC1Pinv] = white / x.base * r.Measures.of[KeyNC1Pinv]
	}
	for key, v := range r.Measures.of {
		if _, ok := again.Measures.of[key]; !ok && (strings.HasPrefix(again.Missing[key], onePass) || slices.Contains(ofWeights, key)) {
			again.Measures.of[key] = v
		}
	}
	return again.Measures.of, nil
}

// moved returns the moments with moved class means.
func (x *meanPerturber) moved(random *rand.Rand) *Moments {
	d := x.m.D
	out := *x.m
	out.Mean, out.Pooled, out.within = append([]float64(nil), x.m.Mean...), nil, x.within
	for at := 0; at < len(out.Mean); at += d {
		for i, v := range x.variance {
			mean := &out.Mean[at+i]
			*mean += step * math.Sqrt(*mean**mean+v) * random.NormFloat64()
		}
	}
	return &out
}

// sumRounding returns the standard deviation of the rounding of a mean of n numbers, relative to their root mean square.
// Partial sums grow with n, so that errors add up to u√n/3; sums of float32 numbers are exact in float64 until they are
// divided.
func sumRounding(n int, isFloat32 bool) float64 {
	if isFloat32 {
		return roundoff64
	}
	return roundoff64 * (1 + math.Sqrt(float64(n))/3)
}

// plain returns the options for measuring the given keys again.
func (o Options) plain(values map[string]float64) Options {
	o.Measures = nil
	for key := range values {
		o.Measures = append(o.Measures, key)
	}
	o.Uncertainty, o.Null, o.KeepMeans, o.KeepMargins, o.KeepSpectrum = false, 0, false, false, false
	o.again = true
	return o
}

// perturbMeans fills the uncertainties of a report for features that are too large to measure again completely.
func (e *Engine[T]) perturbMeans(r *Report, in *Input[T], h *head, random *rand.Rand) error {
	s := &e.train
	x, err := e.meanPerturber(s, r)
	if err != nil {
		return err
	}
	if h != nil {
		x.w, x.b = h.w, h.b
	}
	if err := x.perturb(r, random); err != nil {
		return err
	}
	r.ofSamples(x.m, x.variance)
	if v, ok := r.Measures.of[KeyNC1Pinv]; ok {
		r.Uncertainty[KeyNC1Pinv] += s.operatorRounding() * v
	}
	if err := e.shares(r, in); err != nil {
		return err
	}
	return e.perturbTest(r, random)
}

// operatorRounding is the relative error of NC1 from float32 products and from the condition of the solved system.
func (s *samples[T]) operatorRounding() float64 { return s.whiteBound + 2*eps64*s.between.condition }

// meanPerturber returns the meanPerturber of a split, with NC1 if the report has it.
func (e *Engine[T]) meanPerturber(s *samples[T], r *Report) (*meanPerturber, error) {
	p, err := newProbe(s, fewRows)
	if err != nil {
		return nil, err
	}
	x := &meanPerturber{opt: e.opt, variance: p.variance}
	x.m = &Moments{K: s.k, D: s.d, Count: s.count, Mean: s.means[:s.k*s.d], Scatter: s.sampleCounts.scatter, Float32: s.isFloat32, Spread: append([]float64(nil), p.variance...)}
	scale(x.m.Spread, float64(s.n))
	if _, ok := r.Measures.of[KeyNC1Pinv]; ok {
		x.rank, x.op = s.between.rank, s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d)
		x.within = &probed{p, p.weights(e.opt.Imbalance)}
		x.base = e.whiteMeanOf(s, x.within.trace(e.opt.Team, x.op, x.rank, s.d))
	}
	return x, nil
}

// perturbTest fills the uncertainties of dilation and the trace ratio of the test features.
func (e *Engine[T]) perturbTest(r *Report, random *rand.Rand) error {
	dilation, measured := r.Measures.of[KeyDilation]
	ratio, both := r.Measures.of[KeyTestNC1Ratio]
	if !measured && !both {
		return nil
	}
	s := &e.test
	test := &Report{Measures: Values{map[string]float64{}}}
	test.startUncertainty()
	if both {
		test.Measures.of[KeyNC1TraceRatio] = ratio
	}
	if measured {
		test.Measures.of[KeyNC1Pinv] = dilation * dilation
	}
	x, err := e.meanPerturber(s, test)
	if err != nil {
		return err
	}
	if err := x.perturb(test, random); err != nil {
		return err
	}
	if both {
		r.state(KeyTestNC1Ratio, test.Uncertainty[KeyNC1TraceRatio], test.InputRounding[KeyNC1TraceRatio])
	}
	if measured { // d√x = dx/(2√x)
		r.state(KeyDilation, test.Uncertainty[KeyNC1Pinv]/(2*dilation)+s.operatorRounding()*dilation/2, test.InputRounding[KeyNC1Pinv]/(2*dilation))
	}
	return nil
}

// ofSamples states the uncertainties of measures of single samples: angles to the global mean have the rounding of ‖h‖
// relative to ‖h − h_G‖, distances that of ‖h‖. Decisions are those of float64 for every sample.
func (r *Report) ofSamples(m *Moments, variance []float64) {
	var square, spread float64 // mean ‖h‖², mean ‖h − h_G‖²
	centre := make([]float64, m.D)
	for c, n := range m.Count {
		axpy(centre, float64(n)/float64(r.N), m.Mean[c*m.D:][:m.D])
	}
	for c, n := range m.Count {
		mean := m.Mean[c*m.D:][:m.D]
		square += float64(n) / float64(r.N) * dot(mean, mean)
		spread += float64(n) / float64(r.N) * distance2(mean, centre)
	}
	for _, v := range variance {
		square, spread = square+v, spread+v
	}
	u, given := 8*roundoff64, inputRoundoff(m.Float32)
	angle := 1 + math.Sqrt(square/spread)
	for _, key := range []string{KeyMarginMean, KeyMarginMin, KeyMarginMax, KeyNC5OOD} {
		if _, ok := r.Measures.of[key]; ok {
			r.state(key, u*angle*math.Sqrt(float64(m.D)), given*angle)
		}
	}
	for _, key := range truthKeys {
		if v, ok := r.Measures.of[key]; ok && v > 0 {
			far := math.Sqrt(square) / max(r.Measures.of[KeyMemMean], math.SmallestNonzeroFloat64)
			r.state(key, (u*far+sumsRounding(r.N, m.D))*v, given*far*v)
		}
	}
}
