package measure

// What is measured again, with means that moved or labels that were shuffled, is measured by engines of its own. Beside them the scratch
// memory of the passes and, of shuffles, the class means would lie about unused; of wide features they are most of what is in memory.

// releasePasses gives back the scratch memory of all passes.
func (e *Engine[T]) releasePasses() {
	clock := e.second.clock
	e.second = secondPass[T]{clock: clock}
	e.ranks, e.pairs, e.geometry = ranks[T]{}, pairs{}, geometry{team: e.opt.Team}
	e.first.partial, e.first.bufs = nil, nil
	for _, s := range []*samples[T]{&e.train, &e.test, &e.ood} {
		s.between.release()
	}
}

// releaseMeans gives back what measures of the given labels were found from, but for the centred class means.
func (e *Engine[T]) releaseMeans() {
	e.mem, e.head, e.testHead = memorization{}, head{}, head{}
	e.train.means, e.train.between.op = nil, nil
	for _, s := range []*samples[T]{&e.test, &e.ood} {
		s.means, s.centred, s.between.op = nil, nil, nil
	}
}
