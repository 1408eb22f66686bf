// Package spectrum finds the eigenvalues of symmetric matrices, whatever the sizes of their parts.
package spectrum

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
)

// Of returns the eigenvalues of a, ascending; false if the iteration fails. It overwrites a.
func Of(a *mat.SymDense) (ascending []float64, ok bool) {
	raw := a.RawSymmetric()
	n := raw.N
	if n == 0 {
		return nil, true
	}
	d, e, tau := make([]float64, n), make([]float64, n-1), make([]float64, n-1)
	size := make([]float64, 1)
	gonum.Implementation{}.Dsytrd(blas.Upper, n, raw.Data, raw.Stride, d, e, tau, size, -1)
	work := make([]float64, int(size[0]))
	gonum.Implementation{}.Dsytrd(blas.Upper, n, raw.Data, raw.Stride, d, e, tau, work, len(work))
	return tridiagonal(d, e)
}

// tridiagonal overwrites the diagonal d with the eigenvalues. Where it can it uses Dsterf, as mat.EigenSym does without vectors. In gonum v0.17 that
// panics when a part of the matrix is below about 1e-120 or above 1e150, for it scales such a part with a wrong stride; Dsteqr, half as fast, scales
// it rightly.
func tridiagonal(d, e []float64) (ascending []float64, ok bool) {
	keptD, keptE := slices.Clone(d), slices.Clone(e)
	defer func() {
		if recover() != nil {
			ascending, ok = keptD, gonum.Implementation{}.Dsteqr(lapack.EVCompNone, len(keptD), keptD, keptE, nil, 1, nil)
		}
	}()
	return d, gonum.Implementation{}.Dsterf(len(d), d, e)
}
