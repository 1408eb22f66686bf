package optim

import (
	"math/rand/v2"
	"testing"
)

// TestMemoryMeetsSecant: the estimate takes the newest y to its s, whatever else is remembered; a pair that is refused leaves a
// full memory as it is.
func TestMemoryMeetsSecant(t *testing.T) {
	const n = 6
	rng := rand.New(rand.NewPCG(1, 3))
	draw := func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	zero := make([]float64, n)
	m := newCurvature(3, n, newVectors[float64](nil, n))
	var s, y []float64
	for range 5 {
		s, y = draw(), draw()
		for i := range y {
			y[i] = 0.1*y[i] + float64(i+1)*s[i] // curvature above 0
		}
		m.push(s, zero, y, zero)
	}
	if m.count != 3 {
		t.Fatalf("%d pairs remembered, wanted 3", m.count)
	}
	estimate := func(q []float64) []float64 {
		q = append([]float64(nil), q...)
		m.apply(q)
		return q
	}
	for i, got := range estimate(y) {
		if !(got-s[i] <= 1e-12 && s[i]-got <= 1e-12) {
			t.Errorf("H·y = %v at %d, wanted s = %v", got, i, s[i])
		}
	}
	probe := draw()
	before := estimate(probe)
	down := make([]float64, n)
	for i := range down {
		down[i] = -s[i]
	}
	m.push(down, zero, s, zero) // negative curvature
	for i, got := range estimate(probe) {
		if got != before[i] {
			t.Errorf("a refused pair changed H·q at %d from %v to %v", i, before[i], got)
		}
	}
}
