package conv

import (
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/parallel"
)

// TestBias2D: sums and masks by their definition, for every kernel, with and without a ReLU.
func TestBias2D(t *testing.T) {
	two := parallel.NewTeam(2)
	defer two.Close()
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		rng := rand.New(rand.NewPCG(1, 8))
		for _, run := range []int{16, 48, 40000 / 16 * 16} {
			const channels = 5
			b, y, dy := NewBias2D[float32](channels), make([]float32, channels*run), make([]float32, channels*run)
			for i := range y {
				y[i], dy[i] = max(0, float32(rng.NormFloat64())), float32(rng.NormFloat64())
			}
			for _, relu := range []bool{false, true} {
				mask, want, cut := []float32(nil), make([]float64, channels), widened(dy)
				for i := range dy {
					if relu && y[i] <= 0 {
						cut[i] = 0
					}
					want[i/run] += cut[i]
				}
				if relu {
					mask = y
				}
				grad := make([]float32, channels)
				if n := testing.AllocsPerRun(1, func() { b.Backward(two, dy, mask, grad) }); n != 0 {
					t.Errorf("%g allocations", n)
				}
				near(t, "sum", grad, want, 1e-7)
				near(t, "cut gradient", dy, cut, 0)
				b.Backward(two, dy, mask, nil)
			}
		}
	}
}
