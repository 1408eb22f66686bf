package figure

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// TestLayersAreInTheNetworksOrder covers taps by name, in the order given, and all stages by their word.
func TestLayersAreInTheNetworksOrder(t *testing.T) {
	value := func(split, layer, measure string) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: split, Layer: layer, Measure: measure}, Step: 1, Value: 1}
	}
	values := []store.Value{value("train", "", "nc1_pinv"), value("test", "layers.2", "dilation")}
	for _, layer := range []string{"layers.14", "layers.2", "layers.29", "layers.5"} {
		values = append(values, value("train", layer, "nc1_pinv"))
	}
	run, err := judge.NewRun(store.Run{}, values)
	if err != nil {
		t.Fatal(err)
	}
	r := judge.JudgeRun(&run)
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
