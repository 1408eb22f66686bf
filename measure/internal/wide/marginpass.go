package wide

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// marginPass finds the cosine margin of every row: cos_c − max over j≠c of cos_j, cos_j = û_j·(h − h_G)/‖h − h_G‖. In a
// simplex ETF all wrong classes tie, so no bound on ‖r‖ tells which is the largest; products with residuals do.
//
// Rows are processed class by class, in stripes of classes. With h = μ_c + r, the score û_j·(h − h_G) is base_cj + û_j·r.
//
//   - base_cj = û_j·(μ_c − h_G) is a product of class means: in P, or in float64 if residuals are so short that the rounding
//     of P would hide them;
//   - a class j can be the largest only if base_cj + ‖r‖ ≥ base_cb + û_b·r, b the largest at the mean: classes that no
//     residual at hand can lift so far are skipped;
//   - candidates computes û_j·r approximately; scores below the largest by twice its error bound are skipped;
//   - for the few that remain cos_j is computed in float64, so the margin is that of the full computation.
//
// If products with all classes were computed, the largest logit of rows that no radius decides is taken from them, too.
//
// In float64 the largest score is itself accurate enough if its error bound is below CertainScore times ‖h − h_G‖. In float32 these
// rough products are never part of the result (candidates says why); for residuals shorter than that, the answer is class b.
type marginPass[T, P kernel.Float] struct {
	s          *Set[T]
	head       *Classifier
	candidates *candidates[P]
	inverse    []float64 // (K) 1/‖w_j − w_G‖
	order      []int32   // measured rows, class by class
	start      []int     // (K+1) index in order where each class begins
	margins    []float64 // (rows)
	search     *logits

	from, to int       // classes of the stripe
	logits   []P       // (stripe×K) (w_j − w_G)·(μ_c − h_G)
	exact    []float64 // the same in float64, empty unless needed
	gamma    float64   // rounding of base, relative
	lead     []int32   // (stripe) b
	parts    []marginPart
	reading  atomic.Int64 // nanoseconds of all threads together
	scratch  sync.Pool    // of *marginScratch[T, P]
}

// marginPart is rows order[from:to] of one class.
type marginPart struct {
	class, from, to int
	err             error
}

// marginScratch is the memory of a part under way.
type marginScratch[T, P kernel.Float] struct {
	buf          []T
	rows         [][]T
	residual     []P
	length       []float64
	list         []int32
	base, scores []float64
	own          float64 // base of the class itself
	products     roughProducts[P]
	q            []float64
}

// logits is what the largest logit needs besides the products for margins.
type logits struct {
	*DecisionRadii
	best           []int32   // (rows) to fill in
	offset         []float64 // (K) (w_j − w_G)·h_G + b_j
	reach, largest float64   // max ‖w_j − w_G‖, max |offset|
}

const (
	marginRows   = 256   // per part
	rowsAhead    = 2     // rows to prefetch while one is processed
	CertainScore = 1e-10 // of a cosine
	farMagnitude = 0x1p60
)

// newMarginPass prepares to fill margins.
func newMarginPass[T, P kernel.Float](team *parallel.Team, s *Set[T], h *Classifier, margins []float64) *marginPass[T, P] {
	m := &marginPass[T, P]{s: s, head: h, candidates: newCandidates[P](team, h.Centred, h.CentredNorm, s.K, s.D), margins: margins, inverse: make([]float64, s.K)}
	m.scratch.New = func() any { return new(marginScratch[T, P]) }
	for j, x := range h.CentredNorm {
		m.inverse[j] = 1 / x
	}
	m.start = m.sort()
	return m
}

