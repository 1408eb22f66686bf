package measure

import (
	"math"

	"collapse/internal/kernel"
)

// exactSearch finds, for rows that no radius decides, the largest of K scores: products in P with K vectors say
// which scores can be the largest, and those alone are computed in float64. The answer is that of float64 for
// all; the lower class wins a tie.
//
// The scores of q = h − h_G are 2 c_j·q − ‖c_j‖² for the nearest mean (‖q‖² less the squared distance) and
// (w_j − w_G)·q + offset_j for the logits.
type exactSearch[T, P kernel.Float] struct {
	s       *samples[T]
	vectors []P       // (K×d)
	base    []float64 // (K)
	factor  float64   // of products: 2 or 1
	reach   float64   // largest ‖vector‖
	largest float64   // largest |base|
	exact   func(j int, h []float64) float64
	answer  []int32 // (rows of the source)

	k, d   int
	todo   []int32 // rows of the chunk
	buf    []T     // (chunk × d)
	wide   []float64
	q      []P
	length []float64 // (chunk) ‖q‖
	scores []P       // (chunk × K)
	errs   []error
}

const searchStrip = 8 // rows that a thread takes at a time

// search decides the rows that are left.
func (f *widePass[T, P]) search() error {
	f.out.clock.enter(PhaseUndecided)
	s := f.s
	if f.ask.nearest {
		e := &exactSearch[T, P]{s: s, k: s.k, factor: 2, base: make([]float64, s.k), answer: f.near}
		for j := range e.base {
			c := s.centred[j*s.d:][:s.d]
			e.base[j] = -dot(c, c)
		}
		e.exact = func(j int, h []float64) float64 { return -distance2(h, s.mean(j)) }
		if err := e.run(f.team, s.centred[:s.k*s.d]); err != nil {
			return err
		}
	}
	if f.ask.logits {
		h := f.head
		e := &exactSearch[T, P]{s: s, k: h.k, factor: 1, base: h.offsets(s.centre), answer: f.best}
		e.exact = func(j int, x []float64) float64 { return dot(h.w[j*h.d:][:h.d], x) + h.b[j] }
		return e.run(f.team, h.centred)
	}
	return nil
}

// run fills answer where it is −1 and the row is measured.
func (e *exactSearch[T, P]) run(team *kernel.Team, vectors []float64) error {
	e.d = e.s.d
	var todo []int32
	for i, a := range e.answer {
		if a < 0 && e.s.class[i] >= 0 {
			todo = append(todo, int32(i))
		}
	}
	if todo == nil {
		return nil
	}
	e.vectors = make([]P, len(vectors))
	for i, x := range vectors {
		e.vectors[i] = P(x)
	}
	for j := range e.k {
		e.reach = max(e.reach, norm(vectors[j*e.d:][:e.d]))
		e.largest = max(e.largest, math.Abs(e.base[j]))
	}
	chunk := min(len(todo), max(1, wideElements/max(e.k, e.d)))
	strips := (chunk + searchStrip - 1) / searchStrip
	e.buf, e.wide = make([]T, chunk*e.d), make([]float64, strips*e.d)
	e.q, e.length, e.scores = kernel.Alloc[P](chunk*e.d), make([]float64, chunk), kernel.Alloc[P](chunk*e.k)
	e.errs = make([]error, strips)
	for at := 0; at < len(todo); at += chunk {
		e.todo = todo[at:min(at+chunk, len(todo))]
		n := len(e.todo)
		strips = (n + searchStrip - 1) / searchStrip
		team.Do(strips, centreTask[T, P]{e})
		if err := firstError(e.errs); err != nil {
			return err
		}
		kernel.Gemm(team, kernel.NT, n, e.k, e.d, e.q, e.d, e.vectors, e.d, e.scores, e.k, kernel.Epilogue[P]{})
		team.Do(strips, chooseBest[T, P]{e})
	}
	return nil
}

// centreTask reads rows and forms q.
type centreTask[T, P kernel.Float] struct{ *exactSearch[T, P] }

func (e centreTask[T, P]) Run(part int) {
	for i := part * searchStrip; i < min((part+1)*searchStrip, len(e.todo)); i++ {
		at, row := int(e.todo[i]), e.buf[i*e.d:][:e.d]
		x, err := e.s.src.Read(row, at, at+1)
		if err != nil {
			e.errs[part] = err
			return
		}
		copy(row, x)
		e.length[i] = math.Sqrt(kernel.SubRow(e.q[i*e.d:][:e.d], row, e.s.centre))
	}
}

// chooseBest finds the answers of a strip.
type chooseBest[T, P kernel.Float] struct{ *exactSearch[T, P] }

func (e chooseBest[T, P]) Run(part int) {
	h := e.wide[part*e.d:][:e.d]
	for i := part * searchStrip; i < min((part+1)*searchStrip, len(e.todo)); i++ {
		for j, x := range e.buf[i*e.d:][:e.d] {
			h[j] = float64(x)
		}
		e.answer[e.todo[i]] = e.choose(e.scores[i*e.k:][:e.k], e.length[i], h)
	}
}

// choose returns the class of the largest score. A product of d terms errs by at most γ_d ‖q‖‖v‖, inputs
// rounded to P by two roundoffs more, so no score below the largest by twice that can be the largest.
func (e *exactSearch[T, P]) choose(scores []P, length float64, h []float64) int32 {
	most := math.Inf(-1)
	for j, x := range scores {
		most = max(most, e.factor*float64(x)+e.base[j])
	}
	d := float64(e.d)
	err := e.factor*((d+8)*roundoff[P]()*length*e.reach+d*0x1p-126) + 64*eps64*d*(length*e.reach+e.largest)
	least := most - 2*err
	best, value := int32(-1), math.Inf(-1)
	for j, x := range scores {
		if e.factor*float64(x)+e.base[j] < least { // a NaN is not below anything: computed again
			continue
		}
		if v := e.exact(j, h); best < 0 || v > value {
			best, value = int32(j), v
		}
	}
	return best
}
