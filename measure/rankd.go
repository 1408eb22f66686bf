package measure

import (
	"fmt"
	"math"
)

// eigenWork estimates the operations that the eigenvalues of an n×n matrix cost.
func eigenWork(n int) float64 { return 25 * float64(n) * float64(n) * float64(n) }

// rankD fills min over projections Q (Q1 = 0, rank d) of ‖U(G) − Q/√d‖ = √(2 − (2/√d) Σ of the d largest
// eigenvalues of P sym(U(G)) P), defined for d < K−1; f = ‖G‖.
func rankD(b *builder, key string, g *gram, f float64) {
	k := g.k
	if g.d >= k-1 {
		b.miss(key, fmt.Sprintf("d = %d is not below K−1 = %d: the full ETF exists", g.d, k-1))
		return
	}
	if !b.any(key) {
		return
	}
	if work := eigenWork(k); !b.pays(work) {
		b.missDear(key, work)
		return
	}
	if k*k > tileElements {
		b.miss(key, "too many classes for a dense eigenvalue problem")
		return
	}
	g.fill(0, k)
	a := make([]float64, k*k)
	for i := range k {
		for j := range k {
			a[i*k+j] = (g.tile[i*k+j] + g.tile[j*k+i]) / (2 * f)
		}
	}
	centreBoth(a, k)
	values, ok := eigenvalues(a, k)
	if !ok {
		b.miss(key, "the eigenvalue iteration failed")
		return
	}
	sum := 0.0
	for _, v := range values[:g.d] {
		sum += v
	}
	b.put(key, math.Sqrt(max(0, 2-2/math.Sqrt(float64(g.d))*sum)))
}

// centreBoth replaces a (K×K, symmetric) by P a P, P = I − 11ᵀ/K.
func centreBoth(a []float64, k int) {
	mean := make([]float64, k)
	total := 0.0
	for i := range k {
		for _, x := range a[i*k:][:k] {
			mean[i] += x / float64(k)
		}
		total += mean[i] / float64(k)
	}
	for i := range k {
		for j := range k {
			a[i*k+j] += total - mean[i] - mean[j]
		}
	}
}
