package ufm

import (
	"math"
	"testing"
)

// A point with equal columns has the same objective, dual norm (times √n), bound and balance on one
// column per class; and the collapse step never raises the objective.
func TestReducedProblem(t *testing.T) {
	for name, c := range everyModel() {
		p := mustProblem(t, c)
		small := mustProblem(t, c.reduced())
		start := c.Start(InitScale{1, 1, 1}, 5)
		grad := make([]float64, p.Dim())
		before := p.Eval(start.X, grad)
		at := p.collapseStep(start.X)
		reduced := small.Eval(at.X, make([]float64, small.Dim()))
		full := c.NewPoint()
		p.expand(at, full.X)
		after := p.Eval(full.X, grad)
		near(t, name+": value", reduced, after, 1e-14*math.Max(1, after))
		if !(after <= before+1e-14) {
			t.Errorf("%s: the collapse step rose from %g to %g", name, before, after)
		}
		if !p.twoFactor() {
			continue
		}
		s, _, _ := p.dualNorm(seeded(1))
		sSmall, _, _ := small.dualNorm(seeded(1))
		near(t, name+": dual norm", sSmall/math.Sqrt(float64(c.N)), s, 1e-12)
		bound, err := p.GapBound(full.X, seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		boundSmall, err := small.GapBound(at.X, seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+": bound", boundSmall, bound, 1e-10*math.Max(1, bound))
		a, b := p.Certify(full.X, Exact{Objective: None}), small.Certify(at.X, Exact{Objective: None})
		near(t, name+": balance", float64(b.Balance), float64(a.Balance), 1e-10)
	}
}

// Large collapsed points are certified on one column per class: K = 150, d = 300, n = 50 has 2.3 million
// variables.
func TestLargeProblemIsCertified(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("two million variables")
	}
	c := Config{Model: MSE, K: 150, D: 300, N: 50, LW: 1e-5, LH: 1e-6, LB: .01}
	e := exactOf(t, c)
	at, err := c.Instance(e, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	cert := mustProblem(t, c).Certify(at.X, e)
	if cert.Verdict != "global (proved)" || cert.MinHessian.Known() || cert.Missing["negative_eigenvalues"] == "" {
		t.Errorf("verdict %q, smallest eigenvalue %g, missing %v", cert.Verdict, cert.MinHessian, cert.Missing)
	}
	near(t, "threshold", float64(cert.Threshold), math.Sqrt(c.LW*c.LH), 1e-15)
	near(t, "dual norm", float64(cert.DualNorm), math.Sqrt(c.LW*c.LH), 1e-12)
}
