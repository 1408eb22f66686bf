package deep

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// entropic is a linear problem with cross entropy.
func entropic(L, K, n, d int, lambda float64) Config {
	c := uniform(L, K, n, d, lambda)
	c.CE = true
	return c
}

// TestSimplicesAreThere: the point of the blocks has the objective that is stated, is critical and has its rank, whatever the penalties
// and widths.
func TestSimplicesAreThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := random(t)
		c.CE, c.K = true, rapid.IntRange(4, 9).Draw(t, "K")
		for i := range c.Widths {
			c.Widths[i] += c.K - c.K/2
		}
		for i := range c.Lambdas {
			c.Lambdas[i] /= 20
		}
		s, err := c.Simplices()
		if err != nil {
			t.Fatal(err)
		}
		p, grad := c.PlaceSimplices(s), c.point(make([]float64, c.size()))
		f, slope := c.Eval(p, grad), 0.0
		for _, g := range grad {
			slope = math.Hypot(slope, mat.Norm(g, 2))
		}
		if !(math.Abs(f-s.Objective) < 1e-12) || !(slope < 1e-6) || s.Rank > 0 && rank(p[0]) != s.Rank {
			t.Fatalf("%+v: %+v has %.14g at its point, with gradient %g and rank %d", c, s, f, slope, rank(p[0]))
		}
	})
}

// TestSimplicesBeatCollapse is the theorem: K ≥ 4 classes from three layers on, K ≥ 6 with two, at every penalty at which neural collapse is
// not zero; with one layer never, since there it is the optimum.
func TestSimplicesBeatCollapse(t *testing.T) {
	for L := 1; L <= 6; L++ {
		for K := 4; K <= 11; K++ {
			theorem := K >= 4 && L >= 3 || K >= 6 && L == 2
			for _, lambda := range []float64{1e-6, 1e-3, 3e-2} {
				c := entropic(L, K, 1, K, lambda)
				y, err := c.Symmetric()
				s, errS := c.Simplices()
				if err != nil || errS != nil || s.Always != theorem {
					t.Fatalf("L = %d, K = %d: %+v, %v, %v", L, K, s, err, errS)
				}
				if theorem && y.Margin > 0 && !s.Lower || L == 1 && s.Lower || s.Lower != (s.Objective < y.Objective*(1-1e-9)) {
					t.Errorf("L = %d, K = %d, λ = %g: neural collapse has %.9g, %+v", L, K, lambda, y.Objective, s)
				}
			}
		}
	}
}

// TestSimplicesAgainstDescents: descents, which know nothing of blocks, end at the pairs of four classes with three layers and never much below; from
// the point itself they go nowhere.
func TestSimplicesAgainstDescents(t *testing.T) {
	c := entropic(3, 4, 50, 6, 0.005)
	s, err := c.Simplices()
	if err != nil || s.Rank != 2 || len(s.Sizes) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	found, err := c.Search(t.Context(), s.Objective, c.PlaceSimplices(s), 6, 1, nil)
	if err != nil || found.Reached == 0 || !(math.Abs(found.Best-s.Objective) < 1e-9) || !(math.Abs(*found.Descent-s.Objective) < 1e-12) {
		t.Errorf("%+v: searched %+v, from the point %.12g, %v", s, found, *found.Descent, err)
	}
}

// TestSimplicesInNarrowLayers: five classes in three dimensions are a pair and three, and there is no neural collapse to lie below.
func TestSimplicesInNarrowLayers(t *testing.T) {
	c := entropic(3, 5, 1, 3, 0.001)
	if s, err := c.Simplices(); err != nil || s.Rank != 3 || s.Sizes[0] != 3 || s.Sizes[1] != 2 || s.Lower || s.Always {
		t.Errorf("%+v, %v", s, err)
	}
	for want, c := range map[string]Config{"width 2 is below": entropic(3, 5, 1, 2, 0.001), "wanted at least 4": entropic(3, 3, 1, 3, 0.001),
		"cross entropy without a ReLU": uniform(3, 5, 1, 5, 0.001)} {
		if _, err := c.Simplices(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
