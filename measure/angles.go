package measure

import (
	"fmt"
	"math"
	"slices"
)

// angleSums are sums over the cosines of all pairs of unit vectors, in addition to pairSums.
type angleSums struct {
	cosine    spread  // of cos(c_i, c_j)
	coherence float64 // max |cos(c_i, c_j)|
}

func (a *angleSums) merge(o angleSums) {
	a.cosine.merge(o.cosine)
	a.coherence = max(a.coherence, o.coherence)
}

// anglesOf returns the sums over a row's distances δ of unit vectors, cos = 1 − δ²/2, and their least; scratch is overwritten.
func anglesOf(distances, scratch []float64) (sums angleSums, closest float64) {
	if len(distances) == 0 {
		return angleSums{}, math.Inf(1)
	}
	for j, x := range distances {
		scratch[j] = 1 - x*x/2
		sums.coherence = max(sums.coherence, math.Abs(scratch[j]))
	}
	sums.cosine = spreadOf(scratch)
	return sums, slices.Min(distances)
}

// further fills the less common forms of NC2 and NC3.
func (g *geometry) further(b *builder, s shape) {
	means := []string{KeyNC2CosStd, KeyNC2Coherence}
	both := []string{KeyNC3Centred, KeyWMeanAlignment}
	g.furtherWeight(b, s)
	if s.head == nil {
		b.missAll(noWeights, both...)
	}
	all := append(means, both...)
	switch {
	case s.empty >= 0:
		b.missAll(emptyReason(s.empty), all...)
	case s.k < 2:
		b.missAll(oneClass, all...)
	case !(dot(s.centred[:s.k*s.d], s.centred) > s.floor):
		b.missAll("the class means coincide", all...)
	default:
		g.meanAngles(b, s)
		if s.head != nil {
			centredDuality(b, s)
			g.alignment(b, s)
		}
	}
}

// meanAngles fills the measures from cosines of centred means.
func (g *geometry) meanAngles(b *builder, s shape) {
	for k := range s.k {
		if c := s.centred[k*s.d:][:s.d]; !(dot(c, c) > s.floor/float64(s.k)) {
			b.missAll("a class mean is the global mean: its direction is undefined", KeyNC2CosStd, KeyNC2Coherence)
			return
		}
	}
	putAngles(b, s.pairs, KeyNC2CosStd, KeyNC2Coherence)
}

func putAngles(b *builder, p *pairs, deviation, coherence string) {
	b.put(deviation, math.Sqrt(p.angles.cosine.m2/p.angles.cosine.n))
	b.sampledTo(p, deviation, errorOfDeviation, p.sample.cosine)
	b.put(coherence, min(p.angles.coherence, 1))
}

// furtherWeight fills equal norms and equal angles of W, and its centred distance to a simplex ETF.
func (g *geometry) furtherWeight(b *builder, s shape) {
	angles := []string{KeyNC2WCosDeviation, KeyNC2WCosStd, KeyNC2WCoherence}
	keys := append([]string{KeyNC2WCentred, KeyNC2WNormCV, KeyNC2WMinorityCos}, angles...)
	h := s.head
	switch {
	case h == nil:
		b.missAll(noWeights, keys...)
		return
	case s.k < 2:
		b.missAll(oneClass, keys...)
		return
	case !(norm(h.w) > 0):
		b.missAll("W is zero", keys...)
		return
	}
	mean, deviation := meanAndDeviation(h.norms[:s.k])
	b.put(KeyNC2WNormCV, deviation/mean)
	if b.any(KeyNC2WCentred) {
		// If all rows of W are the same, they differ from their mean only by rounding.
		if m := g.gram.of(g.team, h.centred, h.centred, s.k, s.d); norm(h.centred) > float64(s.k)*eps64*norm(h.w) {
			b.put(KeyNC2WCentred, m.toETF(m.frobenius()))
		} else {
			b.miss(KeyNC2WCentred, "all rows of W are the same")
		}
	}
	minorityCosine(b, s)
	if zero := slices.IndexFunc(h.norms[:s.k], func(x float64) bool { return !(x > 0) }); zero >= 0 {
		b.missAll(fmt.Sprintf("row %d of W is zero: it has no direction", zero), angles...)
		return
	}
	if b.any(angles...) {
		g.rows.sweep(g.team, h.w, h.w, make([]float64, s.d), s.k, s.d)
		b.put(KeyNC2WCosDeviation, g.rows.deviation/g.rows.distance.n)
		b.sampledTo(&g.rows, KeyNC2WCosDeviation, errorOfMean, g.rows.sample.away)
		putAngles(b, &g.rows, KeyNC2WCosStd, KeyNC2WCoherence)
	}
}

// meanAndDeviation returns the mean of x and its standard deviation, divisor len(x).
func meanAndDeviation(x []float64) (mean, deviation float64) {
	s := spreadOf(x)
	return s.mean, math.Sqrt(s.m2 / s.n)
}

// centredDuality fills ‖U(W) − U(H_cᵀ)‖.
func centredDuality(b *builder, s shape) {
	wNorm, meanNorm := norm(s.head.w), norm(s.centred[:s.k*s.d])
	if !(wNorm > 0) {
		b.miss(KeyNC3Centred, "W is zero")
		return
	}
	b.put(KeyNC3Centred, unitDistance(s.head.w, s.centred[:s.k*s.d], wNorm, meanNorm, s.d))
}

// minorityCosine is the mean cosine between the rows of W of small classes, (‖Σû_k‖² − m)/(m(m−1)) for m unit rows û_k.
func minorityCosine(b *builder, s shape) {
	counts := s.counts
	most, m, sum := slices.Max(counts), 0, make([]float64, s.d)
	for k, n := range counts {
		if 2*n > most {
			continue
		}
		size := s.head.norms[k]
		if !(size > 0) {
			b.miss(KeyNC2WMinorityCos, fmt.Sprintf("row %d of W is zero: it has no direction", k))
			return
		}
		for i, v := range s.head.w[k*s.d:][:s.d] {
			sum[i] += v / size
		}
		m++
	}
	if m < 2 {
		b.miss(KeyNC2WMinorityCos, "fewer than two classes have at most half as many samples as the largest")
		return
	}
	b.put(KeyNC2WMinorityCos, max(-1, min(1, (dot(sum, sum)-float64(m))/float64(m*(m-1)))))
}
