package gemm

import (
	"testing"

	"collapse.example/collapse/internal/kernel/kerneltest"
)

func TestPeakLoopCounts(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		one, ten := PeakLoop[float32](1), PeakLoop[float32](10)
		if !(one > 0 && ten == 10*one) || PeakLoop[float64](0) != 0 {
			t.Fatalf("operations of 1 and 10 rounds: %g, %g", one, ten)
		}
		if wide := PeakLoop[float64](1); !(wide > 0 && wide <= one) {
			t.Fatalf("float64: %g operations a round, float32: %g", wide, one)
		}
	})
}
