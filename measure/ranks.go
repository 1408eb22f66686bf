package measure

import (
	"math"

	"collapse/internal/kernel"
)

// ranks computes the numerical, stable and effective rank of the uncentred features of every class from
// the eigenvalues of the smaller Gram matrix, H_kᵀH_k (d×d) or H_kH_kᵀ (n_k×n_k).
type ranks[T kernel.Float] struct {
	order []int32 // rows of all classes, class by class
	rows  []float64
	gram  []float64
	buf   []T
}

// ranksWork estimates the operations of run.
func ranksWork(count []int, d int) float64 {
	work := 0.0
	for _, n := range count {
		m := min(n, d)
		work += 2*float64(n)*float64(d)*float64(m) + eigenWork(m)
	}
	return work
}

// run fills numerical_rank and the per-class ranks.
func (r *ranks[T]) run(b *builder, team *kernel.Team, s *samples[T]) error {
	if s.empty >= 0 {
		b.miss(KeyNumericalRank, emptyReason(s.empty))
		return nil
	}
	r.sortRows(s)
	numerical, stable, effective := make(Vector, s.k), make(Vector, s.k), make(Vector, s.k)
	mean, from := 0.0, 0
	for k, n := range s.count {
		values, ok, err := r.eigen(team, s, r.order[from:from+n])
		if err != nil {
			return err
		}
		from += n
		if !ok {
			b.miss(KeyNumericalRank, "the eigenvalue iteration failed")
			return nil
		}
		numerical[k], stable[k], effective[k] = ranksOf(values)
		mean += numerical[k] / float64(s.k)
	}
	b.report.PerClass["numerical_rank"], b.report.PerClass["stable_rank"], b.report.PerClass["effective_rank"] = numerical, stable, effective
	if mean != mean {
		b.miss(KeyNumericalRank, "all features of a class are zero")
		return nil
	}
	b.put(KeyNumericalRank, mean)
	return nil
}

// sortRows lists the measured rows class by class.
func (r *ranks[T]) sortRows(s *samples[T]) {
	r.order = grow(r.order, s.n)
	next := make([]int, s.k)
	for k := 1; k < s.k; k++ {
		next[k] = next[k-1] + s.count[k-1]
	}
	for i, c := range s.class {
		if c >= 0 {
			r.order[next[c]] = int32(i)
			next[c]++
		}
	}
}

// eigen returns the eigenvalues, descending, of the smaller Gram matrix of the given rows.
func (r *ranks[T]) eigen(team *kernel.Team, s *samples[T], order []int32) ([]float64, bool, error) {
	n, d := len(order), s.d
	m := min(n, d)
	block := n
	if d < n {
		block = min(n, max(256, blockRows(d)))
	}
	r.rows, r.gram, r.buf = grow(r.rows, block*d), grow(r.gram, m*m), grow(r.buf, d)
	for at := 0; at < n; at += block {
		end := min(at+block, n)
		for i, row := range order[at:end] {
			x, err := s.src.Read(r.buf, int(row), int(row)+1)
			if err != nil {
				return nil, false, err
			}
			for j, v := range x {
				r.rows[i*d+j] = float64(v)
			}
		}
		if d < n {
			kernel.Gemm(team, kernel.TN, d, d, end-at, r.rows, d, r.rows, d, r.gram, d, kernel.Epilogue[float64]{Accumulate: at > 0})
		} else {
			kernel.Gemm(team, kernel.NT, n, n, d, r.rows, d, r.rows, d, r.gram, n, kernel.Epilogue[float64]{})
		}
	}
	values, ok := eigenvalues(r.gram, m)
	return values, ok, nil
}

// ranksOf returns, from the squared singular values σ², the numerical rank (Σσ)²/Σσ², the stable rank
// Σσ²/σ_1² and the effective rank exp(−Σ q log q), q = σ/Σσ (Roy & Vetterli 2007); NaN if all are zero.
func ranksOf(squares []float64) (numerical, stable, effective float64) {
	// Eigenvalues under the rounding of the Gram matrix are zero: their square roots would not be small.
	floor := squares[0] * eps64 * float64(len(squares))
	var sum, sum2 float64
	for _, g := range squares {
		if g > floor {
			sum += math.Sqrt(g)
			sum2 += g
		}
	}
	entropy := 0.0
	for _, g := range squares {
		if g > floor {
			q := math.Sqrt(g) / sum
			entropy -= q * math.Log(q)
		}
	}
	if sum2 == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return sum * sum / sum2, sum2 / squares[0], kernel.Exp(entropy)
}
