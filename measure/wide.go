package measure

import (
	"math"
	"runtime"

	"collapse/internal/kernel"
)

// Where K·d is large the second pass takes blocks of rows, each with the whole team, and avoids the products with
// K columns that secondPass forms for every row:
//
//   - NC1 by products in P with the operator, or with the residuals themselves (whitener);
//   - nearest mean and largest logit without products for rows close enough to their class mean (radii), and
//     by exact search for the others (exactSearch);
//   - margins, which no bound decides, by sifting products and float64 for what is left (marginPass), before all else:
//     they take the products of class means with the classifier that the radii want too.
//
// P is the precision of products: float32 only for float32 features, and only for what is certified
// (whitener.certified) or decided by float64 in the end (exactSearch).
type widePass[T, P kernel.Float] struct {
	team *kernel.Team
	s    *samples[T]
	head *head
	ask  asked
	mem  *memorization
	out  *secondPass[T] // weights and margins

	white     whitener[P] // prepared if ask.white
	certified bool        // NC1 is as exact as it has to be
	radius    radii       // prepared if ask.nearest or ask.logits
	near      []int32     // (rows) nearest mean, −1: undecided
	best      []int32     // (rows) largest logit, −1: undecided

	from, to int
	buf      []T
	residual []P // (block × stride), zero for rows that are not measured
	stride   int
	square   []float64 // (block) ‖r‖²
	strips   []stripSums
}

// stripSums are what a strip of a block's rows adds up.
type stripSums struct {
	memory corrupted
	white  whiteSums
	err    error
}

const (
	// wideStack is the size of the narrow pass's matrix S from which the wide pass takes over: about what a
	// second-level cache holds.
	wideStack    = 1 << 16
	wideElements = 1 << 22 // of a block of rows
	wideStrip    = 64      // rows that a thread takes at a time
)

// wide reports whether the wide pass is due for k classes of width d.
func wide(k, d int) bool { return 2*k*d > wideStack }

// wideRows returns the rows of a block with so many elements in a row.
func wideRows(width int) int {
	return (max(wideElements/width, 1) + wideStrip - 1) / wideStrip * wideStrip
}

// run fills s.tally as secondPass.run does.
func (f *widePass[T, P]) run() error {
	s := f.s
	rows := min(wideRows(s.d), s.rows)
	f.buf = nil
	if _, views := s.src.(*Rows[T]); !views {
		f.buf = make([]T, rows*s.d)
	}
	f.stride = residualStride[P](s.d)
	f.residual, f.square = kernel.Alloc[P](rows*f.stride), make([]float64, rows)
	f.strips = make([]stripSums, (rows+wideStrip-1)/wideStrip)
	s.tally.reset(s.k)
	for f.from = 0; f.from < s.rows; f.from = f.to {
		f.to = min(f.from+rows, s.rows)
		if err := f.runBlock(); err != nil {
			return err
		}
	}
	f.residual, f.buf = nil, nil
	f.white.finishBlocks()
	collect()
	f.out.clock.enter(PhaseSums)
	s.tally.white = f.white.total(f.team)
	f.certified = f.white.certified(f.team)
	f.white.release()
	collect()
	if err := f.search(); err != nil {
		return err
	}
	f.tallyDecisions()
	if f.ask.margins {
		f.tallyMargins()
	}
	return nil
}

// collect frees what earlier stages left. Matrices of K×d and d×d are most of the heap: without it the collector lets
// the dead ones stay until there are as many again.
func collect() { runtime.GC() }

// undecided returns −1 for every row, nil if nothing was asked.
func undecided(asked bool, rows int) []int32 {
	if !asked {
		return nil
	}
	x := make([]int32, rows)
	for i := range x {
		x[i] = -1
	}
	return x
}

