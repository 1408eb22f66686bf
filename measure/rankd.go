package measure

import (
	"fmt"
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// eigenWork estimates the operations that the eigenvalues of an n×n matrix cost.
func eigenWork(n int) float64 { return 25 * float64(n) * float64(n) * float64(n) }

// rankD fills min over projections Q (Q1 = 0, rank d) of ‖U(G) − Q/√d‖ = √(2 − (2/√d) Σ of the d largest
// eigenvalues of P sym(U(G)) P), defined for d < K−1; f = ‖G‖, G = A Bᵀ.
//
// For A = B that sum is tr(P A Aᵀ P), the whole trace (toProjection). Otherwise P sym(A Bᵀ) P has rank at most 2d,
// and its eigenvalues are those of a min(K, 2d)-sized matrix.
func rankD(b *builder, key string, g *gram, f float64) {
	if g.d >= g.k-1 {
		b.miss(key, fmt.Sprintf("d = %d is not below K−1 = %d: the full ETF exists", g.d, g.k-1))
		return
	}
	if !b.any(key) {
		return
	}
	if &g.a[0] == &g.b[0] {
		b.put(key, g.toProjection(f))
		return
	}
	size := min(g.k, 2*g.d)
	if work := eigenWork(size); !b.pays(work) {
		b.missExpensive(key, work)
		return
	}
	values, ok := g.symmetricEigenvalues(size)
	if !ok {
		b.miss(key, "the eigenvalue iteration failed")
		return
	}
	var sum float64
	for _, v := range values[:g.d] {
		sum += v / f
	}
	b.put(key, math.Sqrt(max(0, 2-2/math.Sqrt(float64(g.d))*sum)))
}

// toProjection returns the distance of U(AAᵀ) to the best Q/√d, which spans PA: with M = AᵀPA (d×d) and s = Aᵀ1, ‖M/f − I/√d‖² is
// the part within its span, and (2‖PAs‖² /K + (sᵀs/K)²)/f² the part outside. Nothing cancels if the distance is small.
func (g *gram) toProjection(f float64) float64 {
	d, k := g.d, float64(g.k)
	s, centred := g.rowSum(g.a), append([]float64(nil), g.a[:g.k*d]...)
	outside := 0.0
	for i := range g.k {
		row := centred[i*d:][:d]
		axpy(row, -1/k, s)
		x := dot(row, s)
		outside += 2 * x * x / k
	}
	outside += dot(s, s) / k * dot(s, s) / k
	m := make([]float64, d*d)
	squareInto(g.team, m, centred, g.k, d)
	inside := 0.0
	for i := range d {
		for j, x := range m[i*d:][:d] {
			x /= f
			if i == j {
				x -= 1 / math.Sqrt(float64(d))
			}
			inside += x * x
		}
	}
	return math.Sqrt(inside + outside/f/f)
}

// symmetricEigenvalues returns at least the d largest eigenvalues of P sym(A Bᵀ) P on the complement of 1, size = min(K, 2d).
// For size < K there are at least d that are not negative among those returned: J has as many positive as negative ones.
func (g *gram) symmetricEigenvalues(size int) ([]float64, bool) {
	if size == g.k {
		g.fill(0, g.k)
		a := make([]float64, g.k*g.k)
		for i := range g.k {
			for j := range g.k {
				a[i*g.k+j] = (g.tile[i*g.k+j] + g.tile[j*g.k+i]) / 2
			}
		}
		centreBoth(a, g.k)
		// Q1 = 0: direction 1 must not contribute its eigenvalue 0 if fewer than d others are positive, so it is moved below all
		// of them.
		below := 2 * norm(a) / float64(g.k)
		for i := range a {
			a[i] -= below
		}
		return eigenvalues(a, g.k)
	}
	return g.factoredEigenvalues(size)
}

// factoredEigenvalues finds the eigenvalues through F = [PA PB] (K×2d): P sym(A Bᵀ) P = F J Fᵀ with J = ½[0 I; I 0],
// and with FᵀF = V Λ Vᵀ its non-zero eigenvalues are those of Λ^½ Vᵀ J V Λ^½.
func (g *gram) factoredEigenvalues(size int) ([]float64, bool) {
	d := g.d
	f := make([]float64, g.k*size)
	normA, normB := norm(g.a[:g.k*d]), norm(g.b[:g.k*d]) // scaled to the same size, or the smaller would be lost
	for i := range g.k {
		axpy(f[i*size:][:d], 1/normA, g.a[i*d:][:d])
		axpy(f[i*size+d:][:d], 1/normB, g.b[i*d:][:d])
	}
	mean := make([]float64, size)
	for i := range g.k {
		axpy(mean, 1/float64(g.k), f[i*size:][:size])
	}
	for i := range g.k {
		axpy(f[i*size:][:size], -1, mean)
	}
	m := make([]float64, size*size)
	gemm.Multiply(g.team, gemm.TN, kernel.Dense(g.k, size, f), kernel.Dense(g.k, size, f), kernel.Dense(size, size, m), gemm.Epilogue[float64]{})
	values, vectors, ok := eigen(m, size)
	if !ok {
		return nil, false
	}
	// Row j of r is λ_j^½ v_jᵀ; exchanging the halves of a row is J up to the factor ½.
	r, swapped := make([]float64, size*size), make([]float64, size*size)
	for j, v := range values {
		row := r[j*size:][:size]
		axpy(row, math.Sqrt(max(0, v)), vectors[j*size:][:size])
		copy(swapped[j*size:], row[d:])
		copy(swapped[j*size+d:][:d], row[:d])
	}
	gemm.Multiply(g.team, gemm.NT, kernel.Dense(size, size, r), kernel.Dense(size, size, swapped), kernel.Dense(size, size, m), gemm.Epilogue[float64]{})
	scale(m, .5*normA*normB)
	return eigenvalues(m, size)
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
