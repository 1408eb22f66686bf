package measure

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/spectrum"
)

// alignment fills the mean cosine of the principal angles between the row space of W − 1w_Gᵀ and the span of the centred means:
// ‖V_WᵀU_M‖_*/(K−1) with orthonormal bases of both (Björck & Golub 1973). It is undefined unless both have K−1 dimensions:
// rounding would choose part of a basis.
func (g *geometry) alignment(b *builder, s shape) {
	if !b.any(KeyWMeanAlignment) {
		return
	}
	r := s.k - 1
	if s.d <= r {
		b.miss(KeyWMeanAlignment, fmt.Sprintf("d = %d is not above K−1 = %d: both span all directions", s.d, r))
		return
	}
	if work := 30 * float64(s.k) * float64(s.k) * float64(s.d); !b.pays(work) {
		b.missExpensive(KeyWMeanAlignment, work)
		return
	}
	if product, ok := g.whitenedProduct(s.head.centred, s.centred, s.k, s.d); ok {
		b.putAlignment(product, r)
		return
	}
	rows, ok := spanOf(s.head.centred, s.k, s.d, 0)
	if !ok {
		b.miss(KeyWMeanAlignment, "the rows of W span less than K−1 directions around their mean")
		return
	}
	means, ok := spanOf(s.centred, s.k, s.d, dot(s.rounding.mean, s.rounding.mean))
	if !ok {
		b.miss(KeyWMeanAlignment, "the class means span less than K−1 directions around their centre")
		return
	}
	b.putAlignment(product(blas.NoTrans, blas.Trans, r, s.d, r, rows, means), r)
}

// putAlignment fills the mean of the r singular values of the product of two orthonormal bases.
func (b *builder) putAlignment(product []float64, r int) {
	cosines, _, ok := spectrum.Singular(product, r, r, false)
	if !ok {
		b.miss(KeyWMeanAlignment, "the singular value iteration failed")
		return
	}
	sum := 0.0
	for _, cosine := range cosines {
		sum += min(cosine, 1)
	}
	b.put(KeyWMeanAlignment, sum/float64(r))
}

// wellSpanned is the least ratio of the extreme eigenvalues of a Gram matrix at which it gives an orthonormal basis as exactly
// as singular values do, up to two digits.
const wellSpanned = 1e-4

// whitenedProduct returns the product of orthonormal bases of the row spaces of x and y (K×d), each of K−1 dimensions, from
// K×K matrices only; false unless both are well conditioned.
func (g *geometry) whitenedProduct(x, y []float64, k, d int) ([]float64, bool) {
	a, ok := g.whitening(x, k, d)
	if !ok {
		return nil, false
	}
	b, ok := g.whitening(y, k, d)
	if !ok {
		return nil, false
	}
	cross := make([]float64, k*k)
	gemm.Multiply(g.team, gemm.NT, kernel.Dense(k, d, x), kernel.Dense(k, d, y), kernel.Dense(k, k, cross), gemm.Epilogue[float64]{})
	left := product(blas.NoTrans, blas.NoTrans, k-1, k, k, a, cross)
	return product(blas.NoTrans, blas.Trans, k-1, k, k-1, left, b), true
}

// product returns A·B (m×n) of matrices in rows, either of which may be given transposed; inner is the number that they share.
func product(a, b blas.Transpose, m, inner, n int, x, y []float64) []float64 {
	form := func(t blas.Transpose, rows, columns int, data []float64) blas64.General {
		if t == blas.Trans {
			rows, columns = columns, rows
		}
		return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
	}
	out := make([]float64, m*n)
	blas64.Gemm(a, b, 1, form(a, m, inner, x), form(b, inner, n, y), 0, form(blas.NoTrans, m, n, out))
	return out
}

// whitening returns A (K−1×K) with A x of orthonormal rows, for x (K×d).
func (g *geometry) whitening(x []float64, k, d int) ([]float64, bool) {
	gram := make([]float64, k*k)
	gemm.Multiply(g.team, gemm.NT, kernel.Dense(k, d, x), kernel.Dense(k, d, x), kernel.Dense(k, k, gram), gemm.Epilogue[float64]{})
	values, vectors, ok := eigen(gram, k)
	if !ok || !(values[k-2] > wellSpanned*values[0]) {
		return nil, false
	}
	for j, v := range values[:k-1] {
		scale(vectors[j*k:][:k], 1/math.Sqrt(v))
	}
	return vectors[:(k-1)*k], true
}

// spanOf returns an orthonormal basis ((K−1)×d) of the span of the rows of x (K×d), which add up to zero with some weights;
// false unless K−1 singular values are above rounding: max(K,d)·2⁻⁵² times the largest, and the root of floor.
func spanOf(x []float64, k, d int, floor float64) ([]float64, bool) {
	s, basis, ok := spectrum.Singular(append([]float64(nil), x[:k*d]...), k, d, true)
	if !ok {
		return nil, false
	}
	least := s[k-2]
	if !(least > float64(max(k, d))*eps64*s[0] && least*least > floor) {
		return nil, false
	}
	return basis[:(k-1)*d], true
}
