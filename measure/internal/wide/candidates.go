package wide

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// candidates computes products of rows r, such as residuals, with the unit vectors û_j of given vectors, accurately enough to say
// which of them can be the largest: in 16-bit integers if the processor has fast ones and P is float32, else in P. The unit vector
// of zero is zero.
//
// In float32 it only chooses candidates: whether a product is computed in integers depends on more than the kernel's name, so no
// product may be part of a result, and no choice that affects the bits of a result may depend on err.
type candidates[P kernel.Float] struct {
	k, d   int
	pairs  int     // pairs of integers per vector
	int16s []int32 // (K×pairs) û_j·int16Scale rounded to integers; nil: use floats
	floats []P     // (K×d) û_j

	// err bounds
	// product − û_j·r
	// /‖r‖ for every r. In integers, with φ = ½√d/int16Scale (a little more, for rounding to float32), rounding û_j changes it by at
	// most φ, and rounding r/‖r‖ by at most φ, by Cauchy–Schwarz; sums are exact. In P it is γ_d.
	err float64
}

// int16Scale turns unit vectors into 16-bit integers: none exceeds gemm.MostInt16, and no product of two vectors reaches 2³¹.
const int16Scale = 32690

// newCandidates takes vectors (k×d) and their norms (k).
func newCandidates[P kernel.Float](team *parallel.Team, vectors, norms []float64, k, d int) *candidates[P] {
	v := &candidates[P]{k: k, d: d, pairs: (d + 1) / 2}
	if vec.IsFloat32[P]() && gemm.FastInt16() {
		v.int16s = memory.Alloc[int32](v.k * v.pairs)
		v.err = int16Error(d)
	} else {
		v.floats = memory.Alloc[P](v.k * v.d)
		v.err = float64(v.d+10) * roundoff[P]()
	}
	team.Do((v.k+Strip-1)/Strip, unitTask[P]{v, vectors, norms})
	return v
}

// int16Error is candidates.err for integers.
func int16Error(d int) float64 {
	phi := .502*math.Sqrt(float64(d))/int16Scale + 2*roundoff32
	return 2*phi + phi*phi
}

// unitTask computes a strip of unit vectors.
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
		if t.int16s == nil {
			for p, x := range w {
				t.floats[j*t.d+p] = P(x * inverse)
			}
			continue
		}
		for p, x := range w {
			row[p] = float32(x * inverse)
		}
		gemm.RoundInt16(t.int16s[j*t.pairs:][:t.pairs], row, int16Scale)
	}
}

// roughProducts are the products of n residuals with the vectors of a list, and their operands.
type roughProducts[P kernel.Float] struct {
	residuals16, vectors16 []int32 // (n×pairs), (list×pairs)
	vectors                []P     // (list×d)
	exact                  []int32 // (n×list) products of integers
	rounded                []P     // (n×list) products in P
	factor                 []float64
}

// multiply computes the products of residuals (n×d), of the given lengths, with the vectors of the list, or with all of them if it
// is nil. The product of residual i and vector j is factor[i] times the stored number.
func (v *candidates[P]) multiply(to *roughProducts[P], team *parallel.Team, residual []P, length []float64, list []int32) {
	n, columns := len(length), v.k
	if list != nil {
		columns = len(list)
	}
	to.factor = vec.Grow(to.factor, n)
	if v.int16s == nil {
		to.rounded = vec.Grow(to.rounded, n*columns)
		vectors := v.floats
		if list != nil {
			to.vectors = vec.Grow(to.vectors, columns*v.d)
			vectors = gather(to.vectors, v.floats, list, v.d)
		}
		for i := range to.factor {
			to.factor[i] = 1
		}
		gemm.Multiply(team, gemm.NT, kernel.Dense(n, v.d, residual), kernel.Dense(columns, v.d, vectors), kernel.Dense(n, columns, to.rounded), gemm.Epilogue[P]{})
		return
	}
	to.residuals16, to.exact = vec.Grow(to.residuals16, n*v.pairs), vec.Grow(to.exact, n*columns)
	for i, x := range length {
		row, scale := to.residuals16[i*v.pairs:][:v.pairs], float32(int16Scale/x)
		to.factor[i] = 1 / (float64(scale) * int16Scale)
		if !(x > shortest) {
			to.factor[i] = 0
			clear(row)
			continue
		}
		gemm.RoundInt16(row, any(residual).([]float32)[i*v.d:][:v.d], scale)
	}
	vectors := v.int16s
	if list != nil {
		to.vectors16 = vec.Grow(to.vectors16, columns*v.pairs)
		vectors = gather(to.vectors16, v.int16s, list, v.pairs)
	}
	gemm.Int16(team, gemm.NT, kernel.Dense(n, v.pairs, to.residuals16), kernel.Dense(columns, v.pairs, vectors), kernel.Dense(n, columns, to.exact), false)
}

// shortest is the length up to which a residual counts as zero in integers: its inverse is far from float32's limits.
const shortest = 0x1p-100

// errorOf bounds the error of the products of a residual of the given length.
func (v *candidates[P]) errorOf(length float64) float64 {
	if v.int16s != nil && !(length > shortest) {
		return length
	}
	return v.err * length
}

// gather copies the listed rows of x, each width wide.
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
