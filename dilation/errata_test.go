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
