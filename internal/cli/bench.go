package cli

import (
	"collapse/internal/bench"
	"collapse/internal/kernel"
)

type benchCmd struct {
	Train benchTrainCmd `cmd:"" help:"A whole training step, against the peak."`
}

type benchTrainCmd struct {
	Net        string `enum:"mlp" default:"mlp" help:"Network: mlp."`
	Inputs     int    `default:"784" help:"Length of an input row." placeholder:"N"`
	Width      int    `default:"2048" help:"Units of a hidden layer." placeholder:"N"`
	Depth      int    `default:"9" help:"Hidden layers without the d-wide one." placeholder:"N"`
	FeatureDim int    `default:"2" help:"Width d of the last hidden layer." placeholder:"D"`
	Classes    int    `default:"2" help:"K." placeholder:"K"`
	Batch      int    `default:"512" help:"Samples of a step." placeholder:"B"`
	Steps      int    `default:"15" help:"Timed steps." placeholder:"N"`
}

func (c benchTrainCmd) Run(a *app) error {
	team := kernel.NewTeam(a.flags.Threads)
	defer team.Close()
	result, err := bench.Train(bench.TrainConfig{Inputs: c.Inputs, Width: c.Width, Depth: c.Depth,
		FeatureDim: c.FeatureDim, Classes: c.Classes, Batch: c.Batch, Steps: c.Steps}, team)
	if err != nil {
		return usageError{err}
	}
	return a.emit(result, func() {
		a.printf("%s, batch %d, %d threads, kernel %s\nstep       %.1f ms (median of %d, best %.1f)\nimages/s   %.0f\nGFLOP/s    %.1f (%.0f %% of the peak)\n",
			result.Net, result.Batch, result.Threads, result.Kernel, result.StepMS, c.Steps, result.BestMS,
			result.ImagesPerS, result.GFLOPS, 100*result.FractionOfPeak)
	})
}
