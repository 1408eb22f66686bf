package measure

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/measure/internal/wide"
)

// secondRun makes the second pass over a split in the form that suits its shape, and fills s.sampleCounts. s.between
// must be built if ask.white, e.pairs if ask.nearest.
func (e *Engine[T]) secondRun(s *samples[T], h *head, ask asked, mem *memorization) error {
	s.whiteBound = 0
	if !wide.Due(s.k, s.d) && !(ask.logits && wide.Due(h.k, s.d)) {
		e.second.clock.enter(PhaseSecond)
		return e.second.run(e.opt.Team, s, h, ask, mem)
	}
	e.second.squares = e.second.squares[:0]
	e.second.weight = s.whiteWeights(e.second.weight, ask.im)
	s.between.release()
	var op []float64
	if ask.white {
		op = s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d)
	}
	if !vec.IsFloat32[T]() || !wide.FitsFloat32(s.centred, s.k) || (ask.logits || ask.margins) && !h.wide().FitsFloat32() {
		_, err := runWide[T, float64](e, s, h, ask, mem, op)
		return err
	}
	found, err := runWide[T, float32](e, s, h, ask, mem, op)
	if found.Certified || err != nil {
		s.whiteBound = found.Bound
		return err
	}
	again := *s
	again.sampleCounts = sampleCounts{}
	_, err = runWide[T, float64](e, &again, nil, asked{white: true, im: ask.im}, nil, op)
	s.sampleCounts.white = again.sampleCounts.white
	return err
}

// runWide makes the wide pass with products in P, fills s.sampleCounts and returns the results.
func runWide[T, P kernel.Float](e *Engine[T], s *samples[T], h *head, ask asked, mem *memorization, op []float64) (wide.Result, error) {
	_, views := s.src.(*Rows[T])
	in := wide.Input[T]{
		Team: e.opt.Team,
		Set: &wide.Set[T]{Source: s.src, Views: views, Class: s.class, Rows: s.rows, N: s.n, K: s.k, D: s.d,
			Means: s.means, Centre: s.centre, Centred: s.centred},
		Ask:    wide.Ask{White: ask.white, Nearest: ask.nearest, Logits: ask.logits, Margins: ask.margins},
		Weight: e.second.weight, Op: op, Rank: s.between.rank,
		Nearest: e.pairs.nearest, Lengths: e.pairs.whole, Margins: e.second.margins,
		Enter: e.second.clock.enter, MoveTime: e.second.clock.move,
	}
	if h != nil {
		in.Classifier = h.wide()
	}
	var strips []corrupted // one per goroutine
	if mem != nil {
		strips = make([]corrupted, (s.rows+wide.Strip-1)/wide.Strip)
		in.EachRow = func(row int, h []T) { tallyCorrupted(mem, &strips[row/wide.Strip], row, h) }
	}
	found, err := wide.Run[T, P](&in)
	if err != nil {
		return found, err
	}
	s.sampleCounts.reset(s.k)
	for _, t := range strips {
		s.sampleCounts.memory.add(t)
	}
	s.sampleCounts.take(&found, s.class)
	if ask.margins {
		e.second.margins = found.Margins
	}
	return found, nil
}

// take counts the wide pass's results for rows of the given classes (−1: not measured), and adds up their margins.
func (t *sampleCounts) take(found *wide.Result, class []int32) {
	copy(t.scatter, found.Scatter)
	t.white = found.White
	for i, c := range class {
		if c < 0 {
			continue
		}
		if found.Near != nil && found.Near[i] == c {
			t.nearest[c]++
		}
		if found.Best != nil && found.Best[i] == c {
			t.correct[c]++
		}
		if found.Near != nil && found.Best != nil && found.Near[i] != found.Best[i] {
			t.mismatch[c]++
		}
		if found.Margins != nil {
			t.takeMargin(found.Margins[i])
		}
	}
	if found.Margins != nil {
		t.sumMargins(found.Margins, class)
	}
}

// takeMargin counts one margin; NaN is none.
func (t *sampleCounts) takeMargin(margin float64) {
	if margin != margin {
		t.marginless++
		return
	}
	t.marginMin, t.marginMax = min(t.marginMin, margin), max(t.marginMax, margin)
}
