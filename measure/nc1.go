package measure

import (
	"fmt"
	"math"
)

// distanceKeys are the measures of spread beside the distances of class means.
var distanceKeys = keysOf(func(d *Definition) bool { return d.needs&(needSpread|needApart) == needSpread|needApart })

// within fills NC1 and its relatives from the train sample counts; white says whether NC1's sum was computed.
func (e *Engine[T]) within(b *builder, noOperator string, white bool) {
	s, t := &e.train, &e.train.sampleCounts
	perClass := make(Vector, s.k)
	for k, n := range s.count {
		perClass[k] = math.NaN()
		if n > 1 {
			perClass[k] = t.scatter[k] / float64(n)
		}
	}
	b.report.PerClass["within_trace"] = perClass
	if s.alone {
		b.missNeeding(needSpread, allAlone)
		return
	}
	traceWithin := average(t.scatter, s.count, s.n, e.opt.Imbalance)
	b.put(KeyTraceWithin, traceWithin)
	if noOperator != "" {
		b.missAll(noOperator, distanceKeys...)
		return
	}
	switch {
	case white:
		b.put(KeyNC1Pinv, e.whiteMean(s))
	case s.between.left != "":
		b.missUnasked(s.between.left, KeyNC1Pinv)
	}
	b.put(KeyNC1TraceRatio, traceWithin/(dot(s.centred, s.centred)/float64(s.k)))
	if b.any(KeyCDNV, KeyCDNVStd, KeyCDNVMax) {
		e.cdnv(b)
	}
}

// whiteMean returns NC1 of a split from its sample counts.
func (e *Engine[T]) whiteMean(s *samples[T]) float64 {
	return e.whiteMeanOf(s, s.sampleCounts.white)
}

// whiteMeanOf returns NC1 for Σ ω ‖z‖² over a split.
func (e *Engine[T]) whiteMeanOf(s *samples[T], white float64) float64 {
	if e.opt.Imbalance == PerClass {
		return white / float64(s.k)
	}
	return white / float64(s.n)
}

// cdnv fills the class-distance normalised variance: Σ_{i<j} (v_i + v_j)/(2δ_ij²) = ½ Σ_i v_i Σ_{j≠i} 1/δ_ij².
func (e *Engine[T]) cdnv(b *builder) {
	variance := e.train.variances()
	if i, j, found := e.pairs.oneMean(e.train.rounding()); found {
		b.missAll(fmt.Sprintf("classes %d and %d have the same mean, up to rounding", e.train.number(i), e.train.number(j)), KeyCDNV, KeyCDNVStd, KeyCDNVMax)
		return
	}
	if e.pairs.sampled {
		values := e.pairs.sample.cdnv(variance)
		found := spreadOf(values)
		b.put(KeyCDNV, found.mean)
		b.put(KeyCDNVStd, math.Sqrt(found.m2/found.n))
		b.sampledTo(&e.pairs, KeyCDNV, errorOfMean, values)
		b.sampledTo(&e.pairs, KeyCDNVStd, errorOfDeviation, values)
		return
	}
	k := float64(len(variance))
	b.put(KeyCDNV, dot(variance, e.pairs.inverse)/2/(k*(k-1)/2))
	e.cdnvPairs(b, variance)
}
