package nn

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/conv"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// unit is a convolution (nn.Conv2d) with the batch norm (nn.BatchNorm2d) and the ReLU that may follow it:
//
//	z = conv(x, w) + b,  y = γ·(z − mean)/√(var + eps) + β [+ residual],  y = max(y, 0)
//
// Without batch norm y = max(z, 0) comes from the convolution itself.
type unit[T kernel.Float] struct {
	name         string
	conv         *conv.Conv[T]
	weight, bias *Param[T] // out×in×kh×kw; bias is nil if there is none
	relu         bool
	law          initLaw
	norm         *norm2D[T] // nil if there is none
	biasGrad     *conv.Bias2D[T]
	team         *parallel.Team
	work         *workspace[T]
	lanes        int // Lanes of the largest batch

	x, y []T // input and output of the last train; the output is its own unless borrowed
	z    []T // of the last train with batch norm; own
	own  []T // memory of y

	folded *fold[T] // for eval with batch norm; nil until the first
}

// initLaw is how the authors of a network draw the weights of its convolutions.
type initLaw uint8

const (
	// lawTorch is PyTorch's default: weight and bias from U(−b, b) with b = 1/√fan_in.
	lawTorch initLaw = iota
	// lawKaiming draws weights from N(0, 2/fan_out); biases are 0 (He et al. 2015).
	lawKaiming
)

// unitSpec says what a unit is.
type unitSpec struct {
	name, normName string // of the modules; no normName, no batch norm
	shape          conv.Shape
	bias, relu     bool
	law            initLaw
}

func newUnit[T kernel.Float](t *trunk[T], s unitSpec) *unit[T] {
	shape := s.shape
	u := &unit[T]{name: s.name, conv: conv.New[T](shape, t.maxBatch), relu: s.relu, law: s.law, team: t.team, work: t.work,
		lanes:  conv.Lanes(t.maxBatch),
		weight: &Param[T]{Name: s.name + ".weight", Shape: []int{shape.Out, shape.In, shape.KH, shape.KW}}}
	if s.bias {
		u.bias = &Param[T]{Name: s.name + ".bias", Shape: []int{shape.Out}}
	}
	if s.bias || s.relu && s.normName == "" {
		u.biasGrad = conv.NewBias2D[T](shape.Out)
	}
	if s.normName != "" {
		u.norm = newNorm2D[T](s.normName, shape.Out)
	}
	return u
}

func (u *unit[T]) out() mapShape {
	s := u.conv.Shape()
	return mapShape{s.Out, s.OutH(), s.OutW()}
}

func (u *unit[T]) in() mapShape {
	s := u.conv.Shape()
	return mapShape{s.In, s.H, s.W}
}

func (u *unit[T]) collect(n *Network[T]) {
	n.params = append(n.params, u.weight)
	if u.bias != nil {
		n.params = append(n.params, u.bias)
	}
	if u.norm != nil {
		u.norm.collect(n)
	}
}

func (u *unit[T]) initialise(seed uint64) {
	s := u.conv.Shape()
	if u.law == lawKaiming {
		normal(u.weight, math.Sqrt(2/float64(s.Out*s.KH*s.KW)), seed)
	} else {
		bound := 1 / math.Sqrt(float64(s.In*s.KH*s.KW))
		uniform(u.weight, bound, seed)
		if u.bias != nil {
			uniform(u.bias, bound, seed)
		}
	}
	if u.norm != nil {
		u.norm.initialise()
	}
}

// biases returns the bias for the epilogue, nil without one.
func (u *unit[T]) biases() []T {
	if u.bias == nil {
		return nil
	}
	return u.bias.Value
}

// biasGradient returns where to write the gradient of the bias, nil if it is not wanted.
func (u *unit[T]) biasGradient() []T {
	if u.bias == nil {
		return nil
	}
	return wanted(u.bias)
}

func (u *unit[T]) parts() []*unit[T] { return []*unit[T]{u} }

func (u *unit[T]) keeps() int {
	if u.norm == nil {
		return u.out().size()
	}
	return 2 * u.out().size()
}

func (u *unit[T]) buffers() int { return 2 }

