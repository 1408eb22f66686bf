package kernel

// cell is what an operand is made of: a float, or a pair of 16-bit words, whose products are summed in 32 bits.
type cell interface{ Float | ~int32 }

// A products holds the pieces a matrix product of one element type is made of, in the versions of one
// instruction set.
type products[T cell] struct {
	mr, lanes, nr int // a tile is up to mr×nr elements of C; nr is a multiple of lanes

	// tiles[r-1][v-1] computes a tile of r rows and v·lanes columns.
	tiles [][]tileFunc[T]

	// transpose4 copies 4 rows of k elements, srcRow apart, into k rows of 4, dstRow apart. k is a
	// multiple of transposeStep.
	transpose4    func(dst *T, dstRow int, src *T, srcRow, k int)
	transposeStep int

	// copyRows copies k rows of width elements, a multiple of 4.
	copyRows func(dst *T, dstRow int, src *T, srcRow, width, k int)
}

// A tileFunc adds up k outer products in registers and stores the tile:
//
//	c[r*cRow+j] = Σ_p a[r*aRow+p*aCol]·b[p*bRow+j]  (+ bias[j] unless bias is nil)  (+ c[r*cRow+j] if accumulate)
//
// Strides are in elements. The order of operations of an element is the one written, whatever the
// tile's size, so the bits of C do not depend on how it is cut into tiles.
type tileFunc[T cell] func(k int, a *T, aRow, aCol int, b *T, bRow int, c *T, cRow int, bias *T, accumulate bool)

var (
	products32 products[float32]
	products64 products[float64]

	productsPairs products[int32]
)
