package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReLUOutputs: every ReLU is shown, in order, with the shape of its module; the last one's outputs are what the features come from.
func TestReLUOutputs(t *testing.T) {
	const batch = 2
	image := Arch{Channels: 3, Height: 32, Width: 32, Classes: 4}
	for _, tt := range []struct {
		arch          Arch
		relus         int
		first, before []int // shapes of the first and of the last
	}{
		{Arch{Kind: KindMLP, HiddenLayers: 2, HiddenWidth: 9, BatchNorm: true}, 3, []int{9}, []int{4}},
		{Arch{Kind: KindMLP, HiddenLayers: 1, HiddenWidth: 9}, 2, []int{9}, []int{4}},
		{Arch{Kind: KindMLP, HiddenLayers: 1, HiddenWidth: 9, Activation: Sigmoid}, 0, nil, nil},
		{Arch{Kind: KindAdapt, StemWidth: 2, FeatureDim: 7}, 17, []int{2, 32, 32}, []int{7, 4, 4}},
		{Arch{Kind: KindVGG13}, 10, []int{64, 32, 32}, []int{512, 2, 2}},
	} {
		a := tt.arch
		a.Channels, a.Height, a.Width, a.Classes = image.Channels, image.Height, image.Width, image.Classes
		net, err := NewArch[float64](a, nil, batch, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, batch*a.Inputs())
		rng := rand.New(rand.NewPCG(1, 9))
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		out := net.Forward(x, batch, Train)
		var shapes [][]int
		var last []float64
		net.ReLUOutputs(func(shape []int, rows []float64) {
			shapes, last = append(shapes, shape), slices.Clone(rows)
			if slices.Min(rows) < 0 || !(slices.Max(rows) > 0) {
				t.Errorf("%s: outputs from %v to %v", a.Kind, slices.Min(rows), slices.Max(rows))
			}
		})
		if len(shapes) != tt.relus {
			t.Fatalf("%s: %d ReLUs, wanted %d", a.Kind, len(shapes), tt.relus)
		}
		if tt.relus == 0 {
			continue
		}
		if !slices.Equal(shapes[0], tt.first) || !slices.Equal(shapes[len(shapes)-1], tt.before) {
			t.Errorf("%s: shapes %v … %v, wanted %v … %v", a.Kind, shapes[0], shapes[len(shapes)-1], tt.first, tt.before)
		}
		if a.Kind == KindVGG13 {
			continue // a pooling comes between
		}
		pixels := len(last) / len(out.Features)
		for i, want := range out.Features {
			sum := 0.0
			for _, v := range last[i*pixels : (i+1)*pixels] {
				sum += v
			}
			if got := sum / float64(pixels); !(math.Abs(got-want) <= 1e-12*(1+want)) {
				t.Fatalf("%s: feature %d is %v, the mean of the last ReLU's map %v", a.Kind, i, want, got)
			}
		}
	}
}
