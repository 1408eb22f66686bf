package kernel

import "testing"

// Whole numbers add exactly in any order, so every kernel must give the same sum.
func TestSum(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for n := range 3*sumStep + 2 {
			for offset := range 3 {
				buffer := make([]float32, offset+n+100)
				for i := range buffer {
					buffer[i] = 1e6 // a read beyond the slice shows
				}
				x := buffer[offset : offset+n]
				want := float32(0)
				for i := range x {
					x[i] = float32(i - 7)
					want += x[i]
				}
				if got := Sum(x); !(got == want) {
					t.Fatalf("n=%d offset %d: sum %g, want %g", n, offset, got, want)
				}
			}
		}
	})
}

func TestPeakLoopCounts(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		one, ten := PeakLoop[float32](1), PeakLoop[float32](10)
		if !(one > 0 && ten == 10*one) || PeakLoop[float64](0) != 0 {
			t.Fatalf("operations of 1 and 10 rounds: %g, %g", one, ten)
		}
		if wide := PeakLoop[float64](1); !(wide > 0 && wide <= one) {
			t.Fatalf("float64: %g operations a round, float32: %g", wide, one)
		}
	})
}
