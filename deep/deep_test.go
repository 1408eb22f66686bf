package deep

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/ufm"
)

// uniform is a problem with one width and one penalty.
func uniform(L, K, n, d int, lambda float64) Config {
	return Config{K: K, N: n, Widths: slices.Repeat([]int{d}, L), Lambdas: slices.Repeat([]float64{lambda}, L+1)}
}

// random draws a small problem, with penalties around those where it is decided whether anything is learnt.
func random(t *rapid.T) Config {
	L := rapid.IntRange(1, 5).Draw(t, "L")
	c := Config{K: rapid.IntRange(2, 5).Draw(t, "K"), N: rapid.IntRange(1, 4).Draw(t, "n")}
	for range L {
		c.Widths = append(c.Widths, rapid.IntRange(1, 7).Draw(t, "d"))
	}
	for range L + 1 {
		c.Lambdas = append(c.Lambdas, math.Exp(rapid.Float64Range(-6, -1).Draw(t, "log λ")))
	}
	return c
}

// TestAgainstTheShallowModels compares one and two layers with package ufm.
func TestAgainstTheShallowModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		K, n, d := rapid.IntRange(2, 6).Draw(t, "K"), rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "d")
		l := func(name string) float64 { return math.Exp(rapid.Float64Range(-7, 0).Draw(t, name)) }
		l2, l1, lh := l("l2"), l("l1"), l("lh")
		for _, c := range []struct {
			deep    Config
			shallow ufm.Config
		}{
			{Config{K: K, N: n, Widths: []int{d}, Lambdas: []float64{l2, lh}}, ufm.Config{Model: ufm.MSE, K: K, N: n, D: d, LW: l2, LH: lh, LB: ufm.NoBias}},
			{Config{K: K, N: n, Widths: []int{d, d}, Lambdas: []float64{l2, l1, lh}}, ufm.Config{Model: ufm.Linear3, K: K, N: n, D: d, L2: l2, L1: l1, LH1: lh, Loss: "mse"}},
		} {
			got, err := c.deep.Solve()
			if err != nil {
				t.Fatal(err)
			}
			want, err := c.shallow.Exact()
			if err != nil || !want.Available {
				t.Fatalf("%v %v", want, err)
			}
			if !(math.Abs(got.Objective-float64(want.Objective)) < 1e-9) || got.Rank != want.Rank && got.Q < got.Threshold*(1-1e-9) {
				t.Fatalf("%+v: %+v, ufm has %v, rank %d", c.deep, got, want.Objective, want.Rank)
			}
		}
	})
}

