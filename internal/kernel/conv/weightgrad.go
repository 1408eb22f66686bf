package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// weightSums computes the gradient of the weights of a convolution:
//
//	dw[o][c][t] = Σ over pixels p whose tap t sees a pixel p', Σ_b x[c][p'][b] · dy[o][p][b]
//
// It is a sum of outer products over (pixel, sample), so one operand needs neighbouring channels in a
// vector: dy is transposed, block by block, to [pixel][lane][channel o]. x, whose elements are
// broadcast, is only copied, to [channel c][pixel][lane] with channels an odd number of cache lines apart.
// Work is divided into units, a strip of rows of dy × a block of lanes. Consecutive units form a slice; a part is a slice × a few
// blocks of channels o. A part sums its units, in order, into partial sums [tap][c][o]; a second pass adds up the slices, in order,
// and arranges the sums as PyTorch does. The slices depend only on the shape and the batch, and so do the bits.
type weightSums[T kernel.Float] struct {
	shape        Shape
	order        weightOrder // which taps are used
	tapsY, tapsX [][]tap

	// of the call under way
	kernels   *kernels[T]
	x, dy, dw []T
	partial   []T
	lanes     int
	stripRows int
	units     int
	slices    int
	columns   int // channels o of a part
	blocks    int // of channels o
	share     int // blocks of a part, which copies its pixels once for all of them
	reducing  bool
	need      convNeed
}

const (
	convMostSlices = 4       // together with the blocks of channels enough for several threads
	convSliceBytes = 4 << 20 // most partial sums, except of a single slice
)

func newWeightSums[T kernel.Float](s Shape) *weightSums[T] {
	return &weightSums[T]{
		shape: s, order: newWeightOrder(s, false),
		tapsY: forwardTaps(s.H, s.OutH(), s.KH, s.Stride, s.Pad), tapsX: forwardTaps(s.W, s.OutW(), s.KW, s.Stride, s.Pad),
	}
}

// compute overwrites dw.
func (g *weightSums[T]) compute(tm *parallel.Team, lanes int, x, dy, dw []T) {
	g.plan(lanes)
	pools := convPoolsFor[T]()
	shared := pools.takeShared(g.need)
	clear(shared.partial[g.slices*g.sliceSize():])
	g.x, g.dy, g.dw, g.partial, g.reducing = x, dy, dw, shared.partial, false
	tm.Do(g.slices*kernel.CeilDiv(g.blocks, g.share), g)
	g.reducing = true
	tm.Do(kernel.CeilDiv(g.shape.In, orderBlock), g)
	g.x, g.dy, g.dw, g.partial = nil, nil, nil, nil
	pools.shared.Put(shared)
}

// sliceSize returns the number of partial sums in a slice.
func (g *weightSums[T]) sliceSize() int {
	return len(g.order.used) * g.shape.In * g.blocks * g.columns
}

// plan divides the work, by shape and batch only.
func (g *weightSums[T]) plan(lanes int) {
	g.kernels, g.lanes = kernelsOf[T](), lanes
	s, size := g.shape, kernel.Size[T]()
	g.columns = LaneBlock
	if s.Out > LaneBlock {
		g.columns = 2 * LaneBlock
	}
	g.blocks = kernel.CeilDiv(s.Out, g.columns)
	inputRow, outputRow := s.In*s.W*LaneBlock*size, s.OutW()*LaneBlock*g.columns*size
	rows := s.OutH()
	for rows > 1 && min(s.H, (rows-1)*s.Stride+s.KH)*inputRow+rows*outputRow > convBlockBytes {
		rows--
	}
	strips := kernel.CeilDiv(s.OutH(), rows)
	g.stripRows = kernel.CeilDiv(s.OutH(), strips)
	g.units = kernel.CeilDiv(s.OutH(), g.stripRows) * (g.lanes / LaneBlock)
	g.slices = max(1, min(g.units, convMostSlices, convSliceBytes/(g.sliceSize()*size+1)))
	g.share = kernel.CeilDiv(g.blocks, kernel.CeilDiv(manyParts, g.slices))
	g.need = convNeed{
		partial: g.slices*g.sliceSize() + g.columns, // with a row of zeros
		packed:  s.In * g.inputRow(min(s.H, (g.stripRows-1)*s.Stride+s.KH)),
		turned:  g.stripRows * s.OutW() * LaneBlock * g.columns,
	}
}

