package inference

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Quotient estimates mean(a)/mean(b) over the replicates that have both, with Fieller's interval: the values θ for which the mean of
// a − θ·b may be zero. The interval is NaN where it is no interval, for b's mean may be zero itself.
//
// E. C. Fieller, "Some problems in interval estimation", J. R. Stat. Soc. B 16 (1954) 175–185.
func Quotient(a, b []float64) Estimate {
	x, y := both(a, b)
	n := len(x)
	if n < 2 {
		return estimate(math.NaN(), math.NaN(), 0, n)
	}
	q := moments(x, y)
	e := Estimate{Value: q.x / q.y, DF: float64(n - 1), N: n, Lo: math.NaN(), Hi: math.NaN()}
	e.Error = math.Sqrt(math.Max(q.varianceOf(e.Value), 0)) / math.Abs(q.y)
	t := quantile(e.DF, 1-tail)
	// (x − θy)² = t²·Var(x − θy) is a quadratic in θ; its roots are the ends if it opens upward.
	open := q.y*q.y - t*t*q.yy
	if !(open > 0) {
		return e
	}
	middle := (q.x*q.y - t*t*q.xy) / open
	rest := middle*middle - (q.x*q.x-t*t*q.xx)/open
	half := math.Sqrt(math.Max(rest, 0))
	e.Lo, e.Hi = middle-half, middle+half
	return e
}

// both are the pairs of which neither is missing.
func both(a, b []float64) (x, y []float64) {
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// quotientMoments are the means of two variables and the variances and covariance of those means.
type quotientMoments struct{ x, y, xx, yy, xy float64 }

func moments(x, y []float64) quotientMoments {
	n := float64(len(x))
	return quotientMoments{stat.Mean(x, nil), stat.Mean(y, nil), stat.Variance(x, nil) / n, stat.Variance(y, nil) / n,
		stat.Covariance(x, y, nil) / n}
}

// varianceOf is the variance of mean(x) − θ·mean(y).
func (q quotientMoments) varianceOf(theta float64) float64 {
	return q.xx - 2*theta*q.xy + theta*theta*q.yy
}

// Bend says how far points lie from a line: the quadratic through them, in the middle of their range of x, less its chord (bend),
// and how far the chord rises from one end to the other (rise). bend/rise is 0 on a line, −1/4 for x² from zero on and about
// 0.21 for √x. Both are NaN with fewer than three different x.
func Bend(x, y []float64) (bend, rise float64) {
	a, b := both(x, y)
	lo, hi := extent(a)
	if !(hi > lo) {
		return math.NaN(), math.NaN()
	}
	powers := mat.NewDense(len(a), 3, nil)
	for i := range a {
		z := (2*a[i] - lo - hi) / (hi - lo) // x from −1 to 1
		powers.SetRow(i, []float64{1, z, z * z})
	}
	var c mat.VecDense
	if len(a) < 3 || c.SolveVec(powers, mat.NewVecDense(len(b), b)) != nil {
		return math.NaN(), math.NaN()
	}
	return -c.AtVec(2), 2 * c.AtVec(1)
}

func extent(v []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		lo, hi = math.Min(lo, x), math.Max(hi, x)
	}
	return lo, hi
}
