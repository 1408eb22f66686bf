package kernel

// passes are the loops of float32 in the versions of one instruction set, each the SIMD version of the generic loop of its name.
// Lengths are positive multiples of lanes; the generic loops take the rest.
type passes struct {
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

	runMoments        func(rows, n int, x *float32, shift float64, mask *uint64, sums *float64)
	runNormalise      [4]runNormaliseFunc    // 1 more with a ReLU, 2 with a residual
	runGradientSums   [3]runGradientSumsFunc // by normMask
	runGradientInput  [2]func(rows, n int, dy, x, dx *float32, hi, lo, scale, shift, k1, k2, k3 float32, mask *uint32)
	maxWindow         func(n, h, w, across, down int, x, y *float32)
	maxWindowGradient func(n, h, w, across, down int, x, dy, dx *float32)
	fingerprint       func(blocks int, bytes *byte, mask, step, sums *uint64)
}

type (
	runNormaliseFunc    func(n int, x, residual, y *float32, hi, lo, scale, shift float32)
	runGradientSumsFunc func(n int, dy, y, x *float32, hi, lo, scale, shift float32, sums *float64)
)

// simd holds the passes of the instruction set in use.
var simd passes

// hasSIMD reports whether passes over T have a SIMD version.
func hasSIMD[T Float]() bool { return isFloat32[T]() && simd.lanes > 0 }

// vectors returns how many of n elements of T fill whole vectors: 0 without a SIMD version.
func vectors[T Float](n int) int {
	if !hasSIMD[T]() {
		return 0
	}
	return n &^ (simd.lanes - 1)
}

// wholeColumns returns vectors(cols), or 0 if there is no row.
func wholeColumns[T Float](rows, cols int) int {
	if rows == 0 {
		return 0
	}
	return vectors[T](cols)
}

// pick returns n if set, else 0.
func pick(set bool, n int) int {
	if set {
		return n
	}
	return 0
}

// laneMask32 and laneMask64 keep the first real of 16 lanes: a block at 16 − real.
var (
	laneMask32 [2 * LaneBlock]uint32
	laneMask64 [2 * LaneBlock]uint64
)

func init() {
	for i := range LaneBlock {
		laneMask32[i], laneMask64[i] = ^uint32(0), ^uint64(0)
	}
}
