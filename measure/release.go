package measure

// Repeated measurements, with moved means or shuffled labels, use engines of their own. Meanwhile the passes' scratch memory and, for
// shuffles, the class means would be unused; for wide features they are most of the memory.

// releasePasses frees the scratch memory of all passes.
func (e *Engine[T]) releasePasses() {
	clock := e.second.clock
	e.second = secondPass[T]{clock: clock, squares: e.second.squares}
	e.ranks, e.pairs, e.geometry = ranks[T]{}, pairs{}, geometry{team: e.opt.Team}
	e.first.partial, e.first.bufs.spare = nil, nil
	for _, s := range []*samples[T]{&e.train, &e.test, &e.ood} {
		s.between.release()
	}
}

// releaseMeans frees everything from which measures of the given labels were computed, except the centred class
// means.
func (e *Engine[T]) releaseMeans() {
	e.mem, e.head, e.testHead = memorization{}, head{}, head{}
	e.train.means, e.train.between.op = nil, nil
	for _, s := range []*samples[T]{&e.test, &e.ood} {
		s.means, s.centred, s.between.op = nil, nil, nil
	}
}
