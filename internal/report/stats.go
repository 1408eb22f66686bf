package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

func mean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// deviation is the standard deviation with divisor n−1; NaN below two values.
func deviation(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	m, s := mean(v), 0.0
	for _, x := range v {
		s += (x - m) * (x - m)
	}
	return math.Sqrt(s / float64(len(v)-1))
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
	l := fit(ranks(x), ranks(y))
	if math.IsNaN(l.R2) {
		return math.NaN()
	}
	return math.Copysign(math.Sqrt(l.R2), l.Slope)
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
	mx, my := mean(x), mean(y)
	var xx, xy, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	if len(x) < 2 || !(xx > 0) {
		return l
	}
	l.Slope = xy / xx
	l.Intercept = my - l.Slope*mx
	if yy > 0 {
		l.R2 = xy * xy / (xx * yy)
	}
	return l
}

// interval is a 95 % interval of a statistic over seeds.
type interval struct{ Value, Lo, Hi float64 }

// resamples is the number of bootstrap draws: enough for two digits of a 95 % limit.
const resamples = 2000

// bootstrap gives the 95 % percentile interval of a statistic when seeds are drawn with
// replacement. stat gets seeds, possibly repeated; draws where it is not finite are left out, and
// the interval is NaN if more than a tenth are. The draws are the same every time: a page made
// again says the same.
func bootstrap(seeds []uint64, stat func([]uint64) float64) interval {
	out := interval{Value: stat(seeds), Lo: math.NaN(), Hi: math.NaN()}
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

// quantile of sorted values, linear between neighbours.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
