package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure/internal/vec"
)

// Short names for what this package shares with its wide pass.

func dot[B kernel.Float](a []float64, b []B) float64 { return vec.Dot(a, b) }

func norm(a []float64) float64 { return vec.Norm(a) }

func distance2(a, b []float64) float64 { return vec.Distance2(a, b) }

func grow[E any](buf []E, n int) []E { return vec.Grow(buf, n) }

// finite reports whether every entry is a number.
func finite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// transpose writes the transpose of x (rows×cols) to out (cols×rows), in tiles that fit the cache.
func transpose(out, x []float64, rows, cols int) {
	const tile = 32
	for i0 := 0; i0 < rows; i0 += tile {
		for j0 := 0; j0 < cols; j0 += tile {
			for i := i0; i < min(i0+tile, rows); i++ {
				for j := j0; j < min(j0+tile, cols); j++ {
					out[j*rows+i] = x[i*cols+j]
				}
			}
		}
	}
}

// compensated returns the compensated sum Σ x (Neumaier 1974).
func compensated(x []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, v := range x {
		next := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - next) + v
		} else {
			lost += (v - next) + sum
		}
		sum = next
	}
	return sum + lost
}

// inFloat64 copies x to the memory of to.
func inFloat64[T kernel.Float](to []float64, x []T) []float64 {
	to = grow(to, len(x))
	for i, v := range x {
		to[i] = float64(v)
	}
	return to
}
