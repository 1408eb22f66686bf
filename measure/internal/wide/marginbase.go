package wide

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
)

// baseRow is base_cj for a class c and all j, computed on reading: the products of μ_c − h_G with w_j − w_G divided by ‖w_j − w_G‖.
type baseRow[P kernel.Float] struct {
	logits  []P
	exact   []float64 // instead of logits, if not nil
	inverse []float64
}

// row returns the base of a class of the stripe.
func (m *marginPass[T, P]) row(class int) baseRow[P] {
	at, k := class-m.from, m.s.K
	if len(m.exact) > 0 {
		return baseRow[P]{exact: m.exact[at*k:][:k], inverse: m.inverse}
	}
	return baseRow[P]{logits: m.logits[at*k:][:k], inverse: m.inverse}
}

func (b baseRow[P]) at(j int) float64 {
	if b.exact != nil {
		return b.exact[j] * b.inverse[j]
	}
	return float64(b.logits[j]) * b.inverse[j]
}

// largest returns the largest element of [from, to) and its index, −1 if none is a number.
func (b baseRow[P]) largest(from, to int) (most float64, at int) {
	if b.exact != nil {
		most, at = rows.LargestProduct(b.exact[from:to], b.inverse[from:to])
	} else {
		most, at = rows.LargestProduct(b.logits[from:to], b.inverse[from:to])
	}
	if at >= 0 {
		at += from
	}
	return most, at
}

// choose appends the elements of [from, to) that are not below least, and their indices.
func (b baseRow[P]) choose(list []int32, values []float64, from, to int, least float64) ([]int32, []float64) {
	if b.exact != nil {
		return rows.SelectProducts(list, values, b.exact[from:to], b.inverse[from:to], least, int32(from))
	}
	return rows.SelectProducts(list, values, b.logits[from:to], b.inverse[from:to], least, int32(from))
}

// leadTask finds the largest element of a row of base other than that of the class itself.
type leadTask[T, P kernel.Float] struct{ *marginPass[T, P] }

func (m leadTask[T, P]) Run(i int) {
	own, row := m.from+i, m.row(m.from+i)
	most, best := row.largest(0, own)
	if after, at := row.largest(own+1, m.s.K); best < 0 || after > most {
		best = at
	}
	m.lead[i] = int32(max(best, 0))
}

// withinReach returns the classes whose score can be the largest for some row, nil for all of them, and fills base with theirs. A
// base must be at least the lead's score minus what a residual of that length can add to another score.
func (m *marginPass[T, P]) withinReach(x *marginScratch[T, P], class int, rounding float64) []int32 {
	row, best, d := m.row(class), int(m.lead[class-m.from]), m.s.D
	lead, inverse := m.head.Centred[best*d:][:d], m.inverse[best]
	gain := math.Inf(1)
	for i, length := range x.length {
		gain = min(gain, vec.Dot(lead, x.residual[i*d:][:d])*inverse-length*(1+slack+4*roundoff[P]())) // a NaN remains and excludes nothing
	}
	least := row.at(best) + gain - 2*rounding
	x.own = row.at(class)
	x.list, x.base = row.choose(x.list[:0], x.base[:0], 0, class, least)
	x.list, x.base = row.choose(x.list, x.base, class+1, m.s.K, least)
	if len(x.list) < m.s.K*3/4 {
		return x.list
	}
	x.base = vec.Grow(x.base, m.s.K)
	for j := range x.base {
		x.base[j] = row.at(j)
	}
	x.base[class] = math.Inf(-1)
	return nil
}

// fine reports whether base has to be computed in float64, because its rounding would hide differences that products of 16-bit
// integers resolve, whether these are used or not, since the lead depends on the answer. The first row of each class stands for all
// of them.
func (m *marginPass[T, P]) fine() (bool, error) {
	if !vec.IsFloat32[P]() {
		return false, nil
	}
	for _, x := range m.head.CentredNorm {
		if !(x < farMagnitude && x > 1/farMagnitude) { // products might exceed float32's range
			return true, nil
		}
	}
	var x marginScratch[T, P]
	residuals, means := 0.0, 0.0
	for c := m.from; c < m.to; c++ {
		if m.start[c] == m.start[c+1] {
			continue
		}
		if err := x.read(m.s, m.order[m.start[c]:][:1], c); err != nil {
			return false, err
		}
		residuals += x.length[0]
		means += vec.Norm(m.s.Centred[c*m.s.D:][:m.s.D])
	}
	return m.gamma*means > 2*int16Error(m.s.D)*residuals, nil
}
