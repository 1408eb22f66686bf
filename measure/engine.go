package measure

import (
	"math/rand/v2"
	"slices"
	"time"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// Engine measures features repeatedly in the same scratch memory. It is not safe for concurrent use;
// make one per goroutine.
type Engine[T kernel.Float] struct {
	opt  Options
	want wanted

	train, test, ood samples[T]
	head, testHead   head  // rows of the classes of a split first
	order            []int // order of the rows of head; nil: as given
	stay             []int // present classes of moments; nil: all
	gone             []LeftOut
	mixed            bool // the pooled scatter contains samples of left-out classes
	first            firstPass[T]
	second           secondPass[T]
	pairs            pairs
	geometry         geometry
	ranks            ranks[T]
	mem              memorization

	given  float64    // Options.allowed of a repeated measurement; 0: what the input justifies
	jitter *rand.Rand // moves class means by their own rounding, to see the effect; nil: off
	resum  bool       // recomputes class sums with compensation
}

// NewEngine returns an engine. It returns *UnknownMeasureError if opt asks for what is not in the registry.
func NewEngine[T kernel.Float](opt Options) (*Engine[T], error) {
	want, err := newWanted(opt)
	if err != nil {
		return nil, err
	}
	opt.Team = opt.Team.Until(opt.Context)
	e := &Engine[T]{opt: opt, want: want, geometry: geometry{team: opt.Team}, given: opt.allowed}
	for _, s := range []*samples[T]{&e.train, &e.test, &e.ood} {
		s.team = opt.Team
	}
	return e, nil
}

// Measure is NewEngine and Engine.Measure for one call.
func Measure[T kernel.Float](in Input[T], opt Options) (*Report, error) {
	e, err := NewEngine[T](opt)
	if err != nil {
		return nil, err
	}
	return e.Measure(in)
}

// Measure returns the report of in. Errors: *NonFiniteError, *RangeError, *LabelError, *ShapeError, what a
// Source returned, or the error of Options.Context.
//
// Train is read twice (class sums, then residuals), and so is test. The test means come first,
// because memorization needs them during the pass over train residuals.
func (e *Engine[T]) Measure(in Input[T]) (r *Report, err error) {
	defer parallel.Stopping(&err)
	if !e.opt.again {
		exp, err := exponent(in.Train.Features)
		if err != nil {
			return nil, err
		}
		if again := in.rescaled(exp); exp != 0 && finite(again.W) {
			if r, err = e.measure(again); err == nil {
				r.rescale(exp)
			}
			return r, err
		}
	}
	return e.measure(in)
}

// measure is Measure for features of ordinary size.
func (e *Engine[T]) measure(in Input[T]) (r *Report, err error) {
	e.second.clock.start()
	defer func() { e.second.clock.stop(time.Now()) }()
	b := newBuilder(&e.want, e.opt.Imbalance)
	e.test.left = nil
	h, err := e.open(&in, b)
	if err != nil {
		return nil, err
	}
	e.leaveUnasked(b, &in, h)
	mem, err := e.testAndOOD(&in, b, h)
	if err != nil {
		return nil, err
	}
	e.second.clock.enter(PhasePairs)
	e.classPairs()
	if err := e.trainPass(b, h, mem); err != nil {
		return nil, err
	}
	s := &e.train
	e.second.clock.enter(PhaseGeometry)
	b.put(KeyMinClassCount, float64(slices.Min(s.count)))
	e.geometry.all(b, s.shape(e.cut(s), h, &e.pairs))
	e.second.clock.enter(PhaseRanks)
	if err := e.numericalRank(b); err != nil {
		return nil, err
	}
	b.report.LeftOut = leftOut(e.train.left, e.test.left)
	if err := e.clouds(b, h, &in); err != nil {
		return nil, err
	}
	e.keep(b.report, in.Test.Features != nil)
	if e.opt.Uncertainty || e.opt.Null > 0 {
		e.releasePasses()
	}
	if e.opt.Uncertainty {
		if err := e.uncertainties(b, &in, h); err != nil {
			return nil, err
		}
	}
	if e.opt.Null > 0 {
		if err := e.shuffles(b.report); err != nil {
			return nil, err
		}
	}
	return b.finish(), nil
}

// open checks the input and makes the train means.
func (e *Engine[T]) open(in *Input[T], b *builder) (*head, error) {
	if in.Train.Features == nil || in.Train.Labels == nil {
		return nil, &ShapeError{What: "train features or labels", Found: 0, Want: 1, Hint: "both are required"}
	}
	s := &e.train
	_, d := in.Train.Features.Size()
	k, p := e.classes(in, d), e.trainPresent()
	if in.TestClasses == 0 {
		in.TestClasses = k
	}
	if err := s.open("train", in.Train, k, in.Only, p); err != nil {
		return nil, err
	}
	if s.n == 0 {
		return nil, noneLeft("measured train samples", s.left)
	}
	if err := e.checkNoise(in, s.rows); err != nil {
		return nil, err
	}
	h, err := e.classifier(in, k)
	if err != nil {
		return nil, err
	}
	if err := e.means(s, &b.report.Dropped, p); err != nil {
		return nil, err
	}
	if h != nil && !sameLead(e.order, s.classes, s.k) || h != nil && h.k != s.k { // dropped rows removed a class
		if h, err = e.classifier(in, k); err != nil {
			return nil, err
		}
	}
	r := b.report
	r.N, r.D, r.K, r.Classes, r.ClassCounts = s.n, s.d, s.k, slices.Clone(s.classes), append([]int(nil), s.count...)
	return h, nil
}

// classifier converts W and b of k classes for the present train classes; nil without W.
func (e *Engine[T]) classifier(in *Input[T], k int) (*head, error) {
	if in.W == nil {
		return nil, nil
	}
	s := &e.train
	e.order = rowOrder(s.classes, k)
	return newHeads(&e.head, in.W, in.B, e.order, k, s.k, s.d)
}

// classes returns K: the caller's value, else the rows of W, else one more than the largest label that is not ignored.
func (e *Engine[T]) classes(in *Input[T], d int) int {
	if in.Classes > 0 {
		return in.Classes
	}
	if d > 0 && len(in.W) >= d {
		return len(in.W) / d
	}
	p, most := e.trainPresent(), int32(0)
	for _, label := range in.Train.Labels {
		if label > most && !p.ignored(label) {
			most = label
		}
	}
	return 1 + int(most)
}

// checkNoise checks the true labels and the mask of redrawn samples.
func (e *Engine[T]) checkNoise(in *Input[T], rows int) error {
	if in.True != nil && len(in.True) != rows {
		return &ShapeError{What: "true labels", Found: len(in.True), Want: rows}
	}
	if in.Redrawn != nil && len(in.Redrawn) != rows {
		return &ShapeError{What: "mask of redrawn samples", Found: len(in.Redrawn), Want: rows}
	}
	p := e.trainPresent()
	for i, label := range in.True {
		if (label < 0 || int(label) >= in.TestClasses) && !p.ignored(label) {
			return &LabelError{Where: "true", Row: i, Label: label, K: in.TestClasses}
		}
	}
	return nil
}

// means runs the first pass; if non-finite rows may be dropped, it repeats it without them and without the classes that p then leaves
// out.
func (e *Engine[T]) means(s *samples[T], dropped *int, p present) error {
	e.second.clock.enter(PhaseFirst)
	if err := e.first.run(e.opt.Team, s); err != nil {
		return err
	}
	if !finite(s.means) {
		n, err := s.nonFinite(e.opt.DropNonFinite)
		if err != nil {
			return err
		}
		*dropped += n
		if s != &e.ood {
			s.choose(&p)
		}
		if s.n == 0 {
			return noneLeft("measured "+s.name+" samples", s.left)
		}
		if err := e.first.run(e.opt.Team, s); err != nil {
			return err
		}
		if !finite(s.means) {
			return &RangeError{Where: s.name, Class: s.number(firstNonFinite(s.means) / s.d)}
		}
	}
	var err error
	if e.resum {
		if err = s.resum(); err != nil {
			return err
		}
	}
	s.setMeans(e.opt.Imbalance, e.jitter)
	if s.isFloat32, err = s.fitsFloat32(); err != nil {
		return err
	}
	few, err := newProbe(s, fewRows)
	if err == nil {
		s.variance = few.variance
	}
	return err
}

// operator builds a split's NC1 operator, or returns the reason why NC1 is undefined.
func (e *Engine[T]) operator(s *samples[T]) string {
	e.second.clock.enter(PhaseBetween)
	s.between.allowed = e.opt.allowed
	count := s.count
	if e.opt.Imbalance == PerClass {
		count = nil
	}
	s.between.build(e.opt.Team, s.centred, s.k, s.d, count, e.cut(s), e.opt.KeepSpectrum)
	return s.between.reason
}

// cut is the cut-off for a split's eigenvalues.
func (e *Engine[T]) cut(s *samples[T]) cutoff {
	return newCutoff(s.isFloat32, e.opt.RankCutoff, s.means, s.variance, s.d, s.k)
}

// numericalRank runs the expensive pass over classes if it was requested or is cheap.
func (e *Engine[T]) numericalRank(b *builder) error {
	if !e.want.any(KeyNumericalRank) {
		return nil
	}
	if work := ranksWork(e.train.count, e.train.d); !e.want.pays(work) {
		b.missExpensive(KeyNumericalRank, work)
		return nil
	}
	return e.ranks.run(b, e.opt.Team, &e.train)
}

// keep copies into the report what the options ask for.
func (e *Engine[T]) keep(r *Report, test bool) {
	if e.opt.KeepMeans {
		r.ClassMeans = e.train.keptMeans()
		r.GlobalMean = append([]float64(nil), e.train.centre...)
		if test {
			r.TestClassMeans = e.aligned(e.test.keptMeans(), e.test.d)
		}
	}
	if _, measured := r.Measures.of[KeyMarginMean]; e.opt.KeepMargins && measured {
		r.Margins = make(Vector, 0, e.train.n)
		for i, c := range e.train.class {
			if c >= 0 {
				r.Margins = append(r.Margins, e.second.margins[i])
			}
		}
		slices.Sort(r.Margins)
	}
	if e.opt.KeepSpectrum {
		for _, g := range e.train.between.values {
			r.Eigenvalues = append(r.Eigenvalues, g/float64(e.train.k))
		}
	}
}
