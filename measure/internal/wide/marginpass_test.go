package wide

import (
	"math/rand/v2"
	"testing"
)

// Geometry must exclude most classes of a collapsed model whose means are not all alike, but none that ties.
func TestMarginCandidates(t *testing.T) {
	const n, k, d = 1200, 60, 300
	rng := rand.New(rand.NewPCG(3, 9))
	count := func(means, w []float64) int {
		s, h := around(n, k, d, means, 1e-4, rng), newClassifier(w, k, d)
		m := newMarginPass[float32, float32](nil, s, h, make([]float64, n))
		var r DecisionRadii
		l := newLogitRadii[float32](&r, s.Centred, s.Centre, n, k, d, h)
		l.fill(nil, 0, k)
		m.search = &logits{DecisionRadii: &r, best: make([]int32, n), offset: l.base}
		if err := m.stripe(nil, 0, k, l.logits); err != nil {
			t.Fatal(err)
		}
		var x marginScratch[float32, float32]
		if err := x.read(m.s, m.order[m.start[k-1]:m.start[k]], k-1); err != nil {
			t.Fatal(err)
		}
		m.withinReach(&x, k-1, 0)
		return len(x.list)
	}
	means, w := randomMeans(k, d, rng)
	if n := count(means, w); n > 3 {
		t.Errorf("%d of 60 classes are candidates around random means", n)
	}
	if n := count(simplex(k, d), simplex(k, d)); n != 59 {
		t.Errorf("%d of 60 classes are candidates in an ETF, want all but the own", n)
	}
}