func (g *weightSums[T]) needs(lanes int) convNeed {
	g.plan(lanes)
	return g.need
}

// Run computes a part of the partial sums or, in the second pass, of the gradient.
func (g *weightSums[T]) Run(part int) {
	if g.reducing {
		g.reduce(part*orderBlock, min((part+1)*orderBlock, g.shape.In))
		return
	}
	pools := convPoolsFor[T]()
	s := pools.take(g.need)
	shares := kernel.CeilDiv(g.blocks, g.share)
	slice, block := part/shares, part%shares*g.share
	first, last := slice*g.units/g.slices, (slice+1)*g.units/g.slices
	for unit := first; unit < last; unit++ {
		g.unit(s, unit, slice, block, min(block+g.share, g.blocks), unit > first)
	}
	pools.release(s)
}

// block returns the partial sums [tap][c][o] of a block of channels o in a slice.
func (g *weightSums[T]) block(slice, block int) []T {
	size := len(g.order.used) * g.shape.In * g.columns
	return g.partial[(slice*g.blocks+block)*size:][:size]
}

// unit adds a unit to the partial sums of blocks block0…block1−1 of a slice, or starts them.
func (g *weightSums[T]) unit(s *convScratch[T], unit, slice, block0, block1 int, accumulate bool) {
	groups := g.lanes / LaneBlock
	first := unit / groups * g.stripRows
	last := min(first+g.stripRows, g.shape.OutH())
	lane := unit % groups * LaneBlock
	y0, y1 := max(0, first*g.shape.Stride-g.shape.Pad), min(g.shape.H, (last-1)*g.shape.Stride-g.shape.Pad+g.shape.KH)
	y1 = max(y0, y1)
	g.packInput(s, y0, y1, lane)
	for block := block0; block < block1; block++ {
		g.turnGradient(s, first, last, lane, block)
		sums := g.block(slice, block)
		for u, at := range g.order.used {
			g.list(s, at/g.shape.KW, at%g.shape.KW, first, last, y0)
			g.tap(s, sums[u*g.shape.In*g.columns:], y1-y0, g.outColumns(block), accumulate)
		}
	}
}

// outColumns returns how many channels o a block has.
func (g *weightSums[T]) outColumns(block int) int {
	return min(g.columns, g.shape.Out-block*g.columns)
}

// inputRow returns the distance between channels of the packed input of rows rows.
func (g *weightSums[T]) inputRow(rows int) int { return paddedRow(rows * g.shape.W * LaneBlock) }

// packInput copies a block of lanes of rows y0…y1 of x to [channel][pixel][lane].
func (g *weightSums[T]) packInput(s *convScratch[T], y0, y1, lane int) {
	pixels, ld, size := (y1-y0)*g.shape.W, g.inputRow(y1-y0), kernel.Size[T]()
	if pixels == 0 {
		return
	}
	if lane == 0 {
		touchRows(g.x, g.shape.In, g.shape.H, g.shape.W*g.lanes, y0, y1)
	}
	most := min(g.kernels.vectors(), LaneBlock/g.kernels.lanes)
	move, width := g.kernels.copies[most-1], most*g.kernels.lanes
	for c := range g.shape.In {
		from := (c*g.shape.H+y0)*g.shape.W*g.lanes + lane
		for l := 0; l < LaneBlock; l += width {
			move(&s.packed[c*ld+l], LaneBlock*size, &g.x[from+l], g.lanes*size, pixels)
		}
	}
}

// turnGradient transposes a block of lanes and channels of rows first…last−1 of dy to
// [pixel][lane][channel]. Columns beyond the last channel repeat it; nothing depends on them.
func (g *weightSums[T]) turnGradient(s *convScratch[T], first, last, lane, block int) {
	size, width := kernel.Size[T](), g.shape.OutW()
	pixels := (last - first) * width
	channel := g.shape.OutH() * width * g.lanes
	for col := 0; col < g.outColumns(block); col += LaneBlock {
		t := &s.turn
		*t = convTranspose{
			dst: unsafe.Pointer(&s.turned[col]), dstGap: LaneBlock * g.columns * size,
			src: unsafe.Pointer(&g.dy[first*width*g.lanes+lane]), srcGap: g.lanes * size, blocks: pixels, ahead: 2 * g.lanes * size,
		}
		for r := range LaneBlock {
			t.srcRows[r] = min(block*g.columns+col+r, g.shape.Out-1) * channel * size
			t.dstRows[r] = r * g.columns * size
		}
		g.kernels.transpose(t)
	}
}

