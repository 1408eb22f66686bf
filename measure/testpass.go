package measure

import (
	"math"
	"slices"
)

// testAndOOD measures the test and out-of-distribution features, and returns the train pass's input
// for memorization, or nil.
func (e *Engine[T]) testAndOOD(in *Input[T], b *builder, h *head) (*memorization, error) {
	if err := e.oodPass(in, b); err != nil {
		return nil, err
	}
	if in.Test.Features == nil {
		b.missNeeding(needTruth, noTest+": h* is their class mean")
		b.missNeeding(needTest, noTest)
		return nil, nil
	}
	if err := e.testPass(in, b, h); err != nil {
		return nil, err
	}
	switch s := &e.test; {
	case in.True == nil:
		b.missNeeding(needTruth, "no true labels were given")
	case s.n == 0:
	case e.want.any(truthKeys...):
		e.mem = memorization{observed: in.Train.Labels, truth: in.True, redrawn: in.Redrawn, centres: s.means, centre: e.centres(in.TestClasses), d: s.d}
		return &e.mem, nil
	}
	return nil, nil
}

// truthKeys are the measures that need true labels.
var truthKeys = keysOf(func(d *Definition) bool { return d.needs.any(needTruth) })

const noTestLeft = "no test sample is left: see left_out"

// centres returns which test class mean is h* of each of k true classes: noCentre if the test split has no sample of it, notCounted if the class
// is left out.
func (e *Engine[T]) centres(k int) []int32 {
	s, p := &e.test, e.testPresent()
	to := make([]int32, k)
	for c := range to {
		to[c] = noCentre
		if _, out := slices.BinarySearch(p.out, c); out || p.ignored(int32(c)) {
			to[c] = notCounted
		}
	}
	for c := range s.k {
		to[s.number(c)] = int32(c)
	}
	return to
}

// testPass fills dilation and test accuracy.
func (e *Engine[T]) testPass(in *Input[T], b *builder, h *head) error {
	s := &e.test
	p := e.testPresent()
	if err := s.open("test", in.Test, in.TestClasses, nil, p); err != nil {
		return err
	}
	if in.Test.Labels == nil {
		return &ShapeError{What: "test labels", Found: 0, Want: s.rows}
	}
	if s.d != e.train.d {
		return &ShapeError{What: "test feature width", Found: s.d, Want: e.train.d}
	}
	if s.rows == 0 {
		return &ShapeError{What: "test samples", Found: 0, Want: 1}
	}
	if s.n == 0 {
		b.missNeeding(needTest, noTestLeft)
		return nil
	}
	if err := e.means(s, &b.report.Dropped, p); err != nil {
		return err
	}
	if err := e.testCentres(b, h); err != nil {
		return err
	}
	h, err := e.forTest(in, h)
	if err != nil {
		return err
	}
	reason := e.operator(s)
	if reason == "" && s.alone {
		reason = allAlone
	}
	ask := asked{im: e.opt.Imbalance, white: reason == "" && s.between.left == "" && e.want.any(KeyDilation), logits: h != nil && e.want.any(KeyTestAccuracy)}
	if !(ask.white || ask.logits || e.want.any(KeyTestNC1Ratio)) {
		return nil
	}
	if err := e.secondRun(s, h, ask, nil); err != nil {
		return err
	}
	t := &s.sampleCounts
	if k := firstNonFinite(t.scatter); k >= 0 {
		return &RangeError{Where: s.name, Class: s.number(k)}
	}
	perClass := make(Vector, s.k)
	for k, n := range s.count {
		perClass[k] = t.scatter[k] / float64(n)
	}
	b.report.PerClass["test_within_trace"] = e.aligned(perClass, 1)
	if reason = s.roundedMeans(reason); reason == "" {
		switch {
		case ask.white:
			b.put(KeyDilation, math.Sqrt(e.whiteMean(s)))
		case s.between.left != "":
			b.missUnasked("test: "+s.between.left, KeyDilation)
		}
		b.put(KeyTestNC1Ratio, average(t.scatter, s.count, s.n, e.opt.Imbalance)/(dot(s.centred, s.centred)/float64(s.k)))
	} else {
		b.missAll("test: "+reason, KeyDilation, KeyTestNC1Ratio)
	}
	if h != nil {
		e.testRate(b, KeyTestAccuracy, "test_accuracy", t.correct)
	}
	return nil
}

// testRate fills a share of test samples and its values per class.
func (e *Engine[T]) testRate(b *builder, key, perClass string, hits []int) {
	e.rate(b, &e.test, key, perClass, hits)
	if x := b.report.PerClass[perClass]; x != nil {
		b.report.PerClass[perClass] = e.aligned(x, 1)
	}
}

// forTest returns the classifier with the rows of the test classes first; all rows compete.
func (e *Engine[T]) forTest(in *Input[T], h *head) (*head, error) {
	if h == nil || !e.want.any(KeyTestAccuracy) {
		return h, nil
	}
	if h.rivals != nil {
		h = h.rivals
	}
	s := &e.test
	if sameLead(e.order, s.classes, s.k) {
		return h, nil
	}
	classes := s.classes
	if classes == nil { // all classes, while the train split lacks one
		return &e.testHead, setHead(&e.testHead, in.W, in.B, h.k, s.d)
	}
	order := rowOrder(classes, h.k)
	return &e.testHead, setHead(&e.testHead, arrange(in.W, order, s.d), arrange(in.B, order, 1), h.k, s.d)
}

// oodPass fills NC5.
func (e *Engine[T]) oodPass(in *Input[T], b *builder) error {
	if in.OOD == nil {
		b.missNeeding(needOOD, noOOD)
		return nil
	}
	if !e.want.any(KeyNC5OOD) && !e.want.any(oodKeys...) {
		return nil
	}
	s := &e.ood
	if err := s.open("ood", Split[T]{Features: in.OOD}, 1, nil, present{}); err != nil {
		return err
	}
	if s.d != e.train.d {
		return &ShapeError{What: "ood feature width", Found: s.d, Want: e.train.d}
	}
	if s.n == 0 {
		return &ShapeError{What: "ood samples", Found: 0, Want: 1}
	}
	if err := e.means(s, &b.report.Dropped, present{}); err != nil {
		return err
	}
	train := &e.train
	cosines := make(Vector, train.k)
	length := norm(s.means)
	for k := range cosines {
		cosines[k] = min(math.Abs(dot(train.mean(k), s.means))/(norm(train.mean(k))*length), 1)
	}
	b.report.PerClass["nc5_cosine"] = cosines
	mean := compensated(cosines) / float64(train.k)
	if mean != mean {
		b.miss(KeyNC5OOD, "a class mean or the mean of the out-of-distribution features is zero")
		return nil
	}
	b.put(KeyNC5OOD, mean)
	return nil
}
