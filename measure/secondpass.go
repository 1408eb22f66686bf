package measure

import (
	"sync"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	kernelrows "collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/measure/internal/wide"
	"collapse.example/collapse/parallel"
)

// secondPass takes every sample's residual r = h − μ_k in float64 and its products with a few fixed
// vectors, stacked in one matrix S: the centred means (p = Cᵀ r), the NC1 operator and the classifier
// (v = W r). Everything else follows from the class: w·h = w·μ_k + w·r, and
// ‖h − μ_j‖² = ‖μ_k − μ_j‖² + 2 (μ_k − μ_j)·r + ‖r‖². Residuals are small, so nothing cancels.
//
// Every part counts its own rows in order; the counts are added in order of parts.
type secondPass[T kernel.Float] struct {
	s    *samples[T]
	cut  partition
	ask  asked
	head *head // the classifier; nil: none

	stack      []float64 // S (width × d)
	columns    []float64 // Sᵀ (d × width), the layout the product reads
	width      int
	atP, atOp  int // first row of each group in S, −1: not there
	atV        int
	pair       []float64          // (K×K) ‖μ_k − μ_j‖²
	logit      []float64          // (K × classifier rows) w_j·μ_k + b_j
	skipLogits bool               // the classifier is not in S: its products are made only for blocks with a sample that no radius decides
	radius     wide.DecisionRadii // its Logit and First, if skipLogits
	classifier []float64          // Wᵀ (d × classifier rows), if skipLogits
	cosBase    []float64          // (K × K) (w_j − w_G)·(μ_k − h_G)
	centreNorm []float64          // (K) ‖μ_k − h_G‖²
	squares    []float64          // (rows) ‖h − h_G‖² of each measured row, if asked for: ‖r‖² + 2 (μ_k − h_G)·r + ‖μ_k − h_G‖²
	perNorm    []float64          // (K) 1/‖w_k − w_G‖

	weight  []float64 // (K) ω_k of the sample counts' white
	margins []float64 // (rows) cosine margin of each row; NaN: undefined
	mem     *memorization
	clock   clock

	parts []part[T]

	lock  sync.Mutex
	spent []*scratch[T] // scratch memory that no running part uses
}

// asked says what the second pass must find.
type asked struct {
	white, nearest, logits, margins, squares bool

	im Imbalance // of white
}

// part is a part of the rows: its sample counts and, while it runs, its scratch memory.
type part[T kernel.Float] struct {
	*scratch[T]
	sampleCounts sampleCounts
	err          error
}

// scratch is the memory of a block of rows. With many classes it is large, so there is one per thread, not per part.
type scratch[T kernel.Float] struct {
	buf      []T
	residual []float64 // (block × stride)
	square   []float64 // (block) ‖r‖²
	product  []float64 // (block × width)
	logits   []float64 // (block × classifier rows) W r, if not in product
	white    []float64 // (block × rank) z, if the operator applies to p
	offset   []float64 // (d) h − h_G of a sample near h_G
}

// begin gives a part scratch memory for products of the given width, and end takes it back.
func (f *secondPass[T]) begin(p *part[T], width, rank int) {
	f.lock.Lock()
	if n := len(f.spent); n > 0 {
		p.scratch, f.spent = f.spent[n-1], f.spent[:n-1]
	} else {
		p.scratch = new(scratch[T])
	}
	f.lock.Unlock()
	_, views := f.s.src.(*Rows[T])
	p.resize(f.cut.block, f.s.d, width, rank, f.s.k, !views)
}

func (f *secondPass[T]) end(p *part[T]) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.spent, p.scratch = append(f.spent, p.scratch), nil
}

