package kernel

// packUnit is about how many elements of A one part of the packing job copies.
const packUnit = 1 << 14

// packTask is the packing of A seen as a task.
type packTask[T float32 | float64] run[T]

// packA packs the rows m0…m0+mLen of op(A), k0…k0+kLen of each, into panels of mr rows.
func (r *run[T]) packA(tm *Team) {
	if r.plan.directA {
		return
	}
	panels := ceilDiv(r.mLen, r.ops.mr)
	r.packedA = atLeast(r.packedA, panels*r.ops.mr*r.kLen)
	tm.Do(ceilDiv(panels, r.panelsPerPart()), (*packTask[T])(r))
}

// panelsPerPart returns how many row panels a part of the packing job copies.
func (r *run[T]) panelsPerPart() int { return ceilDiv(packUnit, r.ops.mr*r.kLen) }

// Run packs a few row panels.
func (t *packTask[T]) Run(part int) {
	r := (*run[T])(t)
	mr := r.ops.mr
	unit := r.panelsPerPart() * mr
	for i := part * unit; i < min((part+1)*unit, r.mLen); i += mr {
		rows := min(mr, r.mLen-i)
		dst := r.packedA[i*r.kLen:][:mr*r.kLen]
		if r.form == TN {
			packRows(r.ops, dst, mr, r.a[r.k0*r.lda+r.m0+i:], r.lda, rows, r.kLen)
		} else {
			packColumns(r.ops, dst, mr, r.a[(r.m0+i)*r.lda+r.k0:], r.lda, rows, r.kLen)
		}
	}
}

// panelA returns where the tile of rows i… finds its factors, from p0 on, and their strides.
func (r *run[T]) panelA(i, p0 int) (a *T, aRow, aCol int) {
	switch {
	case !r.plan.directA:
		return &r.packedA[i*r.kLen+p0*r.ops.mr], 1, r.ops.mr
	case r.form == TN:
		return &r.a[(r.k0+p0)*r.lda+r.m0+i], 1, r.lda
	default:
		return &r.a[(r.m0+i)*r.lda+r.k0+p0], r.lda, 1
	}
}

// packB packs columns j0…j1, rows p0…p1 of op(B) into panels of nr columns in the thread's buffer; of
// an operand that is read in place only the last panel, if a vector would reach beyond its columns.
func (r *run[T]) packB(s *scratch[T], j0, j1, p0, p1 int) {
	nr, k := r.ops.nr, p1-p0
	from := j0
	if r.plan.directB {
		from = j1 - (j1-j0)%nr
		if (j1-from)%r.ops.lanes == 0 {
			return
		}
	}
	s.packedB = atLeast(s.packedB, roundUp(j1-j0, nr)*k)
	for j := from; j < j1; j += nr {
		cols := min(nr, j1-j)
		dst := s.packedB[(j-j0)*k:][:nr*k]
		if r.form == NT {
			packColumns(r.ops, dst, nr, r.b[j*r.ldb+r.k0+p0:], r.ldb, cols, k)
		} else {
			packRows(r.ops, dst, nr, r.b[(r.k0+p0)*r.ldb+j:], r.ldb, cols, k)
		}
	}
}

// panelB returns where the tile of columns j… finds its factors, and the distance between their rows.
func (r *run[T]) panelB(s *scratch[T], j, j0, j1, p0, p1 int) (b *T, bRow int) {
	if r.plan.directB && min(r.ops.nr, j1-j)%r.ops.lanes == 0 {
		return &r.b[(r.k0+p0)*r.ldb+j], r.ldb
	}
	return &s.packedB[(j-j0)*(p1-p0)], r.ops.nr
}

// packRows copies k rows of width elements into a panel whose rows are panel elements.
func packRows[T float32 | float64](ops *products[T], dst []T, panel int, src []T, ld, width, k int) {
	whole := width &^ 3
	if whole > 0 {
		ops.copyRows(&dst[0], panel, &src[0], ld, whole, k)
	}
	if whole == width {
		return
	}
	for p := range k {
		to, from := dst[p*panel:], src[p*ld:]
		for j := whole; j < width; j++ {
			to[j] = from[j]
		}
	}
}

// transposeChunk is how much of k is transposed for all rows of a panel before going on: the lines of the
// panel being written, at most 12 KiB, stay in the first-level cache until they are full.
const transposeChunk = 64

// packColumns copies width rows of k elements into a panel of k rows of panel elements: a transposition.
func packColumns[T float32 | float64](ops *products[T], dst []T, panel int, src []T, ld, width, k int) {
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
