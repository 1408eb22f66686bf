package measure

import (
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/rows"
)

// oodKeys are the measures of out-of-distribution scores, in the order of oodScorer's values.
var oodKeys = []string{KeyOODMaxSoftmax, KeyOODMaxLogit, KeyOODEnergy, KeyOODNECO, KeyOODMahalanobis}

const oodCount = 5

// oodScorer gives each sample scores that are high for known inputs. A score whose part is nil is not computed.
type oodScorer struct {
	k, d  int
	base  []float64 // (K) w_k·h_G + b_k minus their largest, nil: no logits
	prior []float64 // (K) softmax of base
	neco  []float64 // (r×d) orthonormal principal directions
	maha  []float64 // (d×d) A with Σ_W⁻¹ = AᵀA
	image []float64 // (K×d) A (μ_k − h_G)
	head  *head
}

// stack returns the rows whose products with h − h_G the scores need: W, the principal directions and A.
func (o *oodScorer) stack() []float64 {
	var rows []float64
	if o.base != nil {
		rows = append(rows, o.head.w...)
	}
	return append(append(rows, o.neco...), o.maha...)
}

// score fills to from x = h − h_G and y = stack·x.
func (o *oodScorer) score(to *[oodCount]float64, x, y []float64) {
	if o.base != nil {
		to[0], to[1], to[2] = logitScores(y[:o.k], o.base, o.prior)
		y = y[o.k:]
	}
	if o.neco != nil {
		r := len(o.neco) / o.d
		length := norm(x)
		if to[3] = norm(y[:r]) / length; !(length > 0) {
			to[3] = 0 // at the centre itself no component is principal
		}
		y = y[r:]
	}
	if o.maha != nil {
		nearest := math.Inf(1)
		for k := range o.k {
			nearest = min(nearest, distance2(y[:o.d], o.image[k*o.d:][:o.d]))
		}
		to[4] = -nearest
	}
}

// logits computes the logits at the training centre. Subtracting a constant keeps the order of inputs, and the digits of inputs that
// hardly change the logits.
func (o *oodScorer) logits(h *head, centre []float64) {
	o.base, o.prior = make([]float64, o.k), make([]float64, o.k)
	for j := range o.base {
		o.base[j] = h.logit(j, centre)
	}
	most, sum := slices.Max(o.base), 0.0
	for j := range o.base {
		o.base[j] -= most
		o.prior[j] = rows.Exp(o.base[j])
		sum += o.prior[j]
	}
	scale(o.prior, 1/sum)
}

// logitScores returns, for z = y + base, the log-odds of the largest softmax probability up to a constant, which order inputs alike and still
// distinguish them when it rounds to 1, or hardly differs from that of equal or of base's logits; max_k z_k; and log Σ_k exp z_k minus that
// of base.
func logitScores(y, base, prior []float64) (odds, largest, energy float64) {
	best := largestSum(y, base)
	largest = y[best] + base[best]
	most, widest := 0.0, 0.0
	for j, v := range y {
		most, widest = max(most, math.Abs(v)), max(widest, (y[best]-v)+(base[best]-base[j]))
	}
	flat, top := slices.Min(base) > -.5, slices.Max(prior) // top is exp 0 / Σ exp base
	log := logOdds(y, base, best)
	switch {
	case flat && widest < .5:
		away := 0.0
		for j, v := range y {
			away += math.Expm1((v - y[best]) + (base[j] - base[best])) // 0 for the largest
		}
		odds = -math.Log1p(away / float64(max(1, len(y)-1)))
	case flat:
		odds = log + math.Log(float64(max(1, len(y)-1)))
	case most < .5 && top < 1:
		away := 0.0
		for j, v := range y {
			away += prior[j] * math.Expm1(v-y[best])
		}
		odds = oddsOf(prior[best]) - oddsOf(top) - math.Log1p(away/(1-prior[best]))
	case top < 1:
		odds = log - oddsOf(top)
	default:
		odds = log
	}
	if most < .5 {
		for j, v := range y {
			energy += prior[j] * math.Expm1(v)
		}
		return odds, largest, math.Log1p(energy)
	}
	return odds, largest, largest + math.Log1p(rows.Exp(-log)) + math.Log(top)
}

// logOdds returns the log-odds of the largest softmax probability of z = y + base.
func logOdds(y, base []float64, best int) float64 {
	second, others := math.Inf(-1), 0.0
	for j, v := range y {
		if j != best {
			second = max(second, v+base[j])
		}
	}
	for j, v := range y {
		if j != best {
			others += rows.Exp(v + base[j] - second)
		}
	}
	return y[best] + base[best] - second - math.Log(others)
}