// run fills s.sampleCounts. s.between must be built if ask.white.
func (f *secondPass[T]) run(team *parallel.Team, s *samples[T], h *head, ask asked, mem *memorization) error {
	f.s, f.head, f.ask, f.mem = s, h, ask, mem
	f.weight = s.whiteWeights(f.weight, ask.im)
	f.cut = newPartition(s.rows, blockRows(s.d))
	for len(f.parts) < f.cut.parts {
		f.parts = append(f.parts, part[T]{})
	}
	if err := f.prepare(team); err != nil {
		return err
	}
	for i := range f.cut.parts {
		f.parts[i].sampleCounts.reset(s.k)
		f.parts[i].err = nil
	}
	team.Do(f.cut.parts, f)
	s.sampleCounts.reset(s.k)
	for i := range f.cut.parts {
		if err := f.parts[i].err; err != nil {
			return err
		}
		s.sampleCounts.add(&f.parts[i].sampleCounts)
	}
	if ask.margins {
		s.sampleCounts.sumMargins(f.margins, s.class)
	}
	return nil
}

func (p *scratch[T]) resize(block, d, width, rank, k int, buffer bool) {
	if buffer {
		p.buf = grow(p.buf, block*d)
	}
	p.residual = grow(p.residual, block*vec.Stride[float64](d))
	p.square = grow(p.square, block)
	p.product = grow(p.product, block*width)
	p.white = grow(p.white, block*rank)
}

// prepare builds S and the per-class tables.
func (f *secondPass[T]) prepare(team *parallel.Team) (err error) {
	s := f.s
	d, k := s.d, s.k
	f.stack, f.atP, f.atOp, f.atV = f.stack[:0], -1, -1, -1
	if f.ask.nearest || f.ask.margins || f.ask.squares || f.ask.white && s.between.fromP {
		f.atP = 0
		f.stack = append(f.stack, s.centred[:k*d]...)
	}
	if f.ask.white && !s.between.fromP {
		f.atOp = len(f.stack) / d
		f.stack = append(f.stack, s.between.op...)
	}
	if f.ask.logits {
		f.classifierTables(team)
		if err = f.spare(team); err != nil {
			return err
		}
		if !f.skipLogits {
			f.atV = len(f.stack) / d
			f.stack = append(f.stack, f.head.w...)
		}
	}
	f.width = len(f.stack) / d
	f.columns = grow(f.columns, len(f.stack))
	transpose(f.columns, f.stack, f.width, d)
	if f.ask.nearest {
		f.pair = grow(f.pair, k*k)
		pairDistances(team, f.pair, s.centred, k, d)
	}
	f.squares = f.squares[:0]
	if f.ask.squares {
		f.squares = grow(f.squares, s.rows)
	}
	if f.ask.squares || f.ask.margins {
		f.centreNorm = grow(f.centreNorm, k)
		for c := range k {
			mean := s.centred[c*d:][:d]
			f.centreNorm[c] = dot(mean, mean)
		}
	}
	if f.ask.margins {
		f.margins = grow(f.margins, s.rows)
		f.marginTables(team)
	}
	return nil
}

// classifierTables fills logit.
func (f *secondPass[T]) classifierTables(team *parallel.Team) {
	s, h := f.s, f.head
	f.logit = grow(f.logit, s.k*h.k)
	gemm.Multiply(team, gemm.NT, kernel.Dense(s.k, s.d, s.means), kernel.Dense(h.k, s.d, h.w), kernel.Dense(s.k, h.k, f.logit), gemm.Epilogue[float64]{Bias: h.b})
}

// marginTables fills cosBase and perNorm.
func (f *secondPass[T]) marginTables(team *parallel.Team) {
	s, h := f.s, f.head
	f.cosBase = grow(f.cosBase, s.k*s.k)
	gemm.Multiply(team, gemm.NT, kernel.Dense(s.k, s.d, s.centred), kernel.Dense(s.k, s.d, h.centred), kernel.Dense(s.k, s.k, f.cosBase), gemm.Epilogue[float64]{})
	f.perNorm = grow(f.perNorm, s.k)
	for c := range s.k {
		f.perNorm[c] = 1 / h.centredNorm[c]
	}
}

// Run tallies the rows of one part.
func (f *secondPass[T]) Run(index int) {
	p := &f.parts[index]
	f.begin(p, f.width, f.s.between.rank)
	defer f.end(p)
	from, to := f.cut.span(index)
	for at := from; at < to && f.s.team.Err() == nil; at += f.cut.block {
		if p.err = f.tallyBlock(p, at, min(at+f.cut.block, to)); p.err != nil {
			return
		}
	}
}

