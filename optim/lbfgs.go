package optim

import (
	"context"
	"math"
)

// LBFGSConfig holds the settings of the full-batch L-BFGS methods.
type LBFGSConfig struct {
	Memory     int     // pairs kept; 0: 10
	Iterations int     // limit; 0: 10,000
	Gradient   float64 // stop when the largest gradient entry is at most this; 0: 1e-10
	// Observe, if set, is called after every iteration with the point, which it must not change.
	Observe func(iteration int, x []float64, value float64)
}

func (c LBFGSConfig) withDefaults() LBFGSConfig {
	if c.Memory == 0 {
		c.Memory = 10
	}
	if c.Iterations == 0 {
		c.Iterations = 10000
	}
	if c.Gradient == 0 {
		c.Gradient = 1e-10
	}
	return c
}

// LBFGS minimises f from x, which it changes in place, by limited-memory BFGS with a strong Wolfe line
// search. The value never rises by more than rounding.
func LBFGS(ctx context.Context, f Function, x []float64, cfg LBFGSConfig) Outcome {
	cfg = cfg.withDefaults()
	n := len(x)
	grad, trialX, trialG := make([]float64, n), make([]float64, n), make([]float64, n)
	direction := make([]float64, n)
	pairs := newMemory(cfg.Memory, n, newVectors[float64](nil, n))
	out := Outcome{Value: f.Eval(x, grad), Evaluations: 1}
	for fresh := true; ; {
		out.GradNorm = maxAbs(grad)
		if stop := cfg.check(ctx, &out); stop != "" {
			out.Stop = stop
			return out
		}
		step := 1.0
		for i, g := range grad {
			direction[i] = -g
		}
		if fresh {
			step = math.Min(1, 1/math.Sqrt(inner(grad, grad)))
		} else {
			pairs.apply(direction)
		}
		slope := inner(grad, direction)
		search := wolfe{f: f, start: x, direction: direction, x: trialX, grad: trialG, f0: out.Value, slope: slope}
		found, ok := trial{}, false
		if slope < 0 {
			found, ok = search.run(step)
		}
		out.Evaluations += search.evals
		if !ok {
			if fresh {
				out.Stop = StopStalled
				return out
			}
			fresh, pairs.count = true, 0 // once more along the gradient
			continue
		}
		fresh = false
		pairs.push(trialX, x, trialG, grad)
		copy(x, trialX)
		copy(grad, trialG)
		out.Value = found.value
		out.Iterations++
		if pairs.count == 0 {
			fresh = true
		}
		if cfg.Observe != nil {
			cfg.Observe(out.Iterations, x, out.Value)
		}
	}
}

// check returns why to stop, "" to go on.
func (c LBFGSConfig) check(ctx context.Context, out *Outcome) Stop {
	switch {
	case math.IsNaN(out.Value) || math.IsInf(out.Value, 0) || math.IsNaN(out.GradNorm):
		return StopDiverged
	case out.GradNorm <= c.Gradient:
		return StopGradient
	case out.Iterations >= c.Iterations:
		return StopIterations
	case ctx.Err() != nil:
		return StopCancelled
	}
	return ""
}
