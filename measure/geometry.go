package measure

import (
	"fmt"
	"math"

	"collapse.example/collapse/parallel"
)

// geometry computes NC2, NC3, NC4's bias form and the configuration report from class means and classifier.
type geometry struct {
	team *parallel.Team
	gram gram
	rows pairs // of the rows of W
}

const (
	oneClass  = "one class: there is nothing to compare"
	noWeights = "no classifier weight was given"
	allAlone  = "every class has a single sample: there is no spread to see"
)

// emptyReason names the class without samples.
func emptyReason(class int) string { return fmt.Sprintf("class %d has no sample", class) }

// shape is the input of geometry.
type shape struct {
	means, centred []float64 // (K×d)
	centre         []float64 // (d)
	k, d           int
	counts         []int   // samples of each class
	empty          int     // class without samples, −1: none
	floor          float64 // ‖C‖² at or below which the class means coincide
	rounding       rounding
	head           *head // nil: none
	pairs          *pairs
}

func (g *geometry) all(b *builder, s shape) {
	g.gram.forget()
	defer g.gram.forget()
	g.further(b, s)
	g.seliDistances(b, s)
	g.oneVsRest(b, s)
	if s.head != nil {
		g.weight(b, s)
	} else {
		b.missAll(noWeights, KeyNC2W, KeyNC2RankD, KeyNC3Gram, KeyNC3Direct, KeyNC3RankD, KeyNC3Duality, KeyNC4Bias, KeyConfWeightAngle)
	}
	meanKeys := []string{KeyNC2MeansETF, KeyNC2MeansCentred, KeyNC2MeansOF, KeyNC2NormCV, KeyNC2CosDeviation, KeyNC2CosMax,
		KeyGNC2Distance, KeyGNC2Log, KeyGNC2Riesz, KeyNC3Gram, KeyNC3Direct, KeyNC3RankD, KeyNC3Duality, KeyTraceBetween, KeyParticipation,
		KeyMeanNormRatio, KeyConfSmallestEntry, KeyConfMaxCos, KeyConfOverlap, KeyConfWeightAngle}
	switch {
	case s.empty >= 0:
		b.missAll(emptyReason(s.empty), meanKeys...)
	case s.k < 2:
		b.missAll(oneClass, meanKeys...)
	default:
		b.put(KeyTraceBetween, dot(s.centred, s.centred)/float64(s.k))
		g.uncentredMeans(b, s)
		g.centredMeans(b, s)
		g.duality(b, s)
		configuration(b, s)
	}
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
	if s.k < 2 {
		b.missAll(oneClass, KeyNC2W, KeyNC2RankD)
		return
	}
	w := h.ofSize1()
	m := g.gram.of(g.team, w, w, s.k, s.d)
	f := m.frobenius()
	if !(f > 0) {
		b.missAll("W is zero", KeyNC2W, KeyNC2RankD)
		return
	}
	b.put(KeyNC2W, m.toETF(f))
	rankD(b, KeyNC2RankD, m, f)
}

// uncentredMeans fills the measures of the Gram matrix of class means.
func (g *geometry) uncentredMeans(b *builder, s shape) {
	norms := make(Vector, s.k)
	least, most := math.Inf(1), 0.0
	for k := range norms {
		norms[k] = norm(s.means[k*s.d:][:s.d])
		least, most = min(least, norms[k]), max(most, norms[k])
	}
	b.report.PerClass["mean_norm"] = norms
	if !(most > 0) {
		b.missAll(AllMeansZero, KeyNC2MeansETF, KeyNC2MeansOF, KeyMeanNormRatio, KeyConfMaxCos)
		return
	}
	b.put(KeyMeanNormRatio, least/most)
	m := g.gram.of(g.team, s.means, s.means, s.k, s.d)
	m.shifted(s.means, s.centred, s.centre)
	f := m.frobenius()
	b.put(KeyNC2MeansETF, m.toETF(f))
	b.put(KeyNC2MeansOF, m.toFrame(f))
	if !(least > 0) {
		b.miss(KeyConfMaxCos, "a class mean is zero")
		return
	}
	b.put(KeyConfMaxCos, min(s.pairs.maxCos, 1))
}

// centredMeans fills the measures of μ_k − h_G.
func (g *geometry) centredMeans(b *builder, s shape) {
	norms := make(Vector, s.k)
	least, sum := math.Inf(1), 0.0
	for k := range norms {
		norms[k] = norm(s.centred[k*s.d:][:s.d])
		least = min(least, norms[k])
		sum += norms[k]
	}
	b.report.PerClass["centred_norm"] = norms
	if !(dot(norms, norms) > s.floor) {
		b.missAll("the class means coincide", KeyParticipation, KeyNC2MeansCentred, KeyNC2NormCV, KeyNC2CosDeviation, KeyNC2CosMax, KeyGNC2Distance, KeyGNC2Log, KeyGNC2Riesz)
		return
	}
	m := g.gram.of(g.team, s.centred, s.centred, s.k, s.d)
	size := m.frobenius()
	b.put(KeyNC2MeansCentred, m.toETF(size))
	b.put(KeyParticipation, math.Pow(dot(norms, norms)/size, 2))
	mean, spread := sum/float64(s.k), 0.0
	for _, x := range norms {
		spread += (x - mean) * (x - mean)
	}
	b.put(KeyNC2NormCV, math.Sqrt(spread/float64(s.k))/mean)
	if !(least*least > s.floor/float64(s.k)) {
		b.missAll("a class mean is the global mean: its direction is undefined", KeyNC2CosDeviation, KeyNC2CosMax, KeyGNC2Distance, KeyGNC2Log, KeyGNC2Riesz)
		return
	}
	angles(b, s)
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

// duality fills NC3.
func (g *geometry) duality(b *builder, s shape) {
	h := s.head
	if h == nil {
		return
	}
	wNorm, meanNorm := norm(h.w), norm(s.means)
	if !(wNorm > 0) {
		b.missAll("W is zero", KeyNC3Gram, KeyNC3Direct, KeyNC3RankD, KeyNC3Duality, KeyConfWeightAngle)
		return
	}
	if meanNorm > 0 {
		b.put(KeyNC3Direct, unitDistance(h.w, s.means, wNorm, meanNorm, s.d))
	} else {
		b.miss(KeyNC3Direct, AllMeansZero)
	}
	if !(dot(s.centred, s.centred) > s.floor) {
		b.missAll("the class means coincide", KeyNC3Gram, KeyNC3RankD, KeyNC3Duality, KeyConfWeightAngle)
		return
	}
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
