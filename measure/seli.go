package measure

import (
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// mostSizes is the number of different class sizes up to which their geometry is found: it holds a few square matrices of that size.
const mostSizes = 4096

// classSizes are the different numbers of samples of classes, in ascending order.
type classSizes struct {
	sizes   []int
	classes []int // how many have this size
	of      []int // (K) the place of a class's size
}

func newClassSizes(counts []int) (c classSizes) {
	c.sizes = slices.Compact(slices.Sorted(slices.Values(counts)))
	c.classes, c.of = make([]int, len(c.sizes)), make([]int, len(counts))
	for k, n := range counts {
		at, _ := slices.BinarySearch(c.sizes, n)
		c.of[k] = at
		c.classes[at]++
	}
	return c
}

// sizeProducts is a K×K matrix of norm 1 whose entries depend on the sizes of two classes, with own added on the diagonal.
type sizeProducts struct {
	classSizes
	between  []float64 // (J×J)
	own      []float64 // (J)
	rounding float64   // of the matrix
}

func (p *sizeProducts) at(i, j int) float64 {
	x := p.between[p.of[i]*len(p.sizes)+p.of[j]]
	if i == j {
		x += p.own[p.of[i]]
	}
	return x
}

// seli returns the products of classifiers and of class means that interpolate simplex-encoded labels (Thrampoulidis et al. 2022): with N =
// diag(n_k) and P = I − 11ᵀ/K, (P N P)^½ and its pseudo-inverse, both divided by their norms. ok is false if eigenvalues are not found.
//
// On vectors that sum to 0 within one size n and vanish elsewhere, P N P is n. On the rest, spanned by u_j = 1/√K_j on the K_j classes of size n_j, it is
// the J×J matrix p N p with p the projection from Σ√K_j u_j: with Q an orthonormal basis of that complement, Q(QᵀNQ)^±½Qᵀ, so that no
// root is taken of a zero eigenvalue.
func (g *geometry) seli(c classSizes) (classifier, means sizeProducts, ok bool) {
	j := len(c.sizes)
	q, scaled := c.complement(), make([]float64, j*(j-1))
	for i, n := range c.sizes {
		axpy(scaled[i*(j-1):][:j-1], float64(n), q[i*(j-1):][:j-1])
	}
	b, turned := make([]float64, (j-1)*(j-1)), make([]float64, j*(j-1))
	gemm.Multiply(g.team, gemm.TN, kernel.Dense(j, j-1, q), kernel.Dense(j, j-1, scaled), kernel.Dense(j-1, j-1, b), gemm.Epilogue[float64]{})
	values, vectors, ok := eigen(b, j-1)
	if !ok {
		return sizeProducts{}, sizeProducts{}, false
	}
	gemm.Multiply(g.team, gemm.NT, kernel.Dense(j, j-1, q), kernel.Dense(j-1, j-1, vectors), kernel.Dense(j, j-1, turned), gemm.Epilogue[float64]{})
	power := func(exponent float64) sizeProducts {
		for i := range j {
			for l, v := range values {
				scaled[i*(j-1)+l] = turned[i*(j-1)+l] * math.Pow(v, exponent)
			}
		}
		m := make([]float64, j*j)
		gemm.Multiply(g.team, gemm.NT, kernel.Dense(j, j-1, scaled), kernel.Dense(j, j-1, turned), kernel.Dense(j, j, m), gemm.Epilogue[float64]{})
		return c.products(m, exponent)
	}
	return power(.5), power(-.5), true
}

// complement returns an orthonormal basis of the complement of (√K_j), as columns (J×(J−1)): a reflection without its first column.
func (c *classSizes) complement() []float64 {
	j := len(c.sizes)
	v := make([]float64, j)
	for i, n := range c.classes {
		v[i] = math.Sqrt(float64(n) / float64(len(c.of)))
	}
	v[0]++ // of the same sign, so that nothing cancels
	size := dot(v, v)
	q := make([]float64, j*(j-1))
	for i := range j {
		for l := 1; l < j; l++ {
			q[i*(j-1)+l-1] = -2 * v[i] * v[l] / size
			if i == l {
				q[i*(j-1)+l-1]++
			}
		}
	}
	return q
}

// products returns the K×K matrix that is m between the u_j and n_j^exponent within sizes, divided by its norm.
func (c *classSizes) products(m []float64, exponent float64) sizeProducts {
	j := len(c.sizes)
	p := sizeProducts{classSizes: *c, between: m, own: make([]float64, j)}
	square := dot(m, m)
	for i, n := range c.sizes {
		p.own[i] = math.Pow(float64(n), exponent)
		square += float64(c.classes[i]-1) * p.own[i] * p.own[i]
	}
	inverse := 1 / math.Sqrt(square)
	for i := range j {
		p.own[i] *= inverse
		for l := range j {
			m[i*j+l] *= inverse / math.Sqrt(float64(c.classes[i])*float64(c.classes[l]))
		}
		m[i*j+i] -= p.own[i] / float64(c.classes[i])
	}
	p.rounding = roundoff64 * math.Sqrt(float64(j)) * float64(c.sizes[j-1]) / float64(c.sizes[0])
	return p
}

// seliDistances fills the distances of classifier and class means from the geometry of the class sizes; for equal sizes that is the simplex ETF.
func (g *geometry) seliDistances(b *builder, s shape) {
	keys := []string{KeyNC2WSELI, KeyNC2MeansSELI}
	if s.k < 2 || !b.any(keys...) {
		return
	}
	c := newClassSizes(s.counts)
	if work := eigenWork(len(c.sizes)); len(c.sizes) > mostSizes {
		b.missAll(fmt.Sprintf("more than %d different sizes of classes", mostSizes), keys...)
		return
	} else if !b.pays(work) {
		for _, key := range keys {
			b.missExpensive(key, work)
		}
		return
	}
	var classifier, means *sizeProducts
	if len(c.sizes) > 1 {
		w, m, ok := g.seli(c)
		if !ok {
			b.missAll("the eigenvalue iteration failed", keys...)
			return
		}
		classifier, means = &w, &m
	}
	g.fromSELI(b, s, classifier, means)
}

func (g *geometry) fromSELI(b *builder, s shape, classifier, means *sizeProducts) {
	if h := s.head; h != nil && norm(h.centred) > float64(s.k)*eps64*norm(h.w) {
		g.putSELI(b, KeyNC2WSELI, h.centred, classifier, s)
	} else if h != nil {
		b.miss(KeyNC2WSELI, "all rows of W are the same")
	}
	if s.unmet(needApart) == "" {
		g.putSELI(b, KeyNC2MeansSELI, aroundTheirMean(s.centred, s.k, s.d), means, s)
	}
}

// aroundTheirMean returns rows (K×d) less their mean.
func aroundTheirMean(rows []float64, k, d int) []float64 {
	mean, out := make([]float64, d), append([]float64(nil), rows[:k*d]...)
	for i := range k {
		axpy(mean, 1/float64(k), rows[i*d:][:d])
	}
	for i := range k {
		axpy(out[i*d:][:d], -1, mean)
	}
	return out
}

// putSELI fills ‖U(RRᵀ) − T‖ of rows R; T nil is the simplex ETF.
func (g *geometry) putSELI(b *builder, key string, rows []float64, target *sizeProducts, s shape) {
	m := g.gram.of(g.team, rows, rows, s.k, s.d)
	f := m.frobenius()
	if target == nil {
		b.put(key, m.toETF(f))
		return
	}
	b.put(key, math.Sqrt(m.sum(func(i int, row []float64) (sum float64) {
		for j, x := range row {
			x = x/f - target.at(i, j)
			sum += x * x
		}
		return sum
	})))
	b.blur(key, target.rounding)
}
