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

// further fills the less common forms of NC2.
func (g *geometry) further(b *builder, s shape) {
	if s.unmet(needWeights|needSeveral|needNonzeroW) == "" {
		g.furtherWeight(b, s)
	}
	if s.unmet(needSeveral|needApart|needDirected) == "" {
		putAngles(b, s.pairs, KeyNC2CosStd, KeyNC2Coherence)
	}
}

func putAngles(b *builder, p *pairs, deviation, coherence string) {
	b.put(deviation, math.Sqrt(p.angles.cosine.m2/p.angles.cosine.n))
	b.sampledTo(p, deviation, errorOfDeviation, p.sample.cosine)
	b.put(coherence, min(p.angles.coherence, 1))
}

// furtherWeight fills equal angles of W, and its centred distance to a simplex ETF.
func (g *geometry) furtherWeight(b *builder, s shape) {
	h := s.head
	if b.any(KeyNC2WCentred) {
		// If all rows of W are the same, they differ from their mean only by rounding.
		if m := g.gram.of(g.team, h.centred, h.centred, s.k, s.d); norm(h.centred) > float64(s.k)*eps64*norm(h.w) {
			b.put(KeyNC2WCentred, m.toETF(m.frobenius()))
		} else {
			b.miss(KeyNC2WCentred, "all rows of W are the same")
		}
	}
	angles := []string{KeyNC2WCosDeviation, KeyNC2WCosStd, KeyNC2WCoherence}
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

// rowVariation is the standard deviation of the norms of W's rows over their mean.
func rowVariation(s *shape) (float64, string) {
	mean, deviation := meanAndDeviation(s.head.norms[:s.k])
	return deviation / mean, ""
}

// meanAndDeviation returns the mean of x and its standard deviation, divisor len(x).
func meanAndDeviation(x []float64) (mean, deviation float64) {
	s := spreadOf(x)
	return s.mean, math.Sqrt(s.m2 / s.n)
}

// minorityCosine is the mean cosine between the rows of W of small classes, (‖Σû_k‖² − m)/(m(m−1)) for m unit rows û_k.
func minorityCosine(s *shape) (float64, string) {
	counts := s.counts
	most, m, sum := slices.Max(counts), 0, make([]float64, s.d)
	for k, n := range counts {
		if 2*n > most {
			continue
		}
		size := s.head.norms[k]
		if !(size > 0) {
			return 0, fmt.Sprintf("row %d of W is zero: it has no direction", k)
		}
		for i, v := range s.head.w[k*s.d:][:s.d] {
			sum[i] += v / size
		}
		m++
	}
	if m < 2 {
		return 0, "fewer than two classes have at most half as many samples as the largest"
	}
	return max(-1, min(1, (dot(sum, sum)-float64(m))/float64(m*(m-1)))), ""
}
