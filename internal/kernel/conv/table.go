package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
)

// convTile is the one product behind every convolution:
//
//	s[r][v] = Σ over runs Σ_{k<K} a[run.a + r·aRow + k·aCol] · b[run.b + k·bRow + v]
//	c[r·cRow + v] = s[r][v]  (+ bias[r])  (+ add[r·addRow + v])  (rectified if relu ≠ 0)
//
// for the rows r and vectors of lanes v of the tile. Runs, rows and columns are in bytes; K is positive.
// A direct convolution has one run per tap that sees the pixel, and sums over channels; its weight
// gradient has one run per piece of a row, and sums over pixels and samples; Winograd's products have one run.
//
// The order of operations for an element is the one written, whatever the size of the tile. Further tiles, count of them including
// the first, are aNext, bNext and cNext bytes apart; the tile function changes a, b, c and count.
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

// kernels are the functions of a convolution of one element type, for one instruction set.
type kernels[T kernel.Float] struct {
	lanes int // elements of a vector; divides LaneBlock

	// tiles[r-1][v-1] computes a tile of r rows and v vectors.
	tiles [][]func(*convTile)

	// copies[v-1] copies n pieces of v vectors from one spacing to another, in bytes; n is positive.
	copies []func(dst *T, dstStep int, src *T, srcStep, n int)

	transpose func(*convTranspose) // of blocks of 16×16 elements

	fence func() // makes what went past the caches visible to other threads

	// The transforms of F(4×4, 3×3), in the order winograd.go explains them.
	input, output, gradient, filter, filterGradient func(*convTransform)
}

// rows returns the rows of the largest tile, vectors its columns in vectors.
func (k *kernels[T]) rows() int    { return len(k.tiles) }
func (k *kernels[T]) vectors() int { return len(k.tiles[0]) }

// images are the loops over images of float32, each the SIMD version of the generic loop of its name.
type images struct {
	moments           func(rows, n int, x *float32, shift float64, mask *uint64, sums *float64)
	normalise         [4]normaliseFunc    // plus 1 with a ReLU, plus 2 with a residual
	gradientSums      [3]gradientSumsFunc // by normMask
	gradientInput     [2]func(rows, n int, dy, x, dx *float32, hi, lo, scale, shift, k1, k2, k3 float32, mask *uint32)
	maxWindow         func(n, h, w, across, down int, x, y *float32)
	maxWindowGradient func(n, h, w, across, down int, x, dy, dx *float32)
}

type (
	normaliseFunc    func(n int, x, residual, y *float32, hi, lo, scale, shift float32)
	gradientSumsFunc func(n int, dy, y, x *float32, hi, lo, scale, shift float32, sums *float64)
)

// functions are all functions of package conv, for one instruction set.
type functions struct {
	float32 *kernels[float32]
	float64 *kernels[float64]
	images  *images // nil: use the generic loops
}

var table functions

func init() { isa.Fill(func(set isa.Set) { table = functionsFor(set) }) }

// kernelsOf returns the pieces for an element type.
func kernelsOf[T kernel.Float]() *kernels[T] {
	if kernel.IsFloat32[T]() {
		return (*kernels[T])(unsafe.Pointer(table.float32))
	}
	return (*kernels[T])(unsafe.Pointer(table.float64))
}

// imagesOf returns the loops over images for an element type, nil if only the generic ones exist.
func imagesOf[T kernel.Float]() *images {
	if !kernel.IsFloat32[T]() {
		return nil
	}
	return table.images
}

var genericFunctions = functions{float32: genericKernels[float32](), float64: genericKernels[float64]()}
