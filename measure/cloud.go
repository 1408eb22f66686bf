package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	kernelrows "collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

// cloud forms Gram matrices of the training samples: Σ_W of the residuals h − μ_k, Σ_B of the centred means, and Σ_T = Σ_W + Σ_B,
// in the weighting of the registry. Products are only of residuals or centred means, never of raw features.
type cloud[T kernel.Float] struct {
	team   *parallel.Team
	s      *samples[T]
	im     Imbalance
	within []float64 // (d×d) Σ_W; nil in the short form
	total  []float64 // (d×d) Σ_T = AᵀA, A the weighted residuals and centred means; in the short form AAᵀ (m×m)
	short  []float64 // (m×d) A, m = n + K, if that has fewer rows than columns; else nil
	size   int       // of total: d or m

	rows, turned []float64 // a block of rows, and the same times a basis
	buf          []T
}

// run fills total, and within or short.
func (c *cloud[T]) run(team *parallel.Team, s *samples[T], im Imbalance) error {
	c.team, c.s, c.im = team, s, im
	d := s.d
	if m := s.n + s.k; m < d {
		return c.fillShort(m)
	}
	c.size, c.within, c.total = d, make([]float64, d*d), make([]float64, d*d)
	if err := c.addWithin(c.within, nil, nil, d); err != nil {
		return err
	}
	copy(c.total, c.within)
	c.addBetween(c.total, nil, nil, d)
	return nil
}

// fillShort fills the short form.
func (c *cloud[T]) fillShort(m int) error {
	s, d := c.s, c.s.d
	c.size, c.short, c.total, c.buf = m, make([]float64, 0, m*d), make([]float64, m*m), grow(c.buf, d)
	for i, class := range s.class {
		if class < 0 {
			continue
		}
		row, err := s.src.Read(c.buf, i, i+1)
		if err != nil {
			return err
		}
		c.short = c.short[:len(c.short)+d]
		x := c.short[len(c.short)-d:]
		kernelrows.SubRow(x, row, s.mean(int(class)))
		scale(x, c.weight(int(class)))
	}
	from := len(c.short)
	c.short = append(c.short, s.centred[:s.k*d]...)
	scale(c.short[from:], 1/math.Sqrt(float64(s.k)))
	gemm.Multiply(c.team, gemm.NT, kernel.Dense(m, d, c.short), kernel.Dense(m, d, c.short), kernel.Dense(m, m, c.total), gemm.Epilogue[float64]{})
	return nil
}

// leading returns the unit eigenvectors of Σ_T (rows, ·×d) in descending order of eigenvalues; false if the iteration
// fails.
func (c *cloud[T]) leading(r int) (values, vectors []float64, ok bool) {
	values, vectors, ok = eigen(c.total, c.size)
	if !ok || c.short == nil || r > c.size {
		return values, vectors, ok
	}
	return values, c.long(vectors, r), true
}

// long returns the unit vectors (rows r×d) that belong to left singular vectors of the short form.
func (c *cloud[T]) long(left []float64, r int) []float64 {
	d := c.s.d
	out := rowsTimes(left[:r*c.size], c.short, r, c.size, d)
	for j := range r {
		if length := norm(out[j*d:][:d]); length > 0 {
			scale(out[j*d:][:d], 1/length)
		}
	}
	return out
}

// addWithin adds (RBᵀ)ᵀ(RBᵀ) to out (q×q), RᵀR = Σ_W with coordinates multiplied by by (nil: 1), B rows (q×d) (nil: identity).
func (c *cloud[T]) addWithin(out, by, basis []float64, q int) error {
	s, d := c.s, c.s.d
	block := max(256, blockRows(d))
	c.rows, c.buf = grow(c.rows, block*d), grow(c.buf, block*d)
	for at := 0; at < s.rows; at += block {
		end := min(at+block, s.rows)
		rows, err := s.src.Read(c.buf, at, end)
		if err != nil {
			return err
		}
		m := 0
		for i, class := range s.class[at:end] {
			if class >= 0 {
				x := c.rows[m*d:][:d]
				kernelrows.SubRow(x, rows[i*d:][:d], s.mean(int(class)))
				scale(x, c.weight(int(class)))
				m++
			}
		}
		c.add(out, c.rows[:m*d], by, basis, q)
	}
	return nil
}

