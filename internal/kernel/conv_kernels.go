package kernel

import "unsafe"

// convTile is the one product behind every convolution:
//
//	s[r][v] = Σ over runs Σ_{k<K} a[run.a + r·aRow + k·aCol] · b[run.b + k·bRow + v]
//	c[r·cRow + v] = s[r][v]  (+ bias[r])  (+ add[r·addRow + v])  (rectified if relu ≠ 0)
//
// for the rows r and vectors of lanes v of the tile. Runs, rows and columns are in bytes; K is positive.
// A direct convolution has one run per tap that sees the pixel, and sums over channels; its weight
// gradient has one run per piece of a row, and sums over pixels and samples; Winograd's products have one run.
//
// The order of operations of an element is the one written, whatever the size of the tile. Further tiles, count of them with the first,
// lie aNext, bNext and cNext bytes after each other; the tile function leaves a, b, c and count changed.
type convTile struct {
	a, b, c    unsafe.Pointer
	runs       *convRun
	runCount   int
	k          int
	aRow, aCol int
	bRow, cRow int
	bias, add  unsafe.Pointer // nil for none
	addRow     int
	relu       int
	stream     int // not 0: vectors of c are whole cache lines and may go past the caches

	count               int // 0 for one
	aNext, bNext, cNext int
}

// convRun is where a run starts, in bytes after convTile.a and b.
type convRun struct{ a, b int }

// convTransform applies a linear map to the columns and then to the rows of count grids of vectors.
// Steps and extents are in bytes. Bit y·n+x of a mask tells whether point (y, x) of a grid of n×n exists;
// points of the source that do not are zero.
type convTransform struct {
	src                    unsafe.Pointer
	srcRow, srcCol, srcGap int // between rows, columns, and grids
	srcAt                  int // of the first grid after src: it may begin outside the image
	srcMask                int
	dst                    unsafe.Pointer
	dstRow, dstCol, dstGap int
	dstMask                int
	count                  int
	temp                   unsafe.Pointer // 36 vectors
	bias                   unsafe.Pointer // one element for a grid, or nil
	biasGap                int            // 0 if bias is nil
	add                    unsafe.Pointer // laid out as dst, or nil
	addGap                 int            // dstGap, or 0 if add is nil
	relu                   int
	stream                 int        // not 0: vectors of the result are whole cache lines and may go past the caches
	_                      [5]uintptr // kept by the assembly: what advances from grid to grid
}

// convTranspose turns blocks of 16 rows of 16 elements into columns: element l of row r of block i, at
// src + i·srcGap + srcRows[r], goes to element r of row l, at dst + i·dstGap + dstRows[l]. Rows whose dstRows
// is negative are left out. All in bytes.
type convTranspose struct {
	dst     unsafe.Pointer
	dstGap  int
	src     unsafe.Pointer
	srcGap  int
	blocks  int
	ahead   int // distance from a block to one that is read soon
	srcRows [LaneBlock]int
	dstRows [LaneBlock]int
}

// convKernels are the pieces of a convolution of one element type in the versions of one instruction set.
type convKernels[T Float] struct {
	lanes int // elements of a vector; divides LaneBlock

	// tiles[r-1][v-1] computes a tile of r rows and v vectors.
	tiles [][]func(*convTile)

	// copies[v-1] copies n pieces of v vectors from one spacing to another, in bytes; n is positive.
	copies []func(dst *T, dstStep int, src *T, srcStep, n int)

	transpose func(*convTranspose) // of blocks of 16×16 elements

	fence func() // what went past the caches is there for other threads

	// The transforms of F(4×4, 3×3), in the order winograd.go explains them.
	input, output, gradient, filter, filterGradient func(*convTransform)
}

// rows returns the rows of the largest tile, vectors its columns in vectors.
func (k *convKernels[T]) rows() int    { return len(k.tiles) }
func (k *convKernels[T]) vectors() int { return len(k.tiles[0]) }

// convKernelsInUse returns the pieces for the instruction set in use.
func convKernelsInUse[T Float]() *convKernels[T] {
	if isFloat32[T]() {
		return (*convKernels[T])(unsafe.Pointer(convKernels32))
	}
	return (*convKernels[T])(unsafe.Pointer(convKernels64))
}

var (
	convKernels32 *convKernels[float32]
	convKernels64 *convKernels[float64]

	genericConv32 = genericConvKernels[float32]()
	genericConv64 = genericConvKernels[float64]()
)
