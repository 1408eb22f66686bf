package dilation

import (
	"math"
	"testing"
)

// What MD print about the model and why it fails.

func solve(t *testing.T, p Params) *Solution {
	t.Helper()
	sol, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	return sol
}

// Remark 1 drops η from η‖h2 − u1‖ ≤ C_MD·r/‖h1 − h2‖: without it u1 could reach h1 only from
// r = D²/C_MD on, where r* and r_max, the place that the appendix uses, are η times as far.
func TestPrintedRemark1Fails(t *testing.T) {
	sol := solve(t, Params{LW: .01, LH: .01, Alpha: .2, CMD: 1, Eta: .001, Law: law(t, "circle")})
	for _, s := range []*Side{sol.CE, sol.LS} {
		_, u := s.Noisy(1)
		near(t, "‖u1 − h1‖ at r_max", math.Hypot(u[0]-s.HNorm, u[1]), 0, 1e-12)
		moved := math.Hypot(s.U1[0], s.U1[1]-s.HNorm)
		if printed := s.p.CMD * s.RStar / s.Dist; moved <= printed {
			t.Errorf("‖h2 − u1‖ = %g obeys the printed bound %g", moved, printed)
		}
	}
}

// MD ask for α0 > 4√(λ_Wλ_H) or, elsewhere, 2√(λ_Wλ_H); γ > 1 and the theorem hold without either.
func TestPrintedSmoothingConditionIsNotNeeded(t *testing.T) {
	p := Params{LW: .01, LH: .01, Alpha: .01, CMD: 1, Eta: 1e-7, Law: law(t, "circle")}
	sol := solve(t, p)
	if sol.Assumption.PrintedAlpha || p.Alpha > 2*math.Sqrt(p.LW*p.LH) {
		t.Fatal("the printed condition holds here")
	}
	if !(sol.Gamma > 1) || !sol.Assumption.Holds || !sol.Theorem {
		t.Errorf("γ = %g, assumption %+v, theorem %v", sol.Gamma, sol.Assumption, sol.Theorem)
	}
}

// Assumption 4.2(3) lacks the A of 4.2(2): for a law with A > 1 the printed bound admits noise at which the
// appendix's lower bound of the bracket no longer puts CE's r*/D above LS's.
func TestPrintedNoiseBoundIsTooLarge(t *testing.T) {
	ball := law(t, "ball")
	sol := solve(t, Params{LW: .01, LH: .01, Alpha: .2, CMD: 1, Eta: .001, Law: ball})
	printed := sol.Assumption.NoiseMost * ball.A
	eta := math.Pow((sol.Assumption.NoiseMost+printed)/2, 2) // between both bounds
	between := solve(t, Params{LW: .01, LH: .01, Alpha: .2, CMD: 1, Eta: eta, Law: ball})
	if between.Assumption.Noise {
		t.Error("our bound admits the noise, too")
	}
	low, _ := between.CE.Bracket()
	if low/between.CE.Dist > between.LS.RMax/between.LS.Dist {
		t.Error("the bracket proves the inequality beyond our bound, too")
	}
	low, _ = sol.CE.Bracket()
	if !(low/sol.CE.Dist > sol.LS.RMax/sol.LS.Dist) {
		t.Error("the bracket does not prove the inequality inside our bound")
	}
}

// The middle displays of Lemma C.5 miss ‖w2 − w1‖²: with 1/4 in its place the cost of dilation is larger.
func TestPrintedLemmaC5Fails(t *testing.T) {
	s := solve(t, Params{LW: .04, LH: 2, Alpha: .01, CMD: 1, Eta: .01, Law: law(t, "two-point")}).CE
	r := s.RMax / 2
	cost := s.Spread(r) - s.Spread(0)
	if printed := (.25 + 2*s.p.LH) * r * r; cost <= printed {
		t.Errorf("the cost %g obeys the printed bound %g", cost, printed)
	}
	if ours := (s.WDiffNorm*s.WDiffNorm/4 + 2*s.p.LH) * r * r; cost > ours {
		t.Errorf("the cost %g exceeds the bound %g", cost, ours)
	}
}

// Lemma C.4's own argument gives δᵀ(∇²g)δ/2 for g(h1+δ) − g(h1): without the ½ on the Hessian the bound
// fails beside h1. On the h1 axis ‖δ‖ ≈ √2·D(1−ρ), twice C.3's lower bound squared, which is why the printed
// constant is the true leading one in D²(1−ρ)².
func TestPrintedLemmaC4ArgumentFails(t *testing.T) {
	s := solve(t, Params{LW: .01, LH: .01, Alpha: .2, CMD: 1, Eta: .001, Law: law(t, "circle")}).CE
	second := s.Kappa*(1-s.Kappa)*s.C*s.C*s.HNorm*s.HNorm + 2*s.p.LH // of g along the h1 axis
	base := s.sampleLoss([2]float64{s.HNorm, 0})
	for _, rho := range []float64{.999, .9999} {
		g, u := s.Noisy(rho)
		near(t, "u1 across the h1 axis", u[1], 0, 1e-12)
		delta := u[0] - s.HNorm
		near(t, "cost over half the quadratic form", (g-base)/(second*delta*delta/2), 1, .01)
		if printed := second * delta * delta; g-base >= .6*printed {
			t.Errorf("ρ=%g: the cost %g obeys the printed bound %g", rho, g-base, printed)
		}
		near(t, "‖δ‖ over √2·D(1−ρ)", math.Abs(delta)/(math.Sqrt2*s.Dist*(1-rho)), 1, .01)
	}
}
