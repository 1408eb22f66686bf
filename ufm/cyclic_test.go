package ufm

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// frame is TB Theorem 4.2's value: the orthogonal frame's, or zero's.
func frame(q float64) float64 {
	if q > qZero {
		return .5
	}
	return directionCost(q, largerRoot(q))
}

func equalPenalties(K, d, n int, q float64) Config {
	l := q / float64(K)
	return Config{Model: ReLU3, K: K, D: d, N: n, L2: l, L1: l, LH1: l / float64(n)}
}

// TB Theorem 4.2 is false: points computed apart from this code, W1·H1 circulant and W2 the ridge fit, lie below the value of
// the orthogonal frame and of zero. The objective is evaluated at the point itself, and auto ends there or lower.
func TestPrintedReLUTheoremFails(t *testing.T) {
	hexagon, pentagon := []float64{1, 0, -1, -1, 0, 1}, []float64{.442, -.273, .442, 0, 0}
	for _, r := range []struct {
		q, p     float64
		row      []float64
		frame, f float64
		name     string
	}{
		{.38, .425, hexagon, .483751, .480210, "hexagon"},
		{.396, .417, hexagon, .499196, .491977, "hexagon"},
		{.40, .413, hexagon, .5, .494854, "hexagon"},
		{.38, 1, pentagon, .483751, .481806, "pentagon"},
		{.40, 1, []float64{.416, -.257, .416, 0, 0}, .5, .496871, "pentagon"},
	} {
		K := len(r.row)
		for _, c := range []Config{equalPenalties(K, K, 1, r.q), equalPenalties(K, K+3, 2, r.q)} {
			p, e := mustProblem(t, c), exactOf(t, c)
			near(t, "the theorem's value", frame(r.q), r.frame, 1e-6)
			at := circulantPoint(c, r.row, r.p)
			value := p.Eval(at.X, make([]float64, p.Dim()))
			near(t, r.name, value, r.f, 1e-6)
			if !(value < r.frame-1e-3) || !(float64(e.Objective) <= value+1e-9) {
				t.Errorf("%s, q = %g: the point has %g, the theorem %g, exact %g", r.name, r.q, value, r.frame, float64(e.Objective))
			}
			if e.Status != Observed || e.Regime != r.name {
				t.Errorf("q = %g: status %q, regime %q, wanted observed, %s", r.q, e.Status, e.Regime, r.name)
			}
			found, end, err := p.Solve(t.Context(), nil, e, Run{Seed: 3, NoTrace: true})
			if err != nil {
				t.Fatal(err)
			}
			if !(float64(found.Objective) <= r.f+5e-7) {
				t.Errorf("%s, q = %g: auto ends at %g, wanted at most %g", r.name, r.q, float64(found.Objective), r.f)
			}
			if v := p.Certify(end.X, e).Verdict; !strings.HasPrefix(v, "best known ("+r.name) {
				t.Errorf("%s, q = %g: verdict %q", r.name, r.q, v)
			}
		}
	}
}

// circulantPoint has W1·H1 = p·circulant(row) in units of equal penalties, and the ridge fit.
func circulantPoint(c Config, row []float64, p float64) Point {
	m := mat.NewDense(c.K, c.K, nil)
	m.Apply(func(i, j int, _ float64) float64 { return p * row[(j-i+c.K)%c.K] }, m)
	at := c.NewPoint()
	c.placePreactivations(at, m, seeded(1))
	return at
}

// Every composition's closed form is the objective of its instance, and its place is stationary along the scale.
func TestCyclicValuesAreThoseOfInstances(t *testing.T) {
	regimes := map[string]bool{}
	for _, K := range []int{5, 6, 7, 9, 10, 11, 13, 14, 15, 20, 21, 26} {
		for _, q := range []float64{.33, .365, .375, .39, .402, .405} {
			c := equalPenalties(K, K+K%3, 1+K%2, q)
			c.L2, c.L1 = 2*c.L2, c.L1/2
			e, p := exactOf(t, c), mustProblem(t, c)
			regimes[e.Regime] = true
			at, err := c.Instance(e, seeded(uint64(K)))
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("K = %d, q = %g (%s)", K, q, e.Regime)
			value := p.Eval(at.X, make([]float64, p.Dim()))
			near(t, name, value, float64(e.Objective), 1e-12)
			if !(value <= frame(q)+1e-12) {
				t.Errorf("%s: %g is above the frame's %g", name, value, frame(q))
			}
			sum := 0.0
			for _, v := range e.Gram {
				sum += v
			}
			p.outputs(at)
			near(t, name+": gram", float64(c.N)*sum, sumSquares(p.f), 1e-10*(1+sum))
			for _, factor := range []float64{.97, 1.03} {
				moved := append([]float64(nil), at.X...)
				view := p.View(moved)
				scale(view.W, 1/factor)
				scale(view.W1, math.Sqrt(factor))
				scale(view.H, math.Sqrt(factor))
				if got := p.Eval(moved, make([]float64, p.Dim())); got < value-1e-9 {
					t.Errorf("%s: scaled by %g it is lower by %g", name, factor, value-got)
				}
			}
		}
	}
	for _, want := range []string{"orthogonal-frame", "zero", "nonagon", "decagon", "cycle of 15", "hexagon + 1 orthogonal column", "hexagon + 1 class at zero",
		"pentagon + hexagon", "cycle of 13", "cycle of 20", "cycle of 21"} {
		if !regimes[want] {
			t.Errorf("no setting has %q; there are %v", want, slices.Sorted(maps.Keys(regimes)))
		}
	}
}

