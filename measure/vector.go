package measure

import (
	"math"

	"collapse/internal/kernel"
)

// dot returns Σ_j a[j]·b[j] over the length of a.
func dot[B kernel.Float](a []float64, b []B) float64 { return kernel.Dot(a, b[:len(a)]) }

// norm returns the Euclidean norm of a.
func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

// distance2 returns ‖a − b‖², from the differences: nothing cancels between close vectors.
func distance2(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1 float64
	j := 0
	for ; j+2 <= len(a); j += 2 {
		x, y := a[j]-b[j], a[j+1]-b[j+1]
		s0 += x * x
		s1 += y * y
	}
	for ; j < len(a); j++ {
		x := a[j] - b[j]
		s0 += x * x
	}
	return s0 + s1
}

// grow returns buf with length n, reallocated only if it is too short. The content is not kept.
func grow[E any](buf []E, n int) []E {
	if cap(buf) < n {
		return make([]E, n)
	}
	return buf[:n]
}

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

// compensated returns Σ x with the rounding of each sum carried along (Neumaier 1974).
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
