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
	q := newQuasiNewton(f, x, cfg)
	return q.minimise(ctx, func() float64 { return maxAbs(q.grad) }, q.wolfe)
}

// quasiNewton is what the full-batch methods share: the current point, the trial of a search, and the remembered curvature.
type quasiNewton struct {
	f              Function
	cfg            LBFGSConfig
	x, grad        []float64
	trialX, trialG []float64
	direction      []float64
	pairs          *curvature[float64]
	out            Outcome
}

func newQuasiNewton(f Function, x []float64, cfg LBFGSConfig) *quasiNewton {
	cfg = cfg.withDefaults()
	n := len(x)
	q := &quasiNewton{f: f, cfg: cfg, x: x, pairs: newCurvature(cfg.Memory, n, newVectors[float64](nil, n))}
	for _, v := range []*[]float64{&q.grad, &q.trialX, &q.trialG, &q.direction} {
		*v = make([]float64, n)
	}
	q.out = Outcome{Value: f.Eval(x, q.grad), Evaluations: 1}
	return q
}

// minimise makes steps until it is time to stop. residual is the gradient's norm; search leaves a better point, its gradient and
// its value, or says that there is none along its direction; it is then called once more without remembered curvature.
func (q *quasiNewton) minimise(ctx context.Context, residual func() float64, search func() (value float64, ok bool)) Outcome {
	for {
		q.out.GradNorm = residual()
		if q.out.Stop = q.cfg.check(ctx, &q.out); q.out.Stop != "" {
			return q.out
		}
		value, ok := search()
		switch {
		case ok:
			q.move(value)
		case q.pairs.count == 0:
			q.out.Stop = StopStalled
			return q.out
		default:
			q.pairs.count = 0
		}
	}
}

// move makes the trial the current point.
func (q *quasiNewton) move(value float64) {
	q.pairs.push(q.trialX, q.x, q.trialG, q.grad)
	copy(q.x, q.trialX)
	copy(q.grad, q.trialG)
	q.out.Value = value
	q.out.Iterations++
	if q.cfg.Observe != nil {
		q.cfg.Observe(q.out.Iterations, q.x, value)
	}
}

// wolfe searches along the estimated Newton direction.
func (q *quasiNewton) wolfe() (value float64, ok bool) {
	step := 1.0
	if q.pairs.count == 0 {
		step = math.Min(1, 1/math.Sqrt(inner(q.grad, q.grad)))
	}
	for i, g := range q.grad {
		q.direction[i] = -g
	}
	q.pairs.apply(q.direction)
	slope := inner(q.grad, q.direction)
	if !(slope < 0) {
		return 0, false
	}
	w := wolfe{f: q.f, start: q.x, direction: q.direction, x: q.trialX, grad: q.trialG, f0: q.out.Value, slope: slope}
	found, ok := w.run(step)
	q.out.Evaluations += w.evals
	return found.value, ok
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
