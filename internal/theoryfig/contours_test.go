package theoryfig

import (
	"math"
	"testing"
)

// Level lines of a distance are circles: every end of every segment lies on one, and together they are
// as long as the circle's arc in the square.
func TestContoursOfADistance(t *testing.T) {
	const n = 101
	axis, z := make([]float64, n), make([]float64, 0, n*n)
	for i := range axis {
		axis[i] = float64(i) / (n - 1)
	}
	for _, y := range axis {
		for _, x := range axis {
			z = append(z, math.Hypot(x, y))
		}
	}
	s := contours("c", "", axis, axis, z, []float64{.5})
	length := 0.0
	for i := range s.X {
		for _, r := range []float64{math.Hypot(s.X[i], s.Y[i]), math.Hypot(s.X2[i], s.Y2[i])} {
			if !(math.Abs(r-.5) <= 1e-4) {
				t.Fatalf("an end at distance %g, wanted 0.5", r)
			}
		}
		length += math.Hypot(s.X2[i]-s.X[i], s.Y2[i]-s.Y[i])
	}
	if !(math.Abs(length-math.Pi/4) <= 1e-3) {
		t.Errorf("length %g, wanted %g", length, math.Pi/4)
	}
	if levels := evenLevels([]float64{1, 5, 3}, 3); levels[0] != 2 || levels[2] != 4 {
		t.Errorf("levels %v", levels)
	}
}
