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

// TestSmallPartsBesideEachOther has a Gram matrix that a descent came to, 13 of its rows zero: its tridiagonal form has a part so small that gonum's iteration
// for eigenvalues alone panics. Beside them stand the eigenvalues that come with vectors.
func TestSmallPartsBesideEachOther(t *testing.T) {
	upper := []float64{
		0x1.2bc6dc579c9cbp-98, -0x1.45d6681e1ca29p-152, -0x1.f76c172e4c825p-150, -0x1.4eafb3eb258a1p-202, 0x1.8801685acdbecp-101, 0x1.daa8715d5b88bp-97,
		0x1.9cdd48b53becdp-206, 0x1.1dcf8cce1b56ep-203, 0x1.6c324391d1c5cp-256, -0x1.14dce9e49c53ap-154, -0x1.10078e6fd3967p-150,
		0x1.b35e162eee9e4p-201, 0x1.1fae9b6bf6969p-253, -0x1.6dbdce20467eap-152, -0x1.9a29488ab50ccp-148,
		0x1.81411aa0232dfp-306, -0x1.c5e5071fce7d7p-205, -0x1.0e35cb6fb339bp-200,
		0x1.d4856c26563efp-103, 0x1.4dedea4b6875dp-99,
		0x1.879d0731f3b3cp-95,
	}
	const n = 19
	at, a := []int{0, 1, 2, 16, 17, 18}, make([]float64, n*n)
	for i := range at {
		for j := i; j < len(at); j++ {
			a[at[i]*n+at[j]], a[at[j]*n+at[i]] = upper[0], upper[0]
			upper = upper[1:]
		}
	}
	alone, ok := eigenvalues(a, n)
	beside, _, also := eigen(a, n)
	if !ok || !also {
		t.Fatal("the iteration failed")
	}
	for i := range alone {
		if !(math.Abs(alone[i]-beside[i]) <= 1e-14*beside[0]) {
			t.Errorf("eigenvalue %d: %g, beside vectors %g", i, alone[i], beside[i])
		}
	}
}
