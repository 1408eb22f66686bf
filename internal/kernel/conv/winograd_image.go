package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// winogradSums computes a convolution forward or its input gradient by Winograd's algorithm.
//
// For every chunk the image is transformed to [point][channel c][lane] and multiplied, by panel of channels r and by point, with the
// transformed filters [point][channel r][channel c]; then the products are transformed back. If the filters of all channels fit into
// the third-level cache, they are transformed once and a part is a chunk, all of which stays in the second-level cache. Filters of
// more channels, which come with small images, would go through memory; there all chunks are transformed first, and a part is a
// panel of channels r that transforms its own filters.
type winogradSums[T kernel.Float] struct {
	order    weightOrder
	grid     winogradGrid
	backward bool
	byPanels bool // a part is a panel of channels
	pieces   int  // of a chunk: if there are few chunks, all are transformed first, and a part is some panels of one

	// of the call under way
	phase       winogradPhase
	kernels     *kernels[T]
	w, from, to []T
	ep          Epilogue[T]
	filters     []T // [point][r][c]
	columns     []T // [chunk][point][c][lane]
	panel       int
	need        convNeed
}

type winogradPhase uint8

const (
	winogradFilters winogradPhase = iota // transform the filters of a block of channels
	winogradColumns                      // transform a chunk
	winogradChunk                        // compute a chunk
	winogradPanel                        // compute a panel of channels
	winogradPiece                        // compute some panels of a chunk
)

func newWinogradSums[T kernel.Float](s Shape, backward bool) *winogradSums[T] {
	p := &winogradSums[T]{order: newWeightOrder(s, backward).withAllTaps(), grid: newWinogradGrid(s.H, s.W), backward: backward}
	p.byPanels = winogradPoints*s.In*s.Out*kernel.Size[T]() > winogradShared
	return p
}

func (p *winogradSums[T]) compute(tm *parallel.Team, lanes int, from, w, to []T, ep Epilogue[T]) {
	p.plan(lanes)
	pools := convPoolsFor[T]()
	shared := pools.takeShared(p.need)
	p.w, p.from, p.to, p.ep = w, from, to, ep
	p.filters, p.columns = shared.weights, shared.columns
	if p.byPanels {
		p.do(tm, winogradColumns, p.grid.chunks())
		p.do(tm, winogradPanel, kernel.CeilDiv(p.order.rows, p.panel))
	} else if p.pieces > 1 {
		p.do(tm, winogradFilters, kernel.CeilDiv(p.order.rows, orderBlock))
		p.do(tm, winogradColumns, p.grid.chunks())
		p.do(tm, winogradPiece, p.grid.chunks()*p.pieces)
	} else {
		p.do(tm, winogradFilters, kernel.CeilDiv(p.order.rows, orderBlock))
		p.do(tm, winogradChunk, p.grid.chunks())
	}
	p.w, p.from, p.to, p.ep, p.filters, p.columns = nil, nil, nil, Epilogue[T]{}, nil, nil
	pools.shared.Put(shared)
}

// plan divides the work, by shape and kernel only.
func (p *winogradSums[T]) plan(lanes int) {
	p.kernels = kernelsOf[T]()
	p.grid.cut(lanes, p.kernels.lanes*p.kernels.vectors())
	p.panel = evenPanel(p.order.rows, p.kernels.rows())
	p.need = convNeed{temp: winogradPoints * p.kernels.lanes, turned: winogradPoints * p.productPoint()}
	if p.byPanels {
		p.need.columns = p.grid.chunks() * p.columnsSize()
		p.need.packed = winogradPoints * p.filterPoint(p.panel)
		p.need.filters = 9 * p.panel * p.order.rowStride()
		return
	}
	p.need.weights = winogradPoints * p.filterPoint(p.order.rows)
	p.pieces = 1
	if p.grid.chunks() < someParts {
		p.pieces = min(kernel.CeilDiv(manyParts, p.grid.chunks()), kernel.CeilDiv(p.order.rows, p.panel))
	}
	if p.pieces > 1 {
		p.need.columns = p.grid.chunks() * p.columnsSize()
	} else {
		p.need.packed = p.columnsSize()
	}
	p.need.filters = 9 * orderBlock * p.order.rowStride()
}

func (p *winogradSums[T]) needs(lanes int) convNeed {
	p.plan(lanes)
	return p.need
}

func (p *winogradSums[T]) do(tm *parallel.Team, phase winogradPhase, parts int) {
	p.phase = phase
	tm.Do(parts, p)
}

// columnsSize returns the elements of a transformed chunk.
func (p *winogradSums[T]) columnsSize() int { return winogradPoints * p.columnsPoint() }

func (p *winogradSums[T]) columnsPoint() int { return pointStride(p.order.cols * p.grid.group) }

// productPoint returns the distance between points of a panel's products.
func (p *winogradSums[T]) productPoint() int { return pointStride(p.panel * p.grid.group) }

// filterPoint returns the distance between the filters of two points for rows channels r.
func (p *winogradSums[T]) filterPoint(rows int) int { return pointStride(rows * p.order.rowStride()) }

