package ufm

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawTwoFactor draws a setting of a two-factor convex model: K ≤ 6, d ≤ 8, n ≤ 4, λ over four
// decades, every kind of λ_b.
func drawTwoFactor(t *rapid.T) Config {
	c := Config{
		Model: rapid.SampledFrom([]Model{MSE, RescaledMSE, CE, LS}).Draw(t, "model"),
		K:     rapid.IntRange(2, 6).Draw(t, "K"), D: rapid.IntRange(1, 8).Draw(t, "d"), N: rapid.IntRange(1, 4).Draw(t, "n"),
		LW: math.Pow(10, rapid.Float64Range(-4, 0).Draw(t, "log λ_W")), LH: math.Pow(10, rapid.Float64Range(-4, 0).Draw(t, "log λ_H")),
	}
	switch rapid.IntRange(0, 2).Draw(t, "bias") {
	case 0:
		c.LB = NoBias
	case 1:
		c.LB = math.Pow(10, rapid.Float64Range(-4, 1).Draw(t, "log λ_b"))
	}
	if c.Model == RescaledMSE {
		c.Alpha, c.M = rapid.Float64Range(.2, 10).Draw(t, "alpha"), rapid.Float64Range(.5, 10).Draw(t, "M")
	}
	if c.Model == LS {
		c.Smoothing = rapid.Float64Range(0, .9).Draw(t, "smoothing")
	}
	return c
}

// auto never ends below the exact value, and ends at it in at least 99 % of draws.
func TestAutoOnRandomSettings(t *testing.T) {
	draws, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawTwoFactor(t)
		e, err := c.Exact()
		if err != nil {
			t.Fatal(err)
		}
		if !e.Available {
			return
		}
		p, err := NewProblem(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, at, err := p.Solve(context.Background(), nil, e, Run{Seed: rapid.Uint64Range(0, 1000).Draw(t, "seed"), NoTrace: true})
		if err != nil {
			t.Fatal(err)
		}
		gap, size := float64(found.Gap), math.Max(1, float64(e.Objective))
		if !(gap >= -1e-12*size) {
			t.Fatalf("%+v: ends %g below the exact value", c, -gap)
		}
		draws++
		if !(gap <= 1e-12*size) {
			missed++
			t.Logf("%+v (%s): ends %g above the exact value, stopped: %s", c, e.Regime, gap, found.Stopped)
		}
		// The bound is never below the gap, here and at a random point.
		rough := c.Start(InitScale{W: .5, H: .5}, 3)
		for _, x := range [][]float64{at.X, rough.X} {
			bound, err := p.GapBound(x, seeded(2))
			if err != nil {
				t.Fatal(err)
			}
			value := p.Eval(x, make([]float64, len(x)))
			if !(bound >= value-float64(e.Objective)-1e-12*size) {
				t.Fatalf("%+v: bound %g below the gap %g", c, bound, value-float64(e.Objective))
			}
		}
	})
	if missed*100 > draws {
		t.Errorf("%d of %d draws ended above the exact value", missed, draws)
	}
	t.Logf("%d draws, %d missed", draws, missed)
}

// Three linear factors and H ≥ 0 have local minima: auto leaves them by new starts, and never ends
// below the exact value.
func TestAutoOnRandomTrappedModels(t *testing.T) {
	draws, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		lambda := func(name string) float64 { return math.Pow(10, rapid.Float64Range(-4, -.5).Draw(t, name)) }
		c := Config{Model: rapid.SampledFrom([]Model{Linear3, ReLU3, LSNonneg, ReLUPlain}).Draw(t, "model"),
			K: rapid.IntRange(2, 5).Draw(t, "K"), N: rapid.IntRange(1, 4).Draw(t, "n"), LB: NoBias,
			L2: lambda("λ_2"), L1: lambda("λ_1"), LH1: lambda("λ_H1"), LW: lambda("λ_W"), LH: lambda("λ_H")}
		c.D = c.K + rapid.IntRange(0, 3).Draw(t, "d−K")
		if c.Model == LSNonneg {
			c.Smoothing = rapid.Float64Range(0, .5).Draw(t, "smoothing")
		}
		e, err := c.Exact()
		if err != nil || !e.Available {
			t.Fatalf("%+v: %v %s", c, err, e.Reason)
		}
		p, err := NewProblem(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, _, err := p.Solve(context.Background(), nil, e, Run{Seed: rapid.Uint64Range(0, 1000).Draw(t, "seed"), NoTrace: true})
		if err != nil {
			t.Fatal(err)
		}
		gap, size := float64(found.Gap), math.Max(1, float64(e.Objective))
		if !(gap >= -1e-12*size) {
			t.Fatalf("%+v: ends %g below the exact value", c, -gap)
		}
		if draws++; !(gap <= 1e-12*size) {
			missed++
			t.Logf("%+v (%s): ends %g above the exact value, trap %q", c, e.Regime, gap, found.Trap)
		}
	})
	if missed*50 > draws {
		t.Errorf("%d of %d draws ended above the exact value", missed, draws)
	}
	t.Logf("%d draws, %d missed", draws, missed)
}
