package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/elementwise"
	"collapse.example/collapse/parallel"
)

// activation is a point-wise non-linearity behind a Linear without batch norm. It works in place on
// the Linear's output, which is not read again: both derivatives follow from the output.
type activation[T kernel.Float] struct {
	act       Activation
	width     int
	team      *parallel.Team
	pointwise *elementwise.Pointwise[T]
	y         []T
	clock     *Clock
}

func newActivation[T kernel.Float](act Activation, width int, team *parallel.Team) *activation[T] {
	return &activation[T]{act: act, width: width, team: team, pointwise: elementwise.NewPointwise[T]()}
}

func (*activation[T]) collect(*Network[T]) {}

func (*activation[T]) initialise(uint64) {}

func (*activation[T]) bytes(Mode) Memory { return Memory{} }

func (l *activation[T]) watch(c *Clock) { l.clock = c }

func (l *activation[T]) forward(x []T, rows int, _ Mode) []T {
	l.y = x[:rows*l.width]
	if l.act == Sigmoid {
		l.pointwise.Sigmoid(l.team, l.y)
	} else {
		l.pointwise.ReLU(l.team, l.y)
	}
	l.clock.Lap(string(l.act), OpActivation)
	return l.y
}

// backward differentiates y = act(x) in place: dx = dy·[y > 0] or dy·y·(1 − y).
func (l *activation[T]) backward(dy, _ []T, _ int, _ bool) []T {
	if l.act == Sigmoid {
		l.pointwise.SigmoidBackward(l.team, l.y, dy)
	} else {
		l.pointwise.ReLUBackward(l.team, l.y, dy)
	}
	l.clock.Lap(string(l.act), OpActivation)
	return dy
}