// margins computes the margins of rows and the radii of logits, which need the same products of class means.
func (f *pass[T, P]) margins() error {
	s := f.s
	f.Enter(PhaseMargins)
	f.found.Margins = vec.Grow(f.Margins, s.Rows)
	m := newMarginPass[T, P](f.Team, s, f.head, f.found.Margins)
	f.Enter(PhaseRadii)
	l := newLogitRadii[P](&f.radius, s.Centred, s.Centre, s.N, s.K, s.D, f.head)
	m.search = &logits{DecisionRadii: &f.radius, best: f.found.Best, offset: l.base, reach: l.reach}
	for _, x := range l.base {
		m.search.largest = max(m.search.largest, math.Abs(x))
	}
	stripe := stripeRows(s.K, s.K)
	for from := 0; from < s.K; from += stripe {
		to := min(from+stripe, s.K)
		f.Enter(PhaseRadii)
		l.fill(f.Team, from, to)
		f.Enter(PhaseMargins)
		if err := m.stripe(f.Team, from, to, l.logits); err != nil {
			return err
		}
	}
	f.MoveTime(PhaseMargins, PhaseRows, time.Duration(m.reading.Load()).Seconds()/float64(f.Team.Threads()))
	return nil
}

// stripe computes the margins of rows of classes [from, to); logits (stripe×K) are (w_j − w_G)·(μ_c − h_G) in P.
func (m *marginPass[T, P]) stripe(team *parallel.Team, from, to int, logits []P) error {
	k, d, n := m.s.K, m.s.D, to-from
	m.from, m.to, m.logits, m.exact = from, to, logits, m.exact[:0]
	m.lead = vec.Grow(m.lead, n)
	m.gamma = float64(d+10) * roundoff[P]()
	fine, err := m.fine()
	if err != nil {
		return err
	}
	if fine {
		m.gamma = float64(d+10) * roundoff[float64]()
		m.exact = vec.Grow(m.exact, n*k)
		gemm.Multiply(team, gemm.NT, kernel.Dense(n, d, m.s.Centred[from*d:]), kernel.Dense(k, d, m.head.Centred), kernel.Dense(n, k, m.exact), gemm.Epilogue[float64]{})
	}
	team.Do(n, leadTask[T, P]{m})
	m.parts = m.parts[:0]
	for c := from; c < to; c++ {
		for at := m.start[c]; at < m.start[c+1]; at += marginRows {
			m.parts = append(m.parts, marginPart{class: c, from: at, to: min(at+marginRows, m.start[c+1])})
		}
	}
	team.Do(len(m.parts), m)
	for i := range m.parts {
		if err := m.parts[i].err; err != nil {
			return err
		}
	}
	return nil
}

// sort lists the measured rows class by class, and returns where each class begins, and the end.
func (m *marginPass[T, P]) sort() (start []int) {
	start = make([]int, m.s.K+1)
	for _, c := range m.s.Class { // s.N may be that of several shards
		if c >= 0 {
			start[c+1]++
		}
	}
	for c := range m.s.K {
		start[c+1] += start[c]
	}
	end := append([]int(nil), start...)
	m.order = make([]int32, start[m.s.K])
	for i, c := range m.s.Class {
		if c >= 0 {
			m.order[end[c]] = int32(i)
			end[c]++
		}
	}
	return start
}

// Run computes the margins of one part.
func (m *marginPass[T, P]) Run(part int) {
	p := &m.parts[part]
	x := m.scratch.Get().(*marginScratch[T, P])
	defer m.scratch.Put(x)
	rows := m.order[p.from:p.to]
	began := time.Now()
	if p.err = x.read(m.s, rows, p.class); p.err != nil {
		return
	}
	m.reading.Add(int64(time.Since(began)))
	// Rounding of base: γ of a sum of d products of vectors of length ‖μ_c − h_G‖ and 1.
	rounding := m.gamma * vec.Norm(m.s.Centred[p.class*m.s.D:][:m.s.D])
	list := m.withinReach(x, p.class, rounding)
	m.candidates.multiply(&x.products, nil, x.residual, x.length, list)
	x.scores, x.q = vec.Grow(x.scores, len(x.base)), vec.Grow(x.q, m.s.D)
	for i, row := range rows {
		m.margins[row] = m.margin(x, p.class, i, list, rounding)
		if square := x.length[i] * x.length[i]; list == nil && !(square < m.search.Logit[p.class]) {
			m.search.best[row] = m.largestLogit(x, p.class, i, rounding)
		}
	}
}

