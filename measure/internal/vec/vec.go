// Package vec holds the few operations on vectors that both passes of package measure share.
package vec

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/rows"
)

// Eps64 is the distance from 1 to the next float64.
const Eps64 = 0x1p-52

// TileElements is how many elements of a K×K table are held at a time.
const TileElements = 1 << 22

// Dot returns Σ_j a[j]·b[j] over the length of a.
func Dot[B kernel.Float](a []float64, b []B) float64 { return rows.Dot(a, b[:len(a)]) }

// Norm returns the Euclidean norm of a.
func Norm(a []float64) float64 { return math.Sqrt(Dot(a, a)) }

// Distance2 returns ‖a − b‖², from the differences: nothing cancels between close vectors.
func Distance2(a, b []float64) float64 {
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

// Grow returns buf with length n, reallocated only if it is too short. The content is not preserved.
func Grow[E any](buf []E, n int) []E {
	if cap(buf) < n {
		return make([]E, n)
	}
	return buf[:n]
}

// IsFloat32 reports whether T rounds as float32 does.
func IsFloat32[T kernel.Float]() bool {
	one, small := T(1), T(0x1p-40)
	return one+small == one
}

// Stride keeps rows of d residuals from starting a multiple of 4 KiB apart, where they share one set of a first-level cache and
// products would copy them first.
func Stride[P kernel.Float](d int) int {
	size := 8
	if IsFloat32[P]() {
		size = 4
	}
	if d*size%4096 == 0 {
		return d + 64/size
	}
	return d
}

// FirstError returns the first error of a list that is not nil.
func FirstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
