package ufm

import (
	"math"
	"strings"
	"testing"
)

// near fails unless got is within tol of want; NaN fails.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %.12g, wanted %.12g ± %g", what, got, want, tol)
	}
}

func exactOf(t testing.TB, c Config) Exact {
	t.Helper()
	e, err := c.Exact()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Reference numbers of these tests were computed independently of this code, each confirmed by multi-start L-BFGS in float64; digits
// as printed.

func TestMSETable(t *testing.T) {
	none := NoBias
	for _, r := range []struct {
		k, n, d          int
		lw, lh, lb       float64
		c, f, beta, x, y float64
		diag, off        float64
		regime           string
	}{
		{4, 3, 6, .02, .01, .05, 0.09797959, 0.0758370732, 0.23809524, 0.90202041, 0, 0.55237244, -0.18412415, "etf"},
		{4, 3, 6, .02, .01, .5, 0.09797959, 0.0907795897, 0.04898979, 0.90202041, 0.70606123, 0.69649658, -0.04, "full"},
		{3, 2, 5, .05, .02, none, 0.13416408, 0.1251640786, 0, 0.86583592, 0.86583592, 0.96803399, 0, "full"},
		{3, 2, 4, .3, .3, .2, 1.27279221, 0.3611111111, 0.27777778, 0, 0, 0, 0, "zero"},
	} {
		e := exactOf(t, Config{Model: MSE, K: r.k, N: r.n, D: r.d, LW: r.lw, LH: r.lh, LB: r.lb})
		if !e.Available || e.Regime != r.regime || e.Status != Proved {
			t.Errorf("%+v: available %v, regime %q, status %q", r, e.Available, e.Regime, e.Status)
		}
		near(t, "c", float64(e.C), r.c, 5e-9)
		near(t, "f*", float64(e.Objective), r.f, 6e-11)
		near(t, "beta", float64(e.Bias), r.beta, 5e-9)
		near(t, "x", e.shape.x, r.x, 5e-9)
		near(t, "y", e.shape.y, r.y, 5e-9)
		near(t, "gram diagonal", float64(e.GramDiag), r.diag, 5e-9)
		near(t, "gram off diagonal", float64(e.GramOffdiag), r.off, 5e-9)
	}
	for _, r := range []struct {
		k, n, d         int
		lw, lh, lb      float64
		f, beta, x, eig float64
	}{
		{5, 2, 3, .01, .02, .1, 0.1660909091, 0.18181818, .9, .45},
		{3, 2, 2, .05, .02, none, 0.2501093858, 0, 0.86583592, 0.96803399},
	} {
		e := exactOf(t, Config{Model: MSE, K: r.k, N: r.n, D: r.d, LW: r.lw, LH: r.lh, LB: r.lb})
		near(t, "f*", float64(e.Objective), r.f, 6e-11)
		near(t, "beta", float64(e.Bias), r.beta, 5e-9)
		near(t, "x", e.shape.x, r.x, 5e-9)
		for k, g := range e.Gram {
			want := r.eig
			if k >= r.d {
				want = 0
			}
			near(t, "gram eigenvalue", g, want, 5e-9)
		}
		if e.Rank != r.d || e.Regime != "rank-d" {
			t.Errorf("rank %d regime %q, wanted %d rank-d", e.Rank, e.Regime, r.d)
		}
	}
}

// TB's figures: settings of the paper, values computed independently of this code.
func TestTirerBrunaFigures(t *testing.T) {
	for name, r := range map[string]struct {
		c    Config
		f, h float64 // f*, ‖h_k‖²
	}{
		"fig 1": {Config{Model: MSE, K: 4, D: 20, N: 50, LW: .005, LH: .005, LB: NoBias}, 0.1314213562, 0.1214214},
		"fig 2": {Config{Model: MSE, K: 4, D: 20, N: 50, LW: .005, LH: .005, LB: 0}, 0.0985660172, 0.0910660},
		"fig 6": {Config{Model: MSE, K: 5, D: 20, N: 100, LW: .005, LH: .001, LB: NoBias}, 0.1055533989, 0.1986068},
		"fig 7": {Config{Model: MSE, K: 5, D: 20, N: 100, LW: .005, LH: .001, LB: 0}, 0.0844427191, 0.1588854},
	} {
		e := exactOf(t, r.c)
		near(t, name+" f*", float64(e.Objective), r.f, 6e-11)
		near(t, name+" norm", float64(e.ClassMeanNorm2), r.h, 5e-8)
	}
	for name, r := range map[string]struct {
		l2, l1, lh                        float64
		n, k                              int
		f, q, tau, sigma, s2, s1, sH, s21 float64
	}{
		"figs 3, 4": {.005, .005, .005, 50, 4, 0.1077357156, 0.07368063, 0.97412356, 0.92436213, 1.86971631, 1.86971631, 0.26441782, 0.49438630},
		"figs 8, 9": {.005, .0025, .001, 100, 5, 0.0793136058, 0.05386087, math.Cbrt(0.94511610), 0.94511610, 1.44043961, 2.03708923, 0.32209209, 0.65613032},
	} {
		for _, m := range []Model{Linear3, ReLU3} {
			e := exactOf(t, Config{Model: m, K: r.k, N: r.n, D: 20, L2: r.l2, L1: r.l1, LH1: r.lh})
			near(t, name+" f*", float64(e.Objective), r.f, 6e-11)
			near(t, name+" q", float64(e.Q), r.q, 5e-9)
			near(t, name+" tau", float64(e.Tau), r.tau, 5e-9)
			near(t, name+" sigma", float64(e.Sigma), r.sigma, 5e-9)
			near(t, name+" s2", float64(e.Singular.W2), r.s2, 5e-9)
			near(t, name+" s1", float64(e.Singular.W1), r.s1, 5e-9)
			near(t, name+" sH", float64(e.Singular.H1), r.sH, 5e-9)
			near(t, name+" s(W1H1)", float64(e.Singular.H2), r.s21, 5e-9)
			if want := map[Model]Status{Linear3: Proved, ReLU3: Observed}[m]; e.Status != want {
				t.Errorf("%s %s: status %q, wanted %q", name, m, e.Status, want)
			}
		}
	}
}

func TestThreeFactorLevels(t *testing.T) {
	e := exactOf(t, Config{Model: Linear3, K: 4, N: 2, D: 4, L2: .02, L1: .01, LH1: .01})
	near(t, "f*", float64(e.Objective), 0.093183, 5e-7)
	near(t, "rank 3", e.LocalObjectives[0], 0.194887, 5e-7)
	if last := e.LocalObjectives[len(e.LocalObjectives)-1]; last != 0.5 {
		t.Errorf("the zero point has %g, wanted 0.5", last)
	}
	// Between the two thresholds the rank-K point is a spurious minimum above zero's 1/2. TB's theorem
	// without the condition nK³λλλ < 1/16 would call it the optimum.
	e = exactOf(t, Config{Model: Linear3, K: 3, N: 2, D: 5, L2: .062, L1: .06, LH1: .32})
	near(t, "q", float64(e.Q), 0.400586, 5e-7)
	near(t, "f*", float64(e.Objective), 0.5, 0)
	near(t, "spurious value", e.LocalObjectives[0], 0.503513, 5e-7)
	// At the tie σ = 1/2.
	tau := largerRoot(qZero)
	near(t, "sigma at the tie", tau*tau*tau, 0.5, 1e-12)
	near(t, "cost at the tie", directionCost(qZero, tau), 0.5, 1e-12)
	// TB Fig. 3's ladder of values.
	e = exactOf(t, Config{Model: Linear3, K: 4, N: 50, D: 20, L2: .005, L1: .005, LH1: .005})
	for i, want := range []float64{0.2058, 0.3039, 0.4019} {
		near(t, "level", e.LocalObjectives[i], want, 5e-5)
	}
}

func TestRescaledTable(t *testing.T) {
	for _, r := range []struct {
		k, n, d                int
		lw, lh, lb, alpha, m   float64
		f, beta, x, y, tolBeta float64
		regime                 string
	}{
		{4, 3, 6, .02, .01, .05, 1, 3, 0.2651387691, 0.48989795, 2.90202041, 0.94242862, 5e-9, "full"},
		{4, 3, 6, .02, .01, .05, 5, 2, 0.1709991794, 0.48989795, 1.98040408, 0.02081229, 5e-9, "full"},
		{3, 2, 4, .05, .02, 0, .3, 1, 0.0741093858, 0.26376677, 0.65713624, 0, 5e-9, "etf"},
		{5, 2, 2, .01, .02, .01, 10, 5, 8.1856003723, 1.562519, 7.790723, 0, 5e-7, "tight-frame"},
	} {
		e := exactOf(t, Config{Model: RescaledMSE, K: r.k, N: r.n, D: r.d, LW: r.lw, LH: r.lh, LB: r.lb, Alpha: r.alpha, M: r.m})
		if e.Regime != r.regime {
			t.Errorf("alpha=%g M=%g: regime %q, wanted %q", r.alpha, r.m, e.Regime, r.regime)
		}
		near(t, "f*", float64(e.Objective), r.f, 6e-11)
		near(t, "beta", float64(e.Bias), r.beta, r.tolBeta)
		near(t, "x", e.shape.x, r.x, r.tolBeta)
		near(t, "y", e.shape.y, r.y, 5e-9)
	}
	// d = K−1 where "full" would apply: the ETF branch for alpha > 1 is observed, alpha < 1 has none.
	e := exactOf(t, Config{Model: RescaledMSE, K: 5, N: 1, D: 4, LW: .02, LH: .02, LB: 5, Alpha: 3, M: 1})
	near(t, "f* at d = K−1", float64(e.Objective), 0.182150, 5e-7)
	if e.Status != Observed {
		t.Errorf("status %q, wanted observed", e.Status)
	}
	for _, c := range []Config{
		{Model: RescaledMSE, K: 5, N: 2, D: 4, LW: .01, LH: .02, LB: 1, Alpha: .3, M: 1},
		{Model: RescaledMSE, K: 5, N: 2, D: 3, LW: .01, LH: .02, LB: .01, Alpha: 10, M: 5},
	} {
		if e := exactOf(t, c); e.Available || e.Reason == "" {
			t.Errorf("%+v claims an optimum", c)
		}
	}
}

func TestCETable(t *testing.T) {
	for _, r := range []struct {
		k, n             int
		lw, lh           float64
		kappa, x, f, rho float64
	}{
		{4, 3, .02, .01, 0.07348469, 3.63296574, 0.3432920808, 13.34836847},
		{5, 2, .1, .15, 0.69282032, 0.57295651, 1.5772783520, 3.96955917},
		{10, 2, .005, .005, 0.06363961, 4.88598893, 0.3766972764, 62.18848631},
	} {
		for _, d := range []int{r.k - 1, r.k, r.k + 3} {
			e := exactOf(t, Config{Model: CE, K: r.k, N: r.n, D: d, LW: r.lw, LH: r.lh, LB: .1})
			near(t, "kappa", float64(e.Kappa), r.kappa, 5e-9)
			near(t, "x", float64(e.Margin), r.x, 5e-9)
			near(t, "f*", float64(e.Objective), r.f, 6e-11)
			near(t, "rho*", float64(e.WNorm2), r.rho, 5e-8)
			near(t, "|H|²", float64(e.HNorm2), r.lw/r.lh*r.rho, 1e-6)
		}
	}
	if e := exactOf(t, Config{Model: CE, K: 4, N: 3, D: 2, LW: .02, LH: .01, LB: .1}); e.Available || !strings.Contains(e.Reason, "solved numerically") {
		t.Errorf("ce with d < k−1: available %v, reason %q", e.Available, e.Reason)
	}
	// Same threshold as MSE: zero iff c ≥ 1.
	e := exactOf(t, Config{Model: CE, K: 3, N: 2, D: 4, LW: .3, LH: .3, LB: .2})
	near(t, "f* of the zero point", float64(e.Objective), math.Log(3), 1e-15)
}

func TestNonnegTable(t *testing.T) {
	for _, r := range []struct {
		k, n               int
		lw, lh, alpha      float64
		kappa, x, f        float64
		mean2, w2, free    float64
		printedW, printedH float64 // what MD (25), (26) give; 0: not listed
		dead               float64 // value with one dead class
	}{
		{2, 3, .01, .01, .2, 0.12828427, 1.91621470, 0.3831121138, 1.35496841, 2.70993682, 0.3669249913, 0, 0, 0.53813},
		{3, 2, .005, .02, .1, 0.11565646, 2.72736853, 0.4383474668, 1.11344354, 13.36132247, 0.4134246417, 0, 0, 0.65844},
		{4, 3, .01, .002, .05, 0.06848387, 3.70882760, 0.3249366249, 7.18211377, 5.74569102, 0.3094034301, 3.084274, 46.26411, 0},
	} {
		c := Config{Model: LSNonneg, K: r.k, N: r.n, D: r.k + 1, LW: r.lw, LH: r.lh, LB: NoBias, Smoothing: r.alpha}
		e := exactOf(t, c)
		near(t, "kappa", float64(e.Kappa), r.kappa, 5e-9)
		near(t, "x", float64(e.Margin), r.x, 5e-9)
		near(t, "f*", float64(e.Objective), r.f, 6e-11)
		near(t, "|h_k|²", float64(e.ClassMeanNorm2), r.mean2, 5e-9)
		near(t, "|W|²", float64(e.WNorm2), r.w2, 5e-8)
		near(t, "|H|²", float64(e.HNorm2), float64(r.k*r.n)*r.mean2, 1e-6)
		// Without the sign constraint, in MD's penalties: λ/2 ones are 2λ_W and 2λ_H/n.
		free := exactOf(t, Config{Model: LS, K: r.k, N: r.n, D: r.k, LW: 2 * r.lw, LH: 2 * r.lh / float64(r.n), LB: NoBias, Smoothing: r.alpha})
		near(t, "f* of free H", float64(free.Objective), r.free, 5e-11)
		if r.dead > 0 {
			near(t, "one dead class", c.deadClassValue(1, float64(e.Objective)), r.dead, 5e-6)
		}
		if r.printedW > 0 { // erratum: the printed constant lost the factor K
			K := float64(r.k)
			kappa := r.alpha*(K-1)/K + 2*math.Sqrt((K-1)*r.lw*r.lh)
			x := math.Log((K - 1) * (1 - kappa) / kappa)
			w2 := math.Sqrt((K-1)*r.lh/r.lw) * x
			h2 := float64(r.n) * math.Sqrt((K-1)*r.lw/r.lh) * x
			near(t, "printed |W|²", w2, r.printedW, 5e-7)
			near(t, "printed |H|²", h2, r.printedH, 5e-5)
			if math.Abs(w2-float64(e.WNorm2)) < 1 {
				t.Error("the printed |W|² is as good as ours")
			}
		}
	}
}

func TestNoisyTable(t *testing.T) {
	for _, r := range []struct {
		k, d               int
		lw, lht, se, limit float64
	}{{3, 5, .02, .03, .5, 0.5212246174}, {4, 6, .005, .02, .3, 0.5813953488}} {
		for _, n := range []int{1, 1000} {
			c := Config{Model: Noisy, K: r.k, D: r.d, N: n, LW: r.lw, LH: r.lht / float64(n), Sigma: r.se}
			near(t, "attenuation", float64(exactOf(t, c).Attenuation), r.limit, 1e-10)
		}
	}
	// Erratum: with λ_H in place of λ̃_H the first row at n = 1000 would give 0.971773.
	near(t, "printed factor", 1/(1+.25*3*math.Sqrt(.03/1000/.02)), 0.971773, 5e-7)
	two := Config{Model: Noisy, Layers: 2, K: 3, N: 10, D: 4, L2: .02, L1: .01, LH1: .001, Sigma: .3}
	near(t, "two layers", float64(exactOf(t, two).Attenuation), 0.819705, 5e-7)
}

func TestThreeFactorCEValues(t *testing.T) {
	for _, r := range []struct {
		k, n         int
		l2, l1, lh   float64
		linear, relu float64
	}{
		{4, 3, .02, .01, .01, 0.255654, 0.301806},
		{4, 50, .005, .005, .005, 0.258692, 0.305367},
		{3, 2, .01, .01, .02, 0.151612, 0.191772},
	} {
		for m, want := range map[Model]float64{Linear3: r.linear, ReLU3: r.relu} {
			e := exactOf(t, Config{Model: m, Loss: "ce", K: r.k, N: r.n, D: 6, L2: r.l2, L1: r.l1, LH1: r.lh})
			if e.Available {
				t.Errorf("%s with ce claims a proved optimum", m)
			}
			near(t, "symmetric branch", e.LocalObjectives[0], want, 6e-7)
		}
	}
}

func TestNoOptimumWithoutPenalty(t *testing.T) {
	for _, c := range []Config{
		{Model: MSE, K: 3, N: 2, D: 4, LW: 0, LH: .1}, {Model: CE, K: 3, N: 2, D: 4, LW: .1, LH: 0},
		{Model: Linear3, K: 3, N: 2, D: 4, L2: .1, L1: 0, LH1: .1},
	} {
		if e := exactOf(t, c); e.Available || !strings.Contains(e.Reason, "not attained") {
			t.Errorf("%+v: available %v, reason %q", c, e.Available, e.Reason)
		}
	}
}

// deadClassValue is the objective of ls-nonneg with m classes whose features are all zero and the
// others optimal: ((K−m)f* + m log K)/K. A trap of projected methods (MD Fig. 4(a)).
func (c Config) deadClassValue(m int, optimum float64) float64 {
	K := float64(c.K)
	return ((K-float64(m))*optimum + float64(m)*math.Log(K)) / K
}
