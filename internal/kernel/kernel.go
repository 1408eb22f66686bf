// Package kernel holds the float32 and float64 loops under every network: matrix products, their
// epilogues, and fused element-wise passes. It sees slices only and imports nothing of this program.
//
// Every operation exists as a generic Go version that is always compiled (the oracle of the tests,
// the fallback, and the explanation) and, where it pays, as SIMD kernels chosen once at start from the
// processor's features: AVX-512, AVX2 with FMA, NEON. Results depend on the chosen kernel and on
// shapes, never on the number of threads.
//
// Open gemm.go first: what a product computes. Then blocking.go: how it is cut into tiles. Then
// team.go: how tiles reach threads.
package kernel

import "unsafe"

// Float is the element type of every kernel.
type Float interface{ ~float32 | ~float64 }

// isFloat32 tells the two element types apart; the compiler folds it.
func isFloat32[T Float]() bool {
	var x T
	return unsafe.Sizeof(x) == 4
}

// as reinterprets a slice between a named float type and the plain type of the same size.
func as[To, From Float](x []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// first32 returns the address of x[0], for SIMD loops over a float type of float32's size.
func first32[T Float](x []T) *float32 { return (*float32)(unsafe.Pointer(&x[0])) }
