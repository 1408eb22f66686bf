package measure

import (
	"fmt"
	"math"
)

// singleReason names the class with a single sample.
func singleReason(class int) string {
	return fmt.Sprintf("class %d has a single sample: its spread cannot be seen", class)
}

const zeroMargin = "w_k − w_G is zero for a class"

// trainPass runs the second pass over the train split and fills what it gives.
func (e *Engine[T]) trainPass(b *builder, h *head, mem *memorization) error {
	s := &e.train
	noOperator := e.operator(s)
	if noOperator == "" {
		b.put(KeyRankBetween, float64(s.between.rank))
	} else {
		b.miss(KeyRankBetween, noOperator)
	}
	ask := asked{
		white:   noOperator == "" && e.want.any(KeyNC1Pinv),
		nearest: s.empty < 0 && s.k > 1 && e.want.any(KeyNC4NCCMismatch, KeyNCCAccuracy),
		logits:  h != nil && e.want.any(KeyAccuracy, KeyNC4NCCMismatch, KeyMarginMean, KeyMarginMin, KeyMarginMax),
	}
	ask.margins = ask.logits && s.empty < 0 && s.k > 1 && !hasZero(h.centredNorm) && e.want.any(KeyMarginMean, KeyMarginMin, KeyMarginMax)
	// Traces come from the class tallies; skip the pass only if nothing of it was asked.
	if !(ask.white || ask.nearest || ask.logits || mem != nil || e.want.any(KeyTraceWithin, KeyNC1TraceRatio, KeyCDNV)) {
		return nil
	}
	if err := e.second.run(e.opt.Team, s, h, ask, mem); err != nil {
		return err
	}
	if k := firstNonFinite(s.tally.scatter); k >= 0 {
		return &RangeError{Where: s.name, Class: k}
	}
	e.within(b, noOperator)
	e.rates(b, h)
	e.marginMeasures(b, h, ask)
	if mem != nil {
		memorized(b, s.tally.memory, mem)
	}
	return nil
}

// within fills NC1 and its relatives from the train tallies.
func (e *Engine[T]) within(b *builder, noOperator string) {
	s, t := &e.train, &e.train.tally
	perClass := make(Vector, s.k)
	for k, n := range s.count {
		perClass[k] = math.NaN()
		if n > 1 {
			perClass[k] = t.scatter[k] / float64(n)
		}
	}
	b.report.PerClass["within_trace"] = perClass
	switch {
	case s.empty >= 0:
		b.missAll(emptyReason(s.empty), KeyTraceWithin, KeyNC1TraceRatio, KeyCDNV, KeyNC1Pinv)
		return
	case s.single >= 0:
		b.missAll(singleReason(s.single), KeyTraceWithin, KeyNC1TraceRatio, KeyCDNV, KeyNC1Pinv)
		return
	}
	traceWithin := average(t.scatter, s.count, s.n, e.opt.Imbalance)
	b.put(KeyTraceWithin, traceWithin)
	if noOperator != "" {
		b.missAll(noOperator, KeyNC1Pinv, KeyNC1TraceRatio, KeyCDNV)
		return
	}
	b.put(KeyNC1Pinv, average(t.white, s.count, s.n, e.opt.Imbalance))
	b.put(KeyNC1TraceRatio, traceWithin/(dot(s.centred, s.centred)/float64(s.k)))
	if b.any(KeyCDNV) {
		e.cdnv(b, perClass)
	}
}

// cdnv fills the class-distance normalised variance.
func (e *Engine[T]) cdnv(b *builder, variance Vector) {
	s := &e.train
	pair := e.second.pair
	if len(pair) != s.k*s.k || !e.second.ask.nearest {
		e.second.pair = grow(e.second.pair, s.k*s.k)
		pair = e.second.pair
		pairDistances(e.opt.Team, pair, s.centred, s.k, s.d)
	}
	sum := 0.0
	for i := range s.k {
		for j, distance := range pair[i*s.k:][:i] {
			if !(distance > 0) {
				b.miss(KeyCDNV, fmt.Sprintf("classes %d and %d have one mean", j, i))
				return
			}
			sum += (variance[i] + variance[j]) / (2 * distance)
		}
	}
	b.put(KeyCDNV, sum/float64(s.k*(s.k-1)/2))
}

