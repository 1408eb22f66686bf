package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"

	"collapse/internal/format"
)

// Mean is NaN of no values.
func Mean(v []float64) float64 { return stat.Mean(v, nil) }

// Deviation is the standard deviation with divisor n−1; NaN below two values.
func Deviation(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	return stat.StdDev(v, nil)
}

// ranks gives each value its rank from 1, equal values their mean rank.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return v[order[a]] < v[order[b]] })
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

// spearman is the rank correlation; NaN if either side is constant or there are fewer than three
// pairs.
func spearman(x, y []float64) float64 {
	if len(x) < 3 {
		return math.NaN()
	}
	return stat.Correlation(ranks(x), ranks(y), nil)
}

// lineFit is y ≈ Intercept + Slope·x by least squares, R2 the share of the variance it explains.
type lineFit struct {
	Slope, Intercept, R2 float64
	N                    int
}

// fit fits a line; all NaN if x is constant or there are fewer than two points. R2 is NaN if y is
// constant.
func fit(x, y []float64) lineFit {
	l := lineFit{Slope: math.NaN(), Intercept: math.NaN(), R2: math.NaN(), N: len(x)}
	if len(x) < 2 || !(stat.Variance(x, nil) > 0) {
		return l
	}
	l.Intercept, l.Slope = stat.LinearRegression(x, y, nil, false)
	l.R2 = math.Pow(stat.Correlation(x, y, nil), 2)
	return l
}

// Interval is a 95 % interval of a statistic over seeds.
type Interval struct{ Value, Lo, Hi float64 }

// Words writes an interval for reading.
func (r Interval) Words() string {
	if math.IsNaN(r.Lo) {
		return format.Digits(r.Value) + " (no interval)"
	}
	return format.Digits(r.Value) + " (95 % interval " + format.Digits(r.Lo) + " to " + format.Digits(r.Hi) + ")"
}

// resamples is the number of bootstrap draws: enough for two digits of a 95 % limit.
const resamples = 2000

// bootstrap gives the 95 % percentile interval of a statistic when seeds are drawn with
// replacement. stat gets seeds, possibly repeated; draws where it is not finite are left out, and
// the interval is NaN if more than a tenth are. The draws are the same every time: a page made
// again says the same.
func bootstrap(seeds []uint64, stat func([]uint64) float64) Interval {
	out := Interval{Value: stat(seeds), Lo: math.NaN(), Hi: math.NaN()}
	if len(seeds) < 2 || math.IsNaN(out.Value) {
		return out
	}
	random := rand.New(rand.NewPCG(0x6e65757261, 0x636f6c6c61707365))
	draw := make([]uint64, len(seeds))
	var values []float64
	for range resamples {
		for i := range draw {
			draw[i] = seeds[random.IntN(len(seeds))]
		}
		if v := stat(draw); !math.IsNaN(v) && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	if len(values) < resamples*9/10 {
		return out
	}
	slices.Sort(values)
	out.Lo, out.Hi = quantile(values, 0.025), quantile(values, 0.975)
	return out
}

// quantile of sorted values, linear between neighbours at q·(n−1), which gonum does not have.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
