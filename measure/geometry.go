package measure

import (
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/parallel"
)

// geometry computes NC2, NC3, NC4's bias form and the configuration report from class means and classifier.
type geometry struct {
	team *parallel.Team
	gram gram
	rows pairs // of the rows of W
}

// shape is the input of geometry.
type shape struct {
	means, centred []float64 // (K×d)
	centre         []float64 // (d)
	k, d           int
	counts         []int   // samples of each class
	floor          float64 // ‖C‖² at or below which the class means coincide
	rounding       rounding
	head           *head // nil: none
	pairs          *pairs
	lack           needs // of those that class means and classifier can meet
}

// atCentre reports whether a class mean is the global mean, up to rounding.
func (s *shape) atCentre() bool {
	for k := range s.k {
		if c := s.centred[k*s.d:][:s.d]; !(dot(c, c) > s.floor/float64(s.k)) {
			return true
		}
	}
	return false
}

// normsOf returns the norms of k rows of width d.
func normsOf(rows []float64, k, d int) Vector {
	out := make(Vector, k)
	for i := range out {
		out[i] = norm(rows[i*d:][:d])
	}
	return out
}

func (g *geometry) all(b *builder, s shape) {
	g.gram.forget()
	defer g.gram.forget()
	for i := range definitions {
		d := &definitions[i]
		why := s.unmet(d.needs)
		if why == "" && d.compute != nil && b.any(d.Key) {
			var v float64
			if v, why = d.compute(&s); why == "" {
				b.put(d.Key, v)
			}
		}
		if why != "" {
			b.miss(d.Key, why)
		}
	}
	g.further(b, s)
	g.seliDistances(b, s)
	g.oneVsRest(b, s)
	if s.head != nil {
		g.weight(b, s)
	}
	if s.k < 2 {
		return
	}
	g.uncentredMeans(b, s)
	g.centredMeans(b, s)
	if s.unmet(needWeights|needNonzeroW) == "" {
		g.duality(b, s)
	}
	supports(b, s)
}

// weight fills the measures that need only W and h_G.
func (g *geometry) weight(b *builder, s shape) {
	h := s.head
	residual := make([]float64, s.k)
	for k := range residual {
		residual[k] = dot(h.w[k*s.d:][:s.d], s.centre) + h.b[k]
	}
	b.put(KeyNC4Bias, norm(residual))
	b.report.PerClass["weight_norm"] = append(Vector(nil), h.norms...)
	if s.unmet(needSeveral|needNonzeroW) != "" {
		return
	}
	w := h.ofSize1()
	m := g.gram.of(g.team, w, w, s.k, s.d)
	f := m.frobenius()
	b.put(KeyNC2W, m.toETF(f))
	rankD(b, KeyNC2RankD, m, f)
}

// uncentredMeans fills the measures of the Gram matrix of class means.
func (g *geometry) uncentredMeans(b *builder, s shape) {
	norms := normsOf(s.means, s.k, s.d)
	b.report.PerClass["mean_norm"] = norms
	if s.unmet(needSized) != "" {
		return
	}
	m := g.gram.of(g.team, s.means, s.means, s.k, s.d)
	m.shifted(s.means, s.centred, s.centre)
	f := m.frobenius()
	b.put(KeyNC2MeansETF, m.toETF(f))
	b.put(KeyNC2MeansOF, m.toFrame(f))
	if !(slices.Min(norms) > 0) {
		b.miss(KeyConfMaxCos, "a class mean is zero")
		return
	}
	b.put(KeyConfMaxCos, min(s.pairs.maxCos, 1))
}

// meanSquare is tr Σ_B.
func meanSquare(s *shape) (float64, string) { return dot(s.centred, s.centred) / float64(s.k), "" }

// normRatio is the shortest class mean over the longest.
func normRatio(s *shape) (float64, string) {
	norms := normsOf(s.means, s.k, s.d)
	return slices.Min(norms) / slices.Max(norms), ""
}

// normVariation is the standard deviation of the norms of centred class means over their mean.
func normVariation(s *shape) (float64, string) {
	norms, sum, spread := normsOf(s.centred, s.k, s.d), 0.0, 0.0
	for _, x := range norms {
		sum += x
	}
	mean := sum / float64(s.k)
	for _, x := range norms {
		spread += (x - mean) * (x - mean)
	}
	return math.Sqrt(spread/float64(s.k)) / mean, ""
}

// smallestEntry is that of the class means.
func smallestEntry(s *shape) (float64, string) {
	least := math.Inf(1)
	for _, x := range s.means {
		least = min(least, x)
	}
	return least, ""
}

// centredMeans fills the measures of μ_k − h_G.
func (g *geometry) centredMeans(b *builder, s shape) {
	norms := normsOf(s.centred, s.k, s.d)
	b.report.PerClass["centred_norm"] = norms
	if s.unmet(needApart) != "" {
		return
	}
	m := g.gram.of(g.team, s.centred, s.centred, s.k, s.d)
	size := m.frobenius()
	b.put(KeyNC2MeansCentred, m.toETF(size))
	b.put(KeyParticipation, math.Pow(dot(norms, norms)/size, 2))
	if s.unmet(needDirected) == "" {
		angles(b, s)
	}
}

