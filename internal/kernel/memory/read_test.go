package memory

import (
	"testing"

	"collapse.example/collapse/internal/kernel/kerneltest"
)

// Whole numbers add exactly in any order, so every kernel must give the same sum.
func TestSum(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
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

// TestPrefetch asks for rows of every length: nothing is read.
func TestPrefetch(t *testing.T) {
	x := make([]float32, 100)
	for n := range x {
		Prefetch(x[:n])
	}
	if allocs := testing.AllocsPerRun(10, func() { Prefetch(x) }); allocs != 0 {
		t.Errorf("%g allocations", allocs)
	}
}
