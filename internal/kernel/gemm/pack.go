package gemm

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// packUnit is the approximate number of elements of A that one part of the packing job copies.
const packUnit = 1 << 14

// packTask is the packing of A as a task of a team.
type packTask[T cell] run[T]

// packA packs the rows m0…m0+mLen of op(A), k0…k0+kLen of each, into panels of mr rows.
func (r *run[T]) packA(tm *parallel.Team) {
	if r.plan.directA {
		return
	}
	panels := kernel.CeilDiv(r.mLen, r.ops.mr)
	r.packedA = memory.AtLeast(r.packedA, panels*r.ops.mr*r.kLen)
	parts := kernel.CeilDiv(panels, r.panelsPerPart())
	if r.form == TN {
		parts = kernel.CeilDiv(r.kLen, r.rowsPerPart())
	}
	tm.Do(parts, (*packTask[T])(r))
}

// panelsPerPart returns how many panels a part of the packing job fills when rows of A are transposed.
func (r *run[T]) panelsPerPart() int { return kernel.CeilDiv(packUnit, r.ops.mr*r.kLen) }

// rowsPerPart returns how many rows of A a part of the packing job copies if they run along the panels.
func (r *run[T]) rowsPerPart() int {
	return kernel.RoundUp(kernel.CeilDiv(packUnit, r.mLen), packRound)
}

// Run packs a few panels of A as it is, or a few rows of a transposed A into all panels.
func (t *packTask[T]) Run(part int) {
	r := (*run[T])(t)
	mr := r.ops.mr
	if r.form == TN {
		unit := r.rowsPerPart()
		p := part * unit
		packRows(r.ops, r.packedA[p*mr:], mr, mr*r.kLen, r.a.Data[(r.k0+p)*r.a.Stride+r.m0:], r.a.Stride, r.mLen, min(unit, r.kLen-p))
		return
	}
	unit := r.panelsPerPart() * mr
	for i := part * unit; i < min((part+1)*unit, r.mLen); i += mr {
		dst := r.packedA[i*r.kLen:][:mr*r.kLen]
		packColumns(r.ops, dst, mr, r.a.Data[(r.m0+i)*r.a.Stride+r.k0:], r.a.Stride, min(mr, r.mLen-i), r.kLen)
	}
}

// panel says where a tile finds its factors: packed, or in the operand itself.
type panel[T cell] struct {
	first    *T
	row, col int // distances; col is 1 for op(B)
}

// panelA returns the factors of the tile of rows i…, from p0 on.
func (r *run[T]) panelA(i, p0 int) panel[T] {
	switch {
	case !r.plan.directA:
		return panel[T]{&r.packedA[i*r.kLen+p0*r.ops.mr], 1, r.ops.mr}
	case r.form == TN:
		return panel[T]{&r.a.Data[(r.k0+p0)*r.a.Stride+r.m0+i], 1, r.a.Stride}
	default:
		return panel[T]{&r.a.Data[(r.m0+i)*r.a.Stride+r.k0+p0], r.a.Stride, 1}
	}
}

// packB packs columns j0…j1, rows p0…p1 of op(B) into panels of nr columns in the thread's buffer. If the operand is read in place,
// it packs only the last panel, and only if a vector would reach beyond its columns.
func (r *run[T]) packB(s *scratch[T], j0, j1, p0, p1 int) {
	nr, k := r.ops.nr, p1-p0
	from := j0
	if r.plan.directB {
		from = j1 - (j1-j0)%nr
		if (j1-from)%r.ops.lanes == 0 {
			return
		}
	}
	s.packedB = memory.AtLeast(s.packedB, kernel.RoundUp(j1-j0, nr)*k)
	if r.form != NT {
		packRows(r.ops, s.packedB[(from-j0)*k:], nr, nr*k, r.b.Data[(r.k0+p0)*r.b.Stride+from:], r.b.Stride, j1-from, k)
		return
	}
	for j := from; j < j1; j += nr {
		packColumns(r.ops, s.packedB[(j-j0)*k:][:nr*k], nr, r.b.Data[j*r.b.Stride+r.k0+p0:], r.b.Stride, min(nr, j1-j), k)
	}
}

// panelB returns the factors of the tile of columns j….
func (r *run[T]) panelB(s *scratch[T], j, j0, j1, p0, p1 int) panel[T] {
	if r.plan.directB && min(r.ops.nr, j1-j)%r.ops.lanes == 0 {
		return panel[T]{&r.b.Data[(r.k0+p0)*r.b.Stride+j], r.b.Stride, 1}
	}
	return panel[T]{&s.packedB[(j-j0)*(p1-p0)], r.ops.nr, 1}
}

// packRound is how many rows are spread over all panels before moving on. Rows are read in memory order, and a line that two panels
// share is still in the first-level cache for the second.
const packRound = 8

// packRows copies k rows of width elements into panels of panel columns, stride elements apart.
func packRows[T cell](ops *ops[T], dst []T, panel, stride int, src []T, ld, width, k int) {
	for p := 0; p < k; p += packRound {
		rows := min(packRound, k-p)
		for j := 0; j < width; j += panel {
			packPiece(ops, dst[j/panel*stride+p*panel:], panel, src[p*ld+j:], ld, min(panel, width-j), rows)
		}
	}
}

// packPiece copies rows of width elements, ld apart, to rows panel apart.
func packPiece[T cell](ops *ops[T], dst []T, panel int, src []T, ld, width, rows int) {
	whole := width &^ 3
	if whole > 0 {
		ops.copyRows(&dst[0], panel, &src[0], ld, whole, rows)
	}
	if whole == width {
		return
	}
	for p := range rows {
		to, from := dst[p*panel:], src[p*ld:]
		for j := whole; j < width; j++ {
			to[j] = from[j]
		}
	}
}

// transposeChunk is how much of k is transposed for all rows of a panel before moving on: the lines of the panel being written, at
// most 12 KiB, stay in the first-level cache until they are full.
const transposeChunk = 64

// packColumns copies width rows of k elements into a panel of k rows of panel elements: a transposition.
func packColumns[T cell](ops *ops[T], dst []T, panel int, src []T, ld, width, k int) {
	whole, steps := width&^3, k-k%ops.transposeStep
	for p := 0; p < steps; p += transposeChunk {
		for j := 0; j < whole; j += 4 {
			ops.transpose4(&dst[p*panel+j], panel, &src[j*ld+p], ld, min(transposeChunk, steps-p))
		}
	}
	for j := range width {
		row := src[j*ld:][:k]
		from := steps
		if j >= whole {
			from = 0
		}
		for p := from; p < k; p++ {
			dst[p*panel+j] = row[p]
		}
	}
}
