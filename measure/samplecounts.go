package measure

import "math"

// sampleCounts holds sums over samples.
type sampleCounts struct {
	scatter  []float64 // (K) Σ ‖r‖²
	margin   []float64 // (K) Σ cosine margins
	correct  []int     // (K) argmax of logits is the label
	nearest  []int     // (K) nearest class mean is the label's
	mismatch []int     // (K) argmax of logits is not the nearest class mean

	white float64 // Σ ω_k ‖z‖², ω_k = 1 or, weighing classes, 1/n_k

	marginMin, marginMax float64
	marginless           int // samples whose margin is undefined
	memory               corrupted
}

func (t *sampleCounts) reset(k int) {
	for _, x := range []*[]float64{&t.scatter, &t.margin} {
		*x = grow(*x, k)
		clear(*x)
	}
	for _, x := range []*[]int{&t.correct, &t.nearest, &t.mismatch} {
		*x = grow(*x, k)
		clear(*x)
	}
	t.white, t.marginMin, t.marginMax, t.marginless = 0, math.Inf(1), math.Inf(-1), 0
	t.memory = corrupted{}
}

func (t *sampleCounts) add(o *sampleCounts) {
	for k := range t.scatter {
		t.scatter[k] += o.scatter[k]
		t.margin[k] += o.margin[k]
		t.correct[k] += o.correct[k]
		t.nearest[k] += o.nearest[k]
		t.mismatch[k] += o.mismatch[k]
	}
	t.marginMin, t.marginMax = min(t.marginMin, o.marginMin), max(t.marginMax, o.marginMax)
	t.white += o.white
	t.marginless += o.marginless
	t.memory.add(o.memory)
}

// carried is a compensated sum (Neumaier 1974). Samples of a collapsed class are nearly equal, and sums of nearly equal numbers round
// nearly alike in any order.
type carried struct{ sum, lost float64 }

func (c *carried) add(x float64) {
	next := c.sum + x
	if math.Abs(c.sum) >= math.Abs(x) {
		c.lost += (c.sum - next) + x
	} else {
		c.lost += (x - next) + c.sum
	}
	c.sum = next
}

// merge adds the sum of o.
func (c *carried) merge(o carried) {
	c.add(o.sum)
	c.lost += o.lost
}

func (c *carried) value() float64 { return c.sum + c.lost }

// sumMargins fills margin from those of single samples of the given classes (−1: not measured); NaN is none.
func (t *sampleCounts) sumMargins(margins []float64, class []int32) {
	sums := make([]carried, len(t.margin))
	for i, c := range class {
		if x := margins[i]; c >= 0 && x == x {
			sums[c].add(x)
		}
	}
	for c := range sums {
		t.margin[c] = sums[c].value()
	}
}

// countSample uses the products y = S r and v = W r of the sample in a row, of class c, with residual r and ‖r‖² = square.
func (f *secondPass[T]) countSample(p *part[T], row, c int, r []float64, square float64, y, v []float64) {
	s, t := f.s, &p.sampleCounts
	nearest := -1
	if f.ask.nearest {
		nearest = nearestMean(f.pair[c*s.k:][:s.k], y[f.atP:][:s.k])
		if nearest == c {
			t.nearest[c]++
		}
	}
	if !f.ask.logits {
		return
	}
	best := f.largestLogit(c, square, v)
	if best == c {
		t.correct[c]++
	}
	if f.ask.nearest && best != nearest {
		t.mismatch[c]++
	}
	if f.ask.margins {
		margin := f.margin(p, c, r, square, y, v)
		f.margins[row] = margin
		if margin != margin {
			t.marginless++
			return
		}
		t.marginMin, t.marginMax = min(t.marginMin, margin), max(t.marginMax, margin)
	}
}

// nearestMean returns argmin_j ‖h − μ_j‖² = argmin_j ‖μ_k − μ_j‖² − 2 p_j, p = Cᵀ r; ties go to the lower.
func nearestMean(pair, p []float64) int {
	best, least := 0, math.Inf(1)
	for j, x := range pair {
		if x -= 2 * p[j]; x < least {
			best, least = j, x
		}
	}
	return best
}

// largestSum returns argmax_j a_j + b_j; ties go to the lower.
func largestSum(a, b []float64) int {
	best, most := 0, math.Inf(-1)
	for j, x := range a {
		if x += b[j]; x > most {
			best, most = j, x
		}
	}
	return best
}

// margin returns cos_c − max_{j≠c} cos_j, cos_j the cosine of h − h_G and w_j − w_G; NaN if h = h_G. (w_j − w_G)·r
// = v_j − mean v. If h is close to h_G the sums would cancel, and h − h_G is computed directly.
func (f *secondPass[T]) margin(p *part[T], c int, r []float64, square float64, y, v []float64) float64 {
	k := f.s.k
	length2 := f.centreNorm[c] + 2*y[f.atP+c] + square
	if !(length2 > cancelled*(f.centreNorm[c]+square)) {
		return f.marginAt(p, c, r)
	}
	length := math.Sqrt(length2)
	mean := 0.0
	for _, x := range v[:k] {
		mean += x
	}
	mean /= float64(k)
	own, other, perNorm := 0.0, math.Inf(-1), f.perNorm[:k]
	for j, x := range f.cosBase[c*k:][:k] {
		x = (x + (v[j] - mean)) * perNorm[j]
		switch {
		case j == c:
			own = x
		case x > other:
			other = x
		}
	}
	return lead(own/length, other/length)
}

// marginAt is margin from h − h_G = r + (μ_c − h_G).
func (f *secondPass[T]) marginAt(p *part[T], c int, r []float64) float64 {
	h, d := f.head, f.s.d
	p.offset = grow(p.offset, d)
	copy(p.offset, r)
	axpy(p.offset, 1, f.s.centred[c*d:][:d])
	length := norm(p.offset)
	if !(length > 0) {
		return math.NaN()
	}
	own, other := 0.0, math.Inf(-1)
	for j := range f.s.k {
		cosine := dot(h.centred[j*d:][:d], p.offset) / (h.centredNorm[j] * length)
		if j == c {
			own = cosine
		} else {
			other = max(other, cosine)
		}
	}
	return lead(own, other)
}

// lead returns the lead of one cosine over another, which rounding may have taken beyond ±1.
func lead(own, other float64) float64 { return min(max(own, -1), 1) - min(max(other, -1), 1) }
