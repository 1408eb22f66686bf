// Command train takes steps of SGD on a network of the papers and measures how far its features have collapsed.
package main

import (
	"fmt"
	"log"

	"collapse.example/collapse/data"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
	"collapse.example/collapse/parallel"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	set, err := data.Glyphs(data.GlyphConfig{Classes: 4, PerClass: 64, Size: 28})
	if err != nil {
		return err
	}
	plain, err := data.PipelineNamed(data.PipelinePlain)
	if err != nil {
		return err
	}
	inputs, err := plain.Prepare(set)
	if err != nil {
		return err
	}
	team := parallel.NewTeam(0)
	defer team.Close()
	x, n := inputs.Rows(), inputs.N()

	net, err := nn.NewArch[float32](nn.Arch{
		Kind: nn.KindMLP, Channels: 1, Height: 28, Width: 28, Classes: 4, HiddenWidth: 128, HiddenLayers: 2, FeatureDim: 16,
	}, team, n, 1)
	if err != nil {
		return err
	}
	loss, err := nn.NewLoss[float32](nn.LossConfig{Kind: nn.CrossEntropy}, 4)
	if err != nil {
		return err
	}
	sgd, err := optim.NewSGD(net.Params(), optim.SGDConfig{Momentum: 0.9, WeightDecay: 5e-4}, team)
	if err != nil {
		return err
	}
	gradient := make([]float32, n*4) // of the loss by the logits
	for step := range 201 {
		out := net.Forward(x, n, nn.Train)
		value := loss.Gradient(out.Logits, set.Observed, gradient)
		if step%50 == 0 {
			report, err := measure.Measure(measure.Input[float32]{Train: measure.Memory(out.Features, 16, set.Observed)}, measure.Options{Team: team})
			if err != nil {
				return err
			}
			if nc1, ok := report.Value("nc1_trace_ratio"); ok {
				fmt.Printf("step %3d  loss %.5f  NC1 %.4g\n", step, value, nc1)
			}
		}
		net.Backward(gradient)
		sgd.Step(0.05, value)
	}
	return nil
}
