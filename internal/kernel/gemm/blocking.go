package gemm

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// product is one call of Multiply with the element type resolved.
type product[T cell] struct {
	form       Form
	m, n, k    int
	a, b, c    kernel.Matrix[T]
	bias       []T
	accumulate bool
}

// A product is computed as in Goto and van de Geijn (2008), with the roles arranged so that threads meet only twice:
//
//	for each block of rows of op(A) small enough to be packed whole (almost always: all rows)
//	    pack it into panels of mr rows                     (parts: a few panels each)
//	    for each part of C: a stripe of columns × a group of row panels
//	        for each block of k, in order
//	            pack the stripe's rows of op(B) into panels of nr columns, in the thread's buffer
//	            for each row panel, for each column panel: one tile, in registers
//
// op(A), the smaller operand of a training step, is packed once and read by all threads; op(B) is packed exactly once overall, by
// the thread that uses it, into a buffer that stays in its second-level cache. There is no barrier between blocks of k.
//
// An operand is read in place when that is cheaper; see plan. None of these choices changes a bit of C:
// an element is a sum over blocks of k, each summed in order, and the blocks depend on k alone.
const (
	kBlock      = 512     // largest block of k: a packed panel of A is 24 KiB, of B 64 KiB
	kSpan       = 4096    // most of k that is packed of A at once, a multiple of kBlock
	packedBytes = 8 << 20 // most of A that is packed at once
)

// run is one product in progress; it comes from a pool, so a call allocates nothing.
type run[T cell] struct {
	product[T]
	ops  *ops[T]
	plan plan

	packedA  []T // panels of mr rows × kLen
	m0, mLen int // current rows of C
	k0, kLen int // current part of k
}

// compute computes one product with the functions ops.
func compute[T cell](tm *parallel.Team, ops *ops[T], pr product[T]) {
	if pr.k == 0 {
		emptySum(&pr)
		return
	}
	r := ops.pools.runs.Get()
	r.product, r.ops = pr, ops
	r.plan = planFor(ops, &pr)
	for r.k0 = 0; r.k0 < pr.k; r.k0 += kSpan {
		r.kLen = min(kSpan, pr.k-r.k0)
		for r.m0 = 0; r.m0 < pr.m; r.m0 += r.plan.rowSpan {
			r.mLen = min(r.plan.rowSpan, pr.m-r.m0)
			r.packA(tm)
			tm.Do(kernel.CeilDiv(r.mLen, r.plan.group)*r.plan.pieces(pr.n), r)
		}
	}
	r.product = product[T]{} // the pool must not keep the caller's memory alive
	ops.pools.runs.Put(r)
}

// emptySum is the product for k = 0.
func emptySum[T cell](pr *product[T]) {
	for i := range pr.m {
		row := pr.c.Data[i*pr.c.Stride:][:pr.n]
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
	pools := r.ops.pools
	s := pools.scratches.Get()
	groups := kernel.CeilDiv(r.mLen, r.plan.group)
	i0 := part % groups * r.plan.group
	i1 := min(i0+r.plan.group, r.mLen)
	j0, j1 := r.plan.columns(part/groups, r.n)
	for p0 := 0; p0 < r.kLen; {
		p1 := nextBlock(p0, r.kLen)
		r.block(s, i0, i1, j0, j1, p0, p1)
		p0 = p1
	}
	pools.scratches.Put(s)
}

// nextBlock returns the end of the block of k that starts at p: blocks are as equal as multiples of 8
// allow, none longer than kBlock.
func nextBlock(p, k int) int {
	left := kernel.CeilDiv(k-p, kBlock)
	return min(k, p+kernel.RoundUp(kernel.CeilDiv(k-p, left), 8))
}

// block adds the products of rows i0…i1 (counted from m0), columns j0…j1 and p0…p1 (from k0) to C.
func (r *run[T]) block(s *scratch[T], i0, i1, j0, j1, p0, p1 int) {
	ops := r.ops
	s.tile = memory.AtLeast(s.tile, ops.mr*ops.nr)
	r.packB(s, j0, j1, p0, p1)
	for i := i0; i < i1; i += ops.mr {
		rows := min(ops.mr, i1-i)
		a := r.panelA(i, p0)
		for j := j0; j < j1; j += ops.nr {
			b := r.panelB(s, j, j0, j1, p0, p1)
			r.tile(s, r.m0+i, j, rows, min(ops.nr, j1-j), p1-p0, r.k0+p0 == 0, a, b)
		}
	}
}

// tile computes rows×cols elements of C from (i, j) on, over k terms of the sum. The first block of the sum includes the bias and,
// if requested, the previous content of C; later ones are added to C.
func (r *run[T]) tile(s *scratch[T], i, j, rows, cols, k int, first bool, a, b panel[T]) {
	ops := r.ops
	var bias *T
	if first && r.bias != nil {
		bias = &r.bias[j]
	}
	accumulate := r.accumulate || !first
	c, cRow := &r.c.Data[i*r.c.Stride+j], r.c.Stride
	vectors := kernel.CeilDiv(cols, ops.lanes)
	fill := ops.tiles[rows-1][vectors-1]
	if cols == vectors*ops.lanes {
		fill(k, a.first, a.row, a.col, b.first, b.row, c, cRow, bias, accumulate)
		return
	}
	fill(k, a.first, a.row, a.col, b.first, b.row, &s.tile[0], ops.nr, nil, false)
	mergeTile(s.tile, ops.nr, rows, cols, c, cRow, bias, accumulate)
}

// mergeTile stores the part of a tile that is inside C, as the tile itself would.
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
