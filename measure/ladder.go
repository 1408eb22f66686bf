package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel/rows"
)

// rung is the share of the largest eigenvalue down to which a step of ladder takes eigenvalues from a Gram matrix.
const rung = 1e-2

// ladder finds the eigenvalues of XᵀX (m×m) for a matrix X that is too long to hold in memory, small ones as exactly as large
// ones: gram(B, q) returns (XBᵀ)ᵀ(XBᵀ) for rows B (q×m), nil: the identity. A Gram matrix gives eigenvalues up to the rounding
// of its largest, so each step takes those above rung times the largest, and recomputes the products of X with the remaining
// directions. Singular values of X err by about 1e3·2⁻⁵³ times the largest at most, as with orthogonal reduction, not by its
// root; below m·2⁻⁵² times the largest they are zero and not reported.
//
// take receives the eigenvalues of a step, descending, and, if directions is set, their unit eigenvectors as rows (·×m), else nil
// if none were needed. It returns false if an eigenvalue iteration fails.
func ladder(m int, directions bool, gram func(basis []float64, q int) ([]float64, error), take func(values, vectors []float64)) (bool, error) {
	var basis []float64 // rows (q×m) still to do
	floor := 0.0
	for q := m; q > 0; {
		g, err := gram(basis, q)
		if err != nil {
			return false, err
		}
		values, ok := eigenvalues(g, q)
		if !ok {
			return false, nil
		}
		first := values[0]
		if basis == nil {
			floor = first * float64(m*m) * eps64 * eps64
		}
		if !(first > floor) {
			return true, nil
		}
		keep := 0
		for keep < q && values[keep] >= rung*first {
			keep++
		}
		if keep == q && !directions {
			take(values, nil)
			return true, nil
		}
		_, vectors, ok := eigen(g, q)
		if !ok {
			return false, nil
		}
		if basis != nil {
			vectors = rowsTimes(vectors, basis, q, q, m)
		}
		take(values[:keep], vectors[:keep*m])
		basis, q = vectors[keep*m:], q-keep
	}
	return true, nil
}

// rowsTimes returns A B, A (n×q), B (q×m).
func rowsTimes(a, b []float64, n, q, m int) []float64 {
	out := make([]float64, n*m)
	for i := range n {
		row := out[i*m:][:m]
		for j, x := range a[i*q:][:q] {
			axpy(row, x, b[j*m:][:m])
		}
	}
	return out
}

// ranksOf returns, from singular values σ, the numerical rank (Σσ)²/Σσ², the stable rank Σσ²/σ_1² and the effective rank
// exp(−Σ q log q), q = σ/Σσ (Roy & Vetterli 2007); NaN if all are zero.
func ranksOf(singular []float64) (numerical, stable, effective float64) {
	var sum, square, most float64
	for _, s := range singular {
		sum += s
		square += s * s
		most = max(most, s)
	}
	if !(most > 0) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	entropy := 0.0
	for _, s := range singular {
		if q := s / sum; q > 0 {
			entropy -= q * math.Log(q)
		}
	}
	return sum * sum / square, square / (most * most), rows.Exp(entropy)
}
