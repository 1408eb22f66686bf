package measure

import (
	"math"
	"testing"
)

// A part of tiny numbers beside larger ones, and matrices of tiny or huge numbers, have eigenvalues too: gonum alone panics.
func TestEigenvaluesOfTinyParts(t *testing.T) {
	for _, size := range []float64{1, 1e-200, 1e150} {
		const n = 6
		a := make([]float64, n*n)
		for i := range n {
			a[i*n+i] = size
			if i >= 2 {
				a[i*n+i] *= 1e-160 * float64(i)
			}
			if i > 2 {
				a[i*n+i-1], a[(i-1)*n+i] = size*1e-161, size*1e-161
			}
		}
		values, ok := eigenvalues(a, n)
		if !ok || !(math.Abs(values[0]-size) <= 1e-15*size) || !(math.Abs(values[1]-size) <= 1e-15*size) || !(math.Abs(values[2]) <= 1e-30*size) {
			t.Errorf("size %g: %v, %v", size, values, ok)
		}
		values, vectors, ok := eigen(a, n)
		if !ok || !(math.Abs(values[1]-size) <= 1e-15*size) || len(vectors) != n*n {
			t.Errorf("size %g with vectors: %v, %v", size, values, ok)
		}
	}
}
