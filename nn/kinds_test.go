package nn

import (
	"reflect"
	"slices"
	"testing"
)

// TestUsesOfLossesAreTrue changes each setting of each loss: values change if and only if the kind says that it uses the setting.
func TestUsesOfLossesAreTrue(t *testing.T) {
	changes := map[string]func(*LossConfig){"reduction": func(c *LossConfig) { c.Reduction = ReducePaper }}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[LossConfig]()) {
		name := field.Tag.Get("json")
		if field.Type.Kind() == reflect.Float64 {
			changes[name] = func(c *LossConfig) { reflect.ValueOf(c).Elem().FieldByIndex(field.Index).SetFloat(0.3) }
		}
		if name != "kind" && changes[name] == nil {
			t.Fatalf("no change of %s", name)
		}
	}
	logits, labels := []float64{0.3, -0.2, 0.9, 1.1, 0.4, -2}, []int32{0, 1}
	for _, kind := range Losses() {
		base := DefaultLoss()
		base.Kind = kind.Name
		usual := mustLoss[float64](t, base, 3).Value(logits, labels)
		for setting, change := range changes {
			c := base
			change(&c)
			changed := mustLoss[float64](t, c, 3).Value(logits, labels) != usual
			if uses := slices.Contains(kind.Uses, setting); changed != uses {
				t.Errorf("%s: another %s changes the value: %v; Uses says %v", kind.Name, setting, changed, uses)
			}
		}
	}
}

// TestUsesOfNetworksAreTrue changes each setting of each network: tensors, modules or layers change if and only if the kind says that it
// uses the setting. What a preset means is train's.
func TestUsesOfNetworksAreTrue(t *testing.T) {
	changes := map[string]func(*Arch){
		"depth": func(a *Arch) { a.HiddenLayers++ }, "width": func(a *Arch) { a.HiddenWidth++ },
		"activation": func(a *Arch) { a.Activation = Sigmoid }, "batch_norm": func(a *Arch) { a.BatchNorm = true },
		"stem": func(a *Arch) { a.Stem = StemCIFAR }, "stem_width": func(a *Arch) { a.StemWidth++ },
		"feature_dim": func(a *Arch) { a.FeatureDim = 512 },
	}
	base := Arch{Channels: 1, Height: 32, Width: 32, Classes: 2, HiddenLayers: 1, HiddenWidth: 4, StemWidth: 1}
	for _, kind := range Networks() {
		base.Kind = kind.Name
		usual := layoutOf(t, base)
		for setting, change := range changes {
			a := base
			change(&a)
			changed := !reflect.DeepEqual(layoutOf(t, a), usual)
			if uses := slices.Contains(kind.Uses, setting); changed != uses {
				t.Errorf("%s: another %s changes the network: %v; Uses says %v", kind.Name, setting, changed, uses)
			}
		}
	}
}

// layoutOf is what tells networks apart: names and shapes of their tensors, their modules and layers.
func layoutOf(t *testing.T, a Arch) []any {
	t.Helper()
	n, err := design[float32](a, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	layout := []any{n.Modules(), n.Taps(), n.Convs()}
	for _, p := range n.Params() {
		layout = append(layout, p.Name, p.Shape)
	}
	return layout
}

// TestSizesAreNetworks: every size of the papers can be built, and its name is its own.
func TestSizesAreNetworks(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Sizes() {
		if _, err := design[float32](s.Arch, nil, s.Batch); err != nil || s.Batch < 1 || seen[s.Name] {
			t.Errorf("%s: %v", s.Name, err)
		}
		seen[s.Name] = true
	}
	for _, k := range Networks() {
		if !seen[k.Name] {
			t.Errorf("%s has no size", k.Name)
		}
	}
}
