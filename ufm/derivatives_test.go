package ufm

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func randomPoint(c Config, scale float64, seed uint64) []float64 {
	rng := seeded(seed)
	x := make([]float64, c.Variables())
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

// everyModel has each model at a small size with no two sizes equal.
func everyModel() map[string]Config {
	return map[string]Config{
		"mse free bias":  {Model: MSE, K: 3, N: 2, D: 5, LW: .02, LH: .03, LB: 0},
		"mse bias":       {Model: MSE, K: 4, N: 3, D: 2, LW: .02, LH: .03, LB: .1},
		"mse no bias":    {Model: MSE, K: 2, N: 3, D: 4, LW: .02, LH: .03, LB: NoBias},
		"rescaled":       {Model: RescaledMSE, K: 4, N: 2, D: 3, LW: .02, LH: .03, LB: .1, Alpha: 5, M: 2},
		"ce":             {Model: CE, K: 4, N: 3, D: 5, LW: .02, LH: .01, LB: .1},
		"ls":             {Model: LS, K: 3, N: 2, D: 4, LW: .02, LH: .01, LB: NoBias, Smoothing: .1},
		"ls nonnegative": {Model: LSNonneg, K: 3, N: 4, D: 5, LW: .02, LH: .01, LB: .1, Smoothing: .2},
		"linear3":        {Model: Linear3, K: 3, N: 2, D: 4, L2: .02, L1: .01, LH1: .03},
		"linear3 ce":     {Model: Linear3, K: 3, N: 2, D: 4, L2: .02, L1: .01, LH1: .03, Loss: "ce"},
		"relu3":          {Model: ReLU3, K: 3, N: 2, D: 4, L2: .02, L1: .01, LH1: .03},
		"relu3 ce":       {Model: ReLU3, K: 3, N: 4, D: 5, L2: .02, L1: .01, LH1: .03, Loss: "ce"},
		"relu plain":     {Model: ReLUPlain, K: 3, N: 2, D: 4, LW: .02, LH: .01},
	}
}

func mustProblem(t testing.TB, c Config) *Problem {
	t.Helper()
	p, err := NewProblem(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gradientError is the largest |grad − central difference|, NaN if any entry is.
func gradientError(p *Problem, x, grad []float64) float64 {
	scratch := make([]float64, len(x))
	x = append([]float64(nil), x...)
	worst := 0.0
	for i, xi := range x {
		h := 6e-6 * math.Max(1, math.Abs(xi))
		x[i] = xi + h
		up := p.Eval(x, scratch)
		x[i] = xi - h
		down := p.Eval(x, scratch)
		x[i] = xi
		if diff := math.Abs(grad[i] - (up-down)/(2*h)); !(diff <= worst) {
			worst = diff
		}
	}
	return worst
}

func TestGradient(t *testing.T) {
	for name, c := range everyModel() {
		p := mustProblem(t, c)
		x := randomPoint(c, 1, 3)
		grad := make([]float64, len(x))
		p.Eval(x, grad)
		if got := gradientError(p, x, grad); !(got <= 1e-8) {
			t.Errorf("%s: gradient is off by %g", name, got)
		}
		// The checker sees one flipped sign and one NaN.
		flipped := append([]float64(nil), grad...)
		flipped[len(x)/2] = -flipped[len(x)/2]
		if got := gradientError(p, x, flipped); grad[len(x)/2] != 0 && !(got > 1e-6) {
			t.Errorf("%s: a flipped sign went unseen (%g)", name, got)
		}
		flipped[0] = math.NaN()
		if got := gradientError(p, x, flipped); got <= 1e-6 {
			t.Errorf("%s: a NaN went unseen", name)
		}
	}
}

func TestHessVec(t *testing.T) {
	for name, c := range everyModel() {
		p := mustProblem(t, c)
		x, v := randomPoint(c, 1, 3), randomPoint(c, 1, 4)
		got, up, down := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		p.Linearize(x)
		p.HessVec(v, got)
		h := 6e-6
		moved := append([]float64(nil), x...)
		addScaled(moved, h, v)
		p.Eval(moved, up)
		addScaled(moved, -2*h, v)
		p.Eval(moved, down)
		for i := range got {
			if want := (up[i] - down[i]) / (2 * h); !(math.Abs(got[i]-want) <= 1e-8) {
				t.Errorf("%s: element %d is %g, central difference %g", name, i, got[i], want)
				break
			}
		}
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	err := Config{Model: "mes", K: 1, N: 0, D: 0, LW: -1, Smoothing: 1}.Validate()
	if err == nil {
		t.Fatal("a wrong configuration passed")
	}
	for _, want := range []string{`"mes"`, "k is 1", "n is 0", "d is 0", "lw is -1", "smoothing is 1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q:\n%v", want, err)
		}
	}
	if err := (Config{Model: LSNonneg, K: 3, N: 1, D: 2}).Validate(); err == nil {
		t.Error("ls-nonneg with d < k passed")
	}
}
