package wide

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// DecisionRadii are exact bounds below which the length of a residual decides without products. For a sample h = μ_c + r:
//
//   - no mean is nearer than μ_c if ‖r‖ < ½ min_j ‖μ_c − μ_j‖;
//   - the largest logit is that at μ_c, of class a, if ‖r‖ < (l_a − l_j)/‖w_a − w_j‖ for all j, l_j the logits
//     at μ_c: no residual of that length closes the gap.
//
// Both are lowered by more than rounding can amount to, here and in the products they replace; a tie is never decided here.
type DecisionRadii struct {
	Near  []float64 // (K) square of the first bound
	Logit []float64 // (K) square of the second
	First []int32   // (K) class with the largest logit at μ_c
}

// slack is the relative amount by which every bound is lowered.
const slack = 1e-9

func roundoff[P kernel.Float]() float64 {
	if vec.IsFloat32[P]() {
		return roundoff32
	}
	return vec.Eps64 / 2
}

// nearRadii fills Near from the squared distances of class means to the nearest other one and the lengths of the means.
func (r *DecisionRadii) nearRadii(nearest, lengths []float64) {
	r.Near = make([]float64, len(nearest))
	longest := 0.0
	for _, x := range lengths {
		longest = max(longest, x)
	}
	for c, square := range nearest {
		bound := max(0, math.Sqrt(square)/2*(1-slack)-64*vec.Eps64*longest)
		r.Near[c] = bound * bound
	}
}

// logitRadii processes stripes of classes × classifier rows with products in P. The distances ‖w_a − w_j‖ take as many products
// again; with few rows per class it is cheaper to bound them by ‖w_a − w_G‖ + ‖w_j − w_G‖ and search more of the rows.
type logitRadii[P kernel.Float] struct {
	*DecisionRadii
	k, rows, d int       // classes, rows of W
	centred    []float64 // (k×d) c
	head       *Classifier
	base       []float64 // (rows) (w_j − w_G)·h_G + b_j
	reach      float64   // max ‖w_j − w_G‖
	rounding   float64   // of a logit in float64, absolute
	distances  bool      // compute ‖w_a − w_j‖

	w, stripe, chosen []P // (rows×d), (stripe×d) class means, (stripe×d) rows of W chosen by them
	logits, products  []P // (stripe × rows)
	from, to          int
}

// manyRows is the number of rows per class from which on computing distances pays.
const manyRows = 128

// newLogitRadii prepares to fill Logit and First for a split of n rows.
func newLogitRadii[P kernel.Float](r *DecisionRadii, centred, centre []float64, n, k, d int, h *Classifier) *logitRadii[P] {
	l := &logitRadii[P]{DecisionRadii: r, k: k, rows: h.K, d: d, centred: centred, head: h, base: h.offsets(centre), distances: n >= manyRows*k}
	r.Logit, r.First = make([]float64, k), make([]int32, k)
	l.w = make([]P, h.K*d)
	for i, x := range h.Centred {
		l.w[i] = P(x)
	}
	longest, widest, bias := 0.0, 0.0, 0.0
	for j := range h.K {
		l.reach, widest, bias = max(l.reach, h.CentredNorm[j]), max(widest, h.Norms[j]), max(bias, math.Abs(h.B[j]))
	}
	for c := range k {
		longest = max(longest, vec.Norm(centred[c*d:][:d]))
	}
	l.rounding = 64 * vec.Eps64 * (float64(d)*(longest+vec.Norm(centre))*widest + bias)
	rows := stripeRows(k, h.K)
	l.stripe, l.chosen = make([]P, rows*d), make([]P, rows*d)
	l.logits = make([]P, rows*h.K)
	if l.distances {
		l.products = make([]P, rows*h.K)
	}
	return l
}

// stripeRows returns how many of k rows of a table with the given columns are processed at a time.
func stripeRows(k, columns int) int { return max(1, min(k, vec.TileElements/columns)) }

// fill handles classes [from, to), at most a stripe; afterwards logits holds (w_j − w_G)·c of each.
func (l *logitRadii[P]) fill(team *parallel.Team, from, to int) {
	l.from, l.to = from, to
	n, rows, d := to-from, l.rows, l.d
	for i, x := range l.centred[from*d : to*d] {
		l.stripe[i] = P(x)
	}
	gemm.Multiply(team, gemm.NT, kernel.Dense(n, d, l.stripe), kernel.Dense(rows, d, l.w), kernel.Dense(n, rows, l.logits), gemm.Epilogue[P]{})
	team.Do(n, chooseTask[P]{l})
	if l.distances {
		gemm.Multiply(team, gemm.NT, kernel.Dense(n, d, l.chosen), kernel.Dense(rows, d, l.w), kernel.Dense(n, rows, l.products), gemm.Epilogue[P]{})
	}
	team.Do(n, gapTask[P]{l})
}

// FillLogitRadii fills Logit and First for a split of n rows.
func FillLogitRadii[P kernel.Float](team *parallel.Team, r *DecisionRadii, centred, centre []float64, n, k, d int, h *Classifier) {
	l := newLogitRadii[P](r, centred, centre, n, k, d, h)
	stripe := stripeRows(k, h.K)
	for from := 0; from < k; from += stripe {
		l.fill(team, from, min(from+stripe, k))
	}
}

// chooseTask finds the largest logit at a class mean.
type chooseTask[P kernel.Float] struct{ *logitRadii[P] }

func (l chooseTask[P]) Run(i int) {
	_, best := rows.LargestSum(l.logits[i*l.rows:][:l.rows], l.base)
	best = max(best, 0) // if no logit is a number; then no gap decides
	l.First[l.from+i] = int32(best)
	copy(l.chosen[i*l.d:][:l.d], l.w[best*l.d:][:l.d])
}

// gapTask finds the shortest residual that closes a gap.
type gapTask[P kernel.Float] struct{ *logitRadii[P] }

func (l gapTask[P]) Run(i int) {
	c := l.from + i
	logits, norms := l.logits[i*l.rows:][:l.rows], l.head.CentredNorm
	best := int(l.First[c])
	gamma := float64(l.d+8) * roundoff[P]()
	own, most := norms[best], float64(logits[best])+l.base[best]
	err := 2 * (gamma*vec.Norm(l.centred[c*l.d:][:l.d])*l.reach + l.rounding)
	var bound float64 // a NaN remains and decides nothing
	if l.distances {
		bound = l.leastGap(logits, l.products[i*l.rows:][:l.rows], best, most-err, gamma)
	} else {
		bound = min(rows.LeastGap(logits[:best], l.base[:best], norms[:best], most, err, own),
			rows.LeastGap(logits[best+1:], l.base[best+1:], norms[best+1:], most, err, own))
	}
	bound = max(0, bound*(1-slack))
	l.Logit[c] = bound * bound
}

// leastGap is rows.LeastGap with the distances of w_best to the other rows, computed from their products.
func (l gapTask[P]) leastGap(logits, products []P, best int, most, gamma float64) float64 {
	own, bound := l.head.CentredNorm[best], math.Inf(1)
	for j, x := range logits {
		if j == best {
			continue
		}
		gap, other := most-(float64(x)+l.base[j]), l.head.CentredNorm[j]
		apart := math.Sqrt(max(0, own*own+other*other-2*float64(products[j])) + 3*gamma*own*other)
		if !(gap >= bound*apart) {
			bound = min(bound, gap/apart)
		}
	}
	return bound
}
