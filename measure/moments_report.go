package measure

import (
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/parallel"
)

// Reasons why moments lack a measure that samples give.
const (
	onePass    = "one pass cannot give it: "
	secondLook = onePass + "it needs every sample again, with the final class means"
	ofOneClass = onePass + "it needs the samples of a class together"
)

// Report returns every measure that one pass can give; w (K×D) and b (K) are the classifier, nil if there is
// none. rcond for Σ_B's eigenvalues follows from the added features unless opt.RankCutoff sets it. Only
// PerSample weighting has an nc1_pinv, because the pooled scatter weighs samples.
func (m *Moments) Report(w, b []float64, opt Options) (found *Report, err error) {
	defer parallel.Stopping(&err)
	if exp := extremeExponent(m.Mean); exp != 0 {
		if found, err = m.rescaled(exp).Report(times2(w, exp), b, opt); err == nil {
			found.rescale(exp)
		}
		return found, err
	}
	e, err := NewEngine[float64](opt)
	if err != nil {
		return nil, err
	}
	if m, w, b, err = e.there(m, w, b); err != nil {
		return nil, err
	}
	r, err := e.moments(m, w, b)
	if err != nil {
		return nil, err
	}
	return r, e.aboutMoments(r, m, w, b)
}

// aboutMoments fills uncertainties and nulls of a report of moments.
func (e *Engine[T]) aboutMoments(r *Report, m *Moments, w, b []float64) error {
	if e.opt.Uncertainty {
		if err := e.momentsUncertainties(r, m, w, b); err != nil {
			return err
		}
		r.stateSample()
	}
	if e.opt.Null > 0 {
		return e.momentsNull(r, m)
	}
	return nil
}

// momentsUncertainties fills the rounding errors in the measures of moments.
func (e *Engine[T]) momentsUncertainties(r *Report, m *Moments, w, b []float64) error {
	r.startUncertainty()
	x := &meanPerturber{opt: e.opt, m: m, variance: append([]float64(nil), m.spread()...), w: w, b: b}
	scale(x.variance, 1/float64(max(r.N, 1)))
	s := &e.train
	if _, ok := r.Measures.of[KeyNC1Pinv]; ok {
		x.rank, x.op = s.between.rank, s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d)
		x.within = diagonalScatter(m.spread())
		if m.Pooled != nil {
			x.within = pooledScatter(m.Pooled)
		}
		x.base = e.whiteMeanOf(s, x.within.trace(e.opt.Team, x.op, x.rank, s.d))
	}
	if err := x.perturb(r, rand.New(rand.NewPCG(perturbSeed, uint64(r.N)))); err != nil {
		return err
	}
	r.ofSamples(m, x.variance)
	if v, ok := r.Measures.of[KeyNC1Pinv]; ok {
		r.Uncertainty[KeyNC1Pinv] += s.operatorRounding() * v
	}
	r.explain(&e.train.between, m.Float32)
	return nil
}

// moments is Moments.Report.
func (e *Engine[T]) moments(m *Moments, w, b []float64) (*Report, error) {
	out := newBuilder(&e.want, e.opt.Imbalance)
	h, err := e.adopt(m, w, b)
	if err != nil {
		return nil, err
	}
	out.report.Classes = e.train.classes
	e.leaveUnaskedReport(out)
	e.classPairs()
	e.momentsWithin(out, m)
	e.geometry.all(out, e.train.shape(e.cut(&e.train), h, &e.pairs))
	out.missNeeding(needOOD, noOOD)
	out.missNeeding(needTest, noTest)
	out.missNeeding(needSamples|needCovariance, secondLook)
	out.missNeeding(needTogether, ofOneClass)
	return e.momentsReport(out, m, false), nil
}

