package measure

import "collapse/internal/kernel"

// secondRun makes the second pass over a split in the form its shape asks for, and fills s.tally. s.between must
// be built if ask.white, e.pairs if ask.nearest.
func (e *Engine[T]) secondRun(s *samples[T], h *head, ask asked, mem *memorization) error {
	if !wide(s.k, s.d) && !(ask.logits && wide(h.k, s.d)) {
		e.second.clock.enter(PhaseSecond)
		return e.second.run(e.opt.Team, s, h, ask, mem)
	}
	e.second.weight = s.whiteWeights(e.second.weight, ask.im)
	s.between.release()
	var op []float64
	if ask.white {
		op = s.between.onResiduals(e.opt.Team, s.centred, s.k, s.d)
	}
	if !isFloat32[T]() || !singleFits(s.centred, s.k) || (ask.logits || ask.margins) && !h.singleFits() {
		_, err := runWide[T, float64](e, s, h, ask, mem, op)
		return err
	}
	certified, err := runWide[T, float32](e, s, h, ask, mem, op)
	if certified || err != nil {
		return err
	}
	again := *s
	again.tally = tally{}
	_, err = runWide[T, float64](e, &again, nil, asked{white: true, im: ask.im}, nil, op)
	s.tally.white = again.tally.white
	return err
}

// runWide runs the wide pass with products in P and reports whether they were exact enough.
func runWide[T, P kernel.Float](e *Engine[T], s *samples[T], h *head, ask asked, mem *memorization, op []float64) (certified bool, err error) {
	f := &widePass[T, P]{team: e.opt.Team, s: s, head: h, ask: ask, mem: mem, out: &e.second}
	f.near, f.best = undecided(ask.nearest, s.rows), undecided(ask.logits, s.rows)
	if ask.nearest {
		f.radius.nearRadii(&e.pairs)
	}
	switch {
	case ask.margins:
		if err := f.margins(); err != nil {
			return false, err
		}
	case ask.logits:
		e.second.clock.enter(PhaseRadii)
		fillLogitRadii[P](e.opt.Team, &f.radius, s.centred, s.centre, s.n, s.k, s.d, h)
	}
	collect()
	if ask.white {
		f.white.prepare(op[:s.between.rank*s.d], s.between.rank, s.d, min(wideRows(s.d), s.rows))
	}
	err = f.run()
	return f.certified, err
}
