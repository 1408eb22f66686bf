package ufm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/optim"
)

// drawBias draws a bias of any size: along the ones vector, across it, or both.
func drawBias(t *rapid.T, K int) []float64 {
	along := rapid.Float64Range(-3, 3).Draw(t, "along") / float64(K)
	across := rapid.SampledFrom([]float64{0, 1e-3, .3, 2}).Draw(t, "across")
	b := make([]float64, K)
	for k := range b {
		b[k] = along + across*rapid.Float64Range(-1, 1).Draw(t, "b")
	}
	return b
}

// residualTargets is Y − b1ᵀ.
func residualTargets(c Config, b []float64) *mat.Dense {
	y := mat.NewDense(c.K, c.K*c.N, nil)
	for k := range c.K {
		for i := range c.K * c.N {
			y.Set(k, i, -b[k])
		}
		for i := range c.N {
			y.Set(k, k*c.N+i, 1-b[k])
		}
	}
	return y
}

// The closed form is the singular value decomposition, and its two bounds hold with the equality it says.
func TestBiasSpectrum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Model: MSE, K: rapid.IntRange(2, 8).Draw(t, "K"), N: rapid.IntRange(1, 5).Draw(t, "n"), D: 1}
		b := drawBias(t, c.K)
		var svd mat.SVD
		if !svd.Factorize(residualTargets(c, b), mat.SVDNone) {
			t.Fatal("no singular value decomposition")
		}
		values := svd.Values(nil)
		got := c.BiasSpectrum(b)
		size := 1e-13 * values[0]
		for i, v := range values {
			want := got.Middle
			switch i {
			case 0:
				want = got.First
			case c.K - 1:
				want = got.Last
			}
			if !(math.Abs(v-want) <= size) {
				t.Fatalf("σ_%d of b = %v is %.17g, wanted %.17g", i+1, b, want, v)
			}
		}
		root, sum, norm := math.Sqrt(float64(c.N)), 0.0, 0.0
		for _, v := range b {
			sum, norm = sum+v, norm+v*v
		}
		gap := math.Sqrt(float64(c.K*c.N)*norm) - (values[0] - values[c.K-1])
		if !(values[0] >= root-size && values[c.K-1] <= root+size && gap >= -size) {
			t.Fatalf("a bound fails: σ_1 = %g, √n = %g, σ_K = %g, √N‖b‖ − (σ_1 − σ_K) = %g", values[0], root, values[c.K-1], gap)
		}
		if (sum <= 1) != (gap <= 1e3*size) && math.Abs(sum-1) > 1e-4 {
			t.Fatalf("1ᵀb = %g, √N‖b‖ − (σ_1 − σ_K) = %g", sum, gap)
		}
	})
}

// ZH Lemma B.3, (25) and (26), on decompositions; the place that its proof names beside c/√K·1 has σ_K = √n.
func TestLemmaB3AsPrinted(t *testing.T) {
	values := func(t interface{ Fatal(...any) }, c Config, b []float64) (first, last float64) {
		var svd mat.SVD
		if !svd.Factorize(residualTargets(c, b), mat.SVDNone) {
			t.Fatal("no singular value decomposition")
		}
		v, root := svd.Values(nil), math.Sqrt(float64(c.N))
		return v[0] / root, v[c.K-1] / root
	}
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Model: MSE, K: rapid.IntRange(2, 8).Draw(t, "K"), N: rapid.IntRange(1, 5).Draw(t, "n"), D: 1}
		b, K, sum := drawBias(t, c.K), float64(c.K), 0.0
		for _, v := range b {
			sum += v
		}
		p, q := values(t, c, b)
		across, size := math.Max(0, K*sumSquares(b)-sum*sum), 1e-12*p
		if bound := math.Max(math.Sqrt(1+across), math.Abs(1-sum)); !(p >= bound-size) {
			t.Fatalf("(25): σ_1/√n = %g, bound %g", p, bound)
		}
		norm := math.Sqrt(K * sumSquares(b))
		if norm > 1 {
			return
		}
		if !(p >= 1-size && q >= 1-norm-size) {
			t.Fatalf("(26): σ_1/√n = %g, σ_K/√n = %g, √K‖b‖ = %g", p, q, norm)
		}
		if both := p-1 <= 1e-12 && q-(1-norm) <= 1e-12; across > 1e-9 && both {
			t.Fatalf("(26) with equality away from the ones vector: b = %v", b)
		}
	})
	c := Config{Model: MSE, K: 5, N: 3, D: 1}
	for _, sign := range []float64{1, -1} {
		p, q := values(t, c, slices.Repeat([]float64{sign * .08}, c.K)) // √K‖b‖ = 0.4
		if want := [2]float64{max(1, 1-sign*.4), min(1, 1-sign*.4)}; !(math.Abs(p-want[0]) < 1e-12 && math.Abs(q-want[1]) < 1e-12) {
			t.Errorf("b = %g·1: σ_1/√n = %g, σ_K/√n = %g; want %v", sign*.08, p, q, want)
		}
	}
}