// Run computes one part of the current phase.
func (p *winogradSums[T]) Run(part int) {
	pools := convPoolsFor[T]()
	s := pools.take(p.need)
	switch p.phase {
	case winogradFilters:
		r0 := part * orderBlock
		p.transformFilters(s, r0, min(r0+orderBlock, p.order.rows), p.filters[r0*p.order.rowStride():], p.filterPoint(p.order.rows))
	case winogradColumns:
		transformInput(s, p.kernels, &p.grid, p.from, p.order.cols, part, p.columns[part*p.columnsSize():], p.columnsPoint())
	case winogradChunk:
		transformInput(s, p.kernels, &p.grid, p.from, p.order.cols, part, s.packed, p.columnsPoint())
		for r := 0; r < p.order.rows; r += p.panel {
			p.multiply(s, part, r, min(r+p.panel, p.order.rows), p.filters[r*p.order.rowStride():], p.filterPoint(p.order.rows), s.packed)
		}
	case winogradPiece:
		chunk, piece := part/p.pieces, part%p.pieces
		panels := kernel.CeilDiv(p.order.rows, p.panel)
		for r := piece * panels / p.pieces * p.panel; r < min((piece+1)*panels/p.pieces*p.panel, p.order.rows); r += p.panel {
			p.multiply(s, chunk, r, min(r+p.panel, p.order.rows), p.filters[r*p.order.rowStride():], p.filterPoint(p.order.rows), p.columns[chunk*p.columnsSize():])
		}
	case winogradPanel:
		r0 := part * p.panel
		r1 := min(r0+p.panel, p.order.rows)
		point := p.filterPoint(p.panel)
		p.transformFilters(s, r0, r1, s.packed, point)
		for chunk := range p.grid.chunks() {
			p.multiply(s, chunk, r0, r1, s.packed, point, p.columns[chunk*p.columnsSize():])
		}
	}
	p.kernels.fence()
	pools.release(s)
}

// transformFilters transforms the filters of channels r0…r1−1 to the start of dst.
func (p *winogradSums[T]) transformFilters(s *convScratch[T], r0, r1 int, dst []T, point int) {
	ld, size := p.order.rowStride(), kernel.Size[T]()
	plane := (r1 - r0) * ld
	orderRows(&p.order, orderWork[T]{s, p.kernels, p.w, s.filters, plane}, r0, r1)
	first, col := 0, plane
	if p.backward { // the filter rotated by 180°: its last tap first
		first, col = 8*plane, -plane
	}
	for r := range r1 - r0 {
		f := &s.form
		*f = convTransform{
			src: unsafe.Pointer(&s.filters[first+r*ld]), srcRow: 3 * col * size, srcCol: col * size, srcGap: p.kernels.lanes * size,
			srcMask: winogradWhole, dstMask: winogradWhole,
			dst: unsafe.Pointer(&dst[r*ld]), dstRow: 6 * point * size, dstCol: point * size, dstGap: p.kernels.lanes * size,
			count: kernel.CeilDiv(p.order.cols, p.kernels.lanes), temp: pointer(s.temp, 0),
		}
		p.kernels.filter(f)
	}
}

// multiply computes channels r0…r1−1, at most a panel, of a chunk from transformed filters, those of channel r0 first and filterPoint
// apart, and the transformed chunk.
func (p *winogradSums[T]) multiply(s *convScratch[T], chunk, r0, r1 int, filters []T, filterPoint int, columns []T) {
	k, size, productPoint := p.kernels, kernel.Size[T](), p.productPoint()
	y, x, lane, width := p.grid.chunk(chunk)
	s.tile = convTile{
		a: unsafe.Pointer(&filters[0]), b: unsafe.Pointer(&columns[0]), c: unsafe.Pointer(&s.turned[0]),
		runs: &s.run, runCount: 1, k: p.order.cols, aRow: p.order.rowStride() * size, aCol: size, bRow: width * size, cRow: width * size,
		count: winogradPoints, aNext: filterPoint * size, bNext: p.columnsPoint() * size, cNext: productPoint * size,
	}
	k.tiles[r1-r0-1][width/k.lanes-1](&s.tile)
	image := p.grid.h * p.grid.w * p.grid.lanes
	at := r0*image + (y*p.grid.w+x)*p.grid.lanes + lane
	for l := 0; l < width; l += k.lanes {
		f := &s.form
		*f = convTransform{
			src: unsafe.Pointer(&s.turned[l]), srcRow: 6 * productPoint * size, srcCol: productPoint * size, srcGap: width * size,
			srcMask: winogradWhole,
			dst:     unsafe.Pointer(&p.to[at+l]), dstRow: p.grid.w * p.grid.lanes * size, dstCol: p.grid.lanes * size, dstGap: image * size,
			dstMask: p.grid.mask(y, x, winogradSide), count: r1 - r0, temp: pointer(s.temp, 0), relu: boolWord(p.ep.ReLU), stream: p.ep.stream(p.to),
		}
		if p.ep.Bias != nil {
			f.bias, f.biasGap = unsafe.Pointer(&p.ep.Bias[r0]), size
		}
		if p.ep.Residual != nil {
			f.add, f.addGap = unsafe.Pointer(&p.ep.Residual[at+l]), f.dstGap
		}
		k.output(f)
	}
}
