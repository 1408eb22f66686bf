package kernel

// A weightOrder arranges PyTorch's weights w[Out][In][KH·KW] for products: one matrix for each tap that is
// used, its rows the channels that come out of the products, its columns those that are summed over.
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

func newWeightOrder(s ConvShape, swapped bool) weightOrder {
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
func paddedRow(n int) int { return (ceilDiv(n, LaneBlock) | 1) * LaneBlock }

// size returns the elements of all matrices.
func (o *weightOrder) size() int { return len(o.used) * o.rows * o.rowStride() }

// orderRows arranges rows r0…r1−1 of every matrix at the start of dst, matrices plane elements apart.
func orderRows[T float32 | float64](o *weightOrder, w, dst []T, plane, r0, r1 int) {
	ld := o.rowStride()
	rowStep, colStep := o.cols*o.taps, o.taps
	if o.swapped {
		rowStep, colStep = o.taps, o.rows*o.taps
	}
	for u, at := range o.used {
		for r := r0; r < r1; r++ {
			from := w[r*rowStep+at:]
			to := dst[u*plane+(r-r0)*ld:][:o.cols]
			for c := range to {
				to[c] = from[c*colStep]
			}
		}
	}
}

// ordering is the arrangement of all weights as a task of a team.
type ordering[T float32 | float64] struct {
	order  *weightOrder
	w, dst []T
}

// orderBlock is the rows of one part.
const orderBlock = 16

// Run arranges one block of rows.
func (o *ordering[T]) Run(part int) {
	if len(o.dst) == 0 {
		return
	}
	r0, ld := part*orderBlock, o.order.rowStride()
	orderRows(o.order, o.w, o.dst[r0*ld:], o.order.rows*ld, r0, min(r0+orderBlock, o.order.rows))
}
