// Package kerneltest helps test the kernel packages: it runs tests with every instruction set of this machine and compares bits.
package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel/isa"
)

// Failer is the common part of *testing.T and *rapid.T.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Each runs a test with every instruction set of this machine, and restores the one in use.
func Each(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	used := isa.Name()
	t.Cleanup(func() { must(t, isa.Use(used)) })
	for _, name := range isa.Available() {
		must(t, isa.Use(name))
		t.Run(name, test)
	}
}

// EachType runs a test for both element types, with every instruction set.
func EachType(t *testing.T, test32, test64 func(t *testing.T)) {
	t.Helper()
	Each(t, func(t *testing.T) {
		t.Run("float32", test32)
		t.Run("float64", test64)
	})
}

// Use switches instruction sets for the rest of the test.
func Use(t testing.TB, name string) {
	t.Helper()
	before := isa.Name()
	must(t, isa.Use(name))
	t.Cleanup(func() { must(t, isa.Use(before)) })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// SameBits fails unless both hold the same bits.
func SameBits[T ~float32 | ~float64](t testing.TB, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// SameFloat compares bits; any NaN equals any.
func SameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// Guard are the bits of a NaN with a recognisable payload, which no computation produces.
const Guard = 0x7fc0beef

// Guarded returns n guards. Reading one shows in results, overwriting one in a comparison of whole buffers.
func Guarded(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = math.Float32frombits(Guard)
	}
	return x
}

// FillSpecial draws normal numbers and, occasionally, a value that kernels tend to get wrong.
func FillSpecial(rng *rand.Rand, x []float32) {
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)),
		float32(math.Inf(-1)), math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, math.MaxFloat32}
	for i := range x {
		x[i] = float32(rng.NormFloat64())
		if rng.IntN(12) == 0 {
			x[i] = special[rng.IntN(len(special))]
		}
	}
}

// Difference returns an error that says where two buffers differ in bits; any NaN equals any other except a guard.
func Difference(want, got []float32) error {
	for i := range want {
		w, g := math.Float32bits(want[i]), math.Float32bits(got[i])
		bothNaN := want[i] != want[i] && got[i] != got[i]
		if w != g && (!bothNaN || w == Guard || g == Guard) {
			return fmt.Errorf("at %d: got %g (%#x), want %g (%#x)", i, got[i], g, want[i], w)
		}
	}
	return nil
}