// TestOptimumIsReachedAndNotPassed: an instance has the value of the formula, no gradient and balanced layers, and no random point or
// descent has a lower value.
func TestOptimumIsReachedAndNotPassed(t *testing.T) {
	reached := 0
	rapid.Check(t, func(t *rapid.T) {
		c := random(t)
		e, err := c.Solve()
		if err != nil {
			t.Fatal(err)
		}
		p := c.Instance(e, rand.New(rand.NewPCG(1, 1)))
		got := c.Certify(p, e)
		if !(math.Abs(got.Gap) < 1e-12) || !(got.Gradient < 1e-12) || !(got.Balance < 1e-9) {
			t.Fatalf("%+v %+v: %+v", c, e, got)
		}
		for i, f := range p {
			norm := mat.Norm(f, 2)
			if want := e.Norms[i] / c.columns(i); !(math.Abs(norm*norm-want) <= 1e-12*(1+want)) || got.Ranks[i] != e.Rank {
				t.Fatalf("factor %d: ‖·‖² = %g, want %g; rank %d, want %d", i, norm*norm, want, got.Ranks[i], e.Rank)
			}
		}
		found, err := c.Search(t.Context(), e.Objective, nil, 3, rapid.Uint64().Draw(t, "seed"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if found.Best < e.Objective-1e-10 {
			t.Fatalf("%+v: a descent ends at %.12g, below %.12g", c, found.Best, e.Objective)
		}
		reached += found.Reached
	})
	if reached == 0 {
		t.Error("no descent ends at the optimum")
	}
}

// TestThreshold: at it the optimum costs as much as zero, just below it less; for L = 2 it is 0.3969 (Tirer & Bruna's model).
func TestThreshold(t *testing.T) {
	for L := 1; L <= 8; L++ {
		M := float64(L + 1)
		q := threshold(M)
		if L == 1 && q != 1 || L == 2 && !(math.Abs(q-math.Pow(0.5, 4.0/3)) < 1e-15) {
			t.Errorf("L = %d: threshold %g", L, q)
		}
		for _, c := range []struct {
			factor float64
			zero   bool
		}{{1 + 1e-9, true}, {1 - 1e-9, false}, {0.5, false}} {
			problem := uniform(L, 4, 1, 6, c.factor*q/4)
			e, err := problem.Solve()
			if err != nil || (e.Regime == "zero") != c.zero || e.Objective > 0.5 {
				t.Errorf("L = %d at %g of the threshold: %+v, %v", L, c.factor, e, err)
			}
			if !c.zero && c.factor > 0.9 && !(0.5-e.Objective < 1e-8) {
				t.Errorf("L = %d: the optimum jumps by %g", L, 0.5-e.Objective)
			}
		}
	}
}

// TestSamplesCoincide: n samples with λ_H cost as much as one with n·λ_H, and only the product of the penalties matters.
func TestSamplesCoincide(t *testing.T) {
	a, errA := Config{K: 4, N: 10, Widths: []int{5, 6, 7}, Lambdas: []float64{0.001, 0.02, 0.003, 0.004}}.Solve()
	b, errB := Config{K: 4, N: 1, Widths: []int{5, 6, 7}, Lambdas: []float64{0.004, 0.01, 0.006, 0.01}}.Solve()
	if errA != nil || errB != nil || !(math.Abs(a.Objective-b.Objective) < 1e-14) || a.Regime != "collapse" {
		t.Errorf("%+v (%v), %+v (%v)", a, errA, b, errB)
	}
}

func TestBadProblems(t *testing.T) {
	good := uniform(3, 4, 2, 5, 0.01)
	for want, change := range map[string]func(*Config){
		"K is 1":              func(c *Config) { c.K = 1 },
		"n is 0":              func(c *Config) { c.N = 0 },
		"0 widths":            func(c *Config) { c.Widths = nil },
		"3 penalties":         func(c *Config) { c.Lambdas = c.Lambdas[:3] },
		"width 2 of 3 is ":    func(c *Config) { c.Widths[1] = -1 },
		"penalty 2 of 4 is 0": func(c *Config) { c.Lambdas[1] = 0 },
		"is NaN":              func(c *Config) { c.Lambdas[3] = math.NaN() },
		"narrower layers":     func(c *Config) { c.Widths[0] = 1 << 30 },
		"fewer classes":       func(c *Config) { c.K, c.Widths = 300_000, []int{1, 1, 1} }, // small factors, a product of 720 GB
	} {
		c := good
		c.Widths, c.Lambdas = slices.Clone(good.Widths), slices.Clone(good.Lambdas)
		change(&c)
		if _, err := c.Solve(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := good.Solve(); err != nil {
		t.Error(err)
	}
}

// TestSearchIsRepeatedAndStopped: a seed gives the same value again, each start is told of, and a cancelled context ends a descent.
func TestSearchIsRepeatedAndStopped(t *testing.T) {
	c := uniform(3, 3, 2, 4, 0.01)
	e, err := c.Solve()
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	a, errA := c.Search(t.Context(), e.Objective, nil, 3, 7, func(ended int, f float64) {
		if told++; ended != told || f < e.Objective-1e-10 {
			t.Errorf("start %d is told of as %d, at %g", told, ended, f)
		}
	})
	b, errB := c.Search(t.Context(), e.Objective, nil, 3, 7, nil)
	if errA != nil || errB != nil || a.Best != b.Best || a.Worst != b.Worst || told != 3 || a.Reached == 0 {
		t.Errorf("%+v (%v), %+v (%v), told %d times", a, errA, b, errB, told)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.Search(ctx, e.Objective, nil, 1, 7, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// endsSoon is a context that ends after a few looks at it.
type endsSoon struct {
	context.Context
	looks int
}

func (e *endsSoon) Err() error {
	if e.looks++; e.looks > 3 {
		return context.Canceled
	}
	return nil
}

// TestADescentEndsEarly: one that has begun ends with its context, not at its minimum.
func TestADescentEndsEarly(t *testing.T) {
	c := uniform(3, 3, 2, 4, 0.01)
	e, err := c.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(&endsSoon{Context: t.Context()}, e.Objective, nil, 1, 7, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it went on: %v", err)
	}
}