// tallyBlock tallies rows [at, end).
func (f *secondPass[T]) tallyBlock(p *part[T], at, end int) error {
	d, stride := f.s.d, vec.Stride[float64](f.s.d)
	m, err := f.residuals(p, at, end)
	if err != nil || f.width == 0 && !f.ask.logits {
		return err
	}
	gemm.Multiply(nil, gemm.NN, kernel.Strided(m, d, stride, p.residual), kernel.Dense(d, f.width, f.columns), kernel.Dense(m, f.width, p.product), gemm.Epilogue[float64]{})
	if f.ask.white {
		f.tallyWhite(p, at, end, m)
	}
	scores, row := f.scores(p, at, end, m)
	m = 0
	for i, c := range f.s.class[at:end] {
		if c >= 0 {
			y := p.product[m*f.width:][:f.width]
			if f.ask.squares {
				f.squares[at+i] = max(0, p.square[m]+2*y[f.atP+int(c)]+f.centreNorm[c])
			}
			f.countSample(p, at+i, int(c), p.residual[m*stride:][:d], p.square[m], y, scores)
			scores = scores[min(row, len(scores)):]
			m++
		}
	}
	return nil
}

// residuals computes the residuals of the measured rows in [at, end), packed together, and counts what needs nothing else. It returns
// their number.
func (f *secondPass[T]) residuals(p *part[T], at, end int) (m int, err error) {
	s, d, stride := f.s, f.s.d, vec.Stride[float64](f.s.d)
	rows, err := s.src.Read(p.buf, at, end)
	if err != nil {
		return 0, err
	}
	for i, c := range s.class[at:end] {
		if c >= 0 {
			row := rows[i*d:][:d]
			p.square[m] = kernelrows.SubRow(p.residual[m*stride:][:d], row, s.mean(int(c)))
			p.sampleCounts.scatter[c] += p.square[m]
			tallyCorrupted(f.mem, &p.sampleCounts.memory, at+i, row)
			m++
		}
	}
	return m, nil
}

// tallyWhite tallies ω ‖z‖² of the m measured rows of [at, end).
func (f *secondPass[T]) tallyWhite(p *part[T], at, end, m int) {
	b, z, stride := &f.s.between, p.white, f.s.between.rank
	if b.fromP {
		gemm.Multiply(nil, gemm.NT, kernel.Strided(m, f.s.k, f.width, p.product[f.atP:]), kernel.Dense(b.rank, f.s.k, b.op), kernel.Strided(m, b.rank, stride, z), gemm.Epilogue[float64]{})
	} else {
		z, stride = p.product[f.atOp:], f.width
	}
	i := 0
	for _, c := range f.s.class[at:end] {
		if c >= 0 {
			row := z[i*stride:][:b.rank]
			p.sampleCounts.white += f.weight[c] * dot(row, row)
			i++
		}
	}
}

// pairDistances writes ‖c_i − c_j‖² for the rows of c (K×d): from differences for few classes, which keeps
// close means exact, else from the Gram matrix.
func pairDistances(team *parallel.Team, out, c []float64, k, d int) {
	const direct = 64
	if k <= direct {
		for i := range k {
			out[i*k+i] = 0
			for j := range i {
				x := distance2(c[i*d:][:d], c[j*d:][:d])
				out[i*k+j], out[j*k+i] = x, x
			}
		}
		return
	}
	gemm.Multiply(team, gemm.NT, kernel.Dense(k, d, c), kernel.Dense(k, d, c), kernel.Dense(k, k, out), gemm.Epilogue[float64]{})
	for i := range k {
		for j := range i {
			x := max(0, out[i*k+i]+out[j*k+j]-2*out[i*k+j])
			out[i*k+j], out[j*k+i] = x, x
		}
	}
	for i := range k {
		out[i*k+i] = 0
	}
}
