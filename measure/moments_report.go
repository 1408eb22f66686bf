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
	e.classPairs()
	e.momentsWithin(out, m)
	e.geometry.all(out, e.train.shape(e.cut(&e.train), h, &e.pairs))
	for _, key := range []string{KeyAccuracy, KeyNCCAccuracy, KeyNC4NCCMismatch, KeyMarginMean, KeyMarginMin, KeyMarginMax, KeyNumericalRank} {
		out.miss(key, secondLook)
	}
	return e.momentsReport(out, m), nil
}

// adopt takes the class means of m instead of those of a first pass.
func (e *Engine[T]) adopt(m *Moments, w, b []float64) (*head, error) {
	s := &e.train
	s.name, s.d, s.k, s.count = "moments", m.D, m.K, append(s.count[:0], m.Count...)
	s.tallyCounts()
	if s.n == 0 {
		return nil, &ShapeError{What: "samples in the moments", Found: 0, Want: 1}
	}
	s.short = m.Single
	s.means = append(s.means[:0], m.Mean...)
	s.centreMeans(e.opt.Imbalance)
	if w == nil {
		return nil, nil
	}
	return &e.head, setHead(&e.head, w, b, m.K, m.D)
}

// momentsReport fills what a report says about its samples.
func (e *Engine[T]) momentsReport(out *builder, m *Moments) *Report {
	r := out.report
	r.N, r.D, r.K, r.ClassCounts, r.Dropped = e.train.n, m.D, m.K, append([]int(nil), m.Count...), m.Dropped
	e.keep(r, false)
	return out.finish()
}

// momentsWithin fills NC1 and its relatives.
func (e *Engine[T]) momentsWithin(b *builder, m *Moments) {
	s := &e.train
	s.tally.reset(s.k)
	copy(s.tally.scatter, m.Scatter)
	reason := e.operator(s)
	e.putRank(b, reason)
	switch {
	case reason != "":
	case m.Pooled == nil:
		b.miss(KeyNC1Pinv, "the pooled scatter was not kept")
	case e.opt.Imbalance == PerClass:
		b.miss(KeyNC1Pinv, "the pooled scatter weighs samples, not classes; ask for the weighting per sample")
	default:
		s.tally.white = s.between.whitenScatter(e.opt.Team, m.Pooled, s.centred, s.k, s.d)
	}
	e.within(b, reason, reason == "" && m.Pooled != nil && e.opt.Imbalance == PerSample)
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