// rates fills accuracy, nearest-centre accuracy and mismatch.
func (e *Engine[T]) rates(b *builder, h *head) {
	s, t := &e.train, &e.train.tally
	if h == nil {
		b.missAll(noWeights, KeyAccuracy, KeyNC4NCCMismatch)
	} else {
		e.rate(b, s, KeyAccuracy, "accuracy", t.correct)
	}
	switch {
	case s.empty >= 0:
		b.missAll(emptyReason(s.empty), KeyNC4NCCMismatch, KeyNCCAccuracy)
	case s.k < 2:
		b.missAll(oneClass, KeyNC4NCCMismatch, KeyNCCAccuracy)
	default:
		e.rate(b, s, KeyNCCAccuracy, "ncc_accuracy", t.nearest)
		if h != nil {
			e.rate(b, s, KeyNC4NCCMismatch, "ncc_mismatch", t.mismatch)
		}
	}
}

// rate fills a share of samples and its values per class.
func (e *Engine[T]) rate(b *builder, s *samples[T], key, perClass string, hits []int) {
	if !b.any(key) {
		return
	}
	values := make(Vector, s.k)
	total, mean := 0, 0.0
	for k, n := range s.count {
		values[k] = float64(hits[k]) / float64(n) // 0/0 is NaN: null
		mean += values[k] / float64(s.k)
		total += hits[k]
	}
	b.report.PerClass[perClass] = values
	switch {
	case e.opt.Imbalance == PerSample:
		b.put(key, float64(total)/float64(s.n))
	case s.empty >= 0:
		b.miss(key, emptyReason(s.empty))
	default:
		b.put(key, mean)
	}
}

