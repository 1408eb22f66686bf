// Package dd computes in double-double arithmetic: a number is the unevaluated sum of two float64 numbers, good for
// about 32 decimal digits in the range of float64 (Dekker 1971; Knuth, TAOCP 2, 4.2.2; Hida, Li & Bailey 2001). Tests
// evaluate definitions in it, to see how far a float64 result is from the exact one.
//
// dd.go has the numbers, function.go elementary functions, matrix.go singular values and eigenvalues.
package dd

import "math"

// Eps is a bound on the relative error of one operation.
const Eps = 0x1p-102

// DD is the number Hi + Lo, |Lo| ≤ half an ulp of Hi. The zero value is 0.
type DD struct{ Hi, Lo float64 }

// Of returns x, exactly.
func Of(x float64) DD { return DD{Hi: x} }

// twoSum returns s = fl(a+b) and its rounding error, exactly (Knuth).
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// quickTwoSum is twoSum for |a| ≥ |b| (Dekker).
func quickTwoSum(a, b float64) (s, e float64) {
	s = a + b
	return s, b - (s - a)
}

// twoProd returns p = fl(ab) and its rounding error, exact where that does not underflow.
func twoProd(a, b float64) (p, e float64) {
	p = a * b
	return p, math.FMA(a, b, -p)
}

// Float returns x rounded to float64.
func (x DD) Float() float64 { return x.Hi }

// Neg returns −x.
func (x DD) Neg() DD { return DD{-x.Hi, -x.Lo} }

// Abs returns |x|.
func (x DD) Abs() DD {
	if x.Hi < 0 {
		return x.Neg()
	}
	return x
}

// Add returns x + y with a relative error of 3·2⁻¹⁰⁶, cancellation included.
func (x DD) Add(y DD) DD {
	s, e := twoSum(x.Hi, y.Hi)
	t, f := twoSum(x.Lo, y.Lo)
	s, e = quickTwoSum(s, e+t)
	s, e = quickTwoSum(s, e+f)
	return DD{s, e}
}

// Sub returns x − y.
func (x DD) Sub(y DD) DD { return x.Add(y.Neg()) }

// Mul returns x·y.
func (x DD) Mul(y DD) DD {
	p, e := twoProd(x.Hi, y.Hi)
	e += x.Hi*y.Lo + x.Lo*y.Hi
	p, e = quickTwoSum(p, e)
	return DD{p, e}
}

// Times returns x·a.
func (x DD) Times(a float64) DD { return x.Mul(Of(a)) }

// Square returns x².
func (x DD) Square() DD { return x.Mul(x) }

// Div returns x/y; by zero, what float64 gives.
func (x DD) Div(y DD) DD {
	q := x.Hi / y.Hi
	if q == 0 || math.IsInf(q, 0) || math.IsNaN(q) {
		return DD{Hi: q}
	}
	r := x.Sub(y.Times(q)) // exact except for its last digits
	q, q2 := quickTwoSum(q, r.Hi/y.Hi)
	return DD{q, q2}
}

// Over returns x/a.
func (x DD) Over(a float64) DD { return x.Div(Of(a)) }

// Sqrt returns √x; NaN below zero.
func (x DD) Sqrt() DD {
	if !(x.Hi > 0) {
		return DD{Hi: math.Sqrt(x.Hi)}
	}
	s := Of(math.Sqrt(x.Hi))
	for range 2 { // Newton: 16, 32, more digits than there are
		s = s.Add(x.Sub(s.Square()).Div(s.Times(2)))
	}
	return s
}

// Cmp returns −1, 0 or 1 as x is below, equal to or above y.
func (x DD) Cmp(y DD) int {
	switch {
	case x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo:
		return -1
	case x.Hi > y.Hi || x.Hi == y.Hi && x.Lo > y.Lo:
		return 1
	}
	return 0
}

// Less reports x < y.
func (x DD) Less(y DD) bool { return x.Cmp(y) < 0 }

// Max returns the larger number.
func Max(x, y DD) DD {
	if x.Less(y) {
		return y
	}
	return x
}

// Min returns the smaller number.
func Min(x, y DD) DD {
	if y.Less(x) {
		return y
	}
	return x
}

// Vector returns the numbers of x, exactly.
func Vector(x []float64) []DD {
	v := make([]DD, len(x))
	for i, a := range x {
		v[i].Hi = a
	}
	return v
}

// Dot returns Σ x_i y_i. Even and odd terms are summed apart, as one sum waits for itself, and Add is written out: calls cost more than it.
func Dot(x, y []DD) DD {
	var even, odd DD
	y = y[:len(x)]
	i := 0
	for ; i+1 < len(x); i += 2 {
		p, q := x[i].Mul(y[i]), x[i+1].Mul(y[i+1])
		s, e := twoSum(even.Hi, p.Hi)
		u, g := twoSum(odd.Hi, q.Hi)
		t, f := twoSum(even.Lo, p.Lo)
		v, h := twoSum(odd.Lo, q.Lo)
		s, e = quickTwoSum(s, e+t)
		u, g = quickTwoSum(u, g+v)
		even.Hi, even.Lo = quickTwoSum(s, e+f)
		odd.Hi, odd.Lo = quickTwoSum(u, g+h)
	}
	if i < len(x) {
		even = even.Add(x[i].Mul(y[i]))
	}
	return even.Add(odd)
}

// Norm returns ‖x‖.
func Norm(x []DD) DD { return Dot(x, x).Sqrt() }

// Difference returns x − y.
func Difference(x, y []DD) []DD {
	z := make([]DD, len(x))
	for i := range z {
		z[i] = x[i].Sub(y[i])
	}
	return z
}

// Distance2 returns ‖x − y‖².
func Distance2(x, y []DD) DD {
	var s DD
	for i, a := range x {
		s = s.Add(a.Sub(y[i]).Square())
	}
	return s
}
