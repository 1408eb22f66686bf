package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/elementwise"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// PyTorch's defaults for nn.BatchNorm1d.
const (
	batchNormEps      = 1e-5
	batchNormMomentum = 0.1
)

// batchNorm is nn.BatchNorm1d over the rows, fused with the activation that follows it:
// y = act(γ·(x − mean)/√(var + eps) + β).
type batchNorm[T kernel.Float] struct {
	width                   int
	act                     Activation
	gamma, beta             *Param[T]
	runningMean, runningVar *Buffer[T]
	batches                 *Counter
	team                    *parallel.Team
	norm                    *elementwise.BatchNorm[T]
	pointwise               *elementwise.Pointwise[T]
	maxBatch                int
	x                       []T // input of the last forward, borrowed from the Linear before
	y                       []T // maxBatch×width, allocated by the first forward
	clock                   *Clock
}

func newBatchNorm[T kernel.Float](name string, width int, act Activation, team *parallel.Team, maxBatch int) *batchNorm[T] {
	return &batchNorm[T]{
		width: width, act: act, team: team, maxBatch: maxBatch,
		gamma:       &Param[T]{Name: name + ".weight", Shape: []int{width}},
		beta:        &Param[T]{Name: name + ".bias", Shape: []int{width}},
		runningMean: &Buffer[T]{Name: name + ".running_mean", Shape: []int{width}},
		runningVar:  &Buffer[T]{Name: name + ".running_var", Shape: []int{width}},
		batches:     &Counter{Name: name + ".num_batches_tracked"},
		pointwise:   elementwise.NewPointwise[T](),
	}
}

func (l *batchNorm[T]) collect(n *Network[T]) {
	n.params = append(n.params, l.gamma, l.beta)
	n.buffers = append(n.buffers, l.runningMean, l.runningVar)
	n.counters = append(n.counters, l.batches)
}

func (l *batchNorm[T]) forward(x []T, rows int, mode Mode) []T {
	l.x = x
	if l.y == nil {
		l.y = memory.Alloc[T](l.maxBatch * l.width)
	}
	y := l.y[:rows*l.width]
	if mode == Train {
		l.norm.Forward(l.team, rows, x, y, l.gamma.Value, l.beta.Value)
		l.norm.UpdateRunning(rows, batchNormMomentum, l.runningMean.Value, l.runningVar.Value)
		l.batches.Value++
	} else {
		l.norm.Eval(l.team, rows, x, y, l.gamma.Value, l.beta.Value, l.runningMean.Value, l.runningVar.Value)
	}
	if l.act == Sigmoid {
		l.pointwise.Sigmoid(l.team, y)
	}
	l.clock.Lap(l.gamma.Name, OpNorm)
	return y
}

func (l *batchNorm[T]) watch(c *Clock) { l.clock = c }

// initialise allocates the running statistics and sets γ and the running variance to 1; a network that is only described has none of them.
func (l *batchNorm[T]) initialise(uint64) {
	l.norm = elementwise.NewBatchNorm[T](l.width, batchNormEps, l.act == ReLU)
	l.runningMean.Value, l.runningVar.Value = make([]T, l.width), make([]T, l.width)
	for i := range l.runningVar.Value {
		l.runningVar.Value[i] = 1
	}
	for i := range l.gamma.Value {
		l.gamma.Value[i] = 1
	}
}

func (l *batchNorm[T]) bytes(Mode) Memory {
	return Memory{Activations: sizeOf[T](l.maxBatch * l.width)}
}

// backward differentiates y = act(γ·x̂ + β) in place: dy becomes dx. The kernel reads the ReLU's
// mask from the sign of y; x̂ is recomputed from x.
func (l *batchNorm[T]) backward(dy, _ []T, rows int, _ bool) []T {
	y := l.y[:rows*l.width]
	if l.act == Sigmoid {
		l.pointwise.SigmoidBackward(l.team, y, dy)
	}
	l.norm.Backward(l.team, rows, dy, y, l.x, l.gamma.Value, wanted(l.gamma), wanted(l.beta))
	l.clock.Lap(l.gamma.Name, OpNormGrad)
	return dy
}
