package measure

import "collapse/internal/kernel"

const secondLook = "one pass cannot give it: it needs every sample again, beside the class means"

// Report returns every measure that one pass can give; w (K×D) and b (K) are the classifier, nil if there is
// none. rcond of Σ_B's eigenvalues is that of the features that were added unless opt.RankCutoff says otherwise.
// Only PerSample weighting has an nc1_pinv, because the pooled scatter weighs samples.
func (m *Moments) Report(w, b []float64, opt Options) (*Report, error) {
	e, err := NewEngine[float64](opt)
	if err != nil {
		return nil, err
	}
	out := newBuilder(&e.want, opt.Imbalance)
	h, err := e.adopt(m, w, b)
	if err != nil {
		return nil, err
	}
	out.report.Classes = e.train.classes
	e.classPairs()
	e.momentsWithin(out, m)
	e.geometry.all(out, e.train.shape(e.cut(&e.train), h, &e.pairs))
	for _, key := range []string{KeyAccuracy, KeyNCCAccuracy, KeyNC4NCCMismatch, KeyMarginMean, KeyMarginMin, KeyMarginMax, KeyNumericalRank} {
		out.miss(key, secondLook)
	}
	return e.momentsReport(out, m), nil
}

// adopt takes the class means of m, of the classes that are there, instead of those of a first pass. The first m.K rows of w belong to
// the classes of m; the others compete in argmax alone.
func (e *Engine[T]) adopt(m *Moments, w, b []float64) (*head, error) {
	s := &e.train
	classes, left := m.choose(e.trainPresent())
	s.name, s.d, s.k, s.classes, s.left = "moments", m.D, len(classes), classes, left
	if s.k == m.K {
		s.classes = nil
	}
	if s.countAll(m); s.n == 0 {
		return nil, noneLeft("samples in the moments", left)
	}
	s.means = s.means[:0]
	for _, c := range classes {
		s.means = append(s.means, m.Mean[c*m.D:][:m.D]...)
	}
	e.single = m.Single
	s.centreMeans(e.opt.Imbalance)
	if w == nil {
		return nil, nil
	}
	rows := max(len(w)/m.D, m.K)
	e.order = rowOrder(s.classes, rows)
	return newHeads(&e.head, w, b, e.order, rows, s.k, m.D)
}

// countAll takes the counts of m for the classes that are there.
func (s *samples[T]) countAll(m *Moments) {
	s.count = s.count[:0]
	for c := range s.k {
		s.count = append(s.count, m.Count[s.number(c)])
	}
	s.tallyCounts()
}

// choose returns the classes that p does not leave out, and what it does.
func (m *Moments) choose(p present) (classes []int, left []LeftOut) {
	s := samples[float64]{name: "train", k: m.K, count: m.Count}
	for c, n := range m.Count {
		if reason := p.reason(c, n); reason != "" {
			s.leaveOut(reason, c, n)
			continue
		}
		classes = append(classes, c)
	}
	return classes, s.left
}

// momentsReport fills what a report says about its samples.
func (e *Engine[T]) momentsReport(out *builder, m *Moments) *Report {
	r := out.report
	s := &e.train
	r.N, r.D, r.K, r.Classes, r.ClassCounts, r.Dropped = s.n, m.D, s.k, s.classes, append([]int(nil), s.count...), m.Dropped
	r.LeftOut = leftOut(s.left)
	e.keep(r, false)
	return out.finish()
}

// momentsWithin fills NC1 and its relatives.
func (e *Engine[T]) momentsWithin(b *builder, m *Moments) {
	s := &e.train
	s.tally.reset(s.k)
	without := 0.0 // of classes that are left out
	for c, x := range m.Scatter {
		if k, there := s.place(c); there {
			s.tally.scatter[k] = x
		} else {
			without += x
		}
	}
	reason := e.operator(s)
	e.putRank(b, reason)
	switch {
	case reason != "":
	case m.Pooled == nil:
		b.miss(KeyNC1Pinv, "the pooled scatter was not kept")
	case e.opt.Imbalance == PerClass:
		b.miss(KeyNC1Pinv, "the pooled scatter weighs samples, not classes; ask for the weighting per sample")
	case without > 0:
		b.miss(KeyNC1Pinv, "the pooled scatter holds the samples of classes that are left out; a second pass, or states without them, give it")
	default:
		s.tally.white = s.between.whitenScatter(e.opt.Team, m.Pooled, s.centred, s.k, s.d)
	}
	e.within(b, reason, reason == "" && m.Pooled != nil && e.opt.Imbalance == PerSample && without == 0)
}

// whitenScatter returns Σ_i ‖z_i‖² from the scatter of residuals (d×d).
func (b *between) whitenScatter(team *kernel.Team, pooled, c []float64, k, d int) float64 {
	return traceOf(team, b.onResiduals(team, c, k, d), b.rank, pooled, d)
}

// onResiduals returns the operator as it applies to residuals (rank×d).
func (b *between) onResiduals(team *kernel.Team, c []float64, k, d int) []float64 {
	if !b.fromP {
		return b.op
	}
	a := make([]float64, b.rank*d)
	kernel.Gemm(team, kernel.NN, b.rank, d, k, b.op, k, c, d, a, d, kernel.Epilogue[float64]{})
	return a
}
