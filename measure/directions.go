package measure

import (
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// mostDirections bounds the directions between class means that are reported one by one, and directionSamples is the number of
// samples that each needs.
const (
	mostDirections   = 128
	directionSamples = 4
)

// directions returns how wide classes are relative to the distance of their means, by direction: the eigenvalues, descending, of
// Σ_B^(−½) Σ_W Σ_B^(−½) on the span of the centred class means. Their mean is K/rank·nc1_pinv. nil if there are too many
// directions or too few samples.
func (e *Engine[T]) directions(p *probe) Vector {
	s := &e.train
	rank := s.between.rank
	if s.between.reason != "" || rank < 1 || rank > mostDirections || len(p.class) < directionSamples*rank {
		return nil
	}
	op := s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d)
	rows := p.residuals(make([]float64, len(p.h)))
	weight, m := p.weights(e.opt.Imbalance), len(p.class)
	z := make([]float64, m*rank)
	gemm.Multiply(e.opt.Team, gemm.NT, kernel.Dense(m, s.d, rows), kernel.Dense(rank, s.d, op), kernel.Dense(m, rank, z), gemm.Epilogue[float64]{})
	scatter := make([]float64, rank*rank)
	scaled := slices.Clone(z)
	for i, w := range weight {
		scale(scaled[i*rank:][:rank], w)
	}
	gemm.Multiply(e.opt.Team, gemm.TN, kernel.Dense(m, rank, scaled), kernel.Dense(m, rank, z), kernel.Dense(rank, rank, scatter), gemm.Epilogue[float64]{})
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
