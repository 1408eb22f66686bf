// Package inference turns one value per replicate into an estimate with a 95 % interval, and estimates into answers to claims. It
// knows only numbers: no runs, measures or papers.
//
// A replicate is a seed that redraws everything. Intervals are Student's t (estimate.go), Fieller's for a quotient of means
// (quotient.go); rules.go says which intervals answer a claim with yes. A missing value is NaN.
package inference

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the share of replications in which an interval covers the true value.
const Level = 0.95

// tail is the probability beyond each end of an interval.
const tail = (1 - Level) / 2

// Enough is how many replicates an answer needs.
const Enough = 5

// Estimate is a mean with its 95 % interval. Without an interval (fewer than two replicates) Lo and Hi are NaN.
type Estimate struct {
	Value float64 // the estimate
	Error float64 // its standard error
	DF    float64 // degrees of freedom
	Lo    float64
	Hi    float64
	N     int // replicates behind it; for two samples, those of the smaller
}

// estimate is a value with an interval by Student's t.
func estimate(value, standardError, df float64, n int) Estimate {
	e := Estimate{Value: value, Error: standardError, DF: df, N: n, Lo: math.NaN(), Hi: math.NaN()}
	if df > 0 && !math.IsNaN(value) {
		half := standardError * upperQuantile(df)
		e.Lo, e.Hi = value-half, value+half
	}
	return e
}

// upperQuantile is the quantile of Student's t beyond which tail is left. It takes some 20 µs by iteration, so those of whole degrees of
// freedom, which all intervals but Welch's have, are kept.
func upperQuantile(df float64) float64 {
	if known, ok := quantiles.Load(df); ok {
		return known.(float64)
	}
	if math.IsInf(df, 1) { // a number that is known exactly
		return distuv.UnitNormal.Quantile(1 - tail)
	}
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(1 - tail)
	if df == math.Trunc(df) && df <= mostKept {
		quantiles.Store(df, q)
	}
	return q
}

// quantiles are upper quantiles by whole degrees of freedom up to mostKept.
var quantiles sync.Map

const mostKept = 1000

// Mean estimates the mean of replicates.
func Mean(values []float64) Estimate {
	v := known(values)
	n := len(v)
	if n == 0 {
		return estimate(math.NaN(), math.NaN(), 0, 0)
	}
	return estimate(stat.Mean(v, nil), standardError(v), float64(n-1), n)
}

// standardError is s/√n, with divisor n−1 in s; NaN below two values.
func standardError(v []float64) float64 {
	return stat.StdErr(stat.StdDev(v, nil), float64(len(v)))
}

// known are the values that are not missing.
func known(values []float64) (out []float64) {
	for _, v := range values {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// Paired estimates the mean of a − b over the replicates that have both.
func Paired(a, b []float64) Estimate {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return Mean(d)
}

// Welch estimates mean(a) − mean(b) for samples that share no replicates, with Welch and Satterthwaite's degrees of freedom.
func Welch(a, b []float64) Estimate {
	x, y := Mean(a), Mean(b)
	return Apart(x, y)
}

// Apart estimates the difference of two independent estimates, such as a number that a paper prints and ours.
func Apart(x, y Estimate) Estimate {
	n := min(x.N, y.N)
	vx, vy := x.Error*x.Error, y.Error*y.Error
	if math.IsNaN(vx+vy) || n == 0 {
		return estimate(x.Value-y.Value, math.NaN(), 0, n)
	}
	df := math.Max(x.DF, y.DF) // for two samples without variance
	if vx+vy > 0 {
		df = (vx + vy) * (vx + vy) / (vx*vx/x.DF + vy*vy/y.DF)
	}
	return estimate(x.Value-y.Value, math.Sqrt(vx+vy), df, n)
}

// Printed is the estimate from a mean and a standard deviation (divisor n−1) over n runs, as a paper prints them.
func Printed(mean, deviation float64, n int) Estimate {
	if n < 2 {
		return estimate(mean, math.NaN(), 0, n)
	}
	return estimate(mean, deviation/math.Sqrt(float64(n)), float64(n-1), n)
}

// Pooled estimates the mean over cells of their means: cells[c][r] is the value of replicate r in cell c. Replicates are what varies
// at random: a seed that is high in every cell counts once. If none is missing, the estimate is the mean over replicates of their
// means over cells; otherwise its error is that of the sum of the replicates' contributions.
func Pooled(cells [][]float64) Estimate {
	replicates, used := 0, 0
	for _, c := range cells {
		replicates = max(replicates, len(c))
	}
	total, added := 0.0, make([]float64, replicates)
	present := make([]bool, replicates)
	for _, c := range cells {
		v := known(c)
		if len(v) == 0 {
			return estimate(math.NaN(), math.NaN(), 0, 0)
		}
		mean := stat.Mean(v, nil)
		total += mean / float64(len(cells))
		for r, x := range c {
			if !math.IsNaN(x) {
				added[r] += (x - mean) / float64(len(v)*len(cells))
				present[r] = true
			}
		}
	}
	variance := 0.0
	for r, a := range added {
		if present[r] {
			used++
			variance += a * a
		}
	}
	if used < 2 {
		return estimate(total, math.NaN(), 0, used)
	}
	n := float64(used)
	return estimate(total, math.Sqrt(variance*n/(n-1)), n-1, used)
}

// below is the probability of an estimate as low as this one or lower if the true value were limit.
func (e Estimate) below(limit float64) float64 {
	switch {
	case math.IsNaN(e.Error) || !(e.DF > 0):
		return math.NaN()
	case math.IsInf(limit, 0):
		return step(e.Value - limit)
	case e.Error == 0:
		return step(e.Value - limit)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: e.DF}.CDF((e.Value - limit) / e.Error)
}

// above is the same for an estimate as high as this one or higher.
func (e Estimate) above(limit float64) float64 { return 1 - e.below(limit) }

// step is the distribution of a constant: 0 below the limit, 1 above, and one half on it, where nothing is known.
func step(x float64) float64 {
	switch {
	case x < 0:
		return 0
	case x > 0:
		return 1
	}
	return 0.5
}
