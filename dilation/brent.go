package dilation

import "math"

// brent returns the location and value of a local minimum of f in [a,b]: golden section with parabolic steps (Brent 1973, chapter
// 5), to a relative tolerance in the location.
func brent(f func(float64) float64, a, b, tolerance float64) (float64, float64) {
	const golden = 0.3819660112501051
	x := a + golden*(b-a)
	w, v := x, x
	fx := f(x)
	fw, fv := fx, fx
	step, last := 0.0, 0.0
	for range 100 {
		middle := (a + b) / 2
		tol := tolerance*math.Abs(x) + 1e-4*tolerance
		if math.Abs(x-middle) <= 2*tol-(b-a)/2 {
			break
		}
		parabola := false
		if math.Abs(last) > tol {
			r, q := (x-w)*(fx-fv), (x-v)*(fx-fw)
			p := (x-v)*q - (x-w)*r
			if q = 2 * (q - r); q > 0 {
				p = -p
			}
			q = math.Abs(q)
			if math.Abs(p) < math.Abs(q*last/2) && p > q*(a-x) && p < q*(b-x) {
				last, step, parabola = step, p/q, true
				if u := x + step; u-a < 2*tol || b-u < 2*tol {
					step = math.Copysign(tol, middle-x)
				}
			}
		}
		if !parabola {
			last = a - x
			if x < middle {
				last = b - x
			}
			step = golden * last
		}
		if math.Abs(step) < tol {
			step = math.Copysign(tol, step)
		}
		u := x + step
		fu := f(u)
		if fu <= fx {
			if u < x {
				b = x
			} else {
				a = x
			}
			v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
			continue
		}
		if u < x {
			a = u
		} else {
			b = u
		}
		switch {
		case fu <= fw || w == x:
			v, fv, w, fw = w, fw, u, fu
		case fu <= fv || v == x || v == w:
			v, fv = u, fu
		}
	}
	return x, fx
}

// scanned minimises f on [a,b]: evenly spaced points, then brent around the best, compared with the ends of the interval.
func scanned(f func(float64) float64, a, b float64, points int, tolerance float64) (float64, float64) {
	best, at := math.Inf(1), a
	h := (b - a) / float64(points-1)
	for i := range points {
		x := a + float64(i)*h
		if i == points-1 {
			x = b
		}
		if v := f(x); v < best {
			best, at = v, x
		}
	}
	if h == 0 {
		return at, best
	}
	if x, v := brent(f, math.Max(a, at-h), math.Min(b, at+h), tolerance); v < best {
		return x, v
	}
	return at, best
}
