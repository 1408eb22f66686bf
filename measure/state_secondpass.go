package measure

import (
	"fmt"
	"io"
)

// Flags of a second pass.
const (
	flagWhite = 1 << iota
	flagNearest
	flagLogits
	flagMargins
	flagPerClass
	flagsSecond = 1<<iota - 1
)

// WriteTo writes s as a .ncs file; it implements io.WriterTo.
func (s *SecondPass) WriteTo(to io.Writer) (int64, error) {
	flags := uint32(0)
	for i, set := range []bool{s.ask.white, s.ask.nearest, s.ask.logits, s.ask.margins, s.ask.im == PerClass} {
		if set {
			flags |= 1 << i
		}
	}
	w := newStateWriter(kindSecond, flags, s.K, s.D, 8*(9+6*s.K))
	w.b = append(w.b, s.of[:]...)
	t := &s.sampleCounts
	w.integers([]int{s.Dropped, t.marginless})
	w.floats([]float64{t.white, t.marginMin, t.marginMax})
	w.integers(s.Count)
	w.floats(t.scatter)
	w.floats(t.margin)
	w.integers(t.correct)
	w.integers(t.nearest)
	w.integers(t.mismatch)
	return w.finish(to)
}

// parseSecond reads a second pass.
func parseSecond(r *stateReader, flags uint32, k, d int) (*SecondPass, error) {
	if flags&^flagsSecond != 0 {
		return nil, &StateError{fmt.Sprintf("flags %#x are unknown; a newer program wrote it", flags)}
	}
	if err := r.need([2]int{9, 1}, [2]int{6, k}); err != nil {
		return nil, err
	}
	s := &SecondPass{K: k, D: d}
	r.rest = r.rest[copy(s.of[:], r.rest):]
	s.ask = asked{white: flags&flagWhite != 0, nearest: flags&flagNearest != 0, logits: flags&flagLogits != 0, margins: flags&flagMargins != 0}
	if flags&flagPerClass != 0 {
		s.ask.im = PerClass
	}
	t := &s.sampleCounts
	s.Dropped, t.marginless = r.integer("number of dropped rows"), r.integer("number of samples without margin")
	t.white = r.squares("NC1 sum", 1)[0]
	t.marginMin, t.marginMax = r.extreme(), r.extreme()
	s.Count = r.integers("class count", k)
	t.scatter = r.squares("within-class scatter", k)
	t.margin = r.floats("margin sum", k)
	t.correct, t.nearest, t.mismatch = r.integers("hits", k), r.integers("hits", k), r.integers("hits", k)
	for c, n := range s.Count {
		if max(t.correct[c], t.nearest[c], t.mismatch[c]) > n {
			r.fail("hits: more than samples")
		}
	}
	return s, r.err()
}
