package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestTaps: rows are the means, or in PyTorch's order all values, of what the stage put out; the last stage's means are
// the features.
func TestTaps(t *testing.T) {
	const batch = 3
	in := mapShape{2, 5, 6}
	n := tiny(t, in, 3, 4, nil, blocks["adapt"])
	x, _ := sample(rand.New(rand.NewPCG(2, 2)), batch, in.size(), 3)
	var names []string
	for _, tap := range n.Taps() {
		if tap.Stage {
			names = append(names, tap.Name)
		}
	}
	if fmt.Sprint(names) != "[layer1 layer2 layer3 layer4]" {
		t.Errorf("stages %v", names)
	}
	for _, mode := range []Mode{Train, Eval} {
		var means [][]float64
		for _, flatten := range []bool{false, true} {
			if err := n.Tap(flatten, "relu", "layer1.0", "layer4"); err != nil {
				t.Fatal(err)
			}
			features := append([]float64(nil), n.Forward(x, batch, mode).Features...)
			if !flatten {
				means = [][]float64{n.Tapped(0), n.Tapped(1), n.Tapped(2)}
				if maxDiff(n.Tapped(2), features) != 0 {
					t.Error("the last stage's means are not the features")
				}
				continue
			}
			for i, mean := range means {
				pixels := len(n.Tapped(i)) / len(mean)
				for c := range mean {
					sum := 0.0
					for _, v := range n.Tapped(i)[c*pixels : (c+1)*pixels] {
						sum += v / float64(pixels)
					}
					if !(math.Abs(sum-mean[c]) <= 1e-12) {
						t.Errorf("tap %d: value %d has mean %g, tapped as %g", i, c, sum, mean[c])
					}
				}
			}
		}
	}
	if err := n.Tap(false, "layer9"); err == nil {
		t.Error("layer9 can be tapped")
	}
	if err := n.Tap(false); err != nil {
		t.Error(err)
	}
	n.Forward(x, batch, Eval)

	mlp := mustMLP[float64](t, small, nil, 4, 1)
	if err := mlp.Tap(false, "layers.2", "layers.8"); err != nil {
		t.Fatal(err)
	}
	x, _ = sample(rand.New(rand.NewPCG(2, 2)), batch, small.Inputs(), 3)
	out := mlp.Forward(x, batch, Eval)
	if maxDiff(mlp.Tapped(1), out.Features) != 0 || len(mlp.Tapped(0)) != batch*small.HiddenWidth || mlp.Tapped(0)[0] == 0 && mlp.Tapped(0)[1] == 0 {
		t.Error("the taps of an MLP are not its activations")
	}
}
