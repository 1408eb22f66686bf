package ufm

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// At tiny penalties everything is tiny: the point (2W*, H*/2) has the outputs of the optimum and 2.125 times its
// objective, and neither gap nor gradient nor curvature is large in absolute terms.
func TestVerdictsAtTinyPenalties(t *testing.T) {
	for _, lambda := range []float64{1e-3, 1e-5, 1e-7, 1e-9, 1e-11} {
		for _, model := range []Model{MSE, CE, LS, RescaledMSE, Linear3, ReLU3} {
			c := Config{Model: model, K: 3, N: 2, D: 5, LW: lambda, LH: lambda, LB: NoBias, L2: lambda, L1: lambda, LH1: lambda}
			if model == LS {
				c.Smoothing = 1e-3
			}
			e, p := exactOf(t, c), mustProblem(t, c)
			at, err := c.Instance(e, seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			best := p.Certify(at.X, e)
			if !strings.HasPrefix(best.Verdict, "global") && !strings.HasPrefix(best.Verdict, "best known") {
				t.Errorf("%s, λ = %g: the optimum is %q", model, lambda, best.Verdict)
			}
			if best.Negative != nil && *best.Negative != 0 {
				t.Errorf("%s, λ = %g: the optimum has %d negative eigenvalues", model, lambda, *best.Negative)
			}
			if best.Negative == nil {
				t.Errorf("%s, λ = %g: no count: %s", model, lambda, best.Missing["negative_eigenvalues"])
			}
			scale(at.W, 2)
			scale(at.H, .5)
			value := p.Eval(at.X, make([]float64, p.Dim()))
			gap := value - float64(e.Objective)
			cert := p.Certify(at.X, e)
			if strings.HasPrefix(cert.Verdict, "global") || strings.HasPrefix(cert.Verdict, "best") || strings.HasPrefix(cert.Verdict, "critical") {
				t.Errorf("%s, λ = %g: %.0f %% of the optimum is %q", model, lambda, 100*value/float64(e.Objective), cert.Verdict)
			}
			if cert.GapBound.Known() && !(float64(cert.GapBound) >= gap) {
				t.Errorf("%s, λ = %g: bound %g below the gap %g", model, lambda, float64(cert.GapBound), gap)
			}
		}
	}
}

// The example of λ = 1e-11 in numbers: the objective is 2.12 times the optimum.
func TestTwiceTheOptimumIsNotGlobal(t *testing.T) {
	c := Config{Model: MSE, K: 3, N: 2, D: 5, LW: 1e-11, LH: 1e-11, LB: NoBias}
	e, p := exactOf(t, c), mustProblem(t, c)
	at, err := c.Instance(e, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	scale(at.W, 2)
	scale(at.H, .5)
	value := p.Eval(at.X, make([]float64, p.Dim()))
	near(t, "ratio", value/float64(e.Objective), 2.125, 1e-3)
	if got := p.Certify(at.X, e).Verdict; got != "not critical" {
		t.Errorf("verdict %q, wanted not critical", got)
	}
}

// Variables at their bound are not directions: at W = H = 0 all of H is at its bound, the Hessian of W is 2λ_W·I, and including H as
// rows of zeros would add the eigenvalue 0.
func TestBoundVariablesAreNoDirections(t *testing.T) {
	c := Config{Model: LSNonneg, K: 3, N: 1, D: 3, LW: .02328677, LH: 1.187825, LB: NoBias, Smoothing: .05}
	e, p := exactOf(t, c), mustProblem(t, c)
	zero, err := c.Instance(e, seeded(1))
	if err != nil || e.Regime != "zero" {
		t.Fatal(e.Regime, err)
	}
	near(t, "smallest eigenvalue", float64(p.Certify(zero.X, e).MinHessian), 2*c.LW, 1e-15)
	// Where half of H is at its bound: the eigenvalue of the matrix without those rows and columns.
	half := c.Start(InitScale{.3, 0, .3}, 3)
	var rows []int
	for i := range half.X {
		if j := i - len(half.W); j >= 0 && j%2 == 0 {
			half.H[j] = 0
		} else {
			rows = append(rows, i)
		}
	}
	p.Linearize(half.X)
	block, unit, column := mat.NewSymDense(len(rows), nil), make([]float64, p.Dim()), make([]float64, p.Dim())
	for a, i := range rows {
		unit[i] = 1
		p.HessVec(unit, column)
		unit[i] = 0
		for b := a; b < len(rows); b++ {
			block.SetSym(a, b, column[rows[b]])
		}
	}
	values, _ := symEigen(block)
	near(t, "half of the bounds", float64(p.Certify(half.X, e).MinHessian), values[0], 1e-12)
	// A point inside the orthant has no bound: the block is the whole matrix.
	inside := c.Start(InitScale{.3, 0, .3}, 3)
	p.Linearize(inside.X)
	values, _ = denseEigen(p.Dim(), p.HessVec)
	near(t, "without bounds", float64(p.Certify(inside.X, e).MinHessian), values[0], 1e-12)
}
