package measure

import (
	"math"
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

const samplesPerCoordinate = 10 // that a null of moments needs

// momentsNull fills Report.Null from moments with the pooled scatter, when there are no samples to shuffle.
//
// Of labels shuffled over N samples with covariance T (divisor N) around their mean, class means have covariance T N/(N−1) (δ_kl/n_k −
// 1/N) (samples are drawn without replacement), and are near normal. So they are drawn at random: c_k = g_k − Σ_l n_l g_l/N with g_k
// normal of covariance T N/((N−1) n_k). The scatter within classes is N·T minus that of the means.
//
// Class means are near normal unless a few outliers decide where they are: under tails as heavy as Student's with two degrees of freedom
// the value is below the lowest of nine in 4 to 31 % of the sets, depending on the measure, instead of 10 %.
//
// T holds every sample's own square, which shuffled labels do not spread as evenly as normal numbers do: with few samples for the width the
// draws are too close to a simplex, and there is no null.
func (e *Engine[T]) momentsNull(r *Report, m *Moments) error {
	s := &e.train
	if m.Pooled == nil || s.k < 2 || s.n < samplesPerCoordinate*s.d || s.empty >= 0 {
		return nil
	}
	total := m.total(e.opt.Team)
	root := choleskyRoot(total, m.D)
	if root == nil {
		return nil
	}
	centre := m.centre()
	random := rand.New(rand.NewPCG(nullSeed, uint64(s.n)))
	values, draws := collectNull{}, nulls(e.opt.Null, m.D, m.K, m.D)
	opt := e.opt.plain(r.Measures.of)
	opt.Measures = slices.DeleteFunc(opt.Measures, func(key string) bool { return !slices.Contains(nullKeys, key) || key == KeyNCCAccuracy })
	for range draws {
		fresh, err := NewEngine[float64](opt)
		if err != nil {
			return err
		}
		found, err := fresh.moments(m.drawn(e.opt.Team, total, root, centre, random), nil, nil)
		if err != nil {
			return err
		}
		values.add(found.Measures.of)
	}
	r.Null = values.ranges(draws)
	return nil
}

// centre returns the mean of all samples.
func (m *Moments) centre() []float64 {
	centre, n := make([]float64, m.D), 0
	for c, count := range m.Count {
		axpy(centre, float64(count), m.Mean[c*m.D:][:m.D])
		n += count
	}
	scale(centre, 1/float64(n))
	return centre
}

// total returns N·T (D×D): the scatter of all samples around their mean.
func (m *Moments) total(team *parallel.Team) []float64 {
	out, centre := slices.Clone(m.Pooled), m.centre()
	apart := make([]float64, m.K*m.D)
	for c, n := range m.Count {
		row := apart[c*m.D:][:m.D]
		rows.SubRow(row, m.Mean[c*m.D:][:m.D], centre)
		scale(row, math.Sqrt(float64(n)))
	}
	gemm.Multiply(team, gemm.TN, kernel.Dense(m.K, m.D, apart), kernel.Dense(m.K, m.D, apart), kernel.Dense(m.D, m.D, out), gemm.Epilogue[float64]{Accumulate: true})
	return out
}

// choleskyRoot returns a lower triangular L with L Lᵀ = a, up to 10⁻¹² of its trace on the diagonal, which makes scatter of fewer
// samples than coordinates positive definite; nil if a is zero.
func choleskyRoot(a []float64, d int) []float64 {
	root, trace := slices.Clone(a), 0.0
	for i := range d {
		trace += a[i*d+i]
	}
	for i := range d {
		root[i*d+i] += 1e-12 * trace
	}
	if !(trace > 0) || !lowerFactor(root, d) {
		return nil
	}
	return root
}

// drawn returns moments as shuffled labels may give them.
func (m *Moments) drawn(team *parallel.Team, total, root, centre []float64, random *rand.Rand) *Moments {
	n := 0
	for _, count := range m.Count {
		n += count
	}
	all := 0.0
	for i := range m.D {
		all += total[i*m.D+i]
	}
	z, means := make([]float64, m.K*m.D), make([]float64, m.K*m.D)
	for i := range z {
		z[i] = random.NormFloat64()
	}
	gemm.Multiply(team, gemm.NT, kernel.Dense(m.K, m.D, z), kernel.Dense(m.D, m.D, root), kernel.Dense(m.K, m.D, means), gemm.Epilogue[float64]{})
	out := &Moments{K: m.K, D: m.D, Count: m.Count, Mean: means, Scatter: make([]float64, m.K), Pooled: slices.Clone(total), Spread: m.Spread, Float32: m.Float32}
	for c, count := range m.Count { // root is that of N·T
		scale(means[c*m.D:][:m.D], 1/math.Sqrt(float64(n-1)*float64(count)))
	}
	off := out.centre()
	for c, count := range m.Count {
		row := means[c*m.D:][:m.D]
		axpy(row, -1, off)
		copy(z[c*m.D:], row)
		scale(z[c*m.D:][:m.D], math.Sqrt(float64(count)))
		axpy(row, 1, centre)
	}
	taken := z // Σ n_k c_k c_kᵀ leaves N·T
	negative := slices.Clone(taken)
	scale(negative, -1)
	gemm.Multiply(team, gemm.TN, kernel.Dense(m.K, m.D, negative), kernel.Dense(m.K, m.D, taken), kernel.Dense(m.D, m.D, out.Pooled), gemm.Epilogue[float64]{Accumulate: true})
	for c, count := range m.Count {
		if count > 1 {
			row := z[c*m.D:][:m.D] // times √n_k
			out.Scatter[c] = max(0, float64(count)/float64(n)*all-dot(row, row))
		}
	}
	return out
}
