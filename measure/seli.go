package measure

import (
	"fmt"
	"math"
	"slices"

	"collapse/internal/kernel"
	"collapse/internal/kernel/gemm"
)

// mostSELI is the number of classes up to which the geometry of different class sizes is found: it holds a few K×K matrices.
const mostSELI = 4096

// seli is the geometry that interpolates simplex-encoded labels (Thrampoulidis et al. 2022) for classes of n_k samples, N = diag(n_k):
// products of classifiers (P N P)^½ and of class means its pseudo-inverse, P = I − 11ᵀ/K, both divided by their norms. For equal
// n_k both are the simplex ETF.
type seli struct {
	classifier, means []float64 // (K×K); nil: equal classes
	rounding          float64   // of the matrix of means, which is the larger
}

// newSELI forms (P N P)^½ = Q B^½ Qᵀ and Q B^−½ Qᵀ with B = QᵀNQ, Q an orthonormal basis of the complement of 1: B is positive definite,
// so that no root is taken of rounding. ok is false if the eigenvalues are not found.
func (g *geometry) newSELI(counts []int) (s seli, ok bool) {
	k := len(counts)
	least, most := slices.Min(counts), slices.Max(counts)
	if least == most {
		return seli{}, true
	}
	basis := helmert(k)
	scaled := make([]float64, k*(k-1))
	for i, n := range counts {
		axpy(scaled[i*(k-1):][:k-1], float64(n)/float64(most), basis[i*(k-1):][:k-1])
	}
	b := make([]float64, (k-1)*(k-1))
	gemm.Multiply(g.team, gemm.TN, kernel.Dense(k, k-1, basis), kernel.Dense(k, k-1, scaled), kernel.Dense(k-1, k-1, b), gemm.Epilogue[float64]{})
	values, vectors, ok := eigen(b, k-1)
	if !ok {
		return seli{}, false
	}
	turned := make([]float64, k*(k-1)) // Q V
	gemm.Multiply(g.team, gemm.NT, kernel.Dense(k, k-1, basis), kernel.Dense(k-1, k-1, vectors), kernel.Dense(k, k-1, turned), gemm.Epilogue[float64]{})
	power := func(exponent float64) []float64 {
		for i := range k {
			for j, v := range values {
				scaled[i*(k-1)+j] = turned[i*(k-1)+j] * math.Pow(v, exponent)
			}
		}
		out := make([]float64, k*k)
		gemm.Multiply(g.team, gemm.NT, kernel.Dense(k, k-1, scaled), kernel.Dense(k, k-1, turned), kernel.Dense(k, k, out), gemm.Epilogue[float64]{})
		scale(out, 1/norm(out))
		return out
	}
	return seli{classifier: power(.5), means: power(-.5), rounding: .5 * roundoff64 * math.Sqrt(float64(k)) * float64(most) / float64(least)}, true
}

// helmert returns an orthonormal basis of the complement of 1 as columns (K×(K−1)).
func helmert(k int) []float64 {
	q := make([]float64, k*(k-1))
	for j := 1; j < k; j++ {
		root := math.Sqrt(float64(j) * float64(j+1))
		for i := range j {
			q[i*(k-1)+j-1] = 1 / root
		}
		q[j*(k-1)+j-1] = -float64(j) / root
	}
	return q
}

// seliDistances fills the distances of classifier and class means from the geometry of the class sizes.
func (g *geometry) seliDistances(b *builder, s shape) {
	keys := []string{KeyNC2WSELI, KeyNC2MeansSELI}
	if s.head == nil {
		b.miss(KeyNC2WSELI, noWeights)
	}
	switch equal := s.empty < 0 && slices.Min(s.counts) == slices.Max(s.counts); {
	case s.empty >= 0:
		b.missAll(emptyReason(s.empty), keys...)
		return
	case s.k < 2:
		b.missAll(oneClass, keys...)
		return
	case !b.any(keys...):
		return
	case s.k > mostSELI && !equal:
		b.missAll(fmt.Sprintf("more than %d classes of different sizes", mostSELI), keys...)
		return
	case !equal && !b.pays(eigenWork(s.k)):
		for _, key := range keys {
			b.missExpensive(key, eigenWork(s.k))
		}
		return
	}
	target, ok := g.newSELI(s.counts)
	if !ok {
		b.missAll("the eigenvalue iteration failed", keys...)
		return
	}
	if h := s.head; h != nil {
		if norm(h.centred) > float64(s.k)*eps64*norm(h.w) {
			g.putSELI(b, KeyNC2WSELI, h.centred, target.classifier, target.rounding, s)
		} else {
			b.miss(KeyNC2WSELI, "all rows of W are the same")
		}
	}
	if !(dot(s.centred[:s.k*s.d], s.centred) > s.floor) {
		b.miss(KeyNC2MeansSELI, "the class means coincide")
		return
	}
	g.putSELI(b, KeyNC2MeansSELI, aroundTheirMean(s.centred, s.k, s.d), target.means, target.rounding, s)
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
func (g *geometry) putSELI(b *builder, key string, rows, target []float64, rounding float64, s shape) {
	m := g.gram.of(g.team, rows, rows, s.k, s.d)
	f := m.frobenius()
	if target == nil {
		b.put(key, m.toETF(f))
		return
	}
	b.put(key, math.Sqrt(m.sum(func(i int, row []float64) (sum float64) {
		for j, x := range row {
			x = x/f - target[i*s.k+j]
			sum += x * x
		}
		return sum
	})))
	b.blur(key, rounding)
}
