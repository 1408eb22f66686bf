package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/conv"
	"collapse.example/collapse/parallel"
)

// norm2D is nn.BatchNorm2d; see conv.Norm2D for what is fused with it.
type norm2D[T kernel.Float] struct {
	gamma, beta             *Param[T]
	runningMean, runningVar *Buffer[T]
	batches                 *Counter
	norm                    *conv.Norm2D[T]
}

func newNorm2D[T kernel.Float](name string, channels int) *norm2D[T] {
	shape := []int{channels}
	return &norm2D[T]{
		gamma:       &Param[T]{Name: name + ".weight", Shape: shape},
		beta:        &Param[T]{Name: name + ".bias", Shape: shape},
		runningMean: &Buffer[T]{Name: name + ".running_mean", Shape: shape, Value: make([]T, channels)},
		runningVar:  &Buffer[T]{Name: name + ".running_var", Shape: shape, Value: make([]T, channels)},
		batches:     &Counter{Name: name + ".num_batches_tracked"},
		norm:        conv.NewNorm2D[T](channels, batchNormEps),
	}
}

func (l *norm2D[T]) collect(n *Network[T]) {
	n.params = append(n.params, l.gamma, l.beta)
	n.buffers = append(n.buffers, l.runningMean, l.runningVar)
	n.counters = append(n.counters, l.batches)
}

func (l *norm2D[T]) initialise() {
	for i := range l.gamma.Value {
		l.gamma.Value[i] = 1
		l.runningVar.Value[i] = 1
	}
}

func (l *norm2D[T]) forward(team *parallel.Team, batch, pixels int, x, residual, y []T, relu bool) {
	l.norm.Forward(team, batch, pixels, x, residual, y, l.gamma.Value, l.beta.Value, relu)
	l.norm.UpdateRunning(batch*pixels, batchNormMomentum, l.runningMean.Value, l.runningVar.Value)
	l.batches.Value++
}

func (l *norm2D[T]) backward(team *parallel.Team, batch, pixels int, dy, y, x, dx []T, relu bool) {
	l.norm.Backward(team, batch, pixels, dy, y, x, dx, l.gamma.Value, l.beta.Value, wanted(l.gamma), wanted(l.beta), relu)
}