// oddsOf returns the log-odds of a probability.
func oddsOf(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// oodScores fills the AUROC of out-of-distribution scores; c is nil if its measures were left out. tested says that there
// are test samples, which are then the known inputs.
func (e *Engine[T]) oodScores(b *builder, h *head, c *cloud[T], tested bool) error {
	if !b.any(oodKeys...) {
		return nil
	}
	known := &e.train
	if tested {
		known = &e.test
	}
	o := oodScorer{k: e.train.k, d: e.train.d, head: h}
	if h != nil && b.any(oodKeys[:3]...) {
		o.logits(h, e.train.centre)
	}
	if c != nil {
		o.neco = principal(b, c, o.k)
		e.mahalanobis(b, &o, c.within)
	}
	in, err := e.scores(known, &o)
	if err != nil {
		return err
	}
	out, err := e.scores(&e.ood, &o)
	if err != nil {
		return err
	}
	for i, there := range []bool{o.base != nil, o.base != nil, o.base != nil, o.neco != nil, o.maha != nil} {
		if there {
			b.put(oodKeys[i], auroc(in[i], out[i]))
			b.blur(oodKeys[i], nearTies(in[i], out[i]))
		}
	}
	return nil
}

// scores returns the scores of all measured samples of a split, one list for each kind.
func (e *Engine[T]) scores(s *samples[T], o *oodScorer) (lists [oodCount][]float64, err error) {
	at := make([]int, s.rows) // index of a measured row
	n := 0
	for i, c := range s.class {
		if at[i] = n; c >= 0 {
			n++
		}
	}
	for i := range lists {
		lists[i] = make([]float64, n)
	}
	p := products[T]{s: s, centre: e.train.centre, stack: o.stack(), visit: func(_, row int, _ []T, x, y []float64) {
		var to [oodCount]float64
		o.score(&to, x, y)
		for i, v := range to {
			lists[i][at[row]] = v
		}
	}}
	return lists, p.run(e.opt.Team, func(int) {})
}

// principal returns the K−1 leading eigenvectors of Σ_T (rows), nil if they are not determined.
func principal[T kernel.Float](b *builder, c *cloud[T], k int) []float64 {
	r, d := k-1, c.s.d
	switch {
	case r < 1 || !b.any(KeyOODNECO):
		return nil
	case r >= d:
		b.miss(KeyOODNECO, fmt.Sprintf("d = %d is not above K−1 = %d: all directions are principal", d, r))
		return nil
	}
	values, vectors, ok := c.leading(r)
	switch {
	case !ok:
		b.miss(KeyOODNECO, "the eigenvalue iteration failed")
	case !(values[r-1]-values[r] > float64(c.size)*eps64*values[0]):
		b.miss(KeyOODNECO, fmt.Sprintf("eigenvalues %d and %d of Σ_T are the same up to rounding: the leading directions are not determined", r, r+1))
	default:
		return vectors[:r*d]
	}
	return nil
}

// invertible bounds the condition number of an inverted Σ_W, with coordinates scaled to unit deviation.
const invertible = 1e12

// mahalanobis takes the inverse of Σ_W, if it has one.
func (e *Engine[T]) mahalanobis(b *builder, o *oodScorer, within []float64) {
	const singular = "Σ_W cannot be inverted: it needs N ≥ d + K samples and linearly independent features"
	switch {
	case !b.any(KeyOODMahalanobis):
		return
	case within == nil || e.train.n < o.d+o.k:
		b.miss(KeyOODMahalanobis, singular)
		return
	}
	d, by := o.d, make([]float64, o.d)
	for j := range by {
		if v := within[j*d+j]; v > 0 {
			by[j] = 1 / math.Sqrt(v)
		}
	}
	factor := make([]float64, d*d)
	for i := range factor {
		factor[i] = within[i] * by[i/d] * by[i%d]
	}
	size := norm(factor)
	if ok := invertFactor(factor, d); !ok || !(size*dot(factor, factor) < invertible) { // ‖A‖_F² ≥ ‖Σ_W⁻¹‖
		b.miss(KeyOODMahalanobis, singular)
		return
	}
	for i := range factor {
		factor[i] *= by[i%d]
	}
	o.maha, o.image = factor, rowsTimesTransposed(e.train.centred, factor, o.k, d)
}

// rowsTimesTransposed returns X Aᵀ, x (n×d), a (d×d).
func rowsTimesTransposed(x, a []float64, n, d int) []float64 {
	out := make([]float64, n*d)
	for i := range n {
		for j := range d {
			out[i*d+j] = dot(x[i*d:][:d], a[j*d:])
		}
	}
	return out
}

// blur records what evaluating again does not show: the share of pairs of scores that rounding may reorder, or the rounding of what a value is
// compared with.
func (b *builder) blur(key string, by float64) {
	if b.report.blurred == nil {
		b.report.blurred = map[string]float64{}
	}
	b.report.blurred[key] = by
}

// nearTies returns the share of pairs (one known, one unknown sample) whose scores differ by no more than some roundings of the largest
// score, but differ. Both lists are sorted.
func nearTies(known, unknown []float64) float64 {
	const roundings = 64 * roundoff64
	most := max(math.Abs(known[0]), math.Abs(known[len(known)-1]), math.Abs(unknown[0]), math.Abs(unknown[len(unknown)-1]))
	apart, pairs := roundings*most, 0
	var near, equal window
	for _, v := range known {
		near.move(unknown, v-apart, v+apart)
		equal.move(unknown, v, v)
		pairs += near.to - near.from - (equal.to - equal.from)
	}
	return float64(pairs) / float64(len(known)) / float64(len(unknown))
}

// auroc returns the share of pairs (one known, one unknown sample) in which the known one scores higher, ties counted one half
// (Mann & Whitney 1947). Both lists are sorted.
func auroc(known, unknown []float64) float64 {
	slices.Sort(known)
	slices.Sort(unknown)
	sum := 0.0
	var equal window
	for _, v := range known {
		equal.move(unknown, v, v)
		sum += float64(equal.from) + float64(equal.to-equal.from)/2
	}
	return sum / float64(len(known)) / float64(len(unknown))
}

// window is the part [from, to) of a sorted list that lies between two bounds, neither of which ever falls.
type window struct{ from, to int }

func (w *window) move(sorted []float64, low, high float64) {
	for w.from < len(sorted) && sorted[w.from] < low {
		w.from++
	}
	for w.to = max(w.to, w.from); w.to < len(sorted) && sorted[w.to] <= high; w.to++ {
	}
}
