package wide

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// exactSearch finds the largest of K scores for rows that no radius decides: candidates says which scores can be the largest, and
// only those are computed in float64. The answer equals that of float64 for all scores; the lower class wins a tie.
//
// The scores of q = h − h_G are 2 c_j·q − ‖c_j‖² for the nearest mean (‖q‖² less the squared distance) and
// (w_j − w_G)·q + offset_j for the logits.
type exactSearch[T, P kernel.Float] struct {
	s          *Set[T]
	base       []float64 // (K)
	weight     []float64 // (K) factor of a product with a unit vector: the vector's norm, or twice that
	exact      func(j int, h []float64) float64
	answer     []int32 // (rows of the source)
	reach      float64 // largest weight
	largest    float64 // largest |base|
	candidates *candidates[P]

	k, d     int
	todo     []int32 // rows of the chunk
	buf      []T     // (chunk × d)
	wide     []float64
	q        []P       // (chunk × d)
	length   []float64 // (chunk) ‖q‖
	products roughProducts[P]
	scores   []float64 // (strips × K)
	errs     []error
}

const searchStrip = 8 // rows that a thread takes at a time

// search decides the remaining rows.
func (f *pass[T, P]) search() error {
	f.Enter(PhaseUndecided)
	s := f.s
	if f.Ask.Nearest {
		e := &exactSearch[T, P]{s: s, k: s.K, base: make([]float64, s.K), weight: make([]float64, s.K), answer: f.found.Near}
		norms := make([]float64, s.K)
		for j := range norms {
			norms[j] = vec.Norm(s.Centred[j*s.D:][:s.D])
			e.base[j], e.weight[j] = -norms[j]*norms[j], 2*norms[j]
		}
		e.exact = func(j int, h []float64) float64 { return -vec.Distance2(h, s.mean(j)) }
		if err := e.run(f.Team, s.Centred, norms); err != nil {
			return err
		}
	}
	if f.Ask.Logits {
		h := f.head
		e := &exactSearch[T, P]{s: s, k: h.K, base: h.offsets(s.Centre), weight: h.CentredNorm, answer: f.found.Best}
		e.exact = h.logit
		return e.run(f.Team, h.Centred, h.CentredNorm)
	}
	return nil
}

// run fills in answer for measured rows where it is −1, using products with vectors (K×d) of the given norms.
func (e *exactSearch[T, P]) run(team *parallel.Team, vectors, norms []float64) error {
	e.d = e.s.D
	var todo []int32
	for i, a := range e.answer {
		if a < 0 && e.s.Class[i] >= 0 {
			todo = append(todo, int32(i))
		}
	}
	if todo == nil {
		return nil
	}
	for j := range e.k {
		e.reach = max(e.reach, e.weight[j])
		e.largest = max(e.largest, math.Abs(e.base[j]))
	}
	e.candidates = newCandidates[P](team, vectors, norms, e.k, e.d)
	chunk := min(len(todo), max(1, Elements/max(e.k, e.d)))
	strips := (chunk + searchStrip - 1) / searchStrip
	e.buf, e.wide, e.scores = make([]T, chunk*e.d), make([]float64, strips*e.d), make([]float64, strips*e.k)
	e.q, e.length = memory.Alloc[P](chunk*e.d), make([]float64, chunk)
	e.errs = make([]error, strips)
	for at := 0; at < len(todo); at += chunk {
		e.todo = todo[at:min(at+chunk, len(todo))]
		n := len(e.todo)
		strips = (n + searchStrip - 1) / searchStrip
		team.Do(strips, centreTask[T, P]{e})
		if err := vec.FirstError(e.errs); err != nil {
			return err
		}
		e.candidates.multiply(&e.products, team, e.q[:n*e.d], e.length[:n], nil)
		team.Do(strips, chooseBest[T, P]{e})
	}
	return nil
}

// centreTask reads rows and computes q.
type centreTask[T, P kernel.Float] struct{ *exactSearch[T, P] }

func (e centreTask[T, P]) Run(part int) {
	for i := part * searchStrip; i < min((part+1)*searchStrip, len(e.todo)); i++ {
		at, row := int(e.todo[i]), e.buf[i*e.d:][:e.d]
		x, err := e.s.Source.Read(row, at, at+1)
		if err != nil {
			e.errs[part] = err
			return
		}
		copy(row, x)
		e.length[i] = math.Sqrt(rows.SubRow(e.q[i*e.d:][:e.d], row, e.s.Centre))
	}
}

// chooseBest finds the answers of a strip.
type chooseBest[T, P kernel.Float] struct{ *exactSearch[T, P] }

func (e chooseBest[T, P]) Run(part int) {
	h, scores := e.wide[part*e.d:][:e.d], e.scores[part*e.k:][:e.k]
	for i := part * searchStrip; i < min((part+1)*searchStrip, len(e.todo)); i++ {
		for j, x := range e.buf[i*e.d:][:e.d] {
			h[j] = float64(x)
		}
		e.answer[e.todo[i]] = e.choose(scores, i, h)
	}
}

// choose returns the class with the largest score of row i. A score that is below the largest by more than twice the error of a
// product cannot be the largest.
func (e *exactSearch[T, P]) choose(scores []float64, i int, h []float64) int32 {
	most := e.products.addTimes(scores, e.base, e.weight, i)
	d, length := float64(e.d), e.length[i]
	err := (e.candidates.errorOf(length)+d*0x1p-126)*e.reach + 64*vec.Eps64*d*(length*e.reach+e.largest)
	return largestExact(scores, most-2*err, h, e.exact)
}

// largestExact returns the class of the largest exact score at h among those that are not below least; ties go to the lower.
func largestExact(scores []float64, least float64, h []float64, exact func(j int, h []float64) float64) int32 {
	best, value := int32(-1), math.Inf(-1)
	for j, score := range scores {
		if score < least { // a NaN is not below anything, so it is computed again
			continue
		}
		if v := exact(j, h); best < 0 || v > value {
			best, value = int32(j), v
		}
	}
	return best
}
