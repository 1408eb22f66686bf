package etf

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// CenteredProjection returns a random rank-d orthogonal projection Q (K×K) with Q1 = 0: the shape of
// the best rank-d approximations of P = I − 11ᵀ/K, of which there are many for d < K−1 (errata of
// Zhou et al. 2022: P_d(·) is not unique).
// It panics unless 1 ≤ d ≤ K−1.
func CenteredProjection(K, d int, rng *rand.Rand) *mat.Dense {
	if d < 1 || d > K-1 {
		panic("etf: CenteredProjection needs 1 ≤ d ≤ K−1")
	}
	return projectionOn(CenteredBasis(K, d, rng))
}

// CenteredBasis returns K×d orthonormal columns orthogonal to the ones vector, uniform among them.
func CenteredBasis(K, d int, rng *rand.Rand) *mat.Dense {
	var basis mat.Dense
	basis.Mul(Helmert(K).T(), RandomOrthonormal(K-1, d, rng))
	return &basis
}

// projectionOn returns U·Uᵀ.
func projectionOn(u *mat.Dense) *mat.Dense {
	var q mat.Dense
	q.Mul(u, u.T())
	return &q
}

// Tight returns K×d orthonormal columns U, orthogonal to the ones vector, whose rows have equal norm √(d/K): Q = UUᵀ is an
// equal-norm zero-sum tight frame of K vectors in R^d. For even d, or even K, there is a harmonic frame (cosines and sines of d/2
// frequencies, plus the alternating vector for odd d); the others are found by alternating projections.
//
// It returns ErrNoFrame if none was found. For odd K and d = 1 or K−2 none exists, because K equal numbers ±a cannot sum to zero.
func Tight(K, d int, rng *rand.Rand) (*mat.Dense, error) {
	if d < 1 || d > K-1 {
		return nil, fmt.Errorf("%w: a zero-sum tight frame needs 1 ≤ d ≤ K−1 = %d, got d = %d", ErrNoFrame, K-1, d)
	}
	if d%2 == 0 && d/2 <= (K-1)/2 || K%2 == 0 {
		return harmonic(K, d), nil
	}
	if d != 1 && d != K-2 {
		for range 8 {
			if u, ok := alternate(K, d, rng); ok {
				return u, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: no equal-norm zero-sum tight frame of %d vectors in R^%d", ErrNoFrame, K, d)
}

// harmonic returns columns √(2/K)·cos(2πfk/K), √(2/K)·sin(2πfk/K) for f = 1…⌊d/2⌋ and, for odd d
// (even K), (−1)^k/√K.
func harmonic(K, d int) *mat.Dense {
	u := mat.NewDense(K, d, nil)
	scale := math.Sqrt(2 / float64(K))
	for k := range K {
		for f := 1; f <= d/2; f++ {
			sin, cos := math.Sincos(2 * math.Pi * float64(f*k%K) / float64(K))
			u.Set(k, 2*f-2, scale*cos)
			u.Set(k, 2*f-1, scale*sin)
		}
		if d%2 == 1 {
			u.Set(k, d-1, float64(1-2*(k%2))/math.Sqrt(float64(K)))
		}
	}
	return u
}

// alternate projects in turn onto matrices with diagonal d/K and onto centred rank-d projections.
func alternate(K, d int, rng *rand.Rand) (*mat.Dense, bool) {
	u := CenteredBasis(K, d, rng)
	want := float64(d) / float64(K)
	for range 5000 {
		q := projectionOn(u)
		worst := 0.0
		for k := range K {
			worst = max(worst, math.Abs(q.At(k, k)-want))
			q.Set(k, k, want)
		}
		if worst < 1e-14*float64(K) {
			return u, true
		}
		u = topCentered(q, d)
	}
	return nil, false
}

// topCentered returns the eigenvectors (K×d) of the d largest eigenvalues of P·sym(a)·P within the
// complement of the ones vector.
func topCentered(a mat.Matrix, d int) *mat.Dense {
	vectors, _ := centeredEigen(a)
	rows, cols := vectors.Dims()
	var u mat.Dense
	K, _ := a.Dims()
	u.Mul(Helmert(K).T(), vectors.Slice(0, rows, cols-d, cols))
	return &u
}

// centeredEigen returns the eigenvectors ((K−1)×(K−1), in Helmert coordinates) and the eigenvalues, in
// ascending order, of the symmetric part of a on the complement of the ones vector.
func centeredEigen(a mat.Matrix) (*mat.Dense, []float64) {
	K, _ := a.Dims()
	h := Helmert(K)
	var left, small mat.Dense
	left.Mul(h, a)
	small.Mul(&left, h.T())
	sym := mat.NewSymDense(K-1, nil)
	for i := range K - 1 {
		for j := i; j < K-1; j++ {
			sym.SetSym(i, j, (small.At(i, j)+small.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		panic("etf: the symmetric eigenvalue iteration did not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return &vectors, eigen.Values(nil)
}
