package measure

import "math"

// The Riesz kernel δ^−(d−2) of the distances δ of unit vectors has an exponent as large as the feature width, which amplifies
// every rounding before it. The logarithm of δ is rounded alike every time, so reordering samples or coordinates would not show
// the error. Up to fewClasses classes, powers are therefore taken of δ² itself as a sum of two numbers, and the rounding of the
// unit vectors' lengths is corrected. Beyond that the kernels of a row come from logarithms (rieszSpread).

// twofold is the number high + low, where low is a few roundings of high in size. Its operations keep track of the rounding of
// high (Dekker 1971; Graillat 2009).
type twofold struct{ high, low float64 }

func (x twofold) times(y twofold) twofold {
	high := x.high * y.high
	return twofold{high, math.FMA(x.high, y.high, -high) + (float64(x.high*y.low) + float64(x.low*y.high))}
}

// over returns x/y for exact numbers.
func over(x, y float64) twofold {
	q := x / y
	return twofold{q, math.FMA(-q, y, x) / y}
}

func (x twofold) sqrt() twofold {
	root := math.Sqrt(x.high)
	return twofold{root, (math.FMA(-root, root, x.high) + x.low) / (2 * root)}
}

// nothing is a kernel too small, even squared, to affect any digit of a sum that contains a 1.
const nothing = 0x1p-200

// power returns x^(n/2) of 0 < x ≤ 1, n > 0; zero below nothing.
func (x twofold) power(n int) twofold {
	out := twofold{high: 1}
	if n%2 == 1 {
		out = x.sqrt()
	}
	for n /= 2; n > 0; n /= 2 {
		if n%2 == 1 {
			out = out.times(x)
		}
		if x = x.times(x); x.high < nothing && n > 1 || out.high < nothing {
			return twofold{}
		}
	}
	return out
}

// lengthError returns 2ε for a unit vector x/‖x‖ whose factor, an approximation of 1/‖x‖, has relative error ε.
func lengthError(square, factor float64) float64 {
	once := square * factor
	return math.FMA(once, factor, -1) + float64(math.FMA(square, factor, -once)*factor)
}

// rieszFew returns the variance of δ^−(d−2) over its squared mean, from the squared distances of all pairs.
func (p *pairs) rieszFew() float64 {
	least, shortest := math.Inf(1), 0.0
	errors := make([]float64, p.k)
	for i := range errors {
		errors[i] = lengthError(p.square[i], p.unit[i])
		for j, square := range p.apart[at(i):][:i] {
			if square < least {
				least, shortest = square, (errors[i]+errors[j])/2
			}
		}
	}
	kernels := make([]twofold, 0, len(p.apart))
	for i := range errors {
		for j, square := range p.apart[at(i):][:i] {
			ratio := over(least, square) // of the computed δ²; both have the errors of their vectors' factors
			ratio.low += float64(ratio.high * ((errors[i]+errors[j])/2 - shortest))
			kernels = append(kernels, ratio.power(p.d-2))
		}
	}
	return relativeVariance(kernels)
}

// at returns where the pairs of class i with earlier classes start.
func at(i int) int { return i * (i - 1) / 2 }

// relativeVariance returns the variance of x over its squared mean.
func relativeVariance(x []twofold) float64 {
	n := float64(len(x))
	away := make([]float64, len(x))
	for i, v := range x {
		away[i] = v.high
	}
	mean := compensated(away) / n
	for i, v := range x {
		away[i] = (v.high - mean) + v.low
	}
	rest := compensated(away)
	for i, v := range away {
		away[i] = v * v
	}
	mean += rest / n
	return (compensated(away) - float64(rest*rest)/n) / n / float64(mean*mean)
}
