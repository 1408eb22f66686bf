package search

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// process is a Gaussian process with a Matérn 5/2 kernel, a length for each parameter, and noise,
// given values at some points (Rasmussen and Williams 2006, Algorithm 2.1). Values are standardised.
type process struct {
	space       Space
	lengths     []float64 // in shares of a parameter's range
	noise       float64   // its variance over the signal's
	x           []Point
	places      [][]float64 // of x
	y           []float64   // standardised
	shift, unit float64     // value = shift + unit·y
	signal      float64     // the variance
	factor      mat.Cholesky
	weights     *mat.VecDense // (K + noise·I)⁻¹y
}

// longTail is how many times farther from the best value the worst lies than the median, where values are also tried on a logarithmic scale.
const longTail = 10

// fitProcess is a process given the values or, if their tail is long and the marginal likelihood larger, their logarithmic distances from
// the best (a warped process, Snelson et al. 2004): losses of runs that diverge leave no other difference otherwise. Predictions are then
// on that scale, whose order is the same.
func fitProcess(space Space, x []Point, y []float64) *process {
	best := fitPlain(space, x, y)
	gaps := gapsBelow(y)
	if n := len(gaps); !(gaps[n-1] > longTail*gaps[n/2]) {
		return best
	}
	most := best.logLikelihood() - float64(len(y))*math.Log(best.unit)
	for _, unit := range []float64{gaps[len(gaps)/2], gaps[len(gaps)/4]} {
		if !(unit > 0) {
			continue
		}
		z, stretch := warp(y, unit)
		m := fitPlain(space, x, z)
		if l := m.logLikelihood() - float64(len(y))*math.Log(m.unit) + stretch; l > most {
			best, most = m, l
		}
	}
	return best
}

// gapsBelow are the distances of values from the largest, ascending.
func gapsBelow(y []float64) []float64 {
	top, gaps := slices.Max(y), make([]float64, len(y))
	for i, v := range y {
		gaps[i] = top - v
	}
	slices.Sort(gaps)
	return gaps
}

// warp is −log(1 + gap/unit) of each value, and the sum of the logarithms of its slope.
func warp(y []float64, unit float64) (z []float64, stretch float64) {
	top := slices.Max(y)
	for _, v := range y {
		z = append(z, -math.Log1p((top-v)/unit))
		stretch -= math.Log(unit + top - v)
	}
	return z, stretch
}

// fitPlain takes the hyper-parameters from the marginal likelihood, with weak priors that keep
// few points from being explained by noise or by lengths of zero.
func fitPlain(space Space, x []Point, y []float64) *process {
	m := newProcess(space, x, y)
	d := len(space)
	objective := func(h []float64) float64 {
		trial := *m
		trial.take(h)
		if !trial.factorise() {
			return math.Inf(1)
		}
		return -trial.logLikelihood() - logPrior(h)
	}
	best, least := make([]float64, d+1), math.Inf(1)
	for _, start := range []float64{0.2, 0.5, 1.5} {
		h := make([]float64, d+1)
		for i := range d {
			h[i] = math.Log(start)
		}
		h[d] = math.Log(1e-3)
		found, err := optimize.Minimize(optimize.Problem{Func: objective}, h,
			&optimize.Settings{FuncEvaluations: 60 * (d + 1), Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 20}}, &optimize.NelderMead{})
		if found != nil && (err == nil || found.F < math.Inf(1)) && found.F < least {
			best, least = found.X, found.F
		}
	}
	m.take(best)
	for !m.factorise() {
		m.noise = math.Max(2*m.noise, 1e-8)
	}
	return m
}

// newProcess has no hyper-parameters yet.
func newProcess(space Space, x []Point, y []float64) *process {
	m := &process{space: space, x: x}
	for _, p := range x {
		m.places = append(m.places, space.places(p))
	}
	m.standardise(y)
	return m
}

