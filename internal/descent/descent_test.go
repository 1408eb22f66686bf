package descent

import (
	"context"
	"errors"
	"math"
	"testing"
)

// valley is Rosenbrock's function, whose minimum is 0 at (1, 1).
func valley(x, grad []float64) float64 {
	a, b := 1-x[0], x[1]-x[0]*x[0]
	if grad != nil {
		grad[0], grad[1] = -2*a-400*b*x[0], 200*b
	}
	return a*a + 100*b*b
}

var strict = Until{Iterations: 1000, Gradient: 1e-10, Change: 1e-15, Still: 50}

func TestBothFindTheMinimum(t *testing.T) {
	for name, descend := range map[string]func(context.Context, Function, []float64, Until) ([]float64, float64, error){"limited": Limited, "full": Full} {
		x, f, err := descend(t.Context(), valley, []float64{-1.2, 1}, strict)
		if err != nil || !(math.Hypot(x[0]-1, x[1]-1) < 1e-6) || !(f < 1e-12) {
			t.Errorf("%s ends at %v with %g, %v", name, x, f, err)
		}
		for why, early := range map[string]Until{
			"three iterations":       {Iterations: 3, Gradient: 1e-10, Change: 1e-15, Still: 50},
			"two changes below 1000": {Iterations: 1000, Gradient: 1e-10, Change: 1000, Still: 2},
			"a gradient below 1e9":   {Iterations: 1000, Gradient: 1e9, Change: 1e-15, Still: 50},
		} {
			if _, f, err := descend(t.Context(), valley, []float64{-1.2, 1}, early); err != nil || !(f > 0.1) {
				t.Errorf("%s after %s: %g, %v", name, why, f, err)
			}
		}
	}
}

// TestCancelled: before the descent, and in the middle of it.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	slow := func(x, grad []float64) float64 {
		if calls++; calls == 10 {
			cancel()
		}
		return valley(x, grad)
	}
	if x, _, err := Limited(ctx, slow, []float64{-1.2, 1}, strict); !errors.Is(err, context.Canceled) || x != nil || calls > 30 {
		t.Errorf("cancelled in the middle: %v, %v after %d calls", x, err, calls)
	}
	if _, _, err := Full(ctx, valley, []float64{-1.2, 1}, strict); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}
