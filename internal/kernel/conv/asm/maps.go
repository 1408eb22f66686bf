package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The maps of Winograd's transforms on a line.

// The points of interpolation, as winograd.go explains them.
const (
	p, q   = 0.75, 1.5
	p2, q2 = p * p, q * q
	p3, q3 = p2 * p, q2 * q
	n0     = p2 * q2
	n1     = 2 * p2 * (p2 - q2)
	n2     = 2 * q2 * (q2 - p2)
)

// copyOf returns a register with the content of v.
func (t target) copyOf(v Op) reg.VecVirtual {
	c := t.vector()
	t.move(v, c)
	return c
}

// inputLineFirst is the first three rows of Bᵀ; see winogradInputLine for it and its companions.
func (t target) inputLineFirst(d []reg.VecVirtual) []reg.VecVirtual {
	first := t.copyOf(d[4])
	t.fmaConstant(-(p2 + q2), d[2], first)
	t.fmaConstant(p2*q2, d[0], first)
	a, b := t.inputPair(d, p, q2)
	return []reg.VecVirtual{first, a, b}
}

// inputLineLast is the other three.
func (t target) inputLineLast(d []reg.VecVirtual) []reg.VecVirtual {
	a, b := t.inputPair(d, q, p2)
	last := d[5]
	t.fmaConstant(-(p2 + q2), d[3], last)
	t.fmaConstant(p2*q2, d[1], last)
	return []reg.VecVirtual{a, b, last}
}

// inputPair is the rows of Bᵀ for the points ±x; other2 is the square of the other points.
func (t target) inputPair(d []reg.VecVirtual, x, other2 float64) (plus, minus reg.VecVirtual) {
	even, odd := t.copyOf(d[4]), t.copyOf(d[3])
	t.fmaConstant(-other2, d[2], even)
	t.fmaConstant(-other2, d[1], odd)
	return t.plusMinus(x, even, odd)
}

// plusMinus returns even ± x·odd.
func (t target) plusMinus(x float64, even, odd reg.VecVirtual) (plus, minus reg.VecVirtual) {
	plus = t.copyOf(even)
	t.fmaConstant(x, odd, plus)
	t.fmaConstant(-x, odd, even)
	return plus, even
}

// sumDifference returns x + y and x − y.
func (t target) sumDifference(x, y reg.VecVirtual) (sum, difference reg.VecVirtual) {
	sum = t.vector()
	t.add(y, x, sum)
	t.sub(y, x, x)
	return sum, x
}

// outputLine is Aᵀ.
func (t target) outputLine(m []reg.VecVirtual) []reg.VecVirtual {
	s1, d1 := t.sumDifference(m[1], m[2])
	s2, d2 := t.sumDifference(m[3], m[4])
	t.add(s1, m[0], m[0])
	t.add(s2, m[0], m[0])
	y1, y2 := t.vector(), t.vector()
	t.mulConstant(p, d1, y1)
	t.fmaConstant(q, d2, y1)
	t.mulConstant(p2, s1, y2)
	t.fmaConstant(q2, s2, y2)
	t.fmaConstant(p3, d1, m[5])
	t.fmaConstant(q3, d2, m[5])
	return []reg.VecVirtual{m[0], y1, y2, m[5]}
}

// gradientLine is A.
func (t target) gradientLine(y []reg.VecVirtual) []reg.VecVirtual {
	pair := func(x, x2 float64) (plus, minus reg.VecVirtual) {
		even, odd := t.copyOf(y[0]), t.copyOf(y[1])
		t.fmaConstant(x2, y[2], even)
		t.fmaConstant(x2, y[3], odd)
		return t.plusMinus(x, even, odd)
	}
	a, b := pair(p, p2)
	c, e := pair(q, q2)
	return []reg.VecVirtual{y[0], a, b, c, e, y[3]}
}

// filterLine is G.
func (t target) filterLine(g []reg.VecVirtual) []reg.VecVirtual {
	pair := func(x, x2, n float64) (plus, minus reg.VecVirtual) {
		even, odd := t.vector(), t.vector()
		t.mulConstant(1/n, g[0], even)
		t.fmaConstant(x2/n, g[2], even)
		t.mulConstant(x/n, g[1], odd)
		return t.sumDifference(even, odd)
	}
	a, b := pair(p, p2, n1)
	c, e := pair(q, q2, n2)
	t.mulConstant(1/float64(n0), g[0], g[0])
	return []reg.VecVirtual{g[0], a, b, c, e, g[2]}
}

// filterGradientLine is Gᵀ.
func (t target) filterGradientLine(u []reg.VecVirtual) []reg.VecVirtual {
	s1, d1 := t.sumDifference(u[1], u[2])
	s2, d2 := t.sumDifference(u[3], u[4])
	t.mulConstant(1/float64(n0), u[0], u[0])
	t.fmaConstant(1/float64(n1), s1, u[0])
	t.fmaConstant(1/float64(n2), s2, u[0])
	t.mulConstant(p/n1, d1, d1)
	t.fmaConstant(q/n2, d2, d1)
	t.fmaConstant(p2/n1, s1, u[5])
	t.fmaConstant(q2/n2, s2, u[5])
	return []reg.VecVirtual{u[0], d1, u[5]}
}
