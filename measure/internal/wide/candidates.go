package wide

import (
	"math"

	"collapse/internal/kernel"
	"collapse/internal/kernel/gemm"
	"collapse/internal/kernel/memory"
	"collapse/measure/internal/vec"
	"collapse/parallel"
)

// candidates forms products of rows r, such as residuals, with the unit vectors û_j of given ones, exactly enough to say which of
// them can be the largest: of 16-bit words where the processor has them and P is float32, else in P. The unit vector of
// zero is zero.
//
// In float32 it chooses candidates and nothing else: which of its products are words depends on more than the kernel's name, so no
// product may be part of a result, and no choice that a result's bits depend on may ask for err.
type candidates[P kernel.Float] struct {
	k, d  int
	half  int     // pairs of words of a vector
	words []int32 // (K×half) û_j·wordScale to the nearest whole number; nil: floats
	float []P     // (K×d) û_j

	// err bounds |product − û_j·r|/‖r‖, whatever r is. Words: with φ = ½√d/wordScale (a little more, for roundings to float32)
	// the rounding of û_j moves it by at most φ and that of r/‖r‖ by at most φ, by Cauchy and Schwarz; sums are exact.
	// Floats: γ_d.
	err float64
}

// wordScale makes unit vectors of words: no word exceeds gemm.MostInt16, and no product of two reaches 2³¹.
const wordScale = 32690

// newCandidates takes vectors (k×d) and their norms (k).
func newCandidates[P kernel.Float](team *parallel.Team, vectors, norms []float64, k, d int) *candidates[P] {
	v := &candidates[P]{k: k, d: d, half: (d + 1) / 2}
	if vec.IsFloat32[P]() && gemm.FastInt16() {
		v.words = memory.Alloc[int32](v.k * v.half)
		v.err = wordError(d)
	} else {
		v.float = memory.Alloc[P](v.k * v.d)
		v.err = float64(v.d+10) * roundoff[P]()
	}
	team.Do((v.k+Strip-1)/Strip, unitTask[P]{v, vectors, norms})
	return v
}

// wordError is candidates.err of words.
func wordError(d int) float64 {
	phi := .502*math.Sqrt(float64(d))/wordScale + 2*roundoff32
	return 2*phi + phi*phi
}

// unitTask makes a strip of unit vectors.
type unitTask[P kernel.Float] struct {
	*candidates[P]
	vectors, norms []float64
}

func (t unitTask[P]) Run(strip int) {
	row := make([]float32, t.d)
	for j := strip * Strip; j < min((strip+1)*Strip, t.k); j++ {
		w, inverse := t.vectors[j*t.d:][:t.d], 0.0
		if t.norms[j] > 0 {
			inverse = 1 / t.norms[j]
		}
		if t.words == nil {
			for p, x := range w {
				t.float[j*t.d+p] = P(x * inverse)
			}
			continue
		}
		for p, x := range w {
			row[p] = float32(x * inverse)
		}
		gemm.RoundInt16(t.words[j*t.half:][:t.half], row, wordScale)
	}
}

// roughProducts are the products of n residuals with the vectors of a list, and what they are made of.
type roughProducts[P kernel.Float] struct {
	words, ofWords []int32 // (n×half) residuals, (list×half) vectors
	float          []P     // (list×d) vectors
	exact          []int32 // (n×list) products of words
	rounded        []P     // (n×list) products of floats
	factor         []float64
}

// multiply forms the products of residuals (n×d), of the given lengths, with the vectors of the list, or all of them if it
// is nil. The product of residual i and vector j is factor[i] times the number it leaves.
func (v *candidates[P]) multiply(to *roughProducts[P], team *parallel.Team, residual []P, length []float64, list []int32) {
	n, columns := len(length), v.k
	if list != nil {
		columns = len(list)
	}
	to.factor = vec.Grow(to.factor, n)
	if v.words == nil {
		to.rounded = vec.Grow(to.rounded, n*columns)
		vectors := v.float
		if list != nil {
			to.float = vec.Grow(to.float, columns*v.d)
			vectors = gather(to.float, v.float, list, v.d)
		}
		for i := range to.factor {
			to.factor[i] = 1
		}
		gemm.Multiply(team, gemm.NT, kernel.Dense(n, v.d, residual), kernel.Dense(columns, v.d, vectors), kernel.Dense(n, columns, to.rounded), gemm.Epilogue[P]{})
		return
	}
	to.words, to.exact = vec.Grow(to.words, n*v.half), vec.Grow(to.exact, n*columns)
	for i, x := range length {
		row, scale := to.words[i*v.half:][:v.half], float32(wordScale/x)
		to.factor[i] = 1 / (float64(scale) * wordScale)
		if !(x > shortest) {
			to.factor[i] = 0
			clear(row)
			continue
		}
		gemm.RoundInt16(row, any(residual).([]float32)[i*v.d:][:v.d], scale)
	}
	vectors := v.words
	if list != nil {
		to.ofWords = vec.Grow(to.ofWords, columns*v.half)
		vectors = gather(to.ofWords, v.words, list, v.half)
	}
	gemm.Int16(team, gemm.NT, kernel.Dense(n, v.half, to.words), kernel.Dense(columns, v.half, vectors), kernel.Dense(n, columns, to.exact), false)
}

// shortest is the length up to which a residual counts as zero in words: its inverse is far from float32's limits.
const shortest = 0x1p-100

// errorOf bounds the error of the products of a residual of that length.
func (v *candidates[P]) errorOf(length float64) float64 {
	if v.words != nil && !(length > shortest) {
		return length
	}
	return v.err * length
}

// gather copies rows of x, width wide.
func gather[E kernel.Float | int32](to, x []E, rows []int32, width int) []E {
	for i, r := range rows {
		if i+rowsAhead < len(rows) {
			memory.Prefetch(x[int(rows[i+rowsAhead])*width:][:width])
		}
		copy(to[i*width:][:width], x[int(r)*width:][:width])
	}
	return to
}

// add writes base_j + product to scores for residual i, and returns the largest.
func (to *roughProducts[P]) add(scores, base []float64, i int) float64 {
	if to.exact != nil {
		return addScaled(scores, base, to.factor[i], to.exact[i*len(base):])
	}
	return addScaled(scores, base, to.factor[i], to.rounded[i*len(base):])
}

// addTimes is add of base_j + weight_j·product.
func (to *roughProducts[P]) addTimes(scores, base, weight []float64, i int) float64 {
	if to.exact != nil {
		return addWeighted(scores, base, weight, to.factor[i], to.exact[i*len(base):])
	}
	return addWeighted(scores, base, weight, to.factor[i], to.rounded[i*len(base):])
}

func addWeighted[E int32 | kernel.Float](scores, base, weight []float64, factor float64, x []E) float64 {
	most := math.Inf(-1)
	x, scores, weight = x[:len(base)], scores[:len(base)], weight[:len(base)]
	for j, b := range base {
		s := b + weight[j]*(factor*float64(x[j]))
		scores[j] = s
		if s > most {
			most = s
		}
	}
	return most
}

func addScaled[E int32 | kernel.Float](scores, base []float64, factor float64, x []E) float64 {
	most := math.Inf(-1)
	x, scores = x[:len(base)], scores[:len(base)]
	for j, b := range base {
		s := b + factor*float64(x[j])
		scores[j] = s
		if s > most {
			most = s
		}
	}
	return most
}
