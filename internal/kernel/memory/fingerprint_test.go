package memory

import (
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
)

// TestFingerprintSeesChanges: one element, the signs of two elements of a lane, an order, a length.
func TestFingerprintSeesChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 40 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		same := Fingerprint(7, x)
		if same != Fingerprint(7, append([]float32(nil), x...)) {
			t.Fatalf("n = %d: two hashes of the same values", n)
		}
		if n > 0 && same == Fingerprint(8, x) {
			t.Errorf("n = %d: the seed does not count", n)
		}
		for i := range x {
			for j := range i {
				y := append([]float32(nil), x...)
				if y[i], y[j] = -y[i], -y[j]; Fingerprint(7, y) == same {
					t.Errorf("n = %d: signs of %d and %d not seen", n, i, j)
				}
				y[i], y[j] = x[j], x[i]
				if Fingerprint(7, y) == same {
					t.Errorf("n = %d: exchange of %d and %d not seen", n, i, j)
				}
			}
			y := append([]float32(nil), x...)
			y[i] += 1e-3
			if Fingerprint(7, y) == same {
				t.Errorf("n = %d: change of %d not seen", n, i)
			}
		}
	}
}

// TestFingerprintOfEveryKernel: SIMD gives the bits of the generic version.
func TestFingerprintOfEveryKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, 1000)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for n := range x {
		kerneltest.Use(t, "generic")
		want := Fingerprint(3, x[n/3:n])
		for _, name := range isa.Available() {
			kerneltest.Use(t, name)
			if got := Fingerprint(3, x[n/3:n]); got != want {
				t.Fatalf("%s, %d values: %x, generic %x", name, n-n/3, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(5, func() { Fingerprint(1, x) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	x := make([]float32, 16<<20)
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		Fingerprint(1, x)
	}
}