// weight is the root of a sample's weight.
func (c *cloud[T]) weight(class int) float64 {
	if c.im == PerClass {
		return 1 / math.Sqrt(float64(c.s.k)*float64(c.s.count[class]))
	}
	return 1 / math.Sqrt(float64(c.s.n))
}

// addBetween adds the same for the centred means times K^−½: CᵀC/K = Σ_B.
func (c *cloud[T]) addBetween(out, by, basis []float64, q int) {
	s := c.s
	c.rows = append(c.rows[:0], s.centred[:s.k*s.d]...)
	scale(c.rows, 1/math.Sqrt(float64(s.k)))
	c.add(out, c.rows, by, basis, q)
}

// add adds (XBᵀ)ᵀ(XBᵀ) of the rows x, which it overwrites.
func (c *cloud[T]) add(out, x, by, basis []float64, q int) {
	d := c.s.d
	m := len(x) / d
	for i := range m {
		for j, f := range by {
			x[i*d+j] *= f
		}
	}
	if basis != nil {
		c.turned = grow(c.turned, m*q)
		gemm.Multiply(c.team, gemm.NT, kernel.Dense(m, d, x), kernel.Dense(q, d, basis), kernel.Dense(m, q, c.turned), gemm.Epilogue[float64]{})
		x = c.turned
	}
	gemm.Multiply(c.team, gemm.TN, kernel.Dense(m, q, x), kernel.Dense(m, q, x), kernel.Dense(q, q, out), gemm.Epilogue[float64]{Accumulate: true})
}

// cloudKeys are the measures that need a cloud, layerKeys those of them that need no out-of-distribution features.
var (
	cloudKeys = keysOf(func(d *Definition) bool { return d.needs.any(needCovariance) })
	layerKeys = keysOf(func(d *Definition) bool { return d.needs.any(needCovariance) && !d.needs.any(needOOD) })
)

// cloudWork estimates the operations of a cloud of n samples and k means and of one decomposition.
func cloudWork(n, k, d int) float64 {
	size := min(n+k, d)
	return 2*float64(n+k)*float64(d)*float64(size) + 2*eigenWork(size)
}

// clouds fills the measures that need Σ_T; ood says that there are out-of-distribution features.
func (e *Engine[T]) clouds(b *builder, h *head, in *Input[T]) error {
	s := &e.train
	keys := cloudKeys
	if in.OOD == nil {
		keys = layerKeys
	}
	var c *cloud[T]
	switch work := cloudWork(s.n, s.k, s.d); {
	case !b.any(keys...):
	case !b.pays(work):
		for _, key := range keys {
			b.missExpensive(key, work)
		}
	default:
		c = &cloud[T]{}
		if err := c.run(e.opt.Team, s, e.opt.Imbalance); err != nil {
			return err
		}
		layerRanks(b, c.total, c.size)
		if err := e.vci(b, c); err != nil {
			return err
		}
	}
	if in.OOD == nil {
		return nil
	}
	return e.oodScores(b, h, c, in.Test.Features != nil && e.test.n > 0)
}

// leastShare is the share of the largest eigenvalue above which Masarczyk et al. 2023 count an eigenvalue.
const leastShare = 1e-3

// layerRanks fills the ranks of all features together.
func layerRanks(b *builder, total []float64, size int) {
	if !b.any(KeyFeatureRank, KeyFeatureStableRank) {
		return
	}
	values, ok := eigenvalues(total, size)
	if !ok {
		b.missAll("the eigenvalue iteration failed", KeyFeatureRank, KeyFeatureStableRank)
		return
	}
	if !(values[0] > 0) {
		b.missAll("all features are the same", KeyFeatureRank, KeyFeatureStableRank)
		return
	}
	rank, trace := 0, 0.0
	for j, v := range values {
		trace += total[j*size+j]
		if v > leastShare*values[0] {
			rank++
		}
	}
	b.put(KeyFeatureRank, float64(rank))
	b.put(KeyFeatureStableRank, trace/values[0])
}
