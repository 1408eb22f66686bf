package ufm

import (
	"context"
	"math"
	"testing"

	"collapse.example/collapse/optim"
)

// A fused step is the gradient step up to rounding, for every model.
func TestDescendIsAGradientStep(t *testing.T) {
	for name, c := range everyModel() {
		c.LH, c.LH1 = 20*c.LH, 20*c.LH1 // so that the factor kept apart from H is folded back
		p := mustProblem(t, c)
		x := randomPoint(c, .5, 3)
		if c.Model == LSNonneg {
			x = c.Start(InitScale{1, 1, 1}, 3).X
		}
		grad := make([]float64, len(x))
		want := append([]float64(nil), x...)
		for range 9 {
			p.Eval(want, grad)
			addScaled(want, -.1, grad)
			for i := range want {
				if p.nonneg(i) {
					want[i] = math.Max(0, want[i])
				}
			}
		}
		p.Descend(x, .1, 4)
		p.Descend(x, .1, 5)
		for i := range x {
			if !(math.Abs(x[i]-want[i]) <= 1e-13) {
				t.Errorf("%s: variable %d is %g, wanted %g", name, i, x[i], want[i])
				break
			}
		}
	}
}

// tbFigures are the settings of TB Figs 1–4 and 6–9 with their starts.
func tbFigures() map[string]struct {
	c    Config
	init InitScale
} {
	type figure = struct {
		c    Config
		init InitScale
	}
	small := func(m Model, lb float64) Config {
		return Config{Model: m, K: 4, D: 20, N: 50, LW: .005, LH: .005, LB: lb, L2: .005, L1: .005, LH1: .005}
	}
	large := func(m Model, lb float64) Config {
		return Config{Model: m, K: 5, D: 20, N: 100, LW: .005, LH: .001, LB: lb, L2: .005, L1: .0025, LH1: .001}
	}
	one, tenth := InitScale{1, 1, 1}, InitScale{.1, .1, .1}
	return map[string]figure{
		"fig1": {small(MSE, NoBias), one}, "fig2": {small(MSE, 0), one},
		"fig3": {small(Linear3, 0), tenth}, "fig4": {small(ReLU3, 0), tenth},
		"fig6": {large(MSE, NoBias), one}, "fig7": {large(MSE, 0), one},
		"fig8": {large(Linear3, 0), tenth}, "fig9": {large(ReLU3, 0), InitScale{.1, .1, .2}},
	}
}

// BenchmarkDescend is the time of one iteration of plain descent in the setting of TB Fig. 1.
func BenchmarkDescend(b *testing.B) {
	for _, name := range []string{"fig1", "fig3", "fig4", "fig6"} {
		b.Run(name, func(b *testing.B) {
			f := tbFigures()[name]
			p := mustProblem(b, f.c)
			at := f.c.Start(f.init, 1)
			b.ResetTimer()
			out := optim.Descend(context.Background(), p, at.X, optim.DescentConfig{Step: .1, Iterations: b.N})
			if math.IsNaN(out.Value) {
				b.Fatal("diverged")
			}
		})
	}
}
