package kernel

import "collapse/parallel"

// Form says which operands of a product are transposed. All matrices are row-major.
type Form uint8

const (
	NN Form = iota // C = A·B,  A m×k, B k×n
	NT             // C = A·Bᵀ, A m×k, B n×k: a layer forward, weights out×in
	TN             // C = Aᵀ·B, A k×m, B k×n: a weight gradient
)

// String returns "NN", "NT" or "TN".
func (f Form) String() string { return [...]string{"NN", "NT", "TN"}[f] }

// Epilogue is what happens to a product on its way into C.
type Epilogue[T Float] struct {
	Accumulate bool // add to C instead of overwriting it
	Bias       []T  // added to every row; length n, or nil for none
}

// Gemm computes C = op(A)·op(B), an m×n matrix of sums of k products, and applies ep:
//
//	c[i*ldc+j] = Σ_p op(A)[i,p]·op(B)[p,j]  (+ ep.Bias[j])  (+ c[i*ldc+j] if ep.Accumulate)
//
// lda, ldb and ldc are the distances between rows, at least the rows' widths; elements between a
// row's width and the next row are neither read nor written. C must not overlap A, B or Bias.
// Products are not skipped for zero factors: 0·NaN is NaN.
//
// The error of an element is at most γ_{k+2}·(|A|·|B| + |bias| + |c|) with γ_n = n·u/(1−n·u), u the unit
// roundoff of T. The bits depend on the kernel in use, the form and the shape, not on the team.
//
// It panics if a slice is shorter than its shape needs or a leading dimension is too small. It
// allocates nothing once buffers of the needed size exist.
func Gemm[T Float](tm *parallel.Team, f Form, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int, ep Epilogue[T]) {
	checkShapes(f, m, n, k, len(a), lda, len(b), ldb, len(c), ldc)
	if ep.Bias != nil && len(ep.Bias) != n {
		panic("kernel: Gemm: the bias has not one element per column of C")
	}
	if m == 0 || n == 0 {
		return
	}
	if isFloat32[T]() {
		multiply(tm, &products32, product[float32]{
			form: f, m: m, n: n, k: k, lda: lda, ldb: ldb, ldc: ldc,
			a: as[float32](a), b: as[float32](b), c: as[float32](c), bias: as[float32](ep.Bias), accumulate: ep.Accumulate,
		})
		return
	}
	multiply(tm, &products64, product[float64]{
		form: f, m: m, n: n, k: k, lda: lda, ldb: ldb, ldc: ldc,
		a: as[float64](a), b: as[float64](b), c: as[float64](c), bias: as[float64](ep.Bias), accumulate: ep.Accumulate,
	})
}

// checkShapes panics unless every matrix fits into its slice.
func checkShapes(f Form, m, n, k, lenA, lda, lenB, ldb, lenC, ldc int) {
	if f > TN {
		panic("kernel: Gemm: unknown form")
	}
	if m < 0 || n < 0 || k < 0 {
		panic("kernel: Gemm: negative dimension")
	}
	rowsA, colsA, rowsB, colsB := m, k, k, n
	if f == TN {
		rowsA, colsA = k, m
	}
	if f == NT {
		rowsB, colsB = n, k
	}
	if !fits(rowsA, colsA, lenA, lda) {
		panic("kernel: Gemm: A is shorter than its shape, or lda than its width")
	}
	if !fits(rowsB, colsB, lenB, ldb) {
		panic("kernel: Gemm: B is shorter than its shape, or ldb than its width")
	}
	if !fits(m, n, lenC, ldc) {
		panic("kernel: Gemm: C is shorter than its shape, or ldc than its width")
	}
}

// fits reports whether rows of cols elements, ld apart, lie within length elements.
func fits(rows, cols, length, ld int) bool {
	if rows == 0 || cols == 0 {
		return true
	}
	return ld >= cols && rows-1 <= (length-cols)/ld && cols <= length
}
