package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// pixelSums computes, for every pixel of an image, sums over taps and channels of another image:
//
//	to[r][p][b] = Σ over taps t that see a pixel p' from p, Σ_c weights[t][r][c] · from[c][p'][b]
//
// It is a convolution forward, and its input gradient with rows and columns of the weights and forward
// and backward taps exchanged.
//
// Work is divided into parts: a strip of rows of the result × a group of lanes × a block of channels. A part copies the pixels it
// needs into a block [pixel][channel][lane] that stays in the second-level cache: in the image itself, channels are a power of two
// apart and would compete for a few sets of the caches. Then it computes tiles in registers, by panel of channels and by pixel, each
// with the list of the taps that see something. Nothing is copied per tap. None of these choices changes a bit of the result: an
// element is summed tap by tap, channel by channel.
type pixelSums[T kernel.Float] struct {
	order        weightOrder
	toH, toW     int
	fromH, fromW int
	kw           int
	tapsY, tapsX [][]tap

	// of the call under way
	ordering  ordering[T]
	kernels   *kernels[T]
	weights   []T
	from, to  []T
	lanes     int
	ep        Epilogue[T]
	group     int // lanes of a part
	stripRows int
	blockRows int // channels of a part
	groups    int
	strips    int
	need      convNeed
}

const (
	convBlockBytes = 768 << 10 // most bytes of pixels packed by a part
	manyParts      = 64        // of a job, aimed at, for many threads to finish together
	someParts      = 16        // of a job of which smaller parts would pack the same once more
	partWork       = 2e6       // least operations of a part that is made smaller for that: handing it over costs as much as some thousands
	leastRows      = 2         // of it: each part packs the rows around its own, too
)

func newPixelSums[T kernel.Float](s Shape, backward bool) *pixelSums[T] {
	p := &pixelSums[T]{order: newWeightOrder(s, backward), kw: s.KW}
	oh, ow := s.OutH(), s.OutW()
	if backward {
		p.toH, p.toW, p.fromH, p.fromW = s.H, s.W, oh, ow
		p.tapsY, p.tapsX = backwardTaps(s.H, oh, s.KH, s.Stride, s.Pad), backwardTaps(s.W, ow, s.KW, s.Stride, s.Pad)
	} else {
		p.toH, p.toW, p.fromH, p.fromW = oh, ow, s.H, s.W
		p.tapsY, p.tapsX = forwardTaps(s.H, oh, s.KH, s.Stride, s.Pad), forwardTaps(s.W, ow, s.KW, s.Stride, s.Pad)
	}
	return p
}

// compute runs the sums. The residual has the layout of to and may be to itself.
func (p *pixelSums[T]) compute(tm *parallel.Team, lanes int, from, w, to []T, ep Epilogue[T]) {
	p.plan(lanes)
	pools := convPoolsFor[T]()
	shared := pools.takeShared(p.need)
	p.arrange(tm, w, shared.weights)
	p.computeArranged(tm, lanes, from, shared.weights, to, ep)
	pools.shared.Put(shared)
}

func (p *pixelSums[T]) arrange(tm *parallel.Team, w, dst []T) {
	p.ordering = ordering[T]{&p.order, kernelsOf[T](), w, dst}
	tm.Do(kernel.CeilDiv(p.order.rows, orderBlock), &p.ordering)
	p.ordering = ordering[T]{}
}

func (p *pixelSums[T]) computeArranged(tm *parallel.Team, lanes int, from, arranged, to []T, ep Epilogue[T]) {
	p.plan(lanes)
	p.weights, p.from, p.to, p.ep = arranged, from, to, ep
	tm.Do(p.strips*p.groups*kernel.CeilDiv(p.order.rows, p.blockRows), p)
	p.weights, p.from, p.to, p.ep = nil, nil, nil, Epilogue[T]{}
}

// plan divides the work into parts, by shape and kernel only.
func (p *pixelSums[T]) plan(lanes int) {
	k := kernelsOf[T]()
	p.kernels, p.lanes = k, lanes
	p.group = min(k.lanes*k.vectors(), p.lanes)
	p.groups = kernel.CeilDiv(p.lanes, p.group)
	rowBytes := p.fromW * p.order.cols * p.group * kernel.Size[T]()
	p.stripRows = p.toH
	for p.stripRows > 1 && p.mostInputRows()*rowBytes > convBlockBytes {
		p.stripRows--
	}
	p.strips = kernel.CeilDiv(p.toH, p.stripRows)
	p.stripRows = kernel.CeilDiv(p.toH, p.strips)
	p.strips = kernel.CeilDiv(p.toH, p.stripRows)
	perRow := 2 * float64(p.toW*len(p.order.used)*p.order.cols) * float64(p.order.rows*p.group)
	if rows := max(kernel.CeilDiv(p.toH, kernel.CeilDiv(manyParts, p.groups)), int(partWork/perRow), leastRows); rows < p.stripRows {
		p.stripRows = rows
		p.strips = kernel.CeilDiv(p.toH, p.stripRows)
	}
	panel := evenPanel(p.order.rows, k.rows())
	blocks := max(1, min(kernel.CeilDiv(manyParts, p.strips*p.groups), p.order.rows/(4*panel)))
	p.blockRows = kernel.RoundUp(kernel.CeilDiv(p.order.rows, blocks), panel)
	p.need = convNeed{weights: p.order.size(), packed: p.mostInputRows() * p.fromW * p.order.cols * p.group}
}

