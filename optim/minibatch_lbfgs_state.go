package optim

import (
	"fmt"
	"strings"
)

// Names of L-BFGS's vectors in a state, over all trained parameters concatenated. They are those of
// PyTorch's slots, except last_move, which is d·t. ρ and the scale of the inverse Hessian follow from
// the pairs.
const (
	slotMove     = "lbfgs.last_move"
	slotPrevious = "lbfgs.prev_flat_grad"
	slotY        = "lbfgs.old_dirs."
	slotS        = "lbfgs.old_stps."
)

// State returns the step count and, once a move was made, the vectors that the next one needs, the
// oldest pair first, as views.
func (l *MinibatchLBFGS[T]) State() State[T] {
	state := State[T]{Steps: l.steps}
	if l.started {
		places := make([]int, l.pairs.count)
		for j := range places {
			places[j] = l.pairs.place(l.pairs.count - j)
		}
		state.Tensors = l.tensors(places)
	}
	return state
}

// tensors names the vectors of a state whose pairs, oldest first, lie at places.
func (l *MinibatchLBFGS[T]) tensors(places []int) []Tensor[T] {
	shape := []int{len(l.grad)}
	list := []Tensor[T]{{slotMove, shape, l.move}, {slotPrevious, shape, l.previous}}
	for j, i := range places {
		list = append(list, Tensor[T]{fmt.Sprint(slotY, j), shape, l.pairs.y[i]}, Tensor[T]{fmt.Sprint(slotS, j), shape, l.pairs.s[i]})
	}
	return list
}

// Load restores what State returned.
func (l *MinibatchLBFGS[T]) Load(state State[T]) error {
	if err := state.check(); err != nil {
		return err
	}
	if len(state.Tensors) == 0 {
		l.steps, l.started = state.Steps, false
		l.pairs.restore(0)
		return nil
	}
	count := 0
	for _, t := range state.Tensors {
		if strings.HasPrefix(t.Name, slotY) {
			count++
		}
	}
	if count > l.cfg.History {
		return fmt.Errorf("optim: state remembers %d pairs, this L-BFGS %d", count, l.cfg.History)
	}
	places := make([]int, count)
	for i := range places {
		places[i] = i
	}
	if err := load(l.tensors(places), state.Tensors); err != nil {
		return err
	}
	l.steps, l.started = state.Steps, true
	l.pairs.restore(count)
	return nil
}

// restore recomputes the numbers of the first count pairs, which are in place, oldest first.
func (m *curvature[T]) restore(count int) {
	m.count, m.next = 0, 0
	for range count {
		m.keep(func(_, _ float64) bool { return true })
	}
}
