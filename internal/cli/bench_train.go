package cli

import (
	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/parallel"
)

// benchNet says which network is timed; the sizes of an MLP can be chosen.
type benchNet struct {
	Net        string `enum:"${bench_nets}" default:"mlp" help:"Network: ${bench_nets_listed}." placeholder:"NAME"`
	Batch      int    `default:"0" help:"Samples per step; 0: 512 for mlp, 64 for resnet18-cifar and resnet18-adapt, else 128." placeholder:"B"`
	Width      int    `default:"0" help:"Units of a hidden layer, for mlp (0: 2048), or channels of resnet18-adapt's stem (0: 8)." placeholder:"N"`
	Steps      int    `default:"15" help:"Timed steps." placeholder:"N"`
	Eval       bool   `help:"Time a forward pass in evaluation instead of a training step."`
	Inputs     int    `default:"0" help:"Length of an input row; 0: 784." placeholder:"N" group:"Sizes of an mlp:"`
	Depth      int    `default:"9" help:"Hidden layers of an mlp; without the d-wide one." placeholder:"N" group:"Sizes of an mlp:"`
	FeatureDim int    `default:"2" help:"Width d of the last hidden layer." placeholder:"D" group:"Sizes of an mlp:"`
	Classes    int    `default:"2" help:"Number of classes K." placeholder:"K" group:"Sizes of an mlp:"`
}

func (c benchNet) effects() []effect {
	return []effect{
		{"inputs depth feature-dim classes", c.Net == "mlp", "is for --net mlp; other networks have fixed sizes"},
		{"width", c.Net == "mlp" || c.Net == "resnet18-adapt", "is for --net mlp and resnet18-adapt; other networks have a fixed width"},
	}
}

func (c benchNet) config() (bench.TrainConfig, error) {
	arch, batch, err := bench.Net(c.Net, c.Width)
	if err != nil {
		return bench.TrainConfig{}, usageError{err}
	}
	if c.Net == "mlp" {
		arch.HiddenLayers, arch.FeatureDim, arch.Classes = c.Depth, c.FeatureDim, c.Classes
		if c.Inputs > 0 {
			arch.Height, arch.Width = 1, c.Inputs
		}
	}
	if c.Batch != 0 {
		batch = c.Batch
	}
	if c.Steps < 1 {
		return bench.TrainConfig{}, usagef("--steps %d: wanted at least 1", c.Steps)
	}
	return bench.TrainConfig{Name: c.Net, Arch: arch, Batch: batch, Steps: c.Steps, Eval: c.Eval}, nil
}

// timeNet times the network with the call's threads.
func timeNet[R any](a *app, c benchNet, timed func(bench.TrainConfig, *parallel.Team) (R, error)) (r R, err error) {
	a.onlyComputes()
	cfg, err := c.config()
	if err != nil {
		return r, err
	}
	team := parallel.NewTeam(a.flags.Threads)
	defer team.Close()
	if r, err = timed(cfg, team); err != nil {
		return r, usageError{err}
	}
	return r, nil
}

type benchTrainCmd struct {
	benchNet `embed:""`
	Engine   string `enum:"go,torch" default:"go" help:"What trains: go, this program's own kernels, or torch." placeholder:"NAME" group:"PyTorch:"`
	Members  []int  `help:"Runs of the mlp in one batch; several numbers, separated by commas, are timed in turn." default:"1" placeholder:"N" group:"PyTorch:"`
	engineFlags
}

func (c benchTrainCmd) effects() []effect {
	return append([]effect{
		{engineFlagNames, c.Engine == "torch", "goes with --engine torch"},
		{"members", c.Engine == "torch" && c.Net == "mlp", "goes with --engine torch and --net mlp"},
		{"eval inputs", c.Engine == "go", "is for --engine go"},
	}, c.benchNet.effects()...)
}

func (c benchTrainCmd) Run(a *app) error {
	if c.Engine == "torch" {
		return c.torch(a)
	}
	r, err := timeNet(a, c.benchNet, bench.Train)
	if err != nil {
		return err
	}
	return a.emit(r, func() {
		what := "step      "
		if r.Eval {
			what = "evaluation"
		}
		a.printf("%s, batch %d, %d threads, kernel %s\n%s %.1f ms (median of %d, best %.1f)\nimages/s   %.0f\nGFLOP/s    %.1f (%.0f %% of the peak's %.0f); %.1f on taps that see pixels\nmemory     %.0f MB at most\n",
			r.Net, r.Batch, r.Threads, r.Kernel, what, r.StepMS, c.Steps, r.BestMS, r.ImagesPerS, r.GFLOPS, 100*r.FractionOfPeak,
			r.PeakGFLOPS, r.UsefulGFLOPS, r.RSSMB)
	})
}
