package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// heavy returns 20 classes of 100 samples of width 16 with overlapping classes, one coordinate a thousand times larger
// than the others (a massive activation of a transformer), as numbers that float32 holds.
func heavy() (h []float32, labels []int32) {
	r := rand.New(rand.NewPCG(3, 5))
	const k, d, n = 20, 16, 100
	means := make([]float64, k*d)
	for i := range means {
		means[i] = r.NormFloat64()
		if i%d == 0 {
			means[i] *= 3000
		}
	}
	for i := range k * n {
		c := i / n
		for j := range d {
			spread := 2.0
			if j == 0 {
				spread = 30
			}
			h = append(h, float32(means[c*d+j]+spread*r.NormFloat64()))
		}
		labels = append(labels, int32(c))
	}
	return h, labels
}

// A coordinate a thousand times larger than the others cuts no direction, and the type that holds the numbers does not matter.
func TestAHeavyCoordinateCutsNothing(t *testing.T) {
	h, labels := heavy()
	wide := make([]float64, len(h))
	for i, x := range h {
		wide[i] = float64(x)
	}
	single := mustMeasure(t, Input[float32]{Train: Memory(h, 16, labels)}, Options{})
	double := mustMeasure(t, Input[float64]{Train: Memory(wide, 16, labels)}, Options{})
	n := newNaive(wide, 16, labels, 20, PerSample)
	within, between := n.covariances()
	want := nc1(within, between, 20, 1e-14)
	for name, r := range map[string]*Report{"float32": single, "float64": double} {
		got := r.Measures.of[KeyNC1Pinv]
		if r.Measures.of[KeyRankCut] != 0 || !(math.Abs(got-want) <= 1e-7*want) || got < 1 {
			t.Errorf("%s: NC1 %g with %g directions cut, want %g and none", name, got, r.Measures.of[KeyRankCut], want)
		}
	}
	for key, v := range single.Measures.of {
		if got := double.Measures.of[key]; got != v {
			t.Errorf("%s: %.17g as float32, %.17g as float64", key, v, got)
		}
	}
}

func TestPrecisionIsReadOffTheNumbers(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want bool
	}{
		{[]float64{0, 1, -.5, 0x1p-149, math.NaN(), math.Inf(1)}, true},
		{[]float64{1, .1}, false},
		{[]float64{1e300}, false},
		{[]float64{1 + 0x1p-24}, false},
	} {
		if got := allFloat32(c.x); got != c.want {
			t.Errorf("%v: float32 holds all is %v, want %v", c.x, got, c.want)
		}
	}
}
