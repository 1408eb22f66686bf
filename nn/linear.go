package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/elementwise"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// linear is y = x·Wᵀ + b with W (out×in), PyTorch's nn.Linear.
type linear[T kernel.Float] struct {
	in, out      int
	weight, bias *Param[T] // bias is nil if there is none
	team         *parallel.Team
	x            []T     // input of the last forward, borrowed
	w            []T     // W of the last forward: out×in
	deviation    float64 // of the normal law of its weights, the bias 0; 0 means PyTorch's default law
	maxBatch     int
	y            []T // maxBatch×out, allocated by the first forward
	biasGrad     *elementwise.ColSums[T]
	rows         *unitRows[T] // if not nil, W is the weight with every row at one length
	clock        *Clock
}

func newLinear[T kernel.Float](name string, in, out int, bias bool, team *parallel.Team, maxBatch int) *linear[T] {
	l := &linear[T]{
		in: in, out: out, team: team, maxBatch: maxBatch,
		weight: &Param[T]{Name: name + ".weight", Shape: []int{out, in}},
	}
	if bias {
		l.bias = &Param[T]{Name: name + ".bias", Shape: []int{out}}
	}
	return l
}

func (l *linear[T]) collect(n *Network[T]) {
	n.params = append(n.params, l.weight)
	if l.bias != nil {
		n.params = append(n.params, l.bias)
	}
}

// used is W as products use it.
func (l *linear[T]) used(mode Mode) []T {
	if l.rows == nil {
		return l.weight.Value
	}
	return l.rows.forward(l.weight.Value, l.out, mode)
}

func (l *linear[T]) forward(x []T, rows int, mode Mode) []T {
	l.x, l.w = x, l.used(mode)
	var ep gemm.Epilogue[T]
	if l.bias != nil {
		ep.Bias = l.bias.Value
	}
	if l.y == nil {
		l.y = memory.Alloc[T](l.maxBatch * l.out)
	}
	y := l.y[:rows*l.out]
	gemm.Multiply(l.team, gemm.NT, kernel.Dense(rows, l.in, x), kernel.Dense(l.out, l.in, l.w), kernel.Dense(rows, l.out, y), ep)
	l.clock.Lap(l.weight.Name, OpForward)
	return y
}

func (l *linear[T]) watch(c *Clock) {
	l.clock = c
	if l.rows != nil {
		l.rows.watch(c)
	}
}

func (l *linear[T]) bytes(mode Mode) Memory {
	m := Memory{Activations: sizeOf[T](l.maxBatch * l.out)}
	if l.rows != nil {
		m.Activations += l.rows.bytes(mode).Activations
	}
	return m
}

// backward differentiates y = x·Wᵀ + b: dW = dyᵀ·x, db = Σ_rows dy, dx = dy·W.
func (l *linear[T]) backward(dy, spare []T, rows int, needInput bool) []T {
	var none gemm.Epilogue[T]
	if !l.weight.Frozen {
		gemm.Multiply(l.team, gemm.TN, kernel.Dense(rows, l.out, dy), kernel.Dense(rows, l.in, l.x), kernel.Dense(l.out, l.in, l.weight.Grad), none)
		l.clock.Lap(l.weight.Name, OpWeightGrad)
		if l.rows != nil {
			l.rows.backward(l.weight.Grad, nil, l.out, true)
		}
	}
	if l.bias != nil && !l.bias.Frozen {
		l.biasGrad.Sum(l.team, rows, dy, l.bias.Grad)
		l.clock.Lap(l.weight.Name, OpBiasGrad)
	}
	if !needInput {
		return nil
	}
	dx := spare[:rows*l.in]
	gemm.Multiply(l.team, gemm.NN, kernel.Dense(rows, l.out, dy), kernel.Dense(l.out, l.in, l.w), kernel.Dense(rows, l.in, dx), none)
	l.clock.Lap(l.weight.Name, OpInputGrad)
	return dx
}
