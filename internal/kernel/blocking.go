package kernel

import (
	"unsafe"

	"collapse/parallel"
)

// product is one call of Gemm with the element type resolved.
type product[T cell] struct {
	form          Form
	m, n, k       int
	a, b, c, bias []T
	lda, ldb, ldc int
	accumulate    bool
}

// A product is computed as Goto and van de Geijn (2008) do, with the roles arranged so that threads
// meet only twice:
//
//	for each block of rows of op(A) small enough to be packed whole (almost always: all rows)
//	    pack it into panels of mr rows                     (parts: a few panels each)
//	    for each part of C: a stripe of columns × a group of row panels
//	        for each block of k, in order
//	            pack the stripe's rows of op(B) into panels of nr columns, in the thread's buffer
//	            for each row panel, for each column panel: one tile, in registers
//
// op(A), the smaller operand of a training step, is packed once and read by all threads; op(B) is
// packed exactly once in all, by the thread that uses it, into a buffer that stays in its second-level
// cache. There is no barrier between blocks of k.
//
// An operand is read in place when that is cheaper; see plan. None of these choices changes a bit of C:
// an element is a sum over blocks of k, each summed in order, and the blocks depend on k alone.
const (
	kBlock      = 512     // largest block of k: a packed panel of A is 24 KiB, of B 64 KiB
	kSpan       = 4096    // most of k that is packed of A at once, a multiple of kBlock
	packedBytes = 8 << 20 // most of A that is packed at once
)

// run is one product on its way; it lives in a pool, so a call allocates nothing.
type run[T cell] struct {
	product[T]
	ops  *products[T]
	plan plan

	packedA  []T // panels of mr rows × kLen
	m0, mLen int // rows of C under way
	k0, kLen int // part of k under way
}

// multiply computes one product with the pieces ops.
func multiply[T cell](tm *parallel.Team, ops *products[T], pr product[T]) {
	if pr.k == 0 {
		emptySum(&pr)
		return
	}
	pool := poolFor[T]()
	r := pool.runs.get()
	r.product, r.ops = pr, ops
	r.plan = planFor(ops, &pr)
	for r.k0 = 0; r.k0 < pr.k; r.k0 += kSpan {
		r.kLen = min(kSpan, pr.k-r.k0)
		for r.m0 = 0; r.m0 < pr.m; r.m0 += r.plan.rowSpan {
			r.mLen = min(r.plan.rowSpan, pr.m-r.m0)
			r.packA(tm)
			tm.Do(ceilDiv(r.mLen, r.plan.group)*r.plan.pieces(pr.n), r)
		}
	}
	r.product = product[T]{} // the pool must not keep the caller's memory alive
	pool.runs.put(r)
}

// emptySum is the product for k = 0.
func emptySum[T cell](pr *product[T]) {
	for i := range pr.m {
		row := pr.c[i*pr.ldc:][:pr.n]
		if !pr.accumulate {
			clear(row)
		}
		for j, v := range pr.bias {
			row[j] += v
		}
	}
}

// Run computes one part of C.
func (r *run[T]) Run(part int) {
	pool := poolFor[T]()
	s := pool.scratches.get()
	groups := ceilDiv(r.mLen, r.plan.group)
	i0 := part % groups * r.plan.group
	i1 := min(i0+r.plan.group, r.mLen)
	j0, j1 := r.plan.columns(part/groups, r.n)
	for p0 := 0; p0 < r.kLen; {
		p1 := nextBlock(p0, r.kLen)
		r.block(s, i0, i1, j0, j1, p0, p1)
		p0 = p1
	}
	pool.scratches.put(s)
}

// nextBlock returns the end of the block of k that starts at p: blocks are as equal as multiples of 8
// allow, none longer than kBlock.
func nextBlock(p, k int) int {
	left := ceilDiv(k-p, kBlock)
	return min(k, p+roundUp(ceilDiv(k-p, left), 8))
}

// block adds the products of rows i0…i1 (counted from m0), columns j0…j1 and p0…p1 (from k0) to C.
func (r *run[T]) block(s *scratch[T], i0, i1, j0, j1, p0, p1 int) {
	ops := r.ops
	s.tile = atLeast(s.tile, ops.mr*ops.nr)
	r.packB(s, j0, j1, p0, p1)
	for i := i0; i < i1; i += ops.mr {
		rows := min(ops.mr, i1-i)
		a, aRow, aCol := r.panelA(i, p0)
		for j := j0; j < j1; j += ops.nr {
			b, bRow := r.panelB(s, j, j0, j1, p0, p1)
			r.tile(s, r.m0+i, j, rows, min(ops.nr, j1-j), p1-p0, r.k0+p0 == 0, a, aRow, aCol, b, bRow)
		}
	}
}

// tile computes rows×cols elements of C from (i, j) on, over k of the sum. The first block of the sum
// brings in the bias and, if asked, what C held; later ones are added to C.
func (r *run[T]) tile(s *scratch[T], i, j, rows, cols, k int, first bool, a *T, aRow, aCol int, b *T, bRow int) {
	ops := r.ops
	var bias *T
	if first && r.bias != nil {
		bias = &r.bias[j]
	}
	accumulate := r.accumulate || !first
	c := &r.c[i*r.ldc+j]
	vectors := ceilDiv(cols, ops.lanes)
	compute := ops.tiles[rows-1][vectors-1]
	if cols == vectors*ops.lanes {
		compute(k, a, aRow, aCol, b, bRow, c, r.ldc, bias, accumulate)
		return
	}
	compute(k, a, aRow, aCol, b, bRow, &s.tile[0], ops.nr, nil, false)
	mergeTile(s.tile, ops.nr, rows, cols, c, r.ldc, bias, accumulate)
}

// mergeTile stores the part of a tile that lies within C, as the tile itself would.
func mergeTile[T cell](tile []T, tileRow, rows, cols int, c *T, cRow int, bias *T, accumulate bool) {
	for i := range rows {
		from := tile[i*tileRow:][:cols]
		to := unsafe.Slice(at(c, i*cRow), cols)
		if bias != nil {
			for j, v := range unsafe.Slice(bias, cols) {
				from[j] += v
			}
		}
		if accumulate {
			for j, v := range from {
				to[j] += v
			}
		} else {
			copy(to, from)
		}
	}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, b int) int { return ceilDiv(a, b) * b }
