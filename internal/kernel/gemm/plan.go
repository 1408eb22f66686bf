package gemm

import "collapse.example/collapse/internal/kernel"

// plan says how a product is divided into parts and which operands are read in place. It depends only on the form, the shape, the
// leading dimensions and the kernel.
type plan struct {
	directA, directB bool // read the operand in place instead of packing it
	rowSpan          int  // rows of op(A) processed at once: all, or as many as are packed at once
	group            int  // rows per part
	stripe           int  // columns per part left of column wide, a multiple of nr
	narrow           int  // columns per part from there on: smaller, so that threads finish together
	wide             int  // a multiple of stripe
}

const (
	minWork    = 1 << 20 // floating-point operations below which a part is not worth a hand-over (8 µs)
	mostStripe = 4       // most column panels in a part: their packed block fits the second-level cache
	fewParts   = 16      // number of parts aimed at: enough for several threads to finish together
	leastRows  = 192     // fewest rows in a part that packs its columns of op(B) by itself
)

// planFor divides the product pr.
func planFor[T cell](ops *ops[T], pr *product[T]) plan {
	var pl plan
	pl.directA, pl.directB = direct(ops, pr)
	pl.rowSpan = pr.m
	if !pl.directA {
		pl.rowSpan = max(packedBytes/kernel.Size[T]()/min(pr.k, kSpan)/ops.mr, 1) * ops.mr
	}
	work := 2 * float64(pr.m) * float64(pr.n) * float64(pr.k)
	most := int(max(1, min(work/minWork, 1<<20)))

	panels := kernel.CeilDiv(pr.n, ops.nr)
	perPart := max(min(panels/fewParts, mostStripe), kernel.CeilDiv(panels, most))
	perPart = max(perPart, 1)
	pl.stripe, pl.narrow = perPart*ops.nr, perPart*ops.nr
	if panels >= 2*fewParts && perPart <= mostStripe {
		pl.narrow = ops.nr
	}
	pl.wide = panels * 3 / 4 / perPart * pl.stripe

	pl.group = kernel.RoundUp(pl.rowSpan, ops.mr)
	if groups := min(most, fewParts) / pl.pieces(pr.n); groups > 1 {
		pl.group = kernel.RoundUp(kernel.CeilDiv(pr.m, groups), ops.mr)
		if !pl.directB {
			pl.group = max(pl.group, kernel.RoundUp(leastRows, ops.mr))
		}
	}
	return pl
}

// pieces returns the number of stripes that n columns are divided into.
func (pl *plan) pieces(n int) int {
	wide := min(pl.wide, n)
	return kernel.CeilDiv(wide, pl.stripe) + kernel.CeilDiv(n-wide, pl.narrow)
}

// columns returns the columns of a piece.
func (pl *plan) columns(piece, n int) (j0, j1 int) {
	if wide := pl.wide / pl.stripe; piece >= wide {
		j0 = pl.wide + (piece-wide)*pl.narrow
		return j0, min(j0+pl.narrow, n)
	}
	j0 = piece * pl.stripe
	return j0, min(j0+pl.stripe, n)
}

// direct decides which operands are read in place. Packing costs a pass over the operand; it pays if the operand is used often
// enough and has an awkward layout: rows a multiple of 4 KiB apart share one set of the first-level cache, and a panel taken across
// distant rows touches a line and a page for every 48 or 128 bytes used. The limits were measured with 64 to 2048 in each dimension.
func direct[T cell](ops *ops[T], pr *product[T]) (a, b bool) {
	const setStride, near, often = 4096, 2048, 512
	rowA, rowB := pr.a.Stride*kernel.Size[T](), pr.b.Stride*kernel.Size[T]()
	if pr.form == TN {
		a = rowA <= near && pr.n <= often || pr.n <= 2*ops.nr
	} else {
		a = rowA%setStride != 0 || pr.n <= ops.nr/2
	}
	b = pr.form != NT && (rowB <= near && pr.m <= often || pr.m <= often/4)
	return a, b
}
