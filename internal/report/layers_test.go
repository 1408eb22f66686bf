package report

import (
	"slices"
	"testing"

	"collapse/internal/store"
)

// TestLayersAreInTheNetworksOrder covers taps by name, in the order given, and all stages by their word.
func TestLayersAreInTheNetworksOrder(t *testing.T) {
	point := []store.Point{{Step: 1, Value: 1}}
	r := &subject{Run: &Run{}}
	r.series = map[seriesKey][]store.Point{{"train", "", "nc1_pinv"}: point, {"test", "layers.2", "dilation"}: point}
	for _, layer := range []string{"layers.14", "layers.2", "layers.29", "layers.5"} {
		r.series[seriesKey{"train", layer, "nc1_pinv"}] = point
	}
	for taps, want := range map[string][]string{
		"stages":             {"layers.2", "layers.5", "layers.14", "layers.29"},
		"layers.29,layers.2": {"layers.29", "layers.2"},
		"":                   nil,
	} {
		r.Settings = map[string]string{"run.taps": taps}
		if got := layersOf(r, "train@*.nc1_pinv"); !slices.Equal(got, want) {
			t.Errorf("%q: %v, wanted %v", taps, got, want)
		}
	}
}
