package elementwise

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
)

// functions are all functions of package elementwise that exist in SIMD, for float32 and one instruction set: each is the SIMD
// version of the generic loop of its name. Lengths are positive multiples of lanes; the generic loops process the rest.
type functions struct {
	lanes int // 0: there are no SIMD versions

	addRows    func(rows, cols, ld int, x *float32, acc *float64)
	addSquares func(rows, cols, ld int, x *float32, mean, acc *float64)

	// Without a ReLU, and with one.
	normalise     [2]func(rows, cols, ld int, x, y, hi, lo, scale, shift *float32)
	gradientSums  [2]func(rows, cols, ld int, dy, y, x, hi, lo *float32, sum, dot *float64)
	gradientInput [2]func(rows, cols, ld int, dy, y, x, hi, lo, k1, k2, k3 *float32)

	relu, sigmoid                 func(n int, x *float32)
	reluGradient, sigmoidGradient func(n int, y, dy *float32)

	sgd  [2]func(n int, p, g, v *float32, rate, momentum, decay float32) // plain, Nesterov
	adam func(n int, p, g, m, v *float32, decay, beta1, take1, beta2, take2, root, eps, rate float32)
}

var table functions

func init() { isa.Fill(func(set isa.Set) { table = functionsFor(set) }) }

// vectors returns how many of n elements of T fill whole vectors: 0 without a SIMD version.
func vectors[T kernel.Float](n int) int {
	if !kernel.IsFloat32[T]() || table.lanes == 0 {
		return 0
	}
	return n &^ (table.lanes - 1)
}

// wholeColumns returns how many columns of x fill whole vectors: 0 without a row or a SIMD version.
func wholeColumns[T kernel.Float](x kernel.Matrix[T]) int {
	if x.Rows == 0 {
		return 0
	}
	return vectors[T](x.Cols)
}

// pick returns 1 if set, else 0.
func pick(set bool) int {
	if set {
		return 1
	}
	return 0
}
