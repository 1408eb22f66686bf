package ufm

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// operator is a symmetric matrix given by its products with vectors.
type operator func(v, out []float64)

// denseBelow is the size up to which eigenvalues are computed from the whole matrix.
const denseBelow = 200

// smallestEigen returns the smallest eigenvalue of a symmetric operator on R^n with a unit
// eigenvector: from the whole matrix for small n, else by Lanczos with full reorthogonalisation,
// restarted from its best vector. ok is false if the residual ‖Av − λv‖ did not come below
// 1e-9·|A|; the value is then an upper bound of the smallest eigenvalue.
func smallestEigen(n int, apply operator, rng *rand.Rand) (value float64, vector []float64, ok bool) {
	if n <= denseBelow {
		values, vectors := denseEigen(n, apply)
		vector = make([]float64, n)
		for i := range vector {
			vector[i] = vectors.At(i, 0)
		}
		return values[0], vector, true
	}
	start := make([]float64, n)
	for i := range start {
		start[i] = rng.NormFloat64()
	}
	for range 12 {
		value, vector, ok = lanczos(start, apply, min(n, 120))
		if ok {
			return value, vector, true
		}
		start = vector
	}
	return value, vector, false
}

// denseEigen returns all eigenvalues, ascending, and eigenvectors of an operator.
func denseEigen(n int, apply operator) ([]float64, *mat.Dense) {
	a := mat.NewSymDense(n, nil)
	unit, column := make([]float64, n), make([]float64, n)
	full := mat.NewDense(n, n, nil)
	for j := range n {
		unit[j] = 1
		apply(unit, column)
		unit[j] = 0
		full.SetCol(j, column)
	}
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	return symEigen(a)
}

// symEigen returns the eigenvalues, ascending, and the eigenvectors of a, which it scales.
func symEigen(a *mat.SymDense) ([]float64, *mat.Dense) {
	size := normalise(a)
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		panic("ufm: the symmetric eigenvalue iteration did not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	scale(values, size)
	return values, &vectors
}

// normalise divides a by its largest entry, which it returns: the eigenvalue iteration fails on matrices of order 1e-150 and below,
// which tiny penalties produce. A zero matrix stays as it is.
func normalise(a *mat.SymDense) float64 {
	size := mat.Max(a)
	size = math.Max(size, -mat.Min(a))
	if !(size > 0) {
		return 1
	}
	for i := range a.SymmetricDim() {
		for j := i; j < a.SymmetricDim(); j++ {
			a.SetSym(i, j, a.At(i, j)/size)
		}
	}
	return size
}

// lanczos runs up to steps Lanczos steps from start and returns the smallest Ritz pair.
func lanczos(start []float64, apply operator, steps int) (float64, []float64, bool) {
	n := len(start)
	var basis [][]float64
	var alpha, beta []float64
	q := append([]float64(nil), start...)
	scale(q, 1/math.Sqrt(dot(q, q)))
	w := make([]float64, n)
	value, residual, largest := math.Inf(1), math.Inf(1), 0.0
	var ritz []float64
	for step := 1; step <= steps; step++ {
		basis = append(basis, append([]float64(nil), q...))
		apply(q, w)
		alpha = append(alpha, dot(q, w))
		for range 2 { // twice is enough (Parlett)
			for _, b := range basis {
				addScaled(w, -dot(b, w), b)
			}
		}
		norm := math.Sqrt(dot(w, w))
		last := step == steps || norm <= 1e-13*math.Max(largest, 1e-300)
		if step%10 == 0 || last || step < 4 {
			values, vectors := tridiagonalEigen(alpha, beta)
			value, largest = values[0], math.Max(math.Abs(values[0]), math.Abs(values[step-1]))
			ritz = mat.Col(nil, 0, vectors)
			residual = norm * math.Abs(ritz[step-1])
			if last || residual <= 1e-10*largest {
				break
			}
		}
		beta = append(beta, norm)
		copy(q, w)
		scale(q, 1/norm)
	}
	vector := make([]float64, n)
	for i, b := range basis[:len(ritz)] {
		addScaled(vector, ritz[i], b)
	}
	return value, vector, residual <= 1e-9*largest
}

// tridiagonalEigen returns the eigenvalues, ascending, and eigenvectors of the matrix with the given
// diagonal and off-diagonal.
func tridiagonalEigen(diagonal, off []float64) ([]float64, *mat.Dense) {
	n := len(diagonal)
	a := mat.NewSymDense(n, nil)
	for i, v := range diagonal {
		a.SetSym(i, i, v)
		if i+1 < n {
			a.SetSym(i, i+1, off[i])
		}
	}
	return symEigen(a)
}

func scale(v []float64, f float64) {
	for i := range v {
		v[i] *= f
	}
}
