package measure

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// alignment fills the mean cosine of the principal angles between the row space of W − 1w_Gᵀ and the span of the centred means:
// ‖V_WᵀU_M‖_*/(K−1) with orthonormal bases of both (Björck & Golub 1973). Both have K−1 dimensions, or it is undefined: part
// of a basis would be chosen by rounding.
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
		b.missDear(KeyWMeanAlignment, work)
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
	var product mat.Dense
	product.Mul(rows.T(), means)
	var svd mat.SVD
	if !svd.Factorize(&product, mat.SVDNone) {
		b.miss(KeyWMeanAlignment, "the singular value iteration failed")
		return
	}
	sum := 0.0
	for _, cosine := range svd.Values(nil) {
		sum += min(cosine, 1)
	}
	b.put(KeyWMeanAlignment, sum/float64(r))
}

// spanOf returns an orthonormal basis (d×(K−1)) of the span of the rows of x (K×d), which add up to zero with some weights;
// false unless K−1 singular values are above rounding: max(K,d)·2⁻⁵² times the largest, and the root of floor.
func spanOf(x []float64, k, d int, floor float64) (*mat.Dense, bool) {
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(k, d, append([]float64(nil), x[:k*d]...)), mat.SVDThin) {
		return nil, false
	}
	s := svd.Values(nil)
	least := s[k-2]
	if !(least > float64(max(k, d))*eps64*s[0] && least*least > floor) {
		return nil, false
	}
	var v mat.Dense
	svd.VTo(&v)
	return mat.DenseCopyOf(v.Slice(0, d, 0, k-1)), true
}