// heldBias is a problem whose b does not move.
type heldBias struct{ *Problem }

func (h heldBias) Eval(x, grad []float64) float64 {
	value := h.Problem.Eval(x, grad)
	clear(h.View(grad).B)
	return value
}

// With b held, L-BFGS over W and H from a random start ends at HeldBias.
func TestHeldBiasIsTheLeastValue(t *testing.T) {
	for _, c := range heldBiasCases() {
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 17))
			p := mustProblem(t, c)
			at := c.Start(InitScale{W: .5, H: .5}, seed)
			for k := range at.B {
				at.B[k] = rng.NormFloat64() * math.Pow(10, -float64(seed)/2)
			}
			b := append([]float64(nil), at.B...)
			out := optim.LBFGS(context.Background(), heldBias{p}, at.X, optim.LBFGSConfig{Memory: 20, Iterations: 5000, Gradient: 1e-12})
			near(t, "objective with b held", out.Value, c.HeldBias(b), 1e-10)
			for k := range b {
				if at.B[k] != b[k] {
					t.Fatal("the bias moved")
				}
			}
		}
	}
}

// The bounds end in Theorem 3.1: no bias is below f*, and the exact bias is at it, in every regime.
func TestHeldBiasEndsInTheorem31(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range heldBiasCases() {
		e, err := c.Exact()
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Regime] = true
		b := make([]float64, c.K)
		for k := range b {
			b[k] = float64(e.Bias)
		}
		near(t, "value at the exact bias, "+e.Regime, c.HeldBias(b), float64(e.Objective), 1e-14)
		rapid.Check(t, func(t *rapid.T) {
			b := drawBias(t, c.K)
			spectrum := c.BiasSpectrum(b)
			value, bound := c.HeldBias(b), c.BiasBound(spectrum.Last/spectrum.Middle)
			if !(value >= bound-1e-14*math.Max(1, value) && bound >= float64(e.Objective)-1e-14) {
				t.Fatalf("%+v: b = %v gives %g; bound %g, f* = %g", c, b, value, bound, float64(e.Objective))
			}
			q := rapid.Float64Range(0, 1).Draw(t, "q") // reached along the ones vector
			if got, want := c.HeldBias(slices.Repeat([]float64{(1 - q) / float64(c.K)}, c.K)), c.BiasBound(q); !(math.Abs(got-want) <= 1e-14) {
				t.Fatalf("%+v: the bound at q = %g is %g, the value at (1−q)/K·1 is %g", c, q, want, got)
			}
		})
	}
	for _, regime := range []string{"zero", "full", "etf", "rank-d"} {
		if !seen[regime] {
			t.Errorf("no case of regime %s", regime)
		}
	}
}

// heldBiasCases are settings in every regime with a bias.
func heldBiasCases() []Config {
	return []Config{
		{Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .05},
		{Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .5},
		{Model: MSE, K: 4, N: 3, D: 3, LW: .02, LH: .01, LB: .5},
		{Model: MSE, K: 5, N: 2, D: 3, LW: .01, LH: .02, LB: .1},
		{Model: MSE, K: 3, N: 2, D: 4, LW: .3, LH: .3, LB: .2},
		{Model: MSE, K: 2, N: 2, D: 1, LW: .01, LH: .02, LB: .1},
		{Model: MSE, K: 4, N: 2, D: 2, LW: .01, LH: .02, LB: 0},
	}
}

// Centring the bias is not enough of an argument: for d < K it can raise the value, so the second bound is needed.
func TestCentringTheBiasCanRaiseTheValue(t *testing.T) {
	c := Config{Model: MSE, K: 5, N: 2, D: 3, LW: .001, LH: .002, LB: .1}
	b := []float64{.3, -.3, 0, 0, 0}
	if off, centred := c.HeldBias(b), c.HeldBias(make([]float64, 5)); !(off < centred-1e-3) {
		t.Errorf("value %g at b and %g at its mean", off, centred)
	}
}
