package measure

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"collapse.example/collapse/internal/spectrum"
)

// Dense algebra on small row-major matrices.

// invertFactor replaces the symmetric a (n×n) by the inverse of its lower Cholesky factor, zeros above the
// diagonal; false if a is not positive definite.
func invertFactor(a []float64, n int) bool {
	if !lowerFactor(a, n) {
		return false
	}
	return lapack64.Trtri(blas64.Triangular{N: n, Stride: n, Data: a, Uplo: blas.Lower, Diag: blas.NonUnit})
}

// lowerFactor replaces the symmetric a (n×n) by its lower Cholesky factor, zeros above the diagonal; false if a is not positive
// definite.
func lowerFactor(a []float64, n int) bool {
	if _, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Lower}); !ok {
		return false
	}
	for i := range n {
		clear(a[i*n+i+1 : (i+1)*n])
	}
	return true
}

// rowDirections returns the right singular vectors (m×n, rows) and singular values, descending, of x
// (m×n, m ≤ n), by one-sided Jacobi rotations of rows. x is overwritten. A vanishing singular value has
// an undefined direction.
func rowDirections(x []float64, m, n int) (directions, s []float64) {
	rotateRows(x, m, n, nil, 0)
	s = make([]float64, m)
	for i := range m {
		row := x[i*n:][:n]
		s[i] = norm(row)
		if s[i] > 0 {
			scale(row, 1/s[i])
		}
	}
	return sortRows(x, s, n)
}

// columnDirections returns the left singular vectors of Cᵀ (d×K), as rows (d×d), and its singular values;
// c is C's K×d form and is kept. Used for d < K−1.
func columnDirections(c []float64, k, d int) (directions, s []float64) {
	x := make([]float64, d*k)
	transpose(x, c, k, d)
	turn := make([]float64, d*d)
	for j := range d {
		turn[j*d+j] = 1
	}
	rotateRows(x, d, k, turn, d)
	s = make([]float64, d)
	for j := range d {
		s[j] = norm(x[j*k:][:k])
	}
	return sortRows(turn, s, d)
}

// rotateRows makes the rows of x (m×n) orthogonal by rotations in pairs, applied to turn (m×t) as well.
func rotateRows(x []float64, m, n int, turn []float64, t int) {
	const sweeps = 40 // six to ten are enough in practice
	last := false     // one more sweep: the last one left more than rounding, large compared with much shorter rows
	for range sweeps {
		turned := false
		for i := range m {
			for j := i + 1; j < m; j++ {
				a, b := x[i*n:][:n], x[j*n:][:n]
				aa, bb, ab := dot(a, a), dot(b, b), dot(a, b)
				size := math.Abs(ab) / (math.Sqrt(aa) * math.Sqrt(bb))
				if !(size > eps64 || last && size > 0) {
					continue
				}
				turned = turned || !last
				zeta := (bb - aa) / (2 * ab)
				tangent := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Hypot(1, zeta))
				cos := 1 / math.Hypot(1, tangent)
				rotate(a, b, cos, cos*tangent)
				if turn != nil {
					rotate(turn[i*t:][:t], turn[j*t:][:t], cos, cos*tangent)
				}
			}
		}
		if last {
			return
		}
		last = !turned
	}
}

func rotate(a, b []float64, cos, sin float64) {
	for i, x := range a {
		y := b[i]
		a[i] = cos*x - sin*y
		b[i] = sin*x + cos*y
	}
}

// sortRows returns the rows of x (len(s)×n) and s in descending order of s.
func sortRows(x, s []float64, n int) (rows, sorted []float64) {
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case s[i] > s[j]:
			return -1
		case s[i] < s[j]:
			return 1
		}
		return 0
	})
	rows, sorted = make([]float64, 0, len(s)*n), make([]float64, 0, len(s))
	for _, i := range order {
		rows = append(rows, x[i*n:][:n]...)
		sorted = append(sorted, s[i])
	}
	return rows, sorted
}

// thinDirections returns the directions u_j (full×d) and singular values of C from a singular value decomposition, whose
// error is that of rounding C; eigenvalues of a Gram matrix would lose values below 10⁻⁸ of the largest. c is C's K×d
// form and is kept; nil if the iteration fails.
func (b *between) thinDirections(c []float64, k, d int) (directions, s []float64) {
	rows, x := k, append([]float64(nil), c[:k*d]...)
	if b.fromP {
		rows, x = k-1, b.reduced(c, k, d)
	}
	s, directions, ok := spectrum.Singular(x, rows, d, true)
	if !ok {
		return nil, nil
	}
	return directions[:b.full*d], s
}

// eigen returns the eigenvalues of the symmetric a (n×n), descending, and their unit eigenvectors as rows;
// false if the iteration fails.
func eigen(a []float64, n int) (values, vectors []float64, ok bool) {
	columns, exponent, finite := symmetric(a, n)
	if !finite {
		return nil, nil, false
	}
	if values, ok = spectrum.Vectors(columns, n); !ok {
		return nil, nil, false
	}
	vectors = make([]float64, n*n)
	for i := range n {
		for j := range n {
			vectors[j*n+i] = columns[i*n+n-1-j]
		}
	}
	return descending(values, exponent), vectors, true
}

// symmetric copies a (n×n), divided by 2^exponent; finite is false if it holds NaN or an infinity. The largest
// element is scaled near 1, and elements far below its rounding become zero, so that products neither overflow nor underflow.
func symmetric(a []float64, n int) (copied []float64, exponent int, finite bool) {
	largest := 0.0
	for _, x := range a[:n*n] {
		if x-x != 0 {
			return nil, 0, false
		}
		largest = max(largest, math.Abs(x))
	}
	const negligible = 0x1p-100
	_, exponent = math.Frexp(largest)
	copied = make([]float64, n*n)
	for i, v := range a[:n*n] {
		if !(math.Abs(v) < negligible*largest) {
			copied[i] = math.Ldexp(v, -exponent)
		}
	}
	return copied, exponent, true
}

// descending turns eigenvalues, ascending, into those times 2^exponent, the largest first.
func descending(values []float64, exponent int) []float64 {
	slices.Reverse(values)
	for i, v := range values {
		values[i] = math.Ldexp(v, exponent)
	}
	return values
}

// eigenvalues returns the eigenvalues of the symmetric a (n×n), descending; false if the iteration fails.
func eigenvalues(a []float64, n int) ([]float64, bool) {
	copied, exponent, finite := symmetric(a, n)
	if !finite {
		return nil, false
	}
	values, ok := spectrum.Of(copied, n)
	return descending(values, exponent), ok
}
