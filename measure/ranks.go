package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/parallel"
)

// ranks computes the numerical, stable and effective rank of the uncentred features H_k of every class from their singular
// values: the roots of the eigenvalues of H_kᵀH_k (d×d) or H_kH_kᵀ (n_k×n_k), found step by step so that small ones keep their digits.
type ranks[T kernel.Float] struct {
	order  []int32 // rows of all classes, class by class
	rows   []float64
	turned []float64 // rows times a basis
	gram   []float64
	buf    []T
}

// ranksWork estimates the operations of run.
func ranksWork(count []int, d int) float64 {
	work := 0.0
	for _, n := range count {
		m := min(n, d)
		work += 4*float64(n)*float64(d)*float64(m) + 3*eigenWork(m) // one step down
	}
	return work
}

// run fills numerical_rank and the per-class ranks.
func (r *ranks[T]) run(b *builder, team *parallel.Team, s *samples[T]) error {
	r.sortRows(s)
	numerical, stable, effective := make(Vector, s.k), make(Vector, s.k), make(Vector, s.k)
	mean, from := 0.0, 0
	for k, n := range s.count {
		sigma, ok, err := r.singular(team, s, r.order[from:from+n])
		if err != nil {
			return err
		}
		from += n
		if !ok {
			b.miss(KeyNumericalRank, "the eigenvalue iteration failed")
			return nil
		}
		numerical[k], stable[k], effective[k] = ranksOf(sigma)
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

// singular returns the singular values of the given rows.
func (r *ranks[T]) singular(team *parallel.Team, s *samples[T], order []int32) (sigma []float64, ok bool, err error) {
	n, d := len(order), s.d
	gram := func(basis []float64, q int) ([]float64, error) { return r.longGram(team, s, order, basis, q) }
	if n <= d {
		if err := r.read(s, order); err != nil {
			return nil, false, err
		}
		gram = func(basis []float64, q int) ([]float64, error) { return r.wideGram(team, basis, q, n, d), nil }
	}
	ok, err = ladder(min(n, d), false, gram, func(values, _ []float64) {
		for _, v := range values {
			sigma = append(sigma, math.Sqrt(v))
		}
	})
	return sigma, ok, err
}

// read copies rows of the source, in float64.
func (r *ranks[T]) read(s *samples[T], order []int32) error {
	d := s.d
	r.rows, r.buf = grow(r.rows, len(order)*d), grow(r.buf, d)
	for i, row := range order {
		x, err := s.src.Read(r.buf, int(row), int(row)+1)
		if err != nil {
			return err
		}
		for j, v := range x {
			r.rows[i*d+j] = float64(v)
		}
	}
	return nil
}

// longGram returns (HBᵀ)ᵀ(HBᵀ) for the rows H of the given order, read block by block.
func (r *ranks[T]) longGram(team *parallel.Team, s *samples[T], order []int32, basis []float64, q int) ([]float64, error) {
	n, d := len(order), s.d
	block := min(n, max(256, blockRows(d)))
	r.gram = grow(r.gram, q*q)
	for at := 0; at < n; at += block {
		m := min(block, n-at)
		if err := r.read(s, order[at:at+m]); err != nil {
			return nil, err
		}
		x := r.rows
		if basis != nil {
			r.turned = grow(r.turned, m*q)
			gemm.Multiply(team, gemm.NT, kernel.Dense(m, d, r.rows), kernel.Dense(q, d, basis), kernel.Dense(m, q, r.turned), gemm.Epilogue[float64]{})
			x = r.turned
		}
		gemm.Multiply(team, gemm.TN, kernel.Dense(m, q, x), kernel.Dense(m, q, x), kernel.Dense(q, q, r.gram), gemm.Epilogue[float64]{Accumulate: at > 0})
	}
	return r.gram[:q*q], nil
}

// wideGram returns (BH)(BH)ᵀ for the n rows H that were read.
func (r *ranks[T]) wideGram(team *parallel.Team, basis []float64, q, n, d int) []float64 {
	r.gram = grow(r.gram, q*q)
	x := r.rows
	if basis != nil {
		r.turned = grow(r.turned, q*d)
		gemm.Multiply(team, gemm.NN, kernel.Dense(q, n, basis), kernel.Dense(n, d, r.rows), kernel.Dense(q, d, r.turned), gemm.Epilogue[float64]{})
		x = r.turned
	}
	gemm.Multiply(team, gemm.NT, kernel.Dense(q, d, x), kernel.Dense(q, d, x), kernel.Dense(q, q, r.gram), gemm.Epilogue[float64]{})
	return r.gram[:q*q]
}
