package conv

import (
	"collapse.example/collapse/internal/kernel"
)

// A weightOrder arranges PyTorch's weights w[Out][In][KH·KW] for products: one matrix for each tap that is used; its rows are the
// output channels of the products, its columns those that are summed over.
//
// Rows are padded to an odd number of cache lines, so that the rows of a tile do not compete for the
// same set of the first-level cache.
type weightOrder struct {
	rows, cols int
	swapped    bool  // rows are In, as in the input gradient
	taps       int   // KH·KW
	used       []int // taps in the order of the matrices
	slot       []int // matrix of a tap, −1 if it is not used
}

func newWeightOrder(s Shape, swapped bool) weightOrder {
	o := weightOrder{rows: s.Out, cols: s.In, swapped: swapped, taps: s.KH * s.KW, slot: make([]int, s.KH*s.KW)}
	if swapped {
		o.rows, o.cols = s.In, s.Out
	}
	ys := usedTaps(s.H, s.OutH(), s.KH, s.Stride, s.Pad)
	xs := usedTaps(s.W, s.OutW(), s.KW, s.Stride, s.Pad)
	for i := range s.KH {
		for j := range s.KW {
			at := i*s.KW + j
			o.slot[at] = -1
			if ys[i] && xs[j] {
				o.slot[at] = len(o.used)
				o.used = append(o.used, at)
			}
		}
	}
	return o
}

// withAllTaps returns the order with a matrix for every tap, used or not.
func (o weightOrder) withAllTaps() weightOrder {
	o.used = nil
	for at := range o.taps {
		o.slot[at] = at
		o.used = append(o.used, at)
	}
	return o
}

// usedTaps reports which taps of an axis see a pixel anywhere.
func usedTaps(in, out, size, stride, pad int) []bool {
	used := make([]bool, size)
	for _, seen := range forwardTaps(in, out, size, stride, pad) {
		for _, t := range seen {
			used[t.at] = true
		}
	}
	return used
}

// rowStride returns the distance between rows of a matrix.
func (o *weightOrder) rowStride() int { return paddedRow(o.cols) }

// paddedRow returns an odd number of blocks of lanes, at least n elements.
func paddedRow(n int) int { return (kernel.CeilDiv(n, LaneBlock) | 1) * LaneBlock }

// size returns the elements of all matrices.
func (o *weightOrder) size() int { return len(o.used) * o.rows * o.rowStride() }

// An orderWork is one arrangement of weights in progress.
type orderWork[T kernel.Float] struct {
	s      *convScratch[T]
	k      *kernels[T]
	w, dst []T
	plane  int // distance between matrices
}

// orderRows arranges rows r0…r1−1 of every matrix at the start of dst.
func orderRows[T kernel.Float](o *weightOrder, a orderWork[T], r0, r1 int) {
	if o.swapped {
		orderSwapped(o, a, r0, r1)
		return
	}
	for r := r0; r < r1; r++ {
		orderStraight(o, a, r, r-r0)
	}
}

// orderStraight arranges row r, whose weights [column][tap] are contiguous, as row to of the matrices. Whole blocks of columns and
// taps are transposed; where that would read beyond the weights, elements are copied.
func orderStraight[T kernel.Float](o *weightOrder, a orderWork[T], r, to int) {
	size, row := kernel.Size[T](), a.w[r*o.cols*o.taps:]
	whole := 0 // columns whose 16 elements from any block of taps on lie within w
	if last := kernel.RoundUp(o.taps, LaneBlock); len(row) >= last {
		whole = min(o.cols, (len(row)-last)/o.taps+1) / LaneBlock * LaneBlock
	}
	for first := 0; first < o.taps && whole > 0; first += LaneBlock {
		t := &a.s.turn
		*t = convTranspose{
			dst: pointer(a.dst, to*o.rowStride()), dstGap: LaneBlock * size,
			src: pointer(row, first), srcGap: LaneBlock * o.taps * size, blocks: whole / LaneBlock,
		}
		for i := range LaneBlock {
			t.srcRows[i], t.dstRows[i] = i*o.taps*size, -1
			if at := first + i; at < o.taps && o.slot[at] >= 0 {
				t.dstRows[i] = o.slot[at] * a.plane * size
			}
		}
		a.k.transpose(t)
	}
	for u, at := range o.used {
		for c := whole; c < o.cols; c++ {
			a.dst[u*a.plane+to*o.rowStride()+c] = row[c*o.taps+at]
		}
	}
}