func (p *pixelSums[T]) needs(lanes int) convNeed {
	p.plan(lanes)
	return p.need
}

// evenPanel returns the rows of panels that are as equal as possible, none above most.
func evenPanel(rows, most int) int { return kernel.CeilDiv(rows, kernel.CeilDiv(rows, most)) }

// mostInputRows returns the most input rows that a strip of stripRows sees.
func (p *pixelSums[T]) mostInputRows() int {
	most := 0
	for first := 0; first < p.toH; first += p.stripRows {
		y0, y1 := p.inputRows(first, min(first+p.stripRows, p.toH))
		most = max(most, y1-y0)
	}
	return most
}

// inputRows returns the input rows that rows first…last−1 of the result see.
func (p *pixelSums[T]) inputRows(first, last int) (y0, y1 int) {
	y0 = p.fromH
	for _, taps := range p.tapsY[first:last] {
		for _, t := range taps {
			y0, y1 = min(y0, t.from), max(y1, t.from+1)
		}
	}
	return min(y0, y1), y1
}

// Run computes one part.
func (p *pixelSums[T]) Run(part int) {
	pools := convPoolsFor[T]()
	s := pools.take(p.need)
	group, rest := part%p.groups, part/p.groups
	strip, block := rest%p.strips, rest/p.strips
	first, last := strip*p.stripRows, min((strip+1)*p.stripRows, p.toH)
	lane0 := group * p.group
	width := min(p.group, p.lanes-lane0)
	y0, y1 := p.inputRows(first, last)
	p.pack(s, y0, y1, lane0, width)
	p.list(s, first, last, y0, width)
	row1 := min((block+1)*p.blockRows, p.order.rows)
	panel := evenPanel(p.order.rows, p.kernels.rows())
	for row := block * p.blockRows; row < row1; row += panel {
		p.panel(s, row, min(panel, row1-row), first, last, lane0, width)
	}
	p.kernels.fence()
	pools.release(s)
}

// pack copies rows y0…y1 of every channel into [pixel][channel][lane].
func (p *pixelSums[T]) pack(s *convScratch[T], y0, y1, lane0, width int) {
	pixels, cols, size := (y1-y0)*p.fromW, p.order.cols, kernel.Size[T]()
	if pixels == 0 {
		return
	}
	if lane0 == 0 {
		touchRows(p.from, cols, p.fromH, p.fromW*p.lanes, y0, y1)
	}
	move := p.kernels.copies[width/p.kernels.lanes-1]
	for c := range cols {
		from := &p.from[((c*p.fromH+y0)*p.fromW)*p.lanes+lane0]
		move(&s.packed[c*width], cols*width*size, from, p.lanes*size, pixels)
	}
}

// list writes the runs of every pixel of rows first…last−1.
func (p *pixelSums[T]) list(s *convScratch[T], first, last, y0, width int) {
	size := kernel.Size[T]()
	matrix, pixel := p.order.rows*p.order.rowStride()*size, p.order.cols*width*size
	s.runs, s.runStart = s.runs[:0], append(s.runStart[:0], 0)
	for _, tapsY := range p.tapsY[first:last] {
		for _, tapsX := range p.tapsX {
			for _, ty := range tapsY {
				for _, tx := range tapsX {
					s.runs = append(s.runs, convRun{
						a: p.order.slot[ty.at*p.kw+tx.at] * matrix,
						b: ((ty.from-y0)*p.fromW + tx.from) * pixel,
					})
				}
			}
			s.runStart = append(s.runStart, len(s.runs))
		}
	}
}

// panel computes rows channels from row on of every pixel of the strip.
func (p *pixelSums[T]) panel(s *convScratch[T], row, rows, first, last, lane0, width int) {
	size, channel := kernel.Size[T](), p.toH*p.toW*p.lanes
	t := &s.tile
	*t = convTile{
		a: pointer(p.weights, row*p.order.rowStride()), b: pointer(s.packed, 0),
		k: p.order.cols, aRow: p.order.rowStride() * size, aCol: size, bRow: width * size,
		cRow: channel * size, addRow: channel * size, bias: pointer(p.ep.Bias, row), relu: boolWord(p.ep.ReLU), stream: p.ep.stream(p.to),
	}
	compute := p.kernels.tiles[rows-1][width/p.kernels.lanes-1]
	at := row*channel + first*p.toW*p.lanes + lane0
	for i := range (last - first) * p.toW {
		start, end := s.runStart[i], s.runStart[i+1]
		t.runs, t.runCount = unsafe.SliceData(s.runs[start:]), end-start
		t.c, t.add = unsafe.Pointer(&p.to[at]), pointer(p.ep.Residual, at)
		compute(t)
		at += p.lanes
	}
}
