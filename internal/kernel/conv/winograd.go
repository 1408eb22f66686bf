package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
)

// Winograd's algorithm F(4×4, 3×3) (Lavin and Gray 2016) computes 4×4 pixels of a convolution with
// 3×3 filters from 6×6 pixels of the image with 36 products for a pair of channels instead of 144:
//
//	Y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A          forward
//	dg = Gᵀ [(A dY Aᵀ) ⊙ (Bᵀ d B)] G        gradient of the filter
//
// and sums over channels (forward), or over pixels and samples (gradient), before it transforms back. The
// input gradient is a convolution forward with the filters turned around and rows and columns of
// channels exchanged.
//
// In one dimension the algorithm multiplies polynomials by their values at six points. The usual
// points 0, ±1, ±2, ∞ lose an order of magnitude in accuracy; 0, ±3/4, ±3/2, ∞ keep the powers of the points
// within a factor of ten of each other, cost as many operations, are exact in binary, and come out with
// about twice the error of the plain sum. With p, q the points, a = p², b = q², and d, m, y, g as above:
//
//	Bᵀ:  ab·d0 − (a+b)·d2 + d4                         Aᵀ:  m0 + m1 + m2 + m3 + m4
//	     (d4 − b·d2) ± p(d3 − b·d1)                         p(m1 − m2) + q(m3 − m4)
//	     (d4 − a·d2) ± q(d3 − a·d1)                         a(m1 + m2) + b(m3 + m4)
//	     ab·d1 − (a+b)·d3 + d5                              p³(m1 − m2) + q³(m3 − m4) + m5
//
//	G:   g0/ab,  (g0 ± p·g1 + a·g2)/nP,  (g0 ± q·g1 + b·g2)/nQ,  g2
const (
	winogradP  = 3. / 4
	winogradQ  = 3. / 2
	winogradNP = 2 * winogradP * winogradP * (winogradP*winogradP - winogradQ*winogradQ)
	winogradNQ = 2 * winogradQ * winogradQ * (winogradQ*winogradQ - winogradP*winogradP)
)

const (
	winogradPoints = 36
	winogradSide   = 4         // pixels of a result along an axis
	winogradWhole  = 1<<36 - 1 // mask of a grid that lies inside
	winogradShared = 4 << 20   // most bytes of transformed filters that are kept for all pixels
)

// winogradFits reports whether the algorithm applies to a shape.
func winogradFits(s Shape) bool { return s.KH == 3 && s.KW == 3 && s.Stride == 1 && s.Pad == 1 }

// winogradPays reports whether the algorithm is faster than skipping taps for a batch, by counting vector operations. Transforms
// take 144 operations per grid of input, 120 of output and about 160 for filters, or somewhat more with loads and stores; the factor
// accounts for shorter sums of products than the direct algorithm's. With the three channels of an image it gains nothing: the
// transforms of the many channels of the result are shared by too few, and the gradient of the weights becomes slower.
func winogradPays(s Shape, batch int) bool {
	if !winogradFits(s) || min(s.In, s.Out) < LaneBlock/2 {
		return false
	}
	vectors := float64(winogradTiles(s.H) * winogradTiles(s.W) * Lanes(batch) / LaneBlock)
	in, out := float64(s.In), float64(s.Out)
	products := 1.15 * winogradPoints * in * out * vectors
	transforms := (180*in+160*out)*vectors + 200*in*out/LaneBlock
	direct := float64(s.UsefulMACs(Lanes(batch))) / LaneBlock
	return products+transforms < direct
}

func winogradTiles(extent int) int { return kernel.CeilDiv(extent, winogradSide) }

// winogradGrid is the geometry that forward, input gradient and weight gradient share: an image of
// h×w pixels cut into tiles of 4×4 and lanes into groups. A chunk is a tile × a group of lanes.
type winogradGrid struct {
	h, w   int
	tilesX int
	tiles  int
	lanes  int
	group  int // lanes of a chunk
	groups int
}

func newWinogradGrid(h, w int) winogradGrid {
	return winogradGrid{h: h, w: w, tilesX: winogradTiles(w), tiles: winogradTiles(h) * winogradTiles(w)}
}

func (g *winogradGrid) cut(lanes, group int) {
	g.lanes, g.group = lanes, min(group, lanes)
	g.groups = kernel.CeilDiv(lanes, g.group)
}

func (g *winogradGrid) chunks() int { return g.tiles * g.groups }

// chunk returns the first pixel of a chunk's tile, its first lane and its number of lanes.
func (g *winogradGrid) chunk(i int) (y, x, lane, width int) {
	tile := i / g.groups
	lane = i % g.groups * g.group
	return tile / g.tilesX * winogradSide, tile % g.tilesX * winogradSide, lane, min(g.group, g.lanes-lane)
}

// newRows returns the rows of pixels that the tiles of a row of tiles see first, with halo pixels around a tile: those that the row
// of tiles above has not seen. There are none unless the chunk is the first of its row of tiles.
func (g *winogradGrid) newRows(chunk, halo int) (first, last int) {
	if chunk%(g.tilesX*g.groups) != 0 {
		return 0, 0
	}
	y, _, _, _ := g.chunk(chunk)
	if y > 0 {
		first = min(y+halo, g.h)
	}
	return first, min(y+winogradSide+halo, g.h)
}

// mask tells which points of a grid of n×n that begins at pixel (y, x) lie inside the image.
func (g *winogradGrid) mask(y, x, n int) int {
	mask := 0
	for i := range n {
		for j := range n {
			if y+i >= 0 && y+i < g.h && x+j >= 0 && x+j < g.w {
				mask |= 1 << (i*n + j)
			}
		}
	}
	return mask
}

// pointStride returns the distance between the matrices of two points with n elements each: a cache line
// more than the elements, so that the 36 of a grid do not fall into the same set of the caches.
func pointStride(n int) int { return n + LaneBlock }

// transformInput transforms channels channels of a chunk of an image into [point][channel][lane], points
// point elements apart.
func transformInput[T kernel.Float](s *convScratch[T], k *kernels[T], g *winogradGrid, image []T, channels, chunk int, dst []T, point int) {
	first, last := g.newRows(chunk, 1)
	touchRows(image, channels, g.h, g.w*g.lanes, first, last)
	y, x, lane, width := g.chunk(chunk)
	size := kernel.Size[T]()
	for l := 0; l < width; l += k.lanes {
		f := &s.form
		*f = convTransform{
			src: unsafe.Pointer(&image[lane+l]), srcAt: ((y-1)*g.w + x - 1) * g.lanes * size,
			srcRow: g.w * g.lanes * size, srcCol: g.lanes * size, srcGap: g.h * g.w * g.lanes * size,
			srcMask: g.mask(y-1, x-1, 6),
			dst:     unsafe.Pointer(&dst[l]), dstRow: 6 * point * size, dstCol: point * size, dstGap: width * size,
			dstMask: winogradWhole, count: channels, temp: pointer(s.temp, 0),
		}
		k.input(f)
	}
}
