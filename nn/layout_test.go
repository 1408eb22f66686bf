package nn

import (
	"runtime"
	"testing"
)

// TestEstimateAllocatesNothing: a few lines of a configuration can ask for a network that no machine holds. To say so takes next to nothing.
func TestEstimateAllocatesNothing(t *testing.T) {
	a := Arch{Kind: KindMLP, Channels: 3, Height: 32, Width: 32, Classes: 2, HiddenWidth: 1_000_000, HiddenLayers: 1000, FeatureDim: 2, BatchNorm: true, Activation: ReLU}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := EstimateBytes[float32](a, 32, Train)
	runtime.ReadMemStats(&after)
	if err != nil || m.Params < 999*8e12 || after.TotalAlloc-before.TotalAlloc > 8<<20 {
		t.Errorf("an estimate of %d bytes of parameters allocated %d: %v", m.Params, after.TotalAlloc-before.TotalAlloc, err)
	}
}
