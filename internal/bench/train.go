package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"collapse/internal/kernel"
	"collapse/nn"
	"collapse/optim"
)

// TrainConfig is the training step to time: forward, loss, backward and SGD on random data.
type TrainConfig struct {
	Inputs     int // length of an input row
	Width      int // of a hidden layer
	Depth      int // hidden layers, the FeatureDim-wide one not counted
	FeatureDim int // d
	Classes    int // K
	Batch      int
	Steps      int // timed steps, after two that warm up
}

// TrainResult is what a training step takes. GFLOP/s counts the multiplications and additions
// of the matrix products: 6 per weight and sample, 4 in the first layer, whose input gradient
// nobody forms.
type TrainResult struct {
	Net            string  `json:"net"`
	Batch          int     `json:"batch"`
	Threads        int     `json:"threads"`
	StepMS         float64 `json:"step_ms"` // median
	BestMS         float64 `json:"best_ms"`
	ImagesPerS     float64 `json:"images_per_s"`
	GFLOPS         float64 `json:"gflops"`
	FractionOfPeak float64 `json:"fraction_of_peak"` // of the multiply-add limit measured between the steps
	RSSMB          float64 `json:"rss_mb"`           // peak resident size of the process, 0 where unknown
	Kernel         string  `json:"kernel"`
}

// stepper repeats one training step.
type stepper struct {
	net    *nn.Network[float32]
	loss   *nn.Loss[float32]
	sgd    *optim.SGD[float32]
	x, dz  []float32
	labels []int32
}

func newStepper(c TrainConfig, team *kernel.Team) (*stepper, error) {
	mlp := nn.MLPConfig{Inputs: c.Inputs, Width: c.Width, Depth: c.Depth, FeatureDim: c.FeatureDim, Classes: c.Classes, BatchNorm: true}
	net, err := nn.NewMLP[float32](mlp, team, c.Batch, 1)
	if err != nil {
		return nil, err
	}
	loss, err := nn.NewLoss[float32](nn.LossConfig{Kind: nn.CrossEntropy}, c.Classes)
	if err != nil {
		return nil, err
	}
	sgd, err := optim.NewSGD(net.Params(), optim.SGDConfig{Momentum: 0.9, Nesterov: true, WeightDecay: 1e-3}, team)
	if err != nil {
		return nil, err
	}
	s := &stepper{net: net, loss: loss, sgd: sgd,
		x: make([]float32, c.Batch*c.Inputs), dz: make([]float32, c.Batch*c.Classes), labels: make([]int32, c.Batch)}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range s.x {
		s.x[i] = float32(rng.NormFloat64())
	}
	for i := range s.labels {
		s.labels[i] = int32(rng.IntN(c.Classes))
	}
	return s, nil
}

func (s *stepper) step() {
	out := s.net.Forward(s.x, len(s.labels), nn.Train)
	loss := s.loss.Gradient(out.Logits, s.labels, s.dz)
	s.net.Backward(s.dz)
	s.sgd.Step(0.01, loss)
}

// Train times the step on the team's threads, and between the steps the limit it is held against.
func Train(c TrainConfig, team *kernel.Team) (TrainResult, error) {
	if c.Steps < 1 {
		return TrainResult{}, fmt.Errorf("bench: %d steps, wanted at least 1", c.Steps)
	}
	s, err := newStepper(c, team)
	if err != nil {
		return TrainResult{}, err
	}
	s.step() // warms caches and buffers up
	s.step()
	limit := newLoop[float32](team)
	times := make([]float64, c.Steps)
	for i := range times {
		limit.sample()
		times[i] = timed(s.step).Seconds()
	}
	slices.Sort(times)
	median := times[len(times)/2]
	rate := c.flops() / median / 1e9
	return TrainResult{Net: "mlp", Batch: c.Batch, Threads: team.Threads(), StepMS: median * 1e3, BestMS: times[0] * 1e3,
		ImagesPerS: float64(c.Batch) / median, GFLOPS: rate, FractionOfPeak: rate / limit.best,
		RSSMB: PeakRSS(), Kernel: kernel.Name()}, nil
}

// flops counts the operations of the step's matrix products.
func (c TrainConfig) flops() float64 {
	first := float64(c.Inputs) * float64(c.Width)
	rest := float64(c.Width)*float64(c.Width)*float64(c.Depth-1) + float64(c.Width*c.FeatureDim+c.FeatureDim*c.Classes)
	if c.Depth == 0 {
		first, rest = float64(c.Inputs*c.FeatureDim), float64(c.FeatureDim*c.Classes)
	}
	return float64(c.Batch) * (4*first + 6*rest)
}

// Rate returns how many steps a second each of slots runs side by side makes, every run with
// threads threads, measured for about the given time.
func Rate(c TrainConfig, slots, threads int, d time.Duration) (float64, error) {
	counts := make(chan float64, slots)
	errs := make(chan error, slots)
	for range slots {
		go func() {
			team := kernel.NewTeam(threads)
			defer team.Close()
			s, err := newStepper(c, team)
			if err != nil {
				errs <- err
				return
			}
			s.step()
			n, start := 0, time.Now()
			for time.Since(start) < d {
				s.step()
				n++
			}
			counts <- float64(n) / time.Since(start).Seconds()
		}()
	}
	slowest := 0.0
	for i := range slots {
		select {
		case rate := <-counts:
			if i == 0 || rate < slowest {
				slowest = rate
			}
		case err := <-errs:
			return 0, err
		}
	}
	return slowest, nil
}
