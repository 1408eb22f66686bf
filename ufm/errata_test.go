package ufm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
)

// What the papers print and why it fails; docs/internal/formulas.md lists every erratum with its test.

// ZH: "cannot form a simplex if K > d−1" must read K > d+1: at d = K−1 and d = K there is one.
func TestSimplexExistsWhereZhouDenyIt(t *testing.T) {
	for _, d := range []int{3, 4} {
		if 4 <= d-1 {
			t.Fatal("the printed condition does not forbid this case")
		}
		if _, err := etf.Simplex(4, d); err != nil {
			t.Errorf("K=4, d=%d: %v", d, err)
		}
	}
}

// ZH: P_d(·) is not unique: two optima at d < K−1 with different Gram matrices and the same value.
func TestRankDOptimaAreMany(t *testing.T) {
	c := Config{Model: MSE, K: 5, N: 2, D: 3, LW: .01, LH: .02, LB: .1}
	e, p := exactOf(t, c), mustProblem(t, c)
	var grams []*mat.Dense
	for _, seed := range []uint64{1, 2} {
		at, err := c.Instance(e, seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "objective", p.Eval(at.X, make([]float64, p.Dim())), float64(e.Objective), 1e-13)
		w := mat.NewDense(c.K, c.D, at.W)
		var gram mat.Dense
		gram.Mul(w, w.T())
		grams = append(grams, &gram)
	}
	var diff mat.Dense
	diff.Sub(grams[0], grams[1])
	if !(mat.Norm(&diff, 2) > .1) {
		t.Errorf("the two Gram matrices differ by %g only", mat.Norm(&diff, 2))
	}
}

// ZH (10): singular values shrink by N√(λ_Wλ_H) (of √n, so by c in units of Z̄), not by √(λ_Wλ_H);
// ZH (15): the sum over left-out directions carries ½.
func TestPrintedShrinkingFails(t *testing.T) {
	c := Config{Model: MSE, K: 3, N: 2, D: 5, LW: .05, LH: .02, LB: NoBias}
	e := exactOf(t, c)
	n := float64(c.N)
	right := (math.Sqrt(n) - float64(c.K*c.N)*math.Sqrt(c.LW*c.LH)) / math.Sqrt(n)
	near(t, "x", e.shape.x, right, 1e-14)
	printed := (math.Sqrt(n) - math.Sqrt(c.LW*c.LH)) / math.Sqrt(n)
	if math.Abs(printed-e.shape.x) < .05 {
		t.Error("the printed shrinking gives the optimum too")
	}
	// Zero kept directions: f = Σσ²/(2N) = 1/2; without the ½ it would be 1.
	near(t, "f(0)", mustProblem(t, c).Eval(make([]float64, c.Variables()), make([]float64, c.Variables())), .5, 1e-15)
}

// TB: the formulas after (75) lack 1/√n in H1, and "the positive root" of the polynomial in s2 is
// ambiguous: there are two, of which the smaller is worse than zero.
func TestPrintedThreeFactorFormulasFail(t *testing.T) {
	c := Config{Model: Linear3, K: 4, N: 3, D: 6, L2: .02, L1: .01, LH1: .01}
	e, p := exactOf(t, c), mustProblem(t, c)
	at, err := c.Instance(e, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range at.H {
		at.H[i] *= math.Sqrt(float64(c.N))
	}
	grad := make([]float64, p.Dim())
	if p.Eval(at.X, grad); !(maxAbs(grad) > 1e-2) {
		t.Error("H1 without 1/√n is stationary too")
	}
	// λ_2s⁴ − √(nλ_1λ_H)s + Knλ_1λ_H = 0 in s = s_2.
	n, K := float64(c.N), float64(c.K)
	poly := func(s float64) float64 {
		return c.L2*math.Pow(s, 4) - math.Sqrt(n*c.L1*c.LH1)*s + K*n*c.L1*c.LH1
	}
	near(t, "larger root", poly(float64(e.Singular.W2)), 0, 1e-12)
	q := float64(e.Q)
	low, high := 0.0, math.Pow(4, -1.0/3) // the smaller root of τ⁴ − τ + q
	for range 100 {
		if mid := (low + high) / 2; math.Pow(mid, 4)-mid+q > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	small := low / float64(e.Tau) * float64(e.Singular.W2)
	near(t, "smaller root", poly(small), 0, 1e-12)
	if !(small > 0) || !(directionCost(q, low) > .5) {
		t.Errorf("the smaller positive root s = %g costs %g, wanted more than zero's 1/2", small, directionCost(q, low))
	}
}

// MD Theorem 3.2: the condition for a non-zero minimiser needs (K−1)/K on the right, not 1: in between
// the printed margin is not positive.
func TestPrintedConditionFails(t *testing.T) {
	c := Config{Model: LSNonneg, K: 3, N: 2, D: 4, LW: .1, LH: .1, LB: NoBias, Smoothing: .3}
	e := exactOf(t, c)
	kappa := float64(e.Kappa)
	if !(kappa > 2.0/3 && kappa < 1) {
		t.Fatalf("κ = %g is not in between", kappa)
	}
	if margin := math.Log(2 * (1 - kappa) / kappa); margin > 0 || e.Regime != "zero" {
		t.Errorf("κ = %g: printed margin %g, regime %q", kappa, margin, e.Regime)
	}
	// Targets with α/n instead of α/K would not sum to 1.
	h := newEntropy(c.K, c.N, c.Smoothing)
	own, other := h.targets()
	near(t, "sum of targets", own+2*other, 1, 1e-15)
	if printed := 1 - c.Smoothing + 3*c.Smoothing/float64(c.N); math.Abs(printed-1) < .1 {
		t.Error("the printed targets sum to 1 too")
	}
}

// MD's case (b) penalises λ_H‖H‖² where (λ_H/n)‖H‖² is right: at the optimum both penalties are equal.
func TestPrintedCaseBPenaltyFails(t *testing.T) {
	c := Config{Model: LSNonneg, K: 4, N: 3, D: 6, LW: .01, LH: .002, LB: NoBias, Smoothing: .05}
	found, at, err := mustProblem(t, c).Solve(t.Context(), nil, exactOf(t, c), Run{NoTrace: true})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "objective", float64(found.Objective), 0.3249366249, 1e-10)
	w2, h2 := c.LW*sumSquares(at.W), c.LH*sumSquares(at.H)
	near(t, "penalties", h2/float64(c.N), w2, 1e-7)
	if !(math.Abs(h2-w2) > .1) {
		t.Errorf("the printed penalties %g and %g are equal, too", w2, h2)
	}
	// Their sum at given margin x is 2√(K(K−1)λ_Wλ_H)·x; without the 1/n λ_H would count n-fold.
	near(t, "x", w2/math.Sqrt(12*c.LW*c.LH), 3.70882760, 1e-6)
	if printed := w2 / math.Sqrt(12*c.LW*c.LH*float64(c.N)); !(math.Abs(printed-3.7088) > 1) {
		t.Errorf("the printed penalties give the margin %g, too", printed)
	}
}
