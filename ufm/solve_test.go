package ufm

import (
	"context"
	"math"
	"testing"
)

func TestAutoReachesEveryOptimum(t *testing.T) {
	for name, c := range optima() {
		e := exactOf(t, c)
		p := mustProblem(t, c)
		for seed := range uint64(5) {
			found, at, err := p.Solve(context.Background(), nil, e, Run{Seed: seed, NoTrace: true})
			if err != nil {
				t.Fatal(err)
			}
			if gap := float64(found.Gap); !(math.Abs(gap) <= 1e-12) {
				t.Errorf("%s seed %d: gap %g, gradient %g, %d evaluations, %s, trap %q", name, seed, gap, found.Gradient, found.Evaluations, found.Stopped, found.Trap)
			}
			cert := p.Certify(at.X, e)
			if seed == 0 {
				t.Logf("%-18s %3d evals gap %8.1e | %s | bound %.1e minEig %.2e bal %.1e", name, found.Evaluations, found.Gap, cert.Verdict, cert.GapBound, cert.MinHessian, cert.Balance)
			}
		}
	}
}
