package measure

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// SecondPass is what a second pass over a shard adds to the Moments of all shards: sums over samples that need the
// final class means. The SecondPasses of all shards merge in any order and grouping.
type SecondPass struct {
	K, D    int   // K: classes of the moments, without those left out
	Count   []int // (K) samples of the shards
	Dropped int   // rows with NaN or infinity left out

	of           [sha256.Size]byte // what it was measured against: means, classifier, weighting, cut-off
	ask          asked
	sampleCounts sampleCounts
}

// MeasureSecondPass makes the second pass over a shard: in.Train with labels that are classes of m, in.W and in.B, and
// in.Only; tests, noise and out-of-distribution features belong to a whole measurement. m holds the merged
// moments of all shards. Errors are those of Engine.Measure.
func MeasureSecondPass[T kernel.Float](in Input[T], m *Moments, opt Options) (found *SecondPass, err error) {
	defer parallel.Stopping(&err)
	e, err := NewEngine[T](opt)
	if err != nil {
		return nil, err
	}
	s := &e.train
	if in.Train.Features == nil || in.Train.Labels == nil {
		return nil, &ShapeError{What: "train features or labels", Found: 0, Want: 1, Hint: "both are required"}
	}
	p := e.trainPresent()
	if err := s.open("train", in.Train, m.K, in.Only, present{ignore: p.ignore}); err != nil {
		return nil, err
	}
	if s.d != m.D {
		return nil, &ShapeError{What: "feature width", Found: s.d, Want: m.D, Hint: "the shard is not one of those whose moments were merged"}
	}
	m, w, b, err := e.there(m, in.W, in.B)
	if err != nil {
		return nil, err
	}
	if e.stay != nil {
		s.restrict(e.stay)
	}
	out := &SecondPass{K: s.k, D: m.D, Count: append([]int(nil), s.count...)}
	h, err := e.adopt(m, w, b)
	if err != nil {
		return nil, err
	}
	out.of = e.identity(m, h)
	e.leaveUnaskedMeans(newBuilder(&e.want, opt.Imbalance))
	noOperator := e.operator(s)
	e.classPairs()
	out.ask = e.asks(h, noOperator)
	if err := e.decisions(s, h, out.ask, nil); err != nil {
		return nil, err
	}
	if !finite(s.sampleCounts.scatter) {
		if out.Dropped, err = s.nonFinite(opt.DropNonFinite); err != nil {
			return nil, err
		}
		out.Count = append(out.Count[:0], s.count...)
		s.count = append(s.count[:0], m.Count...)
		s.sumCounts()
		if err := e.decisions(s, h, out.ask, nil); err != nil {
			return nil, err
		}
	}
	out.sampleCounts = s.sampleCounts
	return out, nil
}

// identity is a digest of what second passes must share to be merged.
func (e *Engine[T]) identity(m *Moments, h *head) (sum [sha256.Size]byte) {
	hash := sha256.New()
	var block [8 * 512]byte
	write := func(x []float64) {
		for len(x) > 0 {
			n := min(len(x), 512)
			for i, v := range x[:n] {
				binary.LittleEndian.PutUint64(block[8*i:], math.Float64bits(v))
			}
			hash.Write(block[:8*n])
			x = x[n:]
		}
	}
	write([]float64{float64(e.opt.Imbalance), e.opt.RankCutoff, float64(m.K), float64(m.D)})
	for _, n := range m.Count {
		write([]float64{float64(n)})
	}
	write(m.Mean)
	if h != nil {
		if h.rivals != nil {
			h = h.rivals
		}
		write(h.w)
		write(h.b)
	}
	copy(sum[:], hash.Sum(nil))
	return sum
}

// Merge adds the samples of o, which is not changed. It returns *StateError if they were measured against
// other means, another classifier or other options.
func (s *SecondPass) Merge(o *SecondPass) error {
	if s.of != o.of || s.K != o.K {
		return &StateError{"these second passes were made with different class means, weights or options; pass the same merged state, classifier and --imbalance to all"}
	}
	if s.ask != o.ask {
		return &StateError{"these second passes found different measures; use the same --measures for all"}
	}
	for c, n := range o.Count {
		s.Count[c] += n
	}
	s.Dropped += o.Dropped
	s.sampleCounts.add(&o.sampleCounts)
	return nil
}

// Report returns every measure that both passes give; m, w and b are those of MeasureSecondPass. Margins come with mean
// and extremes, not as a curve.
//
// It returns *StateError if s was made with other moments, or if samples of m are missing from s.
func (s *SecondPass) Report(m *Moments, w, b []float64, opt Options) (found *Report, err error) {
	defer parallel.Stopping(&err)
	e, err := NewEngine[float64](opt)
	if err != nil {
		return nil, err
	}
	e.opt.KeepMargins = false
	if m, w, b, err = e.there(m, w, b); err != nil {
		return nil, err
	}
	out := newBuilder(&e.want, opt.Imbalance)
	h, err := e.adopt(m, w, b)
	if err != nil {
		return nil, err
	}
	if e.identity(m, h) != s.of || s.K != e.train.k {
		return nil, &StateError{"the second pass was made with other class means, weights or options; pass the merged state, classifier and --imbalance it was made with"}
	}
	out.report.Classes = e.train.classes
	e.leaveUnaskedReport(out)
	for c, n := range e.train.count {
		if n != s.Count[c] {
			return nil, &ShapeError{What: "samples of a class in the second passes", Found: s.Count[c], Want: n, Hint: "merge the second pass of every shard, each once"}
		}
	}
	noOperator := e.operator(&e.train)
	e.train.sampleCounts = s.sampleCounts
	noOperator = e.train.roundedMeans(noOperator)
	e.putRank(out, noOperator)
	e.classPairs()
	e.within(out, noOperator, s.ask.white)
	e.rates(out, h)
	e.marginMeasures(out, h, s.ask)
	e.geometry.all(out, e.train.shape(e.cut(&e.train), h, &e.pairs))
	out.missNeeding(needOOD, noOOD)
	out.missNeeding(needTest, noTest)
	out.missNeeding(needTogether, "two passes over shards cannot give it: it needs a class's samples together")
	out.missNeeding(needCovariance, "two passes over shards cannot give it: it needs the covariance of all samples")
	r := e.momentsReport(out, m, s.ask.nearest)
	return r, e.aboutMoments(r, m, w, b)
}