// take reads log lengths and log noise.
func (m *process) take(h []float64) {
	d := len(m.space)
	m.lengths = make([]float64, d)
	for i := range d {
		m.lengths[i] = math.Exp(math.Min(math.Max(h[i], -5), 5))
	}
	m.noise = math.Exp(math.Min(math.Max(h[d], -18), 5))
}

// logPrior of log lengths (normal about 0.5) and of the log of the noise (normal about 10⁻³).
func logPrior(h []float64) float64 {
	sum := 0.0
	for i, v := range h {
		z := (v - math.Log(0.5)) / 1
		if i == len(h)-1 {
			z = (v - math.Log(1e-3)) / 3
		}
		sum -= z * z / 2
	}
	return sum
}

// standardise takes values, with mean and spread taken out.
func (m *process) standardise(y []float64) {
	n := float64(len(y))
	m.shift, m.unit = 0, 0
	for _, v := range y {
		m.shift += v / n
	}
	for _, v := range y {
		m.unit += (v - m.shift) * (v - m.shift) / n
	}
	if m.unit = math.Sqrt(m.unit); !(m.unit > 0) {
		m.unit = 1
	}
	m.y = make([]float64, len(y))
	for i, v := range y {
		m.y[i] = (v - m.shift) / m.unit
	}
}

// kernel is the Matérn 5/2 correlation of two points, by their places.
func (m *process) kernel(a, b []float64) float64 {
	r2 := 0.0
	for i, l := range m.lengths {
		r2 += m.space.distance2(i, a[i], b[i]) / (l * l)
	}
	r := math.Sqrt(5 * r2)
	return (1 + r + r*r/3) * math.Exp(-r)
}

// factorise prepares predictions; false where the matrix is not positive definite.
func (m *process) factorise() bool {
	n := len(m.x)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, m.kernel(m.places[i], m.places[j]))
		}
		k.SetSym(i, i, 1+m.noise)
	}
	if m.factor = (mat.Cholesky{}); !m.factor.Factorize(k) {
		return false
	}
	y := mat.NewVecDense(n, m.y)
	m.weights = mat.NewVecDense(n, nil)
	if m.factor.SolveVecTo(m.weights, y) != nil { // the matrix is near singular
		return false
	}
	// The variance of the signal that maximises the likelihood, drawn towards the values' own.
	m.signal = (mat.Dot(y, m.weights) + 1) / float64(n+1)
	return true
}

// logLikelihood of the values, the signal's variance being at its best, up to a constant.
func (m *process) logLikelihood() float64 {
	return -0.5*float64(len(m.x))*math.Log(m.signal) - 0.5*m.factor.LogDet()
}

// at predicts the value without noise at a point: mean and standard deviation.
func (m *process) at(p Point) (mean, sd float64) {
	k, place := mat.NewVecDense(len(m.x), nil), m.space.places(p)
	for i, at := range m.places {
		k.SetVec(i, m.kernel(at, place))
	}
	solved := mat.NewVecDense(len(m.x), nil)
	if m.factor.SolveVecTo(solved, k) != nil {
		return m.shift, 0
	}
	variance := m.signal * math.Max(1-mat.Dot(k, solved), 0)
	return m.shift + m.unit*mat.Dot(k, m.weights), m.unit * math.Sqrt(variance)
}

// with is the process given one more value, its hyper-parameters kept.
func (m *process) with(p Point, value float64) *process {
	out := *m
	out.x = append(append([]Point{}, m.x...), p)
	out.places = append(append([][]float64{}, m.places...), m.space.places(p))
	out.y = append(append([]float64{}, m.y...), (value-m.shift)/m.unit)
	for !out.factorise() {
		out.noise = math.Max(2*out.noise, 1e-8)
	}
	out.signal = m.signal
	return &out
}

// incumbent is the largest value that the process expects at any point it was given, and that point.
// Taken from the values themselves it would be the luckiest noise.
func (m *process) incumbent() (value float64, at Point) {
	value = math.Inf(-1)
	for _, x := range m.x {
		if mean, _ := m.at(x); mean > value {
			value, at = mean, x
		}
	}
	return value, at
}
