package measure

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// gaussian makes n samples of k classes of width d: means of norm about √d, spread around them.
func gaussian[T float32 | float64](n, d, k int, spread float64, seed uint64) Input[T] {
	rng := rand.New(rand.NewPCG(seed, 1))
	means := make([]float64, k*d)
	for i := range means {
		means[i] = rng.NormFloat64()
	}
	in := Input[T]{Classes: k, W: make([]float64, k*d), B: make([]float64, k)}
	for i, m := range means {
		in.W[i] = float64(T(m + .1*rng.NormFloat64()))
	}
	h, labels := make([]T, n*d), make([]int32, n)
	for i := range n {
		c := i % k
		labels[i] = int32(c)
		for j := range d {
			h[i*d+j] = T(means[c*d+j] + spread*rng.NormFloat64())
		}
	}
	in.Train = Memory(h, d, labels)
	return in
}

// widen converts features.
func widen[T kernel.Float](from []T) []float64 {
	to := make([]float64, len(from))
	for i, v := range from {
		to[i] = float64(v)
	}
	return to
}

func BenchmarkMeasure(b *testing.B) {
	for _, c := range []struct{ n, d, k int }{{400, 2, 2}, {4000, 64, 10}, {12000, 2, 2}, {12000, 512, 10}, {50000, 512, 10}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/k=%d", c.n, c.d, c.k), func(b *testing.B) {
			in := gaussian[float32](c.n, c.d, c.k, .1, 1)
			team := parallel.NewTeam(0)
			defer team.Close()
			e, err := NewEngine[float32](Options{Team: team})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := e.Measure(in); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(4 * c.n * c.d))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Measure(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
