package measure

import (
	"fmt"
)

const zeroMargin = "w_k − w_G is zero for a class"

// trainPass runs the second pass over the train split and fills its measures.
func (e *Engine[T]) trainPass(b *builder, h *head, mem *memorization) error {
	s := &e.train
	noOperator := e.operator(s)
	ask := e.asks(h, noOperator)
	ask.squares = e.opt.Null > 0
	// Traces come from the sample counts. Facts need them, too; only a repeated measurement can do without.
	if e.opt.again && !(ask.white || ask.nearest || ask.logits || mem != nil || e.want.any(spreadMatters...)) {
		return nil
	}
	if err := e.decisions(s, h, ask, mem); err != nil {
		return err
	}
	if k := firstNonFinite(s.sampleCounts.scatter); k >= 0 {
		return &RangeError{Where: s.name, Class: s.number(k)}
	}
	noOperator = s.roundedMeans(noOperator)
	e.putRank(b, noOperator)
	e.within(b, noOperator, ask.white)
	e.rates(b, h)
	e.marginMeasures(b, h, ask)
	if mem != nil {
		memorized(b, s.sampleCounts.memory, mem)
	}
	e.facts(b, ask.nearest)
	return nil
}

// asks says what the second pass over the train split must find.
func (e *Engine[T]) asks(h *head, noOperator string) asked {
	s := &e.train
	margins := []string{KeyMarginMean, KeyMarginMin, KeyMarginMax}
	several := s.k > 1
	return asked{
		im:      e.opt.Imbalance,
		white:   noOperator == "" && s.between.left == "" && !s.alone && e.want.any(KeyNC1Pinv),
		nearest: several && e.want.any(KeyNC4NCCMismatch, KeyNCCAccuracy),
		logits:  h != nil && (e.want.any(KeyAccuracy, KeyNC4NCCMismatch) || e.want.any(margins...)),
		margins: h != nil && several && !hasZero(h.centredNorm) && e.want.any(margins...),
	}
}

// putRank fills how many eigenvalues of Σ_B were kept and cut.
func (e *Engine[T]) putRank(b *builder, noOperator string) {
	if noOperator != "" {
		b.missAll(noOperator, KeyRankBetween, KeyRankCut)
		return
	}
	between := &e.train.between
	if between.left != "" {
		b.missUnasked(between.left, KeyRankBetween, KeyRankCut)
		return
	}
	b.put(KeyRankBetween, float64(between.rank))
	b.put(KeyRankCut, float64(between.full-between.rank))
}

// rates fills accuracy, nearest-centre accuracy and mismatch.
func (e *Engine[T]) rates(b *builder, h *head) {
	s, t := &e.train, &e.train.sampleCounts
	if h != nil {
		e.rate(b, s, KeyAccuracy, "accuracy", t.correct)
	}
	if s.k < 2 {
		return
	}
	e.rate(b, s, KeyNCCAccuracy, "ncc_accuracy", t.nearest)
	if h != nil {
		e.rate(b, s, KeyNC4NCCMismatch, "ncc_mismatch", t.mismatch)
	}
}

// rate fills a share of samples and its values per class.
func (e *Engine[T]) rate(b *builder, s *samples[T], key, perClass string, hits []int) {
	if !b.any(key) {
		return
	}
	values := make(Vector, s.k)
	total := 0
	for k, n := range s.count {
		values[k] = float64(hits[k]) / float64(n) // 0/0 is NaN: null
		total += hits[k]
	}
	b.report.PerClass[perClass] = values
	if e.opt.Imbalance == PerSample {
		b.put(key, float64(total)/float64(s.n))
		return
	}
	b.put(key, compensated(values)/float64(s.k))
}

// marginMeasures fills the cosine margins.
func (e *Engine[T]) marginMeasures(b *builder, h *head, ask asked) {
	s, t := &e.train, &e.train.sampleCounts
	keys := []string{KeyMarginMean, KeyMarginMin, KeyMarginMax}
	switch {
	case h == nil || s.k < 2:
	case hasZero(h.centredNorm):
		b.missAll(zeroMargin, keys...)
	case !ask.margins:
	case t.marginless > 0:
		b.missAll(fmt.Sprintf("%d samples lie at the global mean: they have no direction", t.marginless), keys...)
	default:
		b.put(KeyMarginMean, average(t.margin, s.count, s.n, e.opt.Imbalance))
		b.put(KeyMarginMin, t.marginMin)
		b.put(KeyMarginMax, t.marginMax)
	}
}

// average returns (1/N) Σ_k sums_k, or (1/K) Σ_k sums_k/n_k.
func average(sums []float64, count []int, n int, im Imbalance) float64 {
	total := 0.0
	for k, x := range sums {
		if im == PerClass {
			x /= float64(count[k])
		}
		total += x
	}
	if im == PerClass {
		return total / float64(len(sums))
	}
	return total / float64(n)
}

func hasZero(x []float64) bool {
	for _, v := range x {
		if !(v > 0) {
			return true
		}
	}
	return false
}
