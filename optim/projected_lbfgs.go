package optim

import (
	"context"
	"math"
)

// ProjectedLBFGS minimises f over x with x_i ≥ 0 where nonneg says so, from x, which it changes in
// place (entries below 0 start at 0). It is Bertsekas' two-metric projection (1982) with an L-BFGS
// estimate on the free variables: entries at the bound with a gradient that holds them there are
// fixed for the step; the search backtracks along the projected path. Outcome.GradNorm is the KKT
// residual: the gradient at free entries, min(gradient, 0) at entries at 0.
func ProjectedLBFGS(ctx context.Context, f Function, x []float64, nonneg func(i int) bool, cfg LBFGSConfig) Outcome {
	cfg = cfg.withDefaults()
	n := len(x)
	b := newBounded(f, n, nonneg)
	b.project(x)
	grad, direction := make([]float64, n), make([]float64, n)
	pairs := newMemory(cfg.Memory, n, newVectors[float64](nil, n))
	out := Outcome{Value: f.Eval(x, grad), Evaluations: 1}
	for {
		out.GradNorm = b.residual(x, grad)
		if stop := cfg.check(ctx, &out); stop != "" {
			out.Stop = stop
			return out
		}
		if b.fix(x, grad) {
			pairs.count = 0 // another face: old curvature may mislead
		}
		b.reduced(direction, grad)
		pairs.apply(direction)
		for i := range direction {
			if b.fixed[i] {
				direction[i] = 0
			}
		}
		step := 1.0
		if slope := inner(grad, direction); !(slope < 0) || pairs.count == 0 {
			b.reduced(direction, grad)
			step = math.Min(1, 1/math.Sqrt(inner(direction, direction)))
		}
		value, evals, ok := b.backtrack(x, grad, direction, out.Value, step)
		out.Evaluations += evals
		if !ok {
			if pairs.count == 0 {
				out.Stop = StopStalled
				return out
			}
			pairs.count = 0
			continue
		}
		pairs.push(b.x, x, b.grad, grad)
		copy(x, b.x)
		copy(grad, b.grad)
		out.Value = value
		out.Iterations++
		if cfg.Observe != nil {
			cfg.Observe(out.Iterations, x, out.Value)
		}
	}
}

// bounded is the scratch of ProjectedLBFGS.
type bounded struct {
	f       Function
	lower   []bool // entries with the bound 0
	fixed   []bool // entries held at 0 in this step
	x, grad []float64
}

func newBounded(f Function, n int, nonneg func(int) bool) *bounded {
	b := &bounded{f: f, lower: make([]bool, n), fixed: make([]bool, n), x: make([]float64, n), grad: make([]float64, n)}
	for i := range n {
		b.lower[i] = nonneg(i)
	}
	return b
}

func (b *bounded) project(x []float64) {
	for i, lower := range b.lower {
		if lower && x[i] < 0 {
			x[i] = 0
		}
	}
}

// residual is the largest violation of the KKT conditions.
func (b *bounded) residual(x, grad []float64) float64 {
	worst := 0.0
	for i, g := range grad {
		if b.lower[i] && x[i] == 0 {
			g = math.Min(g, 0)
		}
		if g = math.Abs(g); !(g <= worst) {
			worst = g
		}
	}
	return worst
}

// fix chooses the entries held at 0 and reports whether any was newly held or released.
func (b *bounded) fix(x, grad []float64) (changed bool) {
	for i, lower := range b.lower {
		held := lower && x[i] == 0 && grad[i] >= 0
		if held != b.fixed[i] {
			b.fixed[i], changed = held, true
		}
	}
	return changed
}

// reduced writes minus the gradient of the free entries.
func (b *bounded) reduced(direction, grad []float64) {
	for i, g := range grad {
		direction[i] = -g
		if b.fixed[i] {
			direction[i] = 0
		}
	}
}

// backtrack halves the step along the projected path until the value falls by a share of the slope
// along the actual move. The new point and gradient are in b.x and b.grad.
func (b *bounded) backtrack(x, grad, direction []float64, value, step float64) (float64, int, bool) {
	for evals := 1; evals <= 50; evals++ {
		slope := 0.0
		for i, d := range direction {
			b.x[i] = x[i] + step*d
			if b.lower[i] && b.x[i] < 0 {
				b.x[i] = 0
			}
			slope += grad[i] * (b.x[i] - x[i])
		}
		got := b.f.Eval(b.x, b.grad)
		if slope < 0 && got <= value+wolfeDecrease*slope+flatShare*math.Abs(value) {
			return got, evals, true
		}
		step /= 2
	}
	return value, 50, false
}
