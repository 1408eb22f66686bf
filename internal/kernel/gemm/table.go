package gemm

import "collapse.example/collapse/internal/kernel/isa"

// functions are all functions of package gemm that exist in SIMD, for one instruction set.
type functions struct {
	float32 ops[float32]
	float64 ops[float64]
	int16   ops[int32] // pairs of 16-bit numbers

	fastInt16  bool                                               // int16 is faster than float32
	roundInt16 func(n int, dst *int32, x *float32, scale float32) // nil: use roundInt16Generic

	peak32, peak64 peak
}

var table functions

func init() { isa.Fill(func(set isa.Set) { table = functionsFor(set) }) }

// cell is the element of an operand: a float, or a pair of 16-bit integers, whose products are summed in 32 bits.
type cell interface{ ~float32 | ~float64 | ~int32 }

// ops are the functions that a product of one element type uses.
type ops[T cell] struct {
	mr, lanes, nr int // a tile is up to mr×nr elements of C; nr is a multiple of lanes

	// tiles[r-1][v-1] computes a tile of r rows and v·lanes columns.
	tiles [][]tileFunc[T]

	// transpose4 copies 4 rows of k elements, srcRow apart, into k rows of 4, dstRow apart. k is a
	// multiple of transposeStep.
	transpose4    func(dst *T, dstRow int, src *T, srcRow, k int)
	transposeStep int

	// copyRows copies k rows of width elements, a multiple of 4.
	copyRows func(dst *T, dstRow int, src *T, srcRow, width, k int)

	pools *pools[T] // memory kept between calls, for every instruction set
}

// A tileFunc adds up k outer products in registers and stores the tile:
//
//	c[r*cRow+j] = Σ_p a[r*aRow+p*aCol]·b[p*bRow+j]  (+ bias[j] unless bias is nil)  (+ c[r*cRow+j] if accumulate)
//
// Strides are in elements. The order of operations for an element is the one written, whatever the tile's size, so the bits of C do
// not depend on how it is divided into tiles.
type tileFunc[T cell] func(k int, a *T, aRow, aCol int, b *T, bRow int, c *T, cRow int, bias *T, accumulate bool)

// A peak is the loop behind PeakLoop.
type peak struct {
	loop       func(rounds int)
	operations int // per round
}

// genericFunctions returns the functions in plain Go.
func genericFunctions() functions {
	return functions{
		float32: genericOps(&pools32), float64: genericOps(&pools64), int16: genericInt16(),
		peak32: peak{peakGeneric[float32], peakOperations}, peak64: peak{peakGeneric[float64], peakOperations},
	}
}
