package inference

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Quotient estimates mean(a)/mean(b) over the replicates that have both, with Fieller's interval: the values θ for which the mean of
// a − θ·b may be zero. The interval is NaN if these values are not an interval, because b's mean may itself be zero.
//
// E. C. Fieller, "Some problems in interval estimation", J. R. Stat. Soc. B 16 (1954) 175–185.
func Quotient(a, b []float64) Estimate {
	x, y := both(a, b)
	if len(x) < 2 {
		return estimate(math.NaN(), math.NaN(), 0, len(x))
	}
	n := float64(len(x))
	q := moments{stat.Mean(x, nil), stat.Mean(y, nil), stat.Variance(x, nil) / n, stat.Variance(y, nil) / n, stat.Covariance(x, y, nil) / n}
	return q.quotient(n-1, len(x))
}

// QuotientApart is the same for samples that share no replicates, with Welch and Satterthwaite's degrees of freedom.
func QuotientApart(a, b []float64) Estimate {
	x, y := Mean(a), Mean(b)
	n := min(x.N, y.N)
	if n < 2 {
		return estimate(math.NaN(), math.NaN(), 0, n)
	}
	q := moments{x.Value, y.Value, x.Error * x.Error, y.Error * y.Error, 0}
	theta := x.Value / y.Value
	return q.quotient(Apart(x, Estimate{Error: theta * y.Error, DF: y.DF, N: y.N}).DF, n)
}

// moments are two means, their variances and their covariance.
type moments struct{ x, y, xx, yy, xy float64 }

// quotient is x/y with the θ for which (x − θy)² ≤ t²·Var(x − θy): a quadratic, which opens upward if there is an interval.
func (q moments) quotient(df float64, n int) Estimate {
	theta := q.x / q.y
	variance := q.xx - 2*theta*q.xy + theta*theta*q.yy
	e := Estimate{Value: theta, Error: math.Sqrt(math.Max(variance, 0)) / math.Abs(q.y), DF: df, N: n, Lo: math.NaN(), Hi: math.NaN()}
	t := upperQuantile(df)
	open := q.y*q.y - t*t*q.yy
	if !(open > 0) {
		return e
	}
	middle := (q.x*q.y - t*t*q.xy) / open
	half := math.Sqrt(math.Max(middle*middle-(q.x*q.x-t*t*q.xx)/open, 0))
	e.Lo, e.Hi = middle-half, middle+half
	return e
}

// both are the pairs with neither value missing.
func both(a, b []float64) (x, y []float64) {
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// Bend says how far points are from a line. Bend is the height of the quadratic through them above its chord, in the middle of
// their range of x; rise is how far the chord rises from one end to the other. bend/rise is 0 on a line, −1/4 for x² from zero on
// and about 0.21 for √x. Both are NaN with fewer than three different x.
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
