package ufm

import (
	"math"
	"testing"

	"collapse.example/collapse/etf"
)

// Errata of ZH: the printed constants beside the right ones, at points whose objective is evaluated.

// valueOfShape is the objective at outputs x·P + y·11ᵀ/K with bias beta, built as an optimum is.
func valueOfShape(t *testing.T, c Config, x, y, beta float64) float64 {
	t.Helper()
	e := exactOf(t, c)
	e.shape.x, e.shape.y, e.Bias = x, y, Number(beta)
	at, err := c.Instance(e, seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	return mustProblem(t, c).Eval(at.X, make([]float64, c.Variables()))
}

// The main theorem has its roots over KN or n alone, (10) and B.4 item 3 shrink by √(λ_Wλ_H) or
// N√(λ_Wλ_H) where c = K√(nλ_Wλ_H) is right.
func TestPrintedMSEConstantsFail(t *testing.T) {
	c := Config{Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .5}
	e := exactOf(t, c)
	x, y, beta := e.shape.x, e.shape.y, float64(e.Bias)
	near(t, "value of the right constants", valueOfShape(t, c, x, y, beta), float64(e.Objective), 1e-13)
	samples, product := float64(c.N), c.LW*c.LH
	all := float64(c.K) * samples
	for name, p := range map[string][3]float64{
		"1 − √(KN)·λ_Wλ_H":       {1 - math.Sqrt(float64(c.K)*all)*product, y, beta},
		"b* = √n·λ_Wλ_H/λ_b":     {x, y, math.Sqrt(samples) * product / c.LB},
		"1 − N√(λ_Wλ_H) (B.4)":   {1 - all*math.Sqrt(product), y, beta},
		"shrinking by √(λ_Wλ_H)": {1 - math.Sqrt(product/samples), y, beta},
	} {
		if excess := valueOfShape(t, c, p[0], p[1], p[2]) - float64(e.Objective); !(excess > 1e-3) {
			t.Errorf("%s is only %g above the optimum", name, excess)
		}
	}
}

// With the root over KN alone the threshold of λ_b is 0.0014 in place of 0.109: at λ_b = 0.05 the printed
// theorem takes its full case, whose Gram matrix C4(I − β/(1−c)·11ᵀ) has then a negative eigenvalue.
func TestPrintedThresholdFails(t *testing.T) {
	c := Config{Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .05}
	root := math.Sqrt(float64(c.K*c.K*c.N)) * c.LW * c.LH
	if !(c.LB > root/(1-root) && c.LB < c.c()/(1-c.c())) {
		t.Fatal("the two thresholds agree here")
	}
	K, beta := float64(c.K), math.Sqrt(float64(c.N)*c.LW*c.LH)/c.LB
	if last := 1 - K*beta/(1-c.c()); !(last < -.1) {
		t.Errorf("the full case has a Gram matrix: its last eigenvalue is %g", last)
	}
	if e := exactOf(t, c); e.Regime != "etf" {
		t.Errorf("regime %q", e.Regime)
	}
}

// (15) and case II: every direction left at zero costs σ²/2, not σ².
func TestPrintedTailFails(t *testing.T) {
	c := Config{Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: NoBias}
	K, g := float64(c.K), c.c()-c.c()*c.c()/2
	for r := range c.K {
		at, err := c.SubsetPoint(r)
		if err != nil {
			t.Fatal(err)
		}
		kept, left := float64(r), K-float64(r)
		value := mustProblem(t, c).Eval(at.X, make([]float64, c.Variables()))
		near(t, "value", value, (kept*g+left/2)/K, 1e-13)
		if printed := (kept*g + left) / K; !(printed-value > .1) {
			t.Errorf("rank %d: the printed sum gives %g, the objective is %g", r, printed, value)
		}
	}
}

// ZH (24) and its two results print 2D²ξ for D²ξ, and ZU E.1 calls σ_1 a singular value of the Hessian of
// g, not of its gradient. Second differences at zero along the null direction decide.
func TestPrintedCurvatureFails(t *testing.T) {
	for _, model := range []Model{MSE, CE} {
		c := Config{Model: model, K: 3, N: 2, D: 4, LW: .02, LH: .01, LB: NoBias}
		K, n := float64(c.K), float64(c.N)
		p, dir := mustProblem(t, c), c.NewPoint()
		for k := range c.K { // ∇g = (a constant − I⊗1ᵀ)/N: its left singular vectors sum to 0
			u := etf.Helmert(c.K).At(0, k)
			dir.W[k*c.D] = math.Pow(c.LH/c.LW, .25) * u
			c.setMean(dir, 0, k, math.Pow(c.LW/c.LH, .25)*u/math.Sqrt(n))
		}
		value := func(step float64) float64 {
			x := make([]float64, p.Dim())
			for i, v := range dir.X {
				x[i] = step * v
			}
			return p.Eval(x, make([]float64, p.Dim()))
		}
		const h = 1e-3
		second := (value(h) - 2*value(0) + value(-h)) / (h * h)
		mu, sigma := math.Sqrt(c.LW*c.LH), 1/(K*math.Sqrt(n))
		near(t, string(model)+" D²f", second, -2*(sigma-mu), 1e-6)
		hessian := 1 / (K * n) // ‖∇²g‖ of squares
		if model == CE {
			hessian /= K // p(1−p) + p² at p = 1/K
		}
		if first := (value(h) - value(-h)) / (2 * h); !(math.Abs(first-second) > .1) { // ZU E.1 has ∇f for D²f
			t.Errorf("%s: the first derivative is %g, too", model, first)
		}
		for name, printed := range map[string]float64{"half of it": -(sigma - mu), "σ of the Hessian": -2 * (hessian - mu)} {
			if !(math.Abs(second-printed) > .05) {
				t.Errorf("%s: %s gives %g, too, for %g", model, name, printed, second)
			}
		}
	}
}
