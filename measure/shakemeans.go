package measure

import (
	"math"
	"math/rand/v2"
)

// shakeWork is the number of floating-point operations that evaluating measures of class means again may take, where more than
// one draw is made.
const shakeWork = 4e8

// meanShaker evaluates the measures of class means again.
type meanShaker struct {
	opt      Options
	m        *Moments
	variance []float64 // (d) of each coordinate within classes
	w, b     []float64 // nil: no classifier
	// within gives the scatter within classes with coordinates in the given order and each number moved within ±u; nil: no nc1_pinv.
	within func(order []int, u float64, r *rand.Rand) withinScatter
	base   float64 // Σ ω ‖z‖² of the unmoved scatter by the operator of the report
}

// meanDraws returns how many evaluations are made for k classes of width d.
func meanDraws(k, d int) int {
	return int(max(1, min(mostShakes, shakeWork/pairsWork(k, d))))
}

// pairsWork estimates the floating-point operations that measures of k class means of width d take: products of all pairs, and
// logarithms and powers of their distances.
func pairsWork(k, d int) float64 { return 12 * float64(k) * float64(k) * (float64(d) + 20) }

// shake fills the uncertainties of measures that class means, class variances and the classifier give.
func (x *meanShaker) shake(r *Report, random *rand.Rand) error {
	x.opt = x.opt.plain(r.Measures)
	m := meanDraws(x.m.K, x.m.D)
	arithmetic, given := newMoved(r.Measures), newMoved(r.Measures)
	for range m {
		for _, to := range []*moved{arithmetic, given} {
			again, err := x.once(r, random, to == given)
			if err != nil {
				return err
			}
			to.add(again)
		}
	}
	n := 0
	for _, c := range x.m.Count {
		n += c
	}
	for key, v := range r.Measures {
		r.state(key, certainty(m)*arithmetic.size(key)+sumsRounding(n, x.m.D)*math.Abs(v), certainty(m)/3*given.size(key))
	}
	return nil
}

// sumsRounding bounds the relative rounding of a sum of squares over n samples of width d, whose errors are independent.
func sumsRounding(n, d int) float64 {
	return roundoff64 * (4 + math.Sqrt(float64(n)*float64(d))/16)
}

// once evaluates the measures beside one draw of rounding: of the given numbers, or of sums. What one pass cannot give is as in
// the report.
func (x *meanShaker) once(r *Report, random *rand.Rand, given bool) (map[string]float64, error) {
	order := random.Perm(x.m.D)
	m := x.moved(order, given, random)
	e, err := NewEngine[float64](x.opt)
	if err != nil {
		return nil, err
	}
	again, err := e.moments(m, reorder(x.w, x.m.D, nil, order), x.b)
	if err != nil {
		return nil, err
	}
	if white, ok := again.Measures[KeyNC1Pinv]; ok && x.base > 0 {
		again.Measures[KeyNC1Pinv] = white / x.base * r.Measures[KeyNC1Pinv]
	}
	for key, v := range r.Measures {
		if again.Missing[key] == secondLook {
			again.Measures[key] = v
		}
	}
	return again.Measures, nil
}

// moved returns the moments with coordinates in the given order and rounding drawn anew.
func (x *meanShaker) moved(order []int, given bool, random *rand.Rand) *Moments {
	k, d := x.m.K, x.m.D
	out := &Moments{K: k, D: d, Count: x.m.Count, Mean: make([]float64, k*d), Scatter: make([]float64, k), Single: x.m.Single,
		Spread: reorder(x.variance, d, nil, order)}
	n := 0
	for _, count := range x.m.Count {
		n += count
	}
	scale(out.Spread, float64(n))
	u := 0.0
	if given {
		u = inputRoundoff(x.m.Single)
	}
	for c, n := range x.m.Count {
		size := float64(max(n, 1))
		var noise, cross float64 // added to the scatter: its mean, and the variance of what samples give
		for j, from := range order {
			mean := x.m.Mean[c*d+from]
			square := mean*mean + x.variance[from]
			sigma := sumRounding(n, x.m.Single) * math.Sqrt(square)
			if given {
				sigma = u * math.Sqrt(square/3/size)
				noise += u * u * square / 3
				cross += u * u * square / 3 * x.variance[from]
			}
			out.Mean[c*d+j] = mean + sigma*random.NormFloat64()
		}
		if n > 1 {
			out.Scatter[c] = max(0, x.m.Scatter[c]+size*noise+2*math.Sqrt(size*cross)*random.NormFloat64())
		}
	}
	if x.within != nil {
		out.within = x.within(order, u, random)
	}
	return out
}