// largestLogit returns the class of the largest logit of residual i, as exactSearch does.
func (m *marginPass[T, P]) largestLogit(x *marginScratch[T, P], class, i int, rounding float64) int32 {
	l, d := m.search, float64(m.s.D)
	x.base[class] = x.own
	x.products.add(x.scores, x.base, i)
	x.base[class] = math.Inf(-1)
	most := math.Inf(-1)
	for j, cosine := range x.scores {
		x.scores[j] = l.offset[j] + m.head.CentredNorm[j]*cosine
		most = max(most, x.scores[j])
	}
	length := x.length[i] + vec.Norm(m.s.Centred[class*m.s.D:][:m.s.D])
	err := (m.candidates.errorOf(x.length[i])*(1+slack)+2*rounding+d*0x1p-126)*l.reach + 64*vec.Eps64*d*(length*l.reach+l.largest)
	for p, v := range x.rows[i] {
		x.q[p] = float64(v)
	}
	return largestExact(x.scores, most-2*err, x.q, m.head.logit)
}

// read reads rows of a class and computes their residuals.
func (x *marginScratch[T, P]) read(s *Set[T], samples []int32, class int) error {
	d := s.D
	if !s.Views {
		x.buf = vec.Grow(x.buf, len(samples)*d)
	}
	x.residual, x.length, x.rows = vec.Grow(x.residual, len(samples)*d), vec.Grow(x.length, len(samples)), vec.Grow(x.rows, len(samples))
	for i, at := range samples {
		var buf []T
		if x.buf != nil {
			buf = x.buf[i*d:][:d]
		}
		row, err := s.Source.Read(buf, int(at), int(at)+1)
		if err != nil {
			return err
		}
		x.rows[i] = row
	}
	for i, row := range x.rows {
		if i+rowsAhead < len(samples) {
			memory.Prefetch(x.rows[i+rowsAhead])
		}
		x.length[i] = math.Sqrt(rows.SubRow(x.residual[i*d:][:d], row, s.mean(class)))
	}
	return nil
}

// margin returns the margin of residual i of the part; NaN if h = h_G.
func (m *marginPass[T, P]) margin(x *marginScratch[T, P], class, i int, list []int32, rounding float64) float64 {
	rows.SubRow(x.q, x.rows[i], m.s.mean(class)) // h − h_G via the mean: h_G by itself has rounding in proportion to its distance from 0
	rows.AddRow(x.q, m.s.Centred[class*m.s.D:][:m.s.D])
	length := vec.Norm(x.q)
	if !(length > 0) {
		return math.NaN()
	}
	own := m.cosine(x.q, class, length)
	// For residuals this short, the lead at the class mean stays ahead, or falls behind by a negligible amount.
	if vec.IsFloat32[P]() && 2*(x.length[i]*(1+slack)+rounding) < CertainScore*length {
		return own - m.cosine(x.q, int(m.lead[class-m.from]), length)
	}
	most := x.products.add(x.scores, x.base, i)
	err := m.candidates.errorOf(x.length[i])*(1+slack) + 2*rounding
	if !vec.IsFloat32[P]() && err < CertainScore*length {
		return own - most/length
	}
	least, other := most-2*err, math.Inf(-1)
	for j, score := range x.scores {
		if score < least { // a NaN is not below anything
			continue
		}
		if list != nil {
			j = int(list[j])
		}
		if j != class {
			other = max(other, m.cosine(x.q, j, length))
		}
	}
	return own - other
}

// cosine returns û_j·q/‖q‖.
func (m *marginPass[T, P]) cosine(q []float64, j int, length float64) float64 {
	return vec.Dot(m.head.Centred[j*m.s.D:][:m.s.D], q) / (m.head.CentredNorm[j] * length)
}
