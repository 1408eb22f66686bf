package measure

import (
	"math"
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/parallel"
)

// labelDraw draws moments as labels shuffled over N samples may give them.
//
// The farthest rows get labels one by one, without replacement. Of the other n samples only mean b and covariance R (divisor n) are known:
// their class means have covariance R n/(n−1) (δ_kl/n_k − 1/n) and are near normal. So they are drawn at random: b + g_k − Σ_l n_l g_l/n
// with g_k normal of covariance R n/((n−1) n_k). The scatter within classes is N·T, that of all samples, minus that of the means.
type labelDraw struct {
	m       *Moments
	total   []float64 // (D×D) N·T
	centre  []float64 // (D) mean of all samples
	far     []float64 // (rows×D) the farthest rows minus the centre
	others  int       // n
	mean    []float64 // (D) b minus the centre
	root    []float64 // (D×D) lower triangular, of n·R; nil if n < 2
	squares float64   // of the others about the centre
}

// newLabelDraw returns nil if all samples are one point, or the farthest rows do not belong to the scatter.
func newLabelDraw(team *parallel.Team, m *Moments) *labelDraw {
	l := &labelDraw{m: m, total: m.total(team), centre: m.centre(), mean: make([]float64, m.D)}
	for _, n := range m.Count {
		l.others += n
	}
	trace := 0.0
	for i := range m.D {
		trace += l.total[i*m.D+i]
	}
	l.squares = trace
	if m.knowsFar() {
		l.far = relative(m.Far, l.centre)
	}
	rest := slices.Clone(l.total)
	for at := 0; at < len(l.far); at += m.D {
		row := l.far[at:][:m.D]
		l.others--
		l.squares -= dot(row, row)
		axpy(l.mean, -1, row)
	}
	subtractOuter(team, rest, l.far, m.D)
	if l.others > 0 {
		scale(l.mean, 1/float64(l.others))
		off := slices.Clone(l.mean)
		scale(off, math.Sqrt(float64(l.others)))
		subtractOuter(team, rest, off, m.D)
	}
	if l.others > 1 {
		l.root = choleskyRoot(rest, m.D, trace)
	}
	if !(trace > 0) || !(l.squares >= -1e-9*trace) || l.others > 1 && l.root == nil {
		return nil
	}
	return l
}

// subtractOuter subtracts xᵀ x from a (d×d).
func subtractOuter(team *parallel.Team, a, x []float64, d int) {
	negative := slices.Clone(x)
	scale(negative, -1)
	if n := len(x) / d; n > 0 {
		gemm.Multiply(team, gemm.TN, kernel.Dense(n, d, negative), kernel.Dense(n, d, x), kernel.Dense(d, d, a), gemm.Epilogue[float64]{Accumulate: true})
	}
}

// choleskyRoot returns a lower triangular L with L Lᵀ = a, up to 10⁻¹² of the trace of all on the diagonal, which makes scatter of fewer
// samples than coordinates positive definite; nil if it does not.
func choleskyRoot(a []float64, d int, trace float64) []float64 {
	root := slices.Clone(a)
	for i := range d {
		root[i*d+i] += 1e-12 * trace
	}
	if !lowerFactor(root, d) {
		return nil
	}
	return root
}

// draw returns moments of shuffled labels.
func (l *labelDraw) draw(team *parallel.Team, random *rand.Rand) *Moments {
	m, d := l.m, l.m.D
	out := &Moments{K: m.K, D: d, Count: m.Count, Spread: m.Spread, Float32: m.Float32, Scatter: make([]float64, m.K), Pooled: slices.Clone(l.total)}
	z := make([]float64, m.K*d)
	for i := range z {
		z[i] = random.NormFloat64()
	}
	others := slices.Clone(m.Count)
	sums := l.sumsOfFar(others, out.Scatter, random)
	l.addOthers(team, others, sums, out.Scatter, z)
	apart := z // √n_k times the distances of the means from the centre
	for c, n := range m.Count {
		mean, row := sums[c*d:][:d], apart[c*d:][:d]
		scale(mean, 1/float64(n))
		copy(row, mean)
		scale(row, math.Sqrt(float64(n)))
		axpy(mean, 1, l.centre)
		out.Scatter[c] = max(0, out.Scatter[c]-dot(row, row))
		if n < 2 {
			out.Scatter[c] = 0
		}
	}
	out.Mean = sums
	subtractOuter(team, out.Pooled, apart, d)
	return out
}

// sumsOfFar gives the farthest rows to classes, takes them off the counts, adds their squares, and returns their class sums (K×D).
func (l *labelDraw) sumsOfFar(counts []int, squares []float64, random *rand.Rand) []float64 {
	d := l.m.D
	sums, left := make([]float64, l.m.K*d), l.others+len(l.far)/d
	for at := 0; at < len(l.far); at += d {
		c := 0
		for i := random.IntN(left); i >= counts[c]; c++ {
			i -= counts[c]
		}
		counts[c]--
		left--
		row := l.far[at:][:d]
		axpy(sums[c*d:][:d], 1, row)
		squares[c] += dot(row, row)
	}
	return sums
}

// addOthers adds the sums of the other samples, of which each class has a number, and their squares; z (K×D) are normal numbers.
func (l *labelDraw) addOthers(team *parallel.Team, counts []int, sums, squares, z []float64) {
	d, n := l.m.D, float64(l.others)
	if l.others == 0 {
		return
	}
	drawn, off := make([]float64, len(z)), make([]float64, d)
	if l.root != nil {
		gemm.Multiply(team, gemm.NT, kernel.Dense(l.m.K, d, z), kernel.Dense(d, d, l.root), kernel.Dense(l.m.K, d, drawn), gemm.Epilogue[float64]{})
	}
	for c, count := range counts { // the sum of a class is n_c g_c
		scale(drawn[c*d:][:d], math.Sqrt(float64(count)/max(1, n-1)))
		axpy(off, 1/n, drawn[c*d:][:d])
	}
	for c, count := range counts {
		sum := sums[c*d:][:d]
		axpy(sum, 1, drawn[c*d:][:d])
		axpy(sum, float64(count), l.mean)
		axpy(sum, -float64(count), off)
		squares[c] += float64(count) / n * l.squares
	}
}
