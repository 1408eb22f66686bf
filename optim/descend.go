package optim

import (
	"context"
	"math"
)

// DescentConfig holds the settings of plain gradient descent.
type DescentConfig struct {
	Step       float64 // of every iteration, above 0
	Momentum   float64 // μ in [0,1): v = μv + ∇f, x = x − step·v
	Iterations int
	// ObserveAt says after which iterations (0: the start) Observe is called; nil: never. The value
	// is only computed there.
	ObserveAt func(iteration int) bool
	Observe   func(iteration int, x []float64, value float64)
}

// Stepper is a Function that can make steps of gradient descent itself, faster than through
// gradients and updates: count times x becomes x − step·∇f(x).
type Stepper interface {
	Function
	Descend(x []float64, step float64, count int)
}

// blockIterations is the most iterations between looks for cancellation and divergence.
const blockIterations = 256

// Descend is plain simultaneous gradient descent from x, which it changes in place: every variable
// moves along the gradient at the same point, all iterations are made whatever the gradient, as the
// papers run it.
func Descend(ctx context.Context, f Function, x []float64, cfg DescentConfig) Outcome {
	grad := make([]float64, len(x))
	d := &descent{f: f, x: x, grad: grad, cfg: cfg}
	if cfg.Momentum != 0 {
		d.velocity = make([]float64, len(x))
	}
	out := Outcome{Stop: StopIterations}
	for {
		if cfg.ObserveAt != nil && cfg.ObserveAt(out.Iterations) {
			cfg.Observe(out.Iterations, x, f.Eval(x, grad))
		}
		if out.Iterations >= cfg.Iterations {
			break
		}
		count := 1
		for out.Iterations+count < cfg.Iterations && count < blockIterations && (cfg.ObserveAt == nil || !cfg.ObserveAt(out.Iterations+count)) {
			count++
		}
		d.steps(count)
		out.Iterations += count
		if s := x[0] + x[len(x)-1]; math.IsNaN(s) || math.IsInf(s, 0) {
			out.Stop = StopDiverged
			break
		}
		if ctx.Err() != nil {
			out.Stop = StopCancelled
			break
		}
	}
	out.Evaluations = out.Iterations
	out.Value = f.Eval(x, grad)
	out.GradNorm = maxAbs(grad)
	if math.IsNaN(out.Value) || math.IsInf(out.Value, 0) {
		out.Stop = StopDiverged
	}
	return out
}

// descent is the state of Descend.
type descent struct {
	f                 Function
	x, grad, velocity []float64
	cfg               DescentConfig
}

// steps makes count iterations.
func (d *descent) steps(count int) {
	if stepper, ok := d.f.(Stepper); ok && d.velocity == nil {
		stepper.Descend(d.x, d.cfg.Step, count)
		return
	}
	for range count {
		d.f.Eval(d.x, d.grad)
		if d.velocity == nil {
			axpy(d.x, -d.cfg.Step, d.grad)
			continue
		}
		for i, g := range d.grad {
			d.velocity[i] = d.cfg.Momentum*d.velocity[i] + g
		}
		axpy(d.x, -d.cfg.Step, d.velocity)
	}
}
