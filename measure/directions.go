package measure

import (
	"slices"

	"collapse/internal/kernel"
)

// mostDirections bounds the directions between class means that are told apart one by one, and directionSamples the samples that
// each of them needs.
const (
	mostDirections   = 128
	directionSamples = 4
)

// directions returns how wide classes are for the distance of their means, direction by direction: the eigenvalues, descending, of
// Σ_B^(−½) Σ_W Σ_B^(−½) on the span of the centred class means. Their mean is K/rank·nc1_pinv. nil where there are too many
// directions, or too few samples.
func (e *Engine[T]) directions(p *probe) Vector {
	s := &e.train
	rank := s.between.rank
	if s.between.reason != "" || rank < 1 || rank > mostDirections || len(p.class) < directionSamples*rank {
		return nil
	}
	op := s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d)
	rows := p.residuals()
	weight, m := p.weights(e.opt.Imbalance), len(p.class)
	z := make([]float64, m*rank)
	kernel.Gemm(e.opt.Team, kernel.NT, m, rank, s.d, rows, s.d, op, s.d, z, rank, kernel.Epilogue[float64]{})
	scatter := make([]float64, rank*rank)
	scaled := slices.Clone(z)
	for i, w := range weight {
		scale(scaled[i*rank:][:rank], w)
	}
	kernel.Gemm(e.opt.Team, kernel.TN, rank, rank, m, scaled, rank, z, rank, scatter, rank, kernel.Epilogue[float64]{})
	values, ok := eigenvalues(scatter, rank)
	if !ok {
		return nil
	}
	total := float64(s.n)
	if e.opt.Imbalance == PerClass {
		total = float64(s.k)
	}
	for j, v := range values {
		values[j] = max(0, v) * float64(s.k) / total
	}
	return values
}
