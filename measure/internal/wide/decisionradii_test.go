package wide

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/measure/internal/vec"
)

// Radii must decide what is collapsed, or the search would do all the work.
func TestRadiiDecideCollapsed(t *testing.T) {
	const n, d, k = 2000, 64, 20
	rng := rand.New(rand.NewPCG(4, 1))
	means, w := randomMeans(k, d, rng)
	s, h := around(n, k, d, means, .01, rng), newClassifier(w, k, d)
	nearest, lengths := make([]float64, k), make([]float64, k)
	for c := range k {
		nearest[c], lengths[c] = math.Inf(1), vec.Norm(s.mean(c))
		for j := range k {
			if j != c {
				nearest[c] = min(nearest[c], vec.Distance2(s.mean(c), s.mean(j)))
			}
		}
	}
	var r DecisionRadii
	r.nearRadii(nearest, lengths)
	for _, n := range []int{s.N, manyRows * k} { // with bounds of distances, and with distances
		FillLogitRadii[float32](nil, &r, s.Centred, s.Centre, n, k, d, h)
		for c := range k {
			// Means are about √128 apart and a residual is about 0.08 long.
			if !(r.Near[c] > 9 && r.Logit[c] > 2) || r.First[c] != int32(c) {
				t.Fatalf("class %d: squared radii %g and %g, first %d", c, r.Near[c], r.Logit[c], r.First[c])
			}
			// No radius reaches half the way to the nearest mean, where another one is as near.
			if !(4*r.Near[c] < nearest[c]) {
				t.Fatalf("class %d: squared radius %g, the nearest mean is %g away, squared", c, r.Near[c], nearest[c])
			}
		}
	}
}
