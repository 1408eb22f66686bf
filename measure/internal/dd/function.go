package dd

import "math"

// ln2 and halfPi to 32 digits.
var (
	ln2    = DD{0.6931471805599453, 2.3190468138462996e-17}
	HalfPi = DD{1.5707963267948966, 6.123233995736766e-17} // π/2
)

// Exp returns e^x: e^x = 2^k (e^(r/512))^512 with |r| ≤ ln 2 / 2, the inner one from its series. 0 or +Inf outside the range.
func (x DD) Exp() DD {
	const halvings = 9
	if x.Hi < -700 || x.Hi > 700 || math.IsNaN(x.Hi) {
		return Of(math.Exp(x.Hi))
	}
	k := math.Round(x.Hi / math.Ln2)
	r := x.Sub(ln2.Times(k)).Times(1 / float64(int(1)<<halvings))
	sum, term := r, r // e^r − 1, which keeps the digits that doubling needs
	for n := 2; n < 12; n++ {
		term = term.Mul(r).Over(float64(n))
		sum = sum.Add(term)
	}
	for range halvings { // (1+s)² − 1 = 2s + s²
		sum = sum.Times(2).Add(sum.Square())
	}
	sum = sum.Add(Of(1))
	return DD{math.Ldexp(sum.Hi, int(k)), math.Ldexp(sum.Lo, int(k))}
}

// Log returns the natural logarithm of x > 0, by Newton's method on Exp.
func (x DD) Log() DD {
	if !(x.Hi > 0) || math.IsInf(x.Hi, 0) {
		return Of(math.Log(x.Hi))
	}
	fraction, k := math.Frexp(x.Hi) // Exp has its full range of digits near 1
	y := DD{fraction, math.Ldexp(x.Lo, -k)}
	l := Of(math.Log(fraction))
	for range 2 {
		l = l.Add(y.Mul(l.Neg().Exp())).Sub(Of(1))
	}
	return l.Add(ln2.Times(float64(k)))
}

// sinCos returns sine and cosine of 0 ≤ x ≤ 2 from their series.
func sinCos(x DD) (sin, cos DD) {
	term := Of(1)
	sin, cos = DD{}, DD{}
	for n := range 40 {
		signed := term
		if n/2%2 == 1 {
			signed = term.Neg()
		}
		if n%2 == 1 {
			sin = sin.Add(signed)
		} else {
			cos = cos.Add(signed)
		}
		term = term.Mul(x).Over(float64(n + 1))
	}
	return sin, cos
}

// Atan2 returns the angle of the point (x, y) for x, y ≥ 0, not both zero.
func Atan2(y, x DD) DD {
	if y.Hi > x.Hi { // near the y axis the small side keeps its digits
		return HalfPi.Sub(Atan2(x, y))
	}
	angle := Of(math.Atan2(y.Hi, x.Hi))
	length := x.Square().Add(y.Square()).Sqrt()
	sin, cos := sinCos(angle) // the cross product is the sine of what is left, so small that it is the angle
	return angle.Add(y.Mul(cos).Sub(x.Mul(sin)).Div(length))
}