// there returns m with only the present classes, and the classifier with their rows first. Its first m.K rows belong to the classes of m;
// the others only compete in argmax. After that the engine's options leave nothing more out.
func (e *Engine[T]) there(m *Moments, w, b []float64) (*Moments, []float64, []float64, error) {
	rows := max(len(w)/m.D, m.K)
	if w != nil {
		if err := checkRows(w, b, rows, m.D); err != nil {
			return nil, nil, nil, err
		}
	}
	classes, left := m.choose(e.trainPresent())
	if len(classes) == 0 {
		return nil, nil, nil, noneLeft("samples in the moments", left)
	}
	e.opt.MinCount, e.opt.IgnoreLabels, e.gone = 0, nil, left
	if len(classes) == m.K {
		return m, w, b, nil
	}
	e.stay = classes
	out := &Moments{K: len(classes), D: m.D, Float32: m.Float32, Dropped: m.Dropped, Spread: m.Spread, Pooled: m.Pooled, Far: m.Far}
	for _, c := range classes {
		out.Count, out.Scatter = append(out.Count, m.Count[c]), append(out.Scatter, m.Scatter[c])
		out.Mean = append(out.Mean, m.Mean[c*m.D:][:m.D]...)
		out.Rest = append(out.Rest, m.restOf(c)...)
	}
	for c, x := range m.Scatter {
		if _, stays := slices.BinarySearch(classes, c); !stays && m.Count[c] > 0 {
			out.Far = nil // some may be of that class
			if x > 0 {
				e.mixed, out.Pooled, out.Spread = m.Pooled != nil, nil, nil
			}
		}
	}
	order := rowOrder(classes, rows)
	return out, arrange(w, order, m.D), arrange(b, order, 1), nil
}

// adopt takes the class means of m instead of those of a first pass.
func (e *Engine[T]) adopt(m *Moments, w, b []float64) (*head, error) {
	s := &e.train
	s.name, s.d, s.k, s.classes, s.left, s.count = "moments", m.D, m.K, e.stay, e.gone, append(s.count[:0], m.Count...)
	s.sumCounts()
	s.isFloat32, s.variance = m.Float32, append(s.variance[:0], m.spread()...)
	scale(s.variance, 1/float64(s.n))
	s.means = m.Mean // nothing here changes them
	s.centreMeans(e.opt.Imbalance)
	if w == nil {
		return nil, nil
	}
	return newHeads(&e.head, w, b, nil, max(len(w)/m.D, m.K), s.k, m.D)
}

// choose returns the classes that p keeps, and those it leaves out.
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

// momentsReport fills the report's facts about its samples; counted says whether a second pass counted those nearest to their means.
func (e *Engine[T]) momentsReport(out *builder, m *Moments, counted bool) *Report {
	r := out.report
	s := &e.train
	out.put(KeyMinClassCount, float64(slices.Min(s.count)))
	e.facts(out, counted)
	out.report.Facts.Summed = true
	r.N, r.D, r.K, r.Classes, r.ClassCounts, r.Dropped = s.n, m.D, s.k, s.classes, append([]int(nil), s.count...), m.Dropped
	r.LeftOut = leftOut(s.left)
	e.keep(r, false)
	return out.finish()
}

// momentsWithin fills NC1 and its relatives.
func (e *Engine[T]) momentsWithin(b *builder, m *Moments) {
	s := &e.train
	s.sampleCounts.reset(s.k)
	copy(s.sampleCounts.scatter, m.Scatter)
	reason := s.roundedMeans(e.operator(s))
	e.putRank(b, reason)
	switch {
	case reason != "":
	case m.within != nil:
	case e.mixed:
		b.miss(KeyNC1Pinv, "the pooled scatter contains samples of left-out classes; a second pass, or states without them, give it")
	case m.Pooled == nil:
		b.miss(KeyNC1Pinv, "the pooled scatter was not kept because the features are wide; a second pass over the samples gives it")
	case e.opt.Imbalance == PerClass:
		b.miss(KeyNC1Pinv, "the pooled scatter weighs samples, not classes; use the weighting per sample")
	default:
		m.within = pooledScatter(m.Pooled)
		defer func() { m.within = nil }()
	}
	white := reason == "" && s.between.left == "" && m.within != nil
	if white {
		s.sampleCounts.white = m.within.trace(e.opt.Team, s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d), s.between.rank, s.d)
	}
	e.within(b, reason, white)
}

// onResiduals returns the operator as it applies to residuals (rank×d).
func (b *between) onResiduals(team *parallel.Team, c []float64, k, d int) []float64 {
	if !b.fromP {
		return b.op
	}
	a := make([]float64, b.rank*d)
	gemm.Multiply(team, gemm.NN, kernel.Dense(b.rank, k, b.op), kernel.Dense(k, d, c), kernel.Dense(b.rank, d, a), gemm.Epilogue[float64]{})
	return a
}
