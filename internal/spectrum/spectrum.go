// Package spectrum decomposes matrices in plain slices by gonum's LAPACK: eigenvalues of symmetric ones whatever the sizes of their parts, eigenvectors
// and singular values. Package mat, which does the same for its own types, brings all of them into every program.
package spectrum

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Of returns the eigenvalues of the symmetric a (n×n), ascending; false if the iteration fails. It reads and overwrites the upper triangle.
func Of(a []float64, n int) (ascending []float64, ok bool) {
	if n == 0 {
		return nil, true
	}
	d, e, tau := make([]float64, n), make([]float64, n-1), make([]float64, n-1)
	size := make([]float64, 1)
	gonum.Implementation{}.Dsytrd(blas.Upper, n, a, n, d, e, tau, size, -1)
	work := make([]float64, int(size[0]))
	gonum.Implementation{}.Dsytrd(blas.Upper, n, a, n, d, e, tau, work, len(work))
	return tridiagonal(d, e)
}

// Vectors returns the eigenvalues of the symmetric a (n×n), ascending, and overwrites a, of which it reads the upper triangle, with unit eigenvectors as
// columns; false if the iteration fails.
func Vectors(a []float64, n int) (ascending []float64, ok bool) {
	m := blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Upper}
	ascending = make([]float64, n)
	size := make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, m, ascending, size, -1)
	work := make([]float64, int(size[0]))
	return ascending, lapack64.Syev(lapack.EVCompute, m, ascending, work, len(work))
}

// Singular returns the singular values of a (m×n), descending, and, if asked, as many right singular vectors as rows; false if the iteration fails. It
// overwrites a.
func Singular(a []float64, m, n int, vectors bool) (values, rows []float64, ok bool) {
	least := min(m, n)
	values = make([]float64, least)
	job, vt := lapack.SVDNone, blas64.General{}
	if vectors {
		rows = make([]float64, least*n)
		job, vt = lapack.SVDStore, blas64.General{Rows: least, Cols: n, Stride: n, Data: rows}
	}
	of := blas64.General{Rows: m, Cols: n, Stride: n, Data: a}
	size := make([]float64, 1)
	lapack64.Gesvd(lapack.SVDNone, job, of, blas64.General{}, vt, values, size, -1)
	work := make([]float64, int(size[0]))
	return values, rows, lapack64.Gesvd(lapack.SVDNone, job, of, blas64.General{}, vt, values, work, len(work))
}

// tridiagonal overwrites the diagonal d with the eigenvalues. Where it can it uses Dsterf, as Dsyev does without vectors. In gonum v0.17 that
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
