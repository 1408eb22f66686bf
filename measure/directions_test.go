package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestDirectionsAddUpToNC1: the eigenvalues of Σ_B^(−½) Σ_W Σ_B^(−½) have the trace of Σ_W Σ_B†, K times NC1, with classes of any sizes that count
// by their samples or alike.
func TestDirectionsAddUpToNC1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 5).Draw(t, "classes")
		d := rapid.IntRange(k, 9).Draw(t, "width")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		var h []float64
		var labels []int32
		for c := range k {
			for range 20 + 15*c {
				for j := range d {
					x := r.NormFloat64() * (0.2 + 0.1*float64(j))
					if j == c {
						x += 2
					}
					h = append(h, x)
				}
				labels = append(labels, int32(c))
			}
		}
		for _, im := range []Imbalance{PerSample, PerClass} {
			report, err := Measure(Input[float64]{Train: Memory(h, d, labels)}, Options{Imbalance: im, Null: 2, Measures: []string{KeyNC1Pinv}})
			if err != nil {
				t.Fatal(err)
			}
			sum, last := 0.0, math.Inf(1)
			for _, v := range report.Directions {
				if v > last || v < 0 {
					t.Fatalf("%v is not descending", report.Directions)
				}
				sum, last = sum+v, v
			}
			nc1, ok := report.Value(KeyNC1Pinv)
			if len(report.Directions) != k-1 || !ok || math.Abs(sum-float64(k)*nc1) > 1e-9*sum || !(sum > 0) {
				t.Fatalf("%v: directions %v add up to %v, and K times NC1 is %v", im, report.Directions, sum, float64(k)*nc1)
			}
		}
	})
}
