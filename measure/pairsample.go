package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

// All pairs of a vocabulary of 128,000 tokens are 8·10⁹ dot products, and uncertainties and nulls need them again. Reports of moments,
// which need the pairs for nothing else, use a sample of them unless a measure of pairs is named: averages over pairs then have a standard
// error, and largest values are left out.

// Sampled says which measures come from a sample of the pairs of classes.
type Sampled struct {
	Pairs int     `json:"pairs"` // drawn, always with the same seed
	Of    float64 `json:"of"`    // K(K−1)/2
	// StandardError of each measure that comes from the sample. Uncertainty holds three of them.
	StandardError map[string]float64 `json:"standard_error"`
}

const (
	exactPairsWork = 2e13 // operations (pairsWork) of a sweep over all pairs that is made without being named: minutes on a core
	sampledPairs   = 1 << 16
	sampleSeed     = 0x9a12
	sampleErrors   = 3 // standard errors in an uncertainty
)

// averageKeys are the measures of pairs that a sample can estimate, extremeKeys those that it cannot: largest values, and values
// decided by the nearest pairs.
var (
	averageKeys = keysOf(func(d *Definition) bool { return d.pairs == pairAverage })
	extremeKeys = keysOf(func(d *Definition) bool { return d.pairs == pairExtreme })
)

// samplePairs makes a builder's report use a sample of the pairs if all of them are too much work without being named.
func (e *Engine[T]) samplePairs(b *builder, most float64) {
	s := &e.train
	named := b.expensive || slices.ContainsFunc(slices.Concat(averageKeys, extremeKeys), func(key string) bool { return b.named[key] })
	sampled := e.opt.samplePairs || pairsWork(s.k, s.d) > min(most, exactPairsWork) && !named
	e.opt.samplePairs, e.pairs.sampled, e.geometry.rows.sampled = sampled, sampled, sampled
	if !sampled {
		return
	}
	of := float64(s.k) * float64(s.k-1) / 2
	b.report.Sampled = &Sampled{Pairs: sampledPairs, Of: of, StandardError: map[string]float64{}}
	for _, key := range extremeKeys {
		if b.any(key) {
			b.miss(key, fmt.Sprintf("not requested: %d classes make %.2g pairs, and a sample of them does not show the nearest; --measures %s", s.k, of, key))
			b.leaveKey(key)
		}
	}
}

// pairSample holds pairs of classes and values of each.
type pairSample struct {
	one, other []int32
	away       []float64 // |cos(c_i, c_j) + 1/(K−1)|
	distance   []float64 // ‖ĉ_i − ĉ_j‖
	log        []float64 // its logarithm
	cosine     []float64 // 1 − distance²/2
	inverse    []float64 // 1/‖μ_i − μ_j‖²
}

// look fills p from a sample of the pairs, always the same for k classes.
func (p *pairs) look(team *parallel.Team) {
	x := &p.sample
	x.one, x.other = make([]int32, sampledPairs), make([]int32, sampledPairs)
	for _, to := range []*[]float64{&x.away, &x.distance, &x.log, &x.cosine, &x.inverse} {
		*to = make([]float64, sampledPairs)
	}
	random := rand.New(rand.NewPCG(sampleSeed, uint64(p.k)))
	for m := range sampledPairs {
		i, j := random.IntN(p.k), random.IntN(p.k-1)
		if j >= i {
			j++
		}
		x.one[m], x.other[m] = int32(max(i, j)), int32(min(i, j))
	}
	team.Do(maxParts, pairSampleTask{p})
	rows.Logs(x.log, x.distance)
	for i := range p.k {
		p.nearest[i], p.closest[i] = math.Inf(1), math.Inf(1)
	}
	for m, i := range x.one {
		j := x.other[m]
		p.nearest[i], p.nearest[j] = min(p.nearest[i], 1/x.inverse[m]), min(p.nearest[j], 1/x.inverse[m])
		p.closest[i] = min(p.closest[i], x.distance[m])
	}
	away := spreadOf(x.away)
	p.deviation, p.distance, p.log, p.angles.cosine = away.mean*away.n, spreadOf(x.distance), spreadOf(x.log), spreadOf(x.cosine)
}

// pairSampleTask evaluates a part of the sample.
type pairSampleTask struct{ *pairs }

func (t pairSampleTask) Run(part int) {
	x := &t.sample
	for m := part * sampledPairs / maxParts; m < (part+1)*sampledPairs/maxParts; m++ {
		i, j := int(x.one[m]), int(x.other[m])
		g := dot(t.centred[i*t.d:][:t.d], t.centred[j*t.d:][:t.d])
		cos := g * (t.unit[i] * t.unit[j])
		square := t.apart2(i, j, cos)
		x.away[m], x.distance[m], x.cosine[m] = math.Abs(cos+1/float64(t.k-1)), math.Sqrt(square), 1-square/2
		x.inverse[m] = 1 / t.distance2(i, j, g)
	}
}

// cdnv returns (v_i + v_j)/(2‖μ_i − μ_j‖²) of each pair of the sample.
func (x *pairSample) cdnv(variance []float64) []float64 {
	values := make([]float64, len(x.one))
	for m, i := range x.one {
		values[m] = (variance[i] + variance[x.other[m]]) / 2 * x.inverse[m]
	}
	return values
}

// errorOfMean returns the standard error of the mean of a sample.
func errorOfMean(values []float64) float64 {
	s := spreadOf(values)
	return math.Sqrt(s.m2) / s.n
}

// errorOfVariance returns the standard error of the variance of a sample: that of the mean of the squared deviations.
func errorOfVariance(values []float64) float64 {
	mean, squares := spreadOf(values).mean, make([]float64, len(values))
	for i, v := range values {
		squares[i] = (v - mean) * (v - mean)
	}
	return errorOfMean(squares)
}

// errorOfDeviation is the standard error of the standard deviation: d√v = dv/(2√v).
func errorOfDeviation(values []float64) float64 {
	s := spreadOf(values)
	if !(s.m2 > 0) {
		return 0
	}
	return errorOfVariance(values) / (2 * math.Sqrt(s.m2/s.n))
}

// sampledTo records the standard error of a measure over pairs; none if all pairs were used.
func (b *builder) sampledTo(p *pairs, key string, spread func([]float64) float64, values []float64) {
	if _, ok := b.report.Measures.of[key]; ok && p.sampled {
		b.report.Sampled.StandardError[key] = spread(values)
	}
}

// stateSample adds the sampling error to a report's uncertainties, if it has them, with the reason.
func (r *Report) stateSample() {
	if r.Sampled == nil || r.Uncertainty == nil {
		return
	}
	for key, size := range r.Sampled.StandardError {
		r.Uncertainty[key] = finiteOr(r.Uncertainty[key]+sampleErrors*size, math.MaxFloat64)
		r.Reason[key] = fmt.Sprintf("a sample of %d of the %.2g pairs of classes, drawn with a fixed seed; ± is %d standard errors; naming the measure (--measures) uses all pairs",
			r.Sampled.Pairs, r.Sampled.Of, sampleErrors)
	}
}
