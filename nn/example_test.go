package nn_test

import (
	"fmt"

	"collapse.example/collapse/data"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// A step of training: logits of a batch, the loss and its gradient, the gradients of all parameters, and Adam.
func Example() {
	set, err := data.Glyphs(data.GlyphConfig{Classes: 2, PerClass: 16, Size: 28})
	check(err)
	plain, err := data.PipelineNamed(data.PipelinePlain)
	check(err)
	inputs, err := plain.Prepare(set)
	check(err)

	mlp := nn.Arch{Kind: nn.KindMLP, Channels: 1, Height: 28, Width: 28, Classes: 2, HiddenWidth: 32, HiddenLayers: 1}
	net, err := nn.NewArch[float64](mlp, nil, set.N(), 1)
	check(err)
	loss, err := nn.NewLoss[float64](nn.LossConfig{Kind: nn.CrossEntropy}, 2)
	check(err)
	adam, err := optim.NewAdam(net.Params(), optim.DefaultAdam(), nil)
	check(err)

	x, gradient := make([]float64, inputs.N()*inputs.Dim()), make([]float64, inputs.N()*2)
	data.FillRange(x, inputs, 0, inputs.N())
	for range 3 {
		out := net.Forward(x, inputs.N(), nn.Train)
		value := loss.Gradient(out.Logits, set.Observed, gradient)
		net.Backward(gradient)
		adam.Step(0.001, value)
		fmt.Printf("loss %.3f\n", value)
	}
	// Output:
	// loss 0.707
	// loss 0.640
	// loss 0.596
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
