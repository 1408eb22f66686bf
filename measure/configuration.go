package measure

import "math"

// supports fills the overlap of the supports of class means (M-D Def. 3.1).
func supports(b *builder, s shape) {
	if !b.any(KeyConfOverlap) {
		return
	}
	if work := 2 * float64(s.k) * float64(s.k) * float64(s.d); !b.pays(work) {
		b.missExpensive(KeyConfOverlap, work)
		return
	}
	overlap, ok := supportOverlap(s.means, s.k, s.d)
	if !ok {
		b.miss(KeyConfOverlap, "a class mean is zero")
		return
	}
	b.put(KeyConfOverlap, overlap)
}

// supportOverlap returns max over i<j of Σ_c min(|μ_ic|, |μ_jc|) / min(‖μ_i‖₁, ‖μ_j‖₁); false if a mean is zero.
func supportOverlap(means []float64, k, d int) (float64, bool) {
	size, sums := make([]float64, k*d), make([]float64, k)
	for i := range sums {
		for j, x := range means[i*d:][:d] {
			size[i*d+j] = math.Abs(x)
			sums[i] += math.Abs(x)
		}
		if !(sums[i] > 0) {
			return 0, false
		}
	}
	largest := 0.0
	for i := range k {
		a := size[i*d:][:d]
		for j := range i {
			shared := 0.0
			for c, y := range size[j*d:][:d] {
				shared += min(a[c], y)
			}
			largest = max(largest, shared/min(sums[i], sums[j]))
		}
	}
	return largest, true
}
