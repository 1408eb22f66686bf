package measure

import (
	"fmt"
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/parallel"
)

// vci fills the variability collapse index 1 − tr(Σ_T⁺ Σ_B)/rank Σ_B.
//
// The trace does not change under invertible maps of the features, so each coordinate is divided by its deviation first. In
// directions v_j with v_jᵀΣ_T v_j = λ_j, which ladder finds down to the rounding of the largest deviation, it is Σ_j Σ_k
// (c_k·v_j)²/(K λ_j); where Σ_T vanishes, so does Σ_B.
func (e *Engine[T]) vci(b *builder, c *cloud[T]) error {
	s := &e.train
	if !b.any(KeyVCI) || b.report.Missing[KeyVCI] != "" {
		return nil
	}
	if reason := s.unranked(); reason != "" {
		b.miss(KeyVCI, reason)
		return nil
	}
	if s.between.left != "" {
		b.missUnasked(s.between.left, KeyVCI)
		return nil
	}
	if s.n < s.d+s.k {
		b.miss(KeyVCI, fmt.Sprintf("N = %d is below d + K = %d: it is 0 for almost any features, collapsed or not", s.n, s.d+s.k))
		return nil
	}
	trace, ok, err := e.explainedTrace(c)
	switch {
	case err != nil:
		return err
	case !ok:
		b.miss(KeyVCI, "the eigenvalue iteration failed")
	default:
		index := 1 - trace/float64(s.between.rank)
		if e.jitter == nil { // keeps the effect of rounding at the ends of [0,1] visible
			index = min(max(0, index), 1)
		}
		b.put(KeyVCI, index)
	}
	return nil
}

// explainedTrace returns tr(Σ_T⁺ Σ_B).
func (e *Engine[T]) explainedTrace(c *cloud[T]) (trace float64, ok bool, err error) {
	s, d, by := &e.train, e.train.d, c.inverseDeviations()
	means := s.keptDirections()
	for i := range means {
		means[i] *= by[i%d]
	}
	ok, err = ladder(c.size, true, func(basis []float64, q int) ([]float64, error) { return c.scaledGram(by, basis, q) }, func(values, directions []float64) {
		trace += explained(e.opt.Team, means, directions, values, s.k, d)
	})
	return trace, ok, err
}

// inverseDeviations returns 1/√(Σ_T)_jj for every coordinate j; 1 in the short form and for constant coordinates.
func (c *cloud[T]) inverseDeviations() []float64 {
	d := c.s.d
	by := make([]float64, d)
	for j := range by {
		by[j] = 1
		if c.short == nil && c.total[j*d+j] > 0 {
			by[j] = 1 / math.Sqrt(c.total[j*d+j])
		}
	}
	return by
}

// scaledGram returns the Gram matrix of the cloud with coordinates multiplied by by, in the directions of basis (rows q×size).
func (c *cloud[T]) scaledGram(by, basis []float64, q int) ([]float64, error) {
	d, gram := c.s.d, make([]float64, q*q)
	switch {
	case c.short != nil && basis != nil:
		rows := rowsTimes(basis, c.short, q, c.size, d)
		gemm.Multiply(c.team, gemm.NT, kernel.Dense(q, d, rows), kernel.Dense(q, d, rows), kernel.Dense(q, q, gram), gemm.Epilogue[float64]{})
	case c.short != nil:
		copy(gram, c.total)
	case basis != nil:
		c.addBetween(gram, by, basis, q)
		return gram, c.addWithin(gram, by, basis, q)
	default:
		for i := range gram {
			gram[i] = c.total[i] * by[i/d] * by[i%d]
		}
	}
	return gram, nil
}

// explained returns Σ_j Σ_k (c_k·v_j)²/(K λ_j), c (K×d), v (len(λ)×d).
func explained(team *parallel.Team, c, v, values []float64, k, d int) float64 {
	q := len(values)
	image := make([]float64, q*k)
	gemm.Multiply(team, gemm.NT, kernel.Dense(q, d, v), kernel.Dense(k, d, c), kernel.Dense(q, k, image), gemm.Epilogue[float64]{})
	sum := 0.0
	for j, g := range values {
		sum += dot(image[j*k:][:k], image[j*k:]) / (float64(k) * g)
	}
	return sum
}

// unranked returns why rank Σ_B is unknown; "" if it is known.
func (s *samples[T]) unranked() string {
	switch {
	case s.k < 2:
		return oneClass
	case s.alone:
		return allAlone
	}
	return s.roundedMeans(s.between.reason)
}

// keptDirections returns the centred means (K×d) without the directions that the rank of Σ_B leaves out, in fresh memory.
func (s *samples[T]) keptDirections() []float64 {
	between, d := &s.between, s.d
	if between.rank == between.full {
		return append([]float64(nil), s.centred[:s.k*d]...)
	}
	kept := make([]float64, s.k*d)
	for j := range between.rank {
		row := between.op[j*d:][:d] // u_jᵀ/s_j
		square := dot(row, row)
		for k := range s.k {
			axpy(kept[k*d:][:d], dot(row, s.centred[k*d:])/square, row)
		}
	}
	return kept
}