// sumRounding returns the standard deviation of the rounding of a mean of n numbers, beside their root mean square. Partial
// sums grow with n, so that errors add up to u√n/3; sums of float32 numbers are exact in float64 until they are divided.
func sumRounding(n int, short bool) float64 {
	if short {
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
	return o
}

// shakeMeans fills the uncertainties of a report of features too large to be measured again as a whole.
func (e *Engine[T]) shakeMeans(r *Report, h *head, random *rand.Rand) error {
	s := &e.train
	p, err := newProbe(s, manyRows(s.d))
	if err != nil {
		return err
	}
	x := &meanShaker{opt: e.opt, variance: p.variance}
	x.m = &Moments{K: s.k, D: s.d, Count: s.count, Mean: s.means, Scatter: s.tally.scatter, Single: s.short}
	if h != nil {
		x.w, x.b = h.w, h.b
	}
	if _, ok := r.Measures[KeyNC1Pinv]; ok {
		e.probeWithin(x, s, p)
	}
	if err := x.shake(r, random); err != nil {
		return err
	}
	r.ofSamples(x.m, x.variance)
	if v, ok := r.Measures[KeyNC1Pinv]; ok {
		r.Uncertainty[KeyNC1Pinv] += s.whiteBound * v
	}
	return e.shakeTest(r, random)
}

// probeWithin takes the scatter within classes from a probe.
func (e *Engine[T]) probeWithin(x *meanShaker, s *samples[T], p *probe) {
	weight := p.weights(e.opt.Imbalance)
	x.within = func(order []int, u float64, random *rand.Rand) withinScatter {
		return &probed{residual: p.residuals(order, u, random), weight: weight}
	}
	op := s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d)
	x.base = e.whiteMeanOf(s, x.within(identity(s.d), 0, nil).trace(e.opt.Team, op, s.between.rank, s.d))
}

// shakeTest fills the uncertainties of dilation and the trace ratio of the test features.
func (e *Engine[T]) shakeTest(r *Report, random *rand.Rand) error {
	dilation, measured := r.Measures[KeyDilation]
	ratio, both := r.Measures[KeyTestNC1Ratio]
	if !measured && !both {
		return nil
	}
	s := &e.test
	p, err := newProbe(s, manyRows(s.d))
	if err != nil {
		return err
	}
	test := &Report{Measures: map[string]float64{}}
	test.startUncertainty()
	x := &meanShaker{opt: e.opt, variance: p.variance}
	x.m = &Moments{K: s.k, D: s.d, Count: s.count, Mean: s.means, Scatter: s.tally.scatter, Single: s.short}
	if both {
		test.Measures[KeyNC1TraceRatio] = ratio
	}
	if measured {
		test.Measures[KeyNC1Pinv] = dilation * dilation
		e.probeWithin(x, s, p)
	}
	if err := x.shake(test, random); err != nil {
		return err
	}
	if both {
		r.state(KeyTestNC1Ratio, test.Uncertainty[KeyNC1TraceRatio], test.InputRounding[KeyNC1TraceRatio])
	}
	if measured { // d√x = dx/(2√x)
		r.state(KeyDilation, test.Uncertainty[KeyNC1Pinv]/(2*dilation)+s.whiteBound*dilation/2, test.InputRounding[KeyNC1Pinv]/(2*dilation))
	}
	return nil
}

// ofSamples states the uncertainties of measures of single samples: angles to the global mean are rounded as ‖h‖ is beside
// ‖h − h_G‖, distances as ‖h‖ is. Decisions are those of float64 for every sample.
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
	u, given := 8*roundoff64, inputRoundoff(m.Single)
	angle := 1 + math.Sqrt(square/spread)
	for _, key := range []string{KeyMarginMean, KeyMarginMin, KeyMarginMax, KeyNC5OOD} {
		if _, ok := r.Measures[key]; ok {
			r.state(key, u*angle*math.Sqrt(float64(m.D)), given*angle)
		}
	}
	for _, key := range []string{KeyMemRedrawn, KeyMemFlipped, KeyMemMean, KeyMemNormalised} {
		if v, ok := r.Measures[key]; ok && v > 0 {
			far := math.Sqrt(square) / max(r.Measures[KeyMemMean], math.SmallestNonzeroFloat64)
			r.state(key, (u*far+sumsRounding(r.N, m.D))*v, given*far*v)
		}
	}
}
