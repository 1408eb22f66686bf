// Package wide does the second pass of package measure if K·d is large: NC1's sum, nearest class means, largest logits and cosine
// margins, without the products with K columns that the dense pass computes for every row.
//
// Read input.go first for inputs and results; wide.go has the order of the stages.
package wide

import (
	"math"
	"runtime"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
)

// pass processes blocks of rows, each with the whole team:
//
//   - NC1 by products in P with the operator, or with the residuals themselves (nc1Sum);
//   - nearest mean and largest logit without products for rows close enough to their class mean (DecisionRadii), and
//     by exact search for the others (exactSearch);
//   - margins, which no bound decides, by candidates and float64 for the rest (marginPass), before everything else:
//     they compute the products of class means with the classifier that the radii also need.
//
// P is the precision of products: float32 only for float32 features, and only where the result is certified (nc1Sum.certified) or
// finally decided in float64 (exactSearch).
type pass[T, P kernel.Float] struct {
	*Input[T]
	s    *Set[T]
	head *Classifier

	white  nc1Sum[P]     // prepared if Ask.White
	radius DecisionRadii // prepared if Ask.Nearest or Ask.Logits
	found  Result

	from, to int
	buf      []T
	residual []P // (block × stride), zero for rows that are not measured
	stride   int
	square   []float64 // (block) ‖r‖²
	strips   []stripSums
}

// stripSums are the sums over a strip of a block's rows.
type stripSums struct {
	white nc1Terms
	err   error
}

const (
	// stack is the size of the dense pass's matrix S from which on this pass takes over: about the size of a second-level cache.
	stack = 1 << 16

	// mostDense is the number of classes up to which the dense pass keeps tables of all pairs and products with all classes for a block of rows.
	mostDense = 1024

	Elements = 1 << 22 // per block of rows
	Strip    = 64      // rows that a thread processes at a time
)

// Due reports whether to use this pass for k classes of width d.
func Due(k, d int) bool { return 2*k*d > stack || k > mostDense }

// BlockRows returns the number of rows in a block whose rows have width elements.
func BlockRows(width int) int {
	return (max(Elements/width, 1) + Strip - 1) / Strip * Strip
}

// Run does the pass with products in P. Its error is that of the Source.
func Run[T, P kernel.Float](in *Input[T]) (Result, error) {
	f := &pass[T, P]{Input: in, s: in.Set, head: in.Classifier}
	s := f.s
	f.found.Scatter = make([]float64, s.K)
	f.found.Near, f.found.Best = undecided(f.Ask.Nearest, s.Rows), undecided(f.Ask.Logits, s.Rows)
	if f.Ask.Nearest {
		f.radius.nearRadii(f.Nearest, f.Lengths)
	}
	switch {
	case f.Ask.Margins:
		if err := f.margins(); err != nil {
			return Result{}, err
		}
	case f.Ask.Logits:
		f.Enter(PhaseRadii)
		FillLogitRadii[P](f.Team, &f.radius, s.Centred, s.Centre, s.N, s.K, s.D, f.head)
	}
	collect()
	if f.Ask.White {
		f.white.prepare(f.Op[:f.Rank*s.D], f.Rank, s.D, min(BlockRows(s.D), s.Rows))
	}
	if err := f.run(); err != nil {
		return Result{}, err
	}
	return f.found, nil
}

// run reads the rows block by block, and searches for what no radius decided.
func (f *pass[T, P]) run() error {
	s := f.s
	rows := min(BlockRows(s.D), s.Rows)
	if !s.Views {
		f.buf = make([]T, rows*s.D)
	}
	f.stride = vec.Stride[P](s.D)
	f.residual, f.square = memory.Alloc[P](rows*f.stride), make([]float64, rows)
	f.strips = make([]stripSums, (rows+Strip-1)/Strip)
	for f.from = 0; f.from < s.Rows; f.from = f.to {
		f.to = min(f.from+rows, s.Rows)
		if err := f.runBlock(); err != nil {
			return err
		}
	}
	f.residual, f.buf = nil, nil
	f.white.finishBlocks()
	collect()
	f.Enter(PhaseSums)
	f.found.White = f.white.total(f.Team)
	f.found.Certified = f.white.certified(f.Team)
	f.found.Bound = f.white.bound
	f.white.release()
	collect()
	return f.search()
}

// collect frees the memory of earlier stages. Matrices of K×d and d×d are most of the heap: without a collection, dead ones stay
// until the heap has doubled.
func collect() { runtime.GC() }

// undecided returns −1 for every row, or nil if nothing was requested.
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
func (f *pass[T, P]) runBlock() error {
	n := f.to - f.from
	strips := (n + Strip - 1) / Strip
	f.Enter(PhaseResiduals)
	f.Team.Do(strips, residualTask[T, P]{f})
	for i := range strips {
		if err := f.strips[i].err; err != nil {
			return err
		}
	}
	for i, c := range f.s.Class[f.from:f.to] {
		if c >= 0 {
			f.found.Scatter[c] += f.square[i]
		}
	}
	if !f.Ask.White {
		return nil
	}
	f.Enter(PhaseProducts)
	f.white.block(f.Team, f.residual, f.stride, n)
	f.Enter(PhaseSums)
	f.Team.Do(strips, whiteTask[T, P]{f})
	for i := range strips {
		f.white.sums.add(&f.strips[i].white)
	}
	return nil
}

// strip returns the rows of a strip, counted from the block's first.
func (f *pass[T, P]) strip(part int) (from, to int) {
	return part * Strip, min((part+1)*Strip, f.to-f.from)
}

// residualTask computes residuals and decides the rows that these decide.
type residualTask[T, P kernel.Float] struct{ *pass[T, P] }

func (f residualTask[T, P]) Run(part int) {
	s, d := f.s, f.s.D
	from, to := f.strip(part)
	sums := &f.strips[part]
	*sums = stripSums{}
	var buf []T
	if f.buf != nil {
		buf = f.buf[from*d : to*d]
	}
	block, err := s.Source.Read(buf, f.from+from, f.from+to)
	if err != nil {
		sums.err = err
		return
	}
	for i := from; i < to; i++ {
		at, residual := f.from+i, f.residual[i*f.stride:][:d]
		c := s.Class[at]
		if c < 0 {
			clear(residual)
			f.square[i] = 0
			continue
		}
		row := block[(i-from)*d:][:d]
		f.square[i] = rows.SubRow(residual, row, s.mean(int(c)))
		if f.EachRow != nil {
			f.EachRow(at, row)
		}
		if f.Ask.Nearest && f.square[i] < f.radius.Near[c] {
			f.found.Near[at] = c
		}
		if f.Ask.Logits && f.square[i] < f.radius.Logit[c] {
			f.found.Best[at] = f.radius.First[c]
		}
		if w := f.Weight[c]; w != 1 && f.Ask.White && f.white.squared() {
			scaleRow(residual, w)
		}
	}
}

// scaleRow multiplies a residual by √w, so that products of two residuals have weight w.
func scaleRow[P kernel.Float](x []P, w float64) {
	by := P(math.Sqrt(w))
	for j := range x {
		x[j] *= by
	}
}

// whiteTask sums the block's NC1 terms.
type whiteTask[T, P kernel.Float] struct{ *pass[T, P] }

func (f whiteTask[T, P]) Run(part int) {
	from, to := f.strip(part)
	sums := &f.strips[part].white
	for i := from; i < to; i++ {
		if c := f.s.Class[f.from+i]; c >= 0 {
			f.white.sample(sums, f.Weight[c], f.square[i], i)
		}
	}
}
