// Package gemm multiplies matrices.
//
// gemm.go says what a product computes, plan.go how it is divided into parts for threads, blocking.go how a part is computed tile by
// tile, and pack.go how operands are packed for that. table.go lists the functions that exist in SIMD; generic.go has their generic
// twins; gemm_amd64.go and gemm_arm64.go say which are used when.
package gemm

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// Form says which operands of a product are transposed. All matrices are row-major.
type Form uint8

const (
	NN Form = iota // C = A·B,  A m×k, B k×n
	NT             // C = A·Bᵀ, A m×k, B n×k: a layer forward, weights out×in
	TN             // C = Aᵀ·B, A k×m, B k×n: a weight gradient
)

// String returns "NN", "NT" or "TN".
func (f Form) String() string { return [...]string{"NN", "NT", "TN"}[f] }

// Epilogue says what happens to a product before it is stored in C.
type Epilogue[T kernel.Float] struct {
	Accumulate bool // add to C instead of overwriting it
	Bias       []T  // added to every row; length n, or nil for none
}

// Multiply computes C = op(A)·op(B), an m×n matrix of sums of k products, and applies ep:
//
//	c[i,j] = Σ_p op(A)[i,p]·op(B)[p,j]  (+ ep.Bias[j])  (+ c[i,j] if ep.Accumulate)
//
// Elements between the end of a row and the next row are neither read nor written. C must not overlap A, B or Bias. Products with a
// zero factor are not skipped: 0·NaN is NaN.
//
// The error of an element is at most γ_{k+2}·(|A|·|B| + |bias| + |c|) with γ_n = n·u/(1−n·u), u the unit
// roundoff of T. The bits depend on the instruction set in use, the form and the shape, not on the team.
//
// It panics if the shapes do not match, if a slice is shorter than its shape needs, or if a stride is less than the width. It
// allocates nothing once buffers of the needed size exist.
func Multiply[T kernel.Float](tm *parallel.Team, f Form, a, b, c kernel.Matrix[T], ep Epilogue[T]) {
	m, n, k := shapeOf(f, a, b, c)
	if ep.Bias != nil && len(ep.Bias) != n {
		panic("gemm: the bias does not have one element per column of C")
	}
	if m == 0 || n == 0 {
		return
	}
	if kernel.IsFloat32[T]() {
		compute(tm, &table.float32, product[float32]{
			form: f, m: m, n: n, k: k, accumulate: ep.Accumulate,
			a: plain[float32](a), b: plain[float32](b), c: plain[float32](c), bias: kernel.As[float32](ep.Bias),
		})
		return
	}
	compute(tm, &table.float64, product[float64]{
		form: f, m: m, n: n, k: k, accumulate: ep.Accumulate,
		a: plain[float64](a), b: plain[float64](b), c: plain[float64](c), bias: kernel.As[float64](ep.Bias),
	})
}

// Operands returns the operands of a product with m×n elements, sums of k products each, stored contiguously as the form requires.
func Operands[T kernel.Float](f Form, m, n, k int, a, b []T) (opA, opB kernel.Matrix[T]) {
	opA, opB = kernel.Dense(m, k, a), kernel.Dense(k, n, b)
	if f == TN {
		opA = kernel.Dense(k, m, a)
	}
	if f == NT {
		opB = kernel.Dense(n, k, b)
	}
	return opA, opB
}

// plain reinterprets a matrix of a named float type.
func plain[To, From kernel.Float](m kernel.Matrix[From]) kernel.Matrix[To] {
	return kernel.Matrix[To]{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: kernel.As[To](m.Data)}
}

// shapeOf returns the dimensions of a product. It panics unless they match and every matrix fits into its slice.
func shapeOf[T any](f Form, a, b, c kernel.Matrix[T]) (m, n, k int) {
	m, k, n = a.Rows, a.Cols, b.Cols
	inner := b.Rows
	switch f {
	case NN:
	case NT:
		n, inner = b.Rows, b.Cols
	case TN:
		m, k = a.Cols, a.Rows
	default:
		panic("gemm: unknown form")
	}
	switch {
	case m < 0 || n < 0 || k < 0:
		panic("gemm: negative dimension")
	case inner != k || c.Rows != m || c.Cols != n:
		panic("gemm: the shapes of A, B and C do not fit together")
	case !a.Fits():
		panic("gemm: A is shorter than its shape, or its stride than its width")
	case !b.Fits():
		panic("gemm: B is shorter than its shape, or its stride than its width")
	case !c.Fits():
		panic("gemm: C is shorter than its shape, or its stride than its width")
	}
	return m, n, k
}