func (u *unit[T]) train(x []T, batch int) []T {
	if u.own == nil {
		u.own = memory.Alloc[T](u.out().size() * u.lanes)
	}
	return u.trainInto(x, nil, u.own[:u.out().size()*conv.Lanes(batch)], batch)
}

// trainInto writes the output to y and adds residual unless it is nil. y may be the residual.
func (u *unit[T]) trainInto(x, residual, y []T, batch int) []T {
	u.x, u.y = x, y
	ep := conv.Epilogue[T]{Bias: u.biases(), Cold: true} // what is kept for the backward pass is not read again soon
	if u.norm == nil {
		ep.Residual, ep.ReLU, ep.Cold = residual, u.relu, residual == nil
		u.conv.Forward(u.team, batch, x, u.weight.Value, y, ep)
		u.work.clock.Lap(u.name, OpForward)
		return y
	}
	if u.z == nil {
		u.z = memory.Alloc[T](u.out().size() * u.lanes)
	}
	z := u.z[:len(y)]
	u.conv.Forward(u.team, batch, x, u.weight.Value, z, ep)
	u.work.clock.Lap(u.name, OpForward)
	u.norm.forward(u.team, batch, u.out().pixels(), z, residual, y, u.relu)
	u.work.clock.Lap(u.norm.gamma.Name, OpNorm)
	return y
}

func (u *unit[T]) eval(x []T, batch int) []T {
	y := u.work.take(u.out().size() * conv.Lanes(batch))
	u.evalInto(x, nil, y, batch)
	u.work.give(x)
	return y
}

// evalInto writes the output to y, by the folded weights with batch norm. y may be the residual.
func (u *unit[T]) evalInto(x, residual, y []T, batch int) {
	ep := conv.Epilogue[T]{Bias: u.biases(), Residual: residual, ReLU: u.relu}
	if u.norm != nil {
		ep.Bias = u.folded.bias
	}
	switch {
	case u.norm == nil:
		u.conv.Forward(u.team, batch, x, u.weight.Value, y, ep)
	case len(u.folded.arranged) > 0:
		u.conv.ForwardArranged(u.team, batch, x, u.folded.arranged, y, ep)
	default:
		u.conv.Forward(u.team, batch, x, u.folded.weight, y, ep)
	}
	u.work.clock.Lap(u.name, OpForward)
}

func (u *unit[T]) backward(dy []T, batch int, needInput bool) []T {
	u.backwardWeights(dy, nil, dy, batch)
	if !needInput {
		u.work.give(dy)
		return nil
	}
	dx := u.work.take(u.in().size() * conv.Lanes(batch))
	u.conv.InputGrad(u.team, batch, dy, u.weight.Value, dx, false)
	u.work.clock.Lap(u.name, OpInputGrad)
	u.work.give(dy)
	return dx
}

// backwardWeights turns dy into dz, the gradient at the convolution's output, and sets the gradients of all parameters.
// y is the output if a residual was added, else nil: then dz may be dy. With a residual dy becomes its gradient.
func (u *unit[T]) backwardWeights(dy, y, dz []T, batch int) {
	switch {
	case u.norm != nil:
		u.norm.backward(u.team, batch, u.out().pixels(), dy, y, u.z[:len(dy)], dz, u.relu)
		u.work.clock.Lap(u.norm.gamma.Name, OpNormGrad)
		if u.biasGradient() != nil {
			u.biasGrad.Backward(u.team, dz, nil, u.bias.Grad)
			u.work.clock.Lap(u.name, OpBiasGrad)
		}
	case u.relu:
		u.biasGrad.Backward(u.team, dz, u.y, u.biasGradient())
		u.work.clock.Lap(u.name, OpBiasGrad)
	case u.bias != nil:
		u.biasGrad.Backward(u.team, dz, nil, u.biasGradient())
		u.work.clock.Lap(u.name, OpBiasGrad)
	}
	if !u.weight.Frozen {
		u.conv.WeightGrad(u.team, batch, u.x, dz, u.weight.Grad)
		u.work.clock.Lap(u.name, OpWeightGrad)
	}
}