// marginMeasures fills the cosine margins.
func (e *Engine[T]) marginMeasures(b *builder, h *head, ask asked) {
	s, t := &e.train, &e.train.tally
	keys := []string{KeyMarginMean, KeyMarginMin, KeyMarginMax}
	switch {
	case h == nil:
		b.missAll(noWeights, keys...)
	case s.empty >= 0:
		b.missAll(emptyReason(s.empty), keys...)
	case s.k < 2:
		b.missAll(oneClass, keys...)
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

// memorized fills the four forms of memorization.
func memorized(b *builder, t corrupted, mem *memorization) {
	if mem.redrawn == nil {
		b.miss(KeyMemRedrawn, "no mask of redrawn samples was given: labels alone cannot tell")
	} else {
		b.put(KeyMemRedrawn, t.redrawn)
	}
	b.put(KeyMemFlipped, t.flipped)
	if t.flippedCount == 0 {
		b.missAll("no measured sample is flipped", KeyMemMean, KeyMemNormalised)
		return
	}
	mean := t.flipped / float64(t.flippedCount)
	b.put(KeyMemMean, mean)
	k := len(mem.centres) / mem.d
	if k < 2 {
		b.miss(KeyMemNormalised, oneClass)
		return
	}
	distance := meanDistance(mem.centres, k, mem.d)
	if !(distance > 0) {
		b.miss(KeyMemNormalised, "all test class means coincide")
		return
	}
	b.put(KeyMemNormalised, mean/distance)
}

// testAndOOD measures the test and out-of-distribution features, and returns what the train pass needs
// for memorization, or nil.
func (e *Engine[T]) testAndOOD(in *Input[T], b *builder, h *head) (*memorization, error) {
	if err := e.oodPass(in, b); err != nil {
		return nil, err
	}
	memKeys := []string{KeyMemRedrawn, KeyMemFlipped, KeyMemMean, KeyMemNormalised}
	if in.Test.Features == nil {
		b.missAll("no test features were given", KeyDilation, KeyTestNC1Ratio, KeyTestAccuracy)
		b.missAll("no test features were given: h* is their class mean", memKeys...)
		return nil, nil
	}
	if err := e.testPass(in, b, h); err != nil {
		return nil, err
	}
	switch s := &e.test; {
	case in.True == nil:
		b.missAll("no true labels were given", memKeys...)
	case s.empty >= 0:
		b.missAll("test "+emptyReason(s.empty), memKeys...)
	case e.want.any(memKeys...):
		e.mem = memorization{observed: in.Train.Labels, truth: in.True, redrawn: in.Redrawn, centres: s.means, d: s.d}
		return &e.mem, nil
	}
	return nil, nil
}

// testPass fills dilation and test accuracy.
func (e *Engine[T]) testPass(in *Input[T], b *builder, h *head) error {
	s := &e.test
	if err := s.open("test", in.Test, in.TestClasses, nil); err != nil {
		return err
	}
	if in.Test.Labels == nil {
		return &ShapeError{What: "test labels", Found: 0, Want: s.rows}
	}
	if s.d != e.train.d {
		return &ShapeError{What: "test feature width", Found: s.d, Want: e.train.d}
	}
	if s.n == 0 {
		return &ShapeError{What: "test samples", Found: 0, Want: 1}
	}
	if err := e.means(s, &b.report.Dropped); err != nil {
		return err
	}
	reason := e.operator(s)
	ask := asked{white: reason == "" && e.want.any(KeyDilation), logits: h != nil && e.want.any(KeyTestAccuracy)}
	if !(ask.white || ask.logits || e.want.any(KeyTestNC1Ratio)) {
		return nil
	}
	if err := e.second.run(e.opt.Team, s, h, ask, nil); err != nil {
		return err
	}
	t := &s.tally
	if k := firstNonFinite(t.scatter); k >= 0 {
		return &RangeError{Where: s.name, Class: k}
	}
	perClass := make(Vector, s.k)
	for k, n := range s.count {
		perClass[k] = t.scatter[k] / float64(n)
	}
	b.report.PerClass["test_within_trace"] = perClass
	if reason == "" {
		b.put(KeyDilation, math.Sqrt(average(t.white, s.count, s.n, e.opt.Imbalance)))
		b.put(KeyTestNC1Ratio, average(t.scatter, s.count, s.n, e.opt.Imbalance)/(dot(s.centred, s.centred)/float64(s.k)))
	} else {
		b.missAll("test: "+reason, KeyDilation, KeyTestNC1Ratio)
	}
	if h == nil {
		b.miss(KeyTestAccuracy, noWeights)
		return nil
	}
	e.rate(b, s, KeyTestAccuracy, "test_accuracy", t.correct)
	return nil
}

// oodPass fills NC5.
func (e *Engine[T]) oodPass(in *Input[T], b *builder) error {
	if in.OOD == nil || !e.want.any(KeyNC5OOD) {
		b.miss(KeyNC5OOD, "no out-of-distribution features were given")
		return nil
	}
	s := &e.ood
	if err := s.open("ood", Split[T]{Features: in.OOD}, 1, nil); err != nil {
		return err
	}
	if s.d != e.train.d {
		return &ShapeError{What: "ood feature width", Found: s.d, Want: e.train.d}
	}
	if s.n == 0 {
		return &ShapeError{What: "ood samples", Found: 0, Want: 1}
	}
	if err := e.means(s, &b.report.Dropped); err != nil {
		return err
	}
	train := &e.train
	if train.empty >= 0 {
		b.miss(KeyNC5OOD, emptyReason(train.empty))
		return nil
	}
	cosines := make(Vector, train.k)
	mean, length := 0.0, norm(s.means)
	for k := range cosines {
		cosines[k] = math.Abs(dot(train.mean(k), s.means)) / (norm(train.mean(k)) * length)
		mean += cosines[k] / float64(train.k)
	}
	b.report.PerClass["nc5_cosine"] = cosines
	if mean != mean {
		b.miss(KeyNC5OOD, "a class mean or the mean of the out-of-distribution features is zero")
		return nil
	}
	b.put(KeyNC5OOD, mean)
	return nil
}

// nonFinite finds rows with NaN or infinity among the measured ones. It excludes them if drop is set and
// says how many there were; else it returns *NonFiniteError, or *RangeError if every value is finite and
// only the sums overflow.
func (s *samples[T]) nonFinite(drop bool) (int, error) {
	e := NonFiniteError{Where: s.name}
	buf := make([]T, blockRows(s.d)*s.d)
	s.copyClasses()
	for at := 0; at < s.rows; at += blockRows(s.d) {
		rows, err := s.src.Read(buf, at, min(at+blockRows(s.d), s.rows))
		if err != nil {
			return 0, err
		}
		for i := range len(rows) / s.d {
			if s.class[at+i] >= 0 {
				s.countRow(&e, at+i, rows[i*s.d:][:s.d])
			}
		}
	}
	if e.Count == 0 {
		return 0, &RangeError{Where: s.name, Class: firstNonFinite(s.means) / s.d}
	}
	if !drop {
		return 0, &e
	}
	s.countClasses()
	if s.n == 0 {
		return 0, &e
	}
	return e.Rows, nil
}

// countRow adds a row to e and excludes it if it is not finite.
func (s *samples[T]) countRow(e *NonFiniteError, row int, x []T) {
	found := 0
	for j, v := range x {
		if v-v == 0 {
			continue
		}
		if e.Count+found == 0 {
			e.Row, e.Col = row, j
		}
		found++
	}
	if found > 0 {
		e.Count += found
		e.Rows++
		s.class[row] = -1
	}
}
