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
	b := &bounded{lower: make([]bool, len(x)), fixed: make([]bool, len(x))}
	for i := range x {
		b.lower[i] = nonneg(i)
	}
	b.project(x)
	b.quasiNewton = newQuasiNewton(f, x, cfg)
	return b.minimise(ctx, b.residual, b.search)
}

// bounded is the state of ProjectedLBFGS.
type bounded struct {
	*quasiNewton
	lower []bool // entries with the bound 0
	fixed []bool // entries held at 0 in this step
}

// search goes along the estimated Newton direction of the free entries, or along their gradient.
func (b *bounded) search() (value float64, ok bool) {
	if b.fix() {
		b.pairs.count = 0 // another face: old curvature may mislead
	}
	b.descent()
	b.pairs.apply(b.direction)
	b.hold()
	step := 1.0
	if slope := inner(b.grad, b.direction); !(slope < 0) || b.pairs.count == 0 {
		b.descent()
		step = math.Min(1, 1/math.Sqrt(inner(b.direction, b.direction)))
	}
	return b.backtrack(step)
}

func (b *bounded) project(x []float64) {
	for i, lower := range b.lower {
		if lower && x[i] < 0 {
			x[i] = 0
		}
	}
}

// residual is the largest violation of the KKT conditions.
func (b *bounded) residual() float64 {
	worst := 0.0
	for i, g := range b.grad {
		if b.lower[i] && b.x[i] == 0 {
			g = math.Min(g, 0)
		}
		if g = math.Abs(g); !(g <= worst) {
			worst = g
		}
	}
	return worst
}

// fix chooses the entries held at 0 and reports whether any was newly held or released.
func (b *bounded) fix() (changed bool) {
	for i, lower := range b.lower {
		held := lower && b.x[i] == 0 && b.grad[i] >= 0
		if held != b.fixed[i] {
			b.fixed[i], changed = held, true
		}
	}
	return changed
}

// descent sets the direction to minus the gradient of the free entries.
func (b *bounded) descent() {
	for i, g := range b.grad {
		b.direction[i] = -g
	}
	b.hold()
}

// hold keeps the direction off the fixed entries.
func (b *bounded) hold() {
	for i, fixed := range b.fixed {
		if fixed {
			b.direction[i] = 0
		}
	}
}

// backtrack halves the step along the projected path until the value falls by a share of the slope
// along the actual move.
func (b *bounded) backtrack(step float64) (value float64, ok bool) {
	for range 50 {
		for i, d := range b.direction {
			b.trialX[i] = b.x[i] + step*d
		}
		b.project(b.trialX)
		slope := 0.0
		for i, g := range b.grad {
			slope += g * (b.trialX[i] - b.x[i])
		}
		value = b.f.Eval(b.trialX, b.trialG)
		b.out.Evaluations++
		if slope < 0 && value <= b.out.Value+wolfeDecrease*slope+flatShare*math.Abs(b.out.Value) {
			return value, true
		}
		step /= 2
	}
	return 0, false
}
