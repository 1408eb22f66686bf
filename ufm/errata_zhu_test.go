package ufm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/measure"
)

// Errata of ZU and TB that concern the geometry of a point.

// One sample per class and d = K, so that every printed product has a shape: balance is
// λ_W·WᵀW = λ_H·HHᵀ. ZU print HᵀH for HHᵀ, √(λ_H/λ_W) for λ_H/λ_W, ‖H‖² = (λ_H/λ_W)ρ, and call WᵀW a
// multiple of P where it is WWᵀ.
func TestPrintedBalanceFails(t *testing.T) {
	c := Config{Model: CE, K: 4, N: 1, D: 4, LW: .02, LH: .01, LB: .1}
	at, err := c.Instance(exactOf(t, c), seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	w, h := mat.NewDense(4, 4, at.W), mat.NewDense(4, 4, at.H)
	var wtw, wwt, hht, hth mat.Dense
	wtw.Mul(w.T(), w)
	wwt.Mul(w, w.T())
	hht.Mul(h, h.T())
	hth.Mul(h.T(), h)
	off := func(factor float64, b *mat.Dense) float64 {
		var diff mat.Dense
		diff.Scale(factor, b)
		diff.Sub(&diff, &wtw)
		return mat.Norm(&diff, 2) / mat.Norm(&wtw, 2)
	}
	near(t, "balance", off(c.LH/c.LW, &hht), 0, 1e-12)
	for name, got := range map[string]float64{
		"HᵀH for HHᵀ":        off(c.LH/c.LW, &hth),
		"√(λ_H/λ_W)":         off(math.Sqrt(c.LH/c.LW), &hht),
		"‖H‖² = (λ_H/λ_W)ρ":  math.Abs(sumSquares(at.H)/(c.LH/c.LW*sumSquares(at.W)) - 1),
		"WᵀW proportional P": etf.DistanceSimplex(&wtw),
	} {
		if !(got > .2) {
			t.Errorf("%s is off by %g only", name, got)
		}
	}
	var wh, hw mat.Dense // ZU E.1 has Z = HW
	wh.Mul(w, h)
	hw.Mul(h, w)
	near(t, "WH to a simplex ETF", etf.DistanceSimplex(&wh), 0, 1e-12)
	if far := etf.DistanceSimplex(&hw); !(far > .2) {
		t.Errorf("HW is %g from a simplex ETF only", far)
	}
	near(t, "WWᵀ to a simplex ETF", etf.DistanceSimplex(&wwt), 0, 1e-12)
	near(t, "‖H‖²", sumSquares(at.H), c.LW/c.LH*sumSquares(at.W), 1e-12)
}

// ZU (30): b_k − Σ_{j≠k,l}(b_l − b_j) = K·b̄ − (K−1)b_l; with the other sign of the sum or of (K−1)b_l it fails.
func TestPrintedBiasIdentityFails(t *testing.T) {
	b := []float64{.3, -1.2, .7, 2.1, -.4}
	mean := 0.0
	for _, v := range b {
		mean += v / 5
	}
	for k := range b {
		for l := range b {
			if k == l {
				continue
			}
			sum := 0.0
			for j := range b {
				if j != k && j != l {
					sum += b[l] - b[j]
				}
			}
			near(t, "(30)", b[k]-sum, 5*mean-4*b[l], 1e-14)
			if !(math.Abs(b[k]+sum-(5*mean-4*b[l])) > .1) || !(math.Abs(b[k]-sum-(5*mean+4*b[l])) > .1) {
				t.Errorf("k=%d l=%d: the other sign holds, too", k, l)
			}
		}
	}
}

// ZU: b > 0 is not implied. A free bias is any multiple of the ones vector, a penalised one is 0; with
// a free one ‖b + W·h_G‖ (NC4) need not vanish either.
func TestPrintedPositiveBiasIsNotImplied(t *testing.T) {
	c := Config{Model: CE, K: 4, N: 3, D: 4, LW: .02, LH: .01, LB: 0}
	e, p := exactOf(t, c), mustProblem(t, c)
	at, err := c.Instance(e, seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, beta := range []float64{-1, 0, 1} {
		for k := range at.B {
			at.B[k] = beta
		}
		grad := make([]float64, p.Dim())
		near(t, "objective", p.Eval(at.X, grad), float64(e.Objective), 1e-12)
		near(t, "gradient", maxAbs(grad), 0, 1e-12)
		got, err := p.Measures(at)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "NC4", valueOf(t, got, measure.KeyNC4Bias), 2*math.Abs(beta), 1e-12)
	}
	c.LB = .1
	near(t, "penalised bias", float64(exactOf(t, c).Bias), 0, 0)
}

// ZU and MD state no condition on the penalties: for κ ≥ (K−1)/K the printed margin, and ρ* with it, is
// negative, and the search ends at zero.
func TestPrintedMarginNeedsSmallPenalties(t *testing.T) {
	c := Config{Model: CE, K: 3, N: 2, D: 4, LW: .3, LH: .3, LB: .2}
	kappa := 2 * math.Sqrt(2*c.LW*c.LH)
	if margin := math.Log(2 * (1 - kappa) / kappa); !(margin < -.1) {
		t.Errorf("κ = %g, printed margin %g", kappa, margin)
	}
	found, at, err := mustProblem(t, c).Solve(t.Context(), nil, exactOf(t, c), Run{NoTrace: true})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "found", float64(found.Objective), math.Log(3), 1e-12)
	near(t, "‖W‖²", sumSquares(at.W), 0, 1e-10)
}

// TB (98) needs H̄ᵀ: for features H̄ with noise of variance σ² the fitted classifier tends to
// (1/K)H̄ᵀ(H̄H̄ᵀ/K + (σ² + λ_W)I)^{−1}, which is W* attenuated; with H̄ (d = K) it is not.
func TestPrintedNoisyClassifierFails(t *testing.T) {
	c := Config{Model: MSE, K: 4, N: 3, D: 4, LW: .005, LH: .02 / 3, LB: NoBias}
	at, err := c.Instance(exactOf(t, c), seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	const sigma = .3
	means := mat.NewDense(4, 4, nil)
	for j := range 4 {
		for k := range 4 {
			means.Set(j, k, at.H[j*12+k*3])
		}
	}
	var moment, inverse, right, printed mat.Dense
	moment.Mul(means, means.T())
	moment.Scale(.25, &moment)
	for j := range 4 {
		moment.Set(j, j, moment.At(j, j)+sigma*sigma+c.LW)
	}
	if err := inverse.Inverse(&moment); err != nil {
		t.Fatal(err)
	}
	right.Mul(means.T(), &inverse)
	printed.Mul(means, &inverse)
	factor := float64(exactOf(t, Config{Model: Noisy, K: 4, D: 4, N: 3, LW: c.LW, LH: c.LH, Sigma: sigma}).Attenuation)
	near(t, "attenuation", factor, 0.5813953488, 1e-10)
	worst, least := 0.0, 0.0
	for i, w := range at.W {
		worst = math.Max(worst, math.Abs(right.RawMatrix().Data[i]/4-factor*w))
		least = math.Max(least, math.Abs(printed.RawMatrix().Data[i]/4-factor*w))
	}
	if !(worst <= 1e-12) || !(least > .1) {
		t.Errorf("with H̄ᵀ off by %g, with H̄ by %g", worst, least)
	}
}
