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
	// ObserveAt says after which iterations (0: the start) Observe wants to look; nil: never. The
	// value is only computed there.
	ObserveAt func(iteration int) bool
	Observe   func(iteration int, x []float64, value float64)
}

// Stepper is a Function that makes one step of gradient descent itself, faster than a gradient and an
// update: x becomes x − step·∇f(x).
type Stepper interface {
	Function
	Descend(x []float64, step float64)
}

// blockIterations is how often Descend looks for cancellation and divergence.
const blockIterations = 256

// Descend is plain simultaneous gradient descent from x, which it changes in place: every variable
// moves along the gradient at the same point, all iterations are made whatever the gradient, as the
// papers run it.
func Descend(ctx context.Context, f Function, x []float64, cfg DescentConfig) Outcome {
	grad := make([]float64, len(x))
	velocity := make([]float64, 0)
	stepper, fused := f.(Stepper)
	if cfg.Momentum != 0 {
		fused, velocity = false, make([]float64, len(x))
	}
	out := Outcome{}
	observe := func() {
		if cfg.ObserveAt != nil && cfg.ObserveAt(out.Iterations) {
			cfg.Observe(out.Iterations, x, f.Eval(x, grad))
		}
	}
	observe()
	for out.Stop = StopIterations; out.Iterations < cfg.Iterations; {
		switch {
		case fused:
			stepper.Descend(x, cfg.Step)
		case cfg.Momentum != 0:
			f.Eval(x, grad)
			for i, g := range grad {
				velocity[i] = cfg.Momentum*velocity[i] + g
			}
			axpy(x, -cfg.Step, velocity)
		default:
			f.Eval(x, grad)
			axpy(x, -cfg.Step, grad)
		}
		out.Iterations++
		observe()
		if out.Iterations%blockIterations != 0 {
			continue
		}
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