// orderSwapped arranges rows r0…r1−1, whose weights [row][tap] are contiguous in each column.
func orderSwapped[T kernel.Float](o *weightOrder, a orderWork[T], r0, r1 int) {
	size, column := kernel.Size[T](), o.rows*o.taps
	whole := o.cols / LaneBlock * LaneBlock
	j, end := r0*o.taps, r1*o.taps // elements of a column
	for ; j < end && j+LaneBlock <= column && whole > 0; j += LaneBlock {
		t := &a.s.turn
		*t = convTranspose{
			dst: pointer(a.dst, 0), dstGap: LaneBlock * size,
			src: pointer(a.w, j), srcGap: LaneBlock * column * size, blocks: whole / LaneBlock, ahead: LaneBlock * size,
		}
		for i := range LaneBlock {
			t.srcRows[i], t.dstRows[i] = i*column*size, -1
			if at := o.slot[(j+i)%o.taps]; j+i < end && at >= 0 {
				t.dstRows[i] = (at*a.plane + ((j+i)/o.taps-r0)*o.rowStride()) * size
			}
		}
		a.k.transpose(t)
	}
	for i := r0 * o.taps; i < end; i++ {
		u, first := o.slot[i%o.taps], 0
		if i < j {
			first = whole
		}
		for c := first; c < o.cols && u >= 0; c++ {
			a.dst[u*a.plane+(i/o.taps-r0)*o.rowStride()+c] = a.w[c*column+i]
		}
	}
}

// ordering is the arrangement of all weights as a task of a team.
type ordering[T kernel.Float] struct {
	order   *weightOrder
	kernels *kernels[T]
	w, dst  []T
}

// orderBlock is the rows of one part.
const orderBlock = 16

// Run arranges one block of rows.
func (o *ordering[T]) Run(part int) {
	if len(o.dst) == 0 {
		return
	}
	pools := convPoolsFor[T]()
	s := pools.take(convNeed{})
	r0, ld := part*orderBlock, o.order.rowStride()
	orderRows(o.order, orderWork[T]{s, o.kernels, o.w, o.dst[r0*ld:], o.order.rows * ld}, r0, min(r0+orderBlock, o.order.rows))
	pools.release(s)
}

// scatterTaps is the inverse: dst[o·dstRow + j] = src[rows[j] + o] for o < out. The rows are sums of all channels o for a channel c
// and a tap, those of a filter one after the other.
func scatterTaps[T kernel.Float](s *convScratch[T], k *kernels[T], src []T, rows []int, dst []T, dstRow, out int) {
	size, n := kernel.Size[T](), len(rows)
	whole := out / LaneBlock * LaneBlock
	if n < LaneBlock {
		whole = 0
	}
	for first := 0; first < n && whole > 0; first += LaneBlock {
		j := min(first, n-LaneBlock) // the last block may repeat some of the one before
		t := &s.turn
		*t = convTranspose{
			dst: pointer(dst, j), dstGap: LaneBlock * dstRow * size,
			src: pointer(src, 0), srcGap: LaneBlock * size, blocks: whole / LaneBlock, ahead: LaneBlock * size,
		}
		for i := range LaneBlock {
			t.srcRows[i], t.dstRows[i] = rows[j+i]*size, i*dstRow*size
		}
		k.transpose(t)
	}
	for j, row := range rows {
		for o := whole; o < out; o++ {
			dst[o*dstRow+j] = src[row+o]
		}
	}
}