// runBlock handles rows [from, to).
func (f *widePass[T, P]) runBlock() error {
	n := f.to - f.from
	strips := (n + wideStrip - 1) / wideStrip
	f.out.clock.enter(PhaseResiduals)
	f.team.Do(strips, residualTask[T, P]{f})
	t := &f.s.tally
	for i := range strips {
		if err := f.strips[i].err; err != nil {
			return err
		}
		t.memory.add(f.strips[i].memory)
	}
	for i, c := range f.s.class[f.from:f.to] {
		if c >= 0 {
			t.scatter[c] += f.square[i]
		}
	}
	if !f.ask.white {
		return nil
	}
	f.out.clock.enter(PhaseProducts)
	f.white.block(f.team, f.residual, f.stride, n)
	f.out.clock.enter(PhaseSums)
	f.team.Do(strips, whiteTask[T, P]{f})
	for i := range strips {
		f.white.sums.add(&f.strips[i].white)
	}
	return nil
}

// strip returns the rows of a strip, counted from the block's first.
func (f *widePass[T, P]) strip(part int) (from, to int) {
	return part * wideStrip, min((part+1)*wideStrip, f.to-f.from)
}

// residualTask forms residuals and decides what they decide.
type residualTask[T, P kernel.Float] struct{ *widePass[T, P] }

func (f residualTask[T, P]) Run(part int) {
	s, d := f.s, f.s.d
	from, to := f.strip(part)
	sums := &f.strips[part]
	*sums = stripSums{}
	var buf []T
	if f.buf != nil {
		buf = f.buf[from*d : to*d]
	}
	rows, err := s.src.Read(buf, f.from+from, f.from+to)
	if err != nil {
		sums.err = err
		return
	}
	for i := from; i < to; i++ {
		at, residual := f.from+i, f.residual[i*f.stride:][:d]
		c := s.class[at]
		if c < 0 {
			clear(residual)
			f.square[i] = 0
			continue
		}
		row := rows[(i-from)*d:][:d]
		f.square[i] = kernel.SubRow(residual, row, s.mean(int(c)))
		tallyCorrupted(f.mem, &sums.memory, at, row)
		if f.ask.nearest && f.square[i] < f.radius.near[c] {
			f.near[at] = c
		}
		if f.ask.logits && f.square[i] < f.radius.logit[c] {
			f.best[at] = f.radius.first[c]
		}
		if w := f.out.weight[c]; w != 1 && f.ask.white && f.white.squared() {
			scaleRow(residual, w)
		}
	}
}

// scaleRow multiplies a residual by √w, so that products of residuals have weight w.
func scaleRow[P kernel.Float](x []P, w float64) {
	by := P(math.Sqrt(w))
	for j := range x {
		x[j] *= by
	}
}

// whiteTask sums the block's NC1 terms.
type whiteTask[T, P kernel.Float] struct{ *widePass[T, P] }

func (f whiteTask[T, P]) Run(part int) {
	from, to := f.strip(part)
	sums := &f.strips[part].white
	for i := from; i < to; i++ {
		if c := f.s.class[f.from+i]; c >= 0 {
			f.white.sample(sums, f.out.weight[c], f.square[i], i)
		}
	}
}

// tallyMargins adds up the margins of rows.
func (f *widePass[T, P]) tallyMargins() {
	t := &f.s.tally
	for i, c := range f.s.class {
		switch x := f.out.margins[i]; {
		case c < 0:
		case x != x:
			t.marginless++
		default:
			t.margin[c] += x
			t.marginMin, t.marginMax = min(t.marginMin, x), max(t.marginMax, x)
		}
	}
}

// tallyDecisions counts what nearest means and largest logits agree on.
func (f *widePass[T, P]) tallyDecisions() {
	t := &f.s.tally
	for i, c := range f.s.class {
		if c < 0 {
			continue
		}
		if f.ask.nearest && f.near[i] == c {
			t.nearest[c]++
		}
		if f.ask.logits && f.best[i] == c {
			t.correct[c]++
		}
		if f.ask.nearest && f.ask.logits && f.near[i] != f.best[i] {
			t.mismatch[c]++
		}
	}
}
