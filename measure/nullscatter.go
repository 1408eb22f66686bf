package measure

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/parallel"
)

// shuffledScatter is the within-class scatter of a probe with shuffled classes, whose means lie among the samples: nothing cancels if both
// are taken from one point, A r = A (h − point) − A (μ_k − point).
type shuffledScatter struct {
	probe        *probe
	weight       []float64 // (m)
	apart, means []float64 // rows (m×d) and class means (k×d), both minus the point
}

// trace returns Σ ω ‖A r‖², A (rank×d).
func (s *shuffledScatter) trace(team *parallel.Team, a []float64, rank, d int) float64 {
	k := s.probe.k
	centres, products := make([]float64, k*rank), make([]float64, s.probe.blockRows(rank)*rank)
	gemm.Multiply(team, gemm.NT, kernel.Dense(k, d, s.means), kernel.Dense(rank, d, a), kernel.Dense(k, rank, centres), gemm.Epilogue[float64]{})
	total, block := 0.0, s.probe.blockRows(rank)
	for at := 0; at < len(s.weight); at += block {
		m := min(block, len(s.weight)-at)
		gemm.Multiply(team, gemm.NT, kernel.Dense(m, d, s.apart[at*d:]), kernel.Dense(rank, d, a), kernel.Dense(m, rank, products), gemm.Epilogue[float64]{})
		for i, w := range s.weight[at : at+m] {
			total += w * distance2(products[i*rank:][:rank], centres[int(s.probe.class[at+i])*rank:][:rank])
		}
	}
	return total
}

// nearest returns the weighted share of the probe's rows whose nearest class mean is that of their class; the point does not change
// distances.
func (s *shuffledScatter) nearest(team *parallel.Team) float64 {
	k, d, block := s.probe.k, s.probe.d, s.probe.blockRows(s.probe.k)
	squares, products := make([]float64, k), make([]float64, block*k)
	for c := range squares {
		x := s.means[c*d:][:d]
		squares[c] = dot(x, x)
	}
	hits, all := 0.0, 0.0
	for i, weight := range s.weight {
		if i%block == 0 {
			m := min(block, len(s.weight)-i)
			gemm.Multiply(team, gemm.NT, kernel.Dense(m, d, s.apart[i*d:]), kernel.Dense(k, d, s.means), kernel.Dense(m, k, products), gemm.Epilogue[float64]{})
		}
		all += weight
		if nearestMean(squares, products[i%block*k:][:k]) == int(s.probe.class[i]) {
			hits += weight
		}
	}
	return hits / all
}