// list writes the runs of tap (i, j): rows of dy with the pixels of x that they see, or single pixels if the stride separates those.
// All runs of a tap have the same length, s.runStart[0].
func (g *weightSums[T]) list(s *convScratch[T], i, j, first, last, y0 int) {
	size, ow := kernel.Size[T](), g.shape.OutW()
	s.runs, s.runStart = s.runs[:0], append(s.runStart[:0], LaneBlock)
	for p, tapsY := range g.tapsY[first:last] {
		y := source(tapsY, i)
		if y < 0 {
			continue
		}
		count := 0
		for q, tapsX := range g.tapsX {
			x := source(tapsX, j)
			if x < 0 {
				continue
			}
			if count++; count == 1 || g.shape.Stride > 1 {
				s.runs = append(s.runs, convRun{
					a: ((y-y0)*g.shape.W + x) * LaneBlock * size,
					b: (p*ow + q) * LaneBlock * g.columns * size,
				})
			}
		}
		if g.shape.Stride == 1 {
			s.runStart[0] = count * LaneBlock
		}
	}
}

// source returns the input coordinate that tap at sees, −1 for padding.
func source(taps []tap, at int) int {
	for _, t := range taps {
		if t.at == at {
			return t.from
		}
	}
	return -1
}

// tap adds the products of the listed runs to the sums [c][o] of a tap.
func (g *weightSums[T]) tap(s *convScratch[T], sums []T, inputRows, outColumns int, accumulate bool) {
	if accumulate && len(s.runs) == 0 {
		return
	}
	k, size, ld := g.kernels, kernel.Size[T](), g.inputRow(inputRows)
	panel := evenPanel(g.shape.In, k.rows())
	t := &s.tile
	*t = convTile{
		runs: unsafe.SliceData(s.runs), runCount: len(s.runs), k: s.runStart[0],
		aRow: ld * size, aCol: size, bRow: g.columns * size, cRow: g.columns * size, addRow: g.columns * size,
	}
	for c := 0; c < g.shape.In; c += panel {
		rows := min(panel, g.shape.In-c)
		t.a = pointer(s.packed, c*ld)
		for col := 0; col < outColumns; {
			vectors := min(k.vectors(), kernel.CeilDiv(outColumns-col, k.lanes))
			t.b, t.c = pointer(s.turned, col), unsafe.Pointer(&sums[c*g.columns+col])
			if accumulate {
				t.add = t.c
			}
			k.tiles[rows-1][vectors-1](t)
			col += vectors * k.lanes
		}
	}
}

// reduce adds up the slices of channels c0…c1−1 into dw.
func (g *weightSums[T]) reduce(c0, c1 int) {
	pools := convPoolsFor[T]()
	s := pools.take(g.need)
	taps := g.shape.KH * g.shape.KW
	for block := range g.blocks {
		for u := range g.order.used {
			for slice := 1; slice < g.slices; slice++ {
				from, to := (u*g.shape.In+c0)*g.columns, (u*g.shape.In+c1)*g.columns
				sum := g.block(0, block)[from:to]
				for i, v := range g.block(slice, block)[from:to] {
					sum[i] += v
				}
			}
		}
		s.offsets = s.offsets[:0]
		for c := c0; c < c1; c++ {
			for _, u := range g.order.slot {
				row := len(g.partial) - g.columns // of zeros, for taps that see nothing
				if u >= 0 {
					row = block*len(g.order.used)*g.shape.In*g.columns + (u*g.shape.In+c)*g.columns
				}
				s.offsets = append(s.offsets, row)
			}
		}
		o := block * g.columns
		scatterTaps(s, g.kernels, g.partial, s.offsets, g.dw[(o*g.shape.In+c0)*taps:], g.shape.In*taps, g.outColumns(block))
	}
	pools.release(s)
}
