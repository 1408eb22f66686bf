package wide

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure/internal/vec"
)

// spreads are data whose float32 products err in different ways.
var spreads = map[string]func(rng *rand.Rand, j int) float64{
	"even":           func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() },
	"one coordinate": func(rng *rand.Rand, j int) float64 { return rng.NormFloat64() * math.Pow(.5, float64(j)) },
	"two values":     func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(2)) - .5 },
	"mostly one":     func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(50) / 49) },
}

// Rough products must be within their bound, whatever residuals and vectors look like, and the bound must be small enough to
// distinguish classes.
func TestCandidatesWithinBound(t *testing.T) {
	candidatesWithinBound[float32](t)
	candidatesWithinBound[float64](t)
}

func candidatesWithinBound[P kernel.Float](t *testing.T) {
	const n, k = 40, 30
	for kind, draw := range spreads {
		for _, d := range []int{1, 7, 64, 501} {
			rng := rand.New(rand.NewPCG(4, uint64(d)))
			w, residual, length := make([]float64, k*d), make([]P, n*d), make([]float64, n)
			for i := range w {
				w[i] = draw(rng, i%d)
			}
			h := newClassifier(w, k, d)
			for i := range n {
				size := math.Pow(10, float64(i%41-20)) // 1e-20…1e20
				for j := range d {
					residual[i*d+j] = P(size * draw(rng, j))
				}
				length[i] = vec.Norm(widen(residual[i*d:][:d]))
			}
			if slices.Contains(h.CentredNorm, 0) {
				continue
			}
			v := newCandidates[P](nil, h.Centred, h.CentredNorm, k, d)
			if !(v.err < 1e-3) {
				t.Fatalf("%s d=%d: error bound %g", kind, d, v.err)
			}
			list := []int32{3, 0, int32(k - 1)}
			var all, some roughProducts[P]
			v.multiply(&all, nil, residual, length, nil)
			v.multiply(&some, nil, residual, length, list)
			scores, few := make([]float64, k), make([]float64, len(list))
			for i := range n {
				all.add(scores, make([]float64, k), i)
				some.add(few, make([]float64, len(list)), i)
				for q, j := range list {
					if few[q] != scores[j] {
						t.Fatalf("%s d=%d: product %g of a list, %g of all", kind, d, few[q], scores[j])
					}
				}
				for j, got := range scores {
					want := vec.Dot(h.Centred[j*d:][:d], widen(residual[i*d:][:d])) / h.CentredNorm[j]
					if !(math.Abs(got-want) <= v.errorOf(length[i])+1e-15*length[i]) {
						t.Fatalf("%s d=%d: product %g, want %g ± %g", kind, d, got, want, v.errorOf(length[i]))
					}
				}
			}
		}
	}
}