// The points lie on kinks of the ReLU: with the slopes there free in [0,1] they are stationary, and a moved point is not.
func TestCyclicPointsAreStationaryAtKinks(t *testing.T) {
	for _, K := range []int{5, 6, 9, 10, 15, 20} {
		c := equalPenalties(K, K+1, 2, .395)
		c.L2, c.L1 = 3*c.L2, c.L1/3
		e, p := exactOf(t, c), mustProblem(t, c)
		at, err := c.Instance(e, seeded(8))
		if err != nil {
			t.Fatal(err)
		}
		cert := p.Certify(at.X, e)
		if r := float64(cert.Residual); !(r < 1e-8) {
			t.Errorf("%s: residual %g", e.Regime, r)
		}
		if cert.MinHessian.Known() || cert.Negative != nil || cert.Missing["min_hessian_eigenvalue"] == "" {
			t.Errorf("%s: a Hessian at kinks, smallest eigenvalue %g", e.Regime, float64(cert.MinHessian))
		}
		at.H[3] *= 1.01
		if r := float64(p.Certify(at.X, e).Residual); !(r > 1e-5) {
			t.Errorf("%s: residual %g of a moved point", e.Regime, r)
		}
	}
}

// The hexagon wins between these values of q, and up to K = 4 nothing beats the frame.
func TestWhereTheHexagonWins(t *testing.T) {
	for q, want := range map[float64]string{.3640: "orthogonal-frame", .3648: "hexagon", .4070: "hexagon", .4076: "zero"} {
		if e := exactOf(t, equalPenalties(6, 6, 1, q)); e.Regime != want || e.Status != Observed {
			t.Errorf("q = %g: %s (%s), wanted %s", q, e.Regime, e.Status, want)
		}
	}
	for K := 2; K <= 4; K++ {
		for _, q := range []float64{.36, .39, .40} {
			if e := exactOf(t, equalPenalties(K, K, 1, q)); !(math.Abs(float64(e.Objective)-frame(q)) < 1e-14) {
				t.Errorf("K = %d, q = %g: %g", K, q, float64(e.Objective))
			}
		}
	}
	// With fewer hidden units than classes the blocks do not fit: no value is claimed.
	if e := exactOf(t, equalPenalties(6, 5, 1, .402)); e.Available {
		t.Errorf("d < K: %s", e.Regime)
	}
	if e := exactOf(t, equalPenalties(6, 5, 1, .45)); e.Regime != "zero" || e.Status != Observed {
		t.Errorf("d < K, large q: %s, %s", e.Regime, e.Status)
	}
}

// Two hexagons where K = 12, d = 30, n = 50 and the penalties differ.
func TestHexagonsOfUnequalPenalties(t *testing.T) {
	c := Config{Model: ReLU3, K: 12, D: 30, N: 50, L2: .02, L1: .01}
	c.LH1 = math.Pow(.39/12, 3) / (50 * c.L2 * c.L1)
	p, e := mustProblem(t, c), exactOf(t, c)
	near(t, "q", float64(e.Q), .39, 1e-12)
	near(t, "exact", float64(e.Objective), .487600, 1e-6)
	if e.Regime != "2 hexagons" {
		t.Errorf("regime %q", e.Regime)
	}
	at, err := c.Instance(e, seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "instance", p.Eval(at.X, make([]float64, p.Dim())), float64(e.Objective), 1e-13)
	near(t, "|W2|²", sumSquares(at.W), float64(e.WNorm2), 1e-12*float64(e.WNorm2))
	near(t, "|H1|²", sumSquares(at.H), float64(e.HNorm2), 1e-12*float64(e.HNorm2))
	near(t, "balance", c.L1*sumSquares(at.W1), c.LH1*sumSquares(at.H), 1e-13)
	found, _, err := p.Solve(t.Context(), nil, e, Run{Seed: 1, NoTrace: true})
	if err != nil {
		t.Fatal(err)
	}
	if !(float64(found.Objective) <= .4876005) {
		t.Errorf("auto ends at %.7f", float64(found.Objective))
	}
}