// angles fills the measures from the angles between centred means.
func angles(b *builder, s shape) {
	p, n := s.pairs, s.pairs.distance.n
	b.put(KeyNC2CosDeviation, p.deviation/n)
	b.put(KeyNC2CosMax, p.largest)
	b.put(KeyGNC2Distance, p.distance.m2/n)
	b.sampledTo(p, KeyNC2CosDeviation, errorOfMean, p.sample.away)
	b.sampledTo(p, KeyGNC2Distance, errorOfVariance, p.sample.distance)
	if !b.any(KeyGNC2Log, KeyGNC2Riesz) {
		return
	}
	if p.oneDirection(s.rounding) {
		b.missAll("two centred class means have the same direction, up to rounding", KeyGNC2Log, KeyGNC2Riesz)
		return
	}
	b.put(KeyGNC2Log, p.log.m2/n)
	b.sampledTo(p, KeyGNC2Log, errorOfVariance, p.sample.log)
	if !b.any(KeyGNC2Riesz) {
		return
	}
	if s.d <= 2 {
		b.miss(KeyGNC2Riesz, "the exponent d − 2 is not positive; see gnc2_log")
		return
	}
	b.put(KeyGNC2Riesz, p.rieszVariance())
}

// duality fills NC3; W is not zero.
func (g *geometry) duality(b *builder, s shape) {
	h := s.head
	wNorm := norm(h.w)
	if s.unmet(needSized) == "" {
		b.put(KeyNC3Direct, unitDistance(h.w, s.means, wNorm, norm(s.means), s.d))
	}
	if s.unmet(needApart) != "" {
		return
	}
	b.put(KeyNC3Centred, unitDistance(h.w, s.centred[:s.k*s.d], wNorm, norm(s.centred[:s.k*s.d]), s.d))
	g.alignment(b, s)
	m := g.gram.of(g.team, h.ofSize1(), s.centred, s.k, s.d)
	if f := m.frobenius(); f > 0 {
		b.put(KeyNC3Gram, m.toETF(f))
		rankD(b, KeyNC3RankD, m, f)
	} else {
		b.missAll("W is orthogonal to all centred class means", KeyNC3Gram, KeyNC3RankD)
	}
	perClassDuality(b, s)
}

// unitDistance returns ‖X/‖X‖ − Y/‖Y‖‖ for matrices of rows of width d, from their differences, row by row.
func unitDistance(x, y []float64, normX, normY float64, d int) float64 {
	squares := make([]float64, 0, len(x)/d)
	for at := 0; at < len(x); at += d {
		sum, row := 0.0, y[at:][:d]
		for j, v := range x[at:][:d] {
			v = v/normX - row[j]/normY
			sum += v * v
		}
		squares = append(squares, sum)
	}
	return math.Sqrt(compensated(squares))
}

// perClassDuality compares w_k with μ_k − h_G, class by class.
func perClassDuality(b *builder, s shape) {
	h := s.head
	products, cosines, distances, away := make(Vector, s.k), make(Vector, s.k), make(Vector, s.k), make([]float64, s.k)
	widest, undefined := 0.0, -1
	for k := range cosines {
		w, m := h.w[k*s.d:][:s.d], s.centred[k*s.d:][:s.d]
		wNorm, mNorm := h.norms[k], norm(m)
		products[k] = dot(w, m)
		if !(wNorm > 0 && mNorm*mNorm > s.floor/float64(s.k)) {
			cosines[k], distances[k], undefined = math.NaN(), math.NaN(), k
			continue
		}
		cosines[k] = products[k] / (wNorm * mNorm)
		minus, plus := 0.0, 0.0
		for j, x := range w {
			u, v := x/wNorm, m[j]/mNorm
			minus += (u - v) * (u - v)
			plus += (u + v) * (u + v)
		}
		distances[k] = math.Sqrt(minus)
		away[k] = minus / 2
		widest = max(widest, 2*math.Atan2(math.Sqrt(minus), math.Sqrt(plus))) // exact for small angles, unlike arccos
	}
	b.report.PerClass["nc3_product"], b.report.PerClass["nc3_cosine"], b.report.PerClass["nc3_distance"] = products, cosines, distances
	if undefined >= 0 {
		b.missAll(fmt.Sprintf("w or the centred mean of class %d is zero", b.report.Class(undefined)), KeyNC3Duality, KeyConfWeightAngle)
		return
	}
	// The variance of the cosines is that of 1 − cos = ‖ŵ − m̂‖²/2, which is exact if all cosines are near 1.
	mean := compensated(away) / float64(s.k)
	for i, x := range away {
		away[i] = (x - mean) * (x - mean)
	}
	b.put(KeyNC3Duality, compensated(away)/float64(s.k))
	b.put(KeyConfWeightAngle, widest)
}
