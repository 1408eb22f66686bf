package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
	"collapse.example/collapse/parallel"
)

// TrainConfig is the work to time on random data: a training step (forward, loss, backward, SGD with Nesterov momentum and weight decay)
// or a forward pass in evaluation.
type TrainConfig struct {
	Name  string // for the report
	Arch  nn.Arch
	Batch int
	Steps int // timed steps, after two that warm up
	Eval  bool
}

// TrainResult is the time of a step. GFLOP/s counts the multiplications and additions of matrix products and convolutions, including
// every filter tap, as papers and PyTorch count: 6 per weight, output pixel and sample, 4 in the first layer, whose input gradient
// is not computed, 2 in evaluation. Useful leaves out the taps that see only padding.
type TrainResult struct {
	Net            string  `json:"net"`
	Batch          int     `json:"batch"`
	Eval           bool    `json:"eval"`
	Threads        int     `json:"threads"`
	StepMS         float64 `json:"step_ms"` // median
	BestMS         float64 `json:"best_ms"`
	ImagesPerS     float64 `json:"images_per_s"`
	GFLOPS         float64 `json:"gflops"`
	UsefulGFLOPS   float64 `json:"useful_gflops"`
	FractionOfPeak float64 `json:"fraction_of_peak"` // GFLOPS over the multiply-add limit measured between the steps
	PeakGFLOPS     float64 `json:"peak_gflops"`
	RSSMB          float64 `json:"rss_mb"` // peak resident size of the process, 0 where unknown
	Kernel         string  `json:"kernel"`
}

// stepper repeats one step.
type stepper struct {
	net    *nn.Network[float32]
	loss   *nn.Loss[float32]
	sgd    *optim.SGD[float32]
	x, dz  []float32
	labels []int32
	value  float64 // loss of the last training step
}

func newStepper(c TrainConfig, team *parallel.Team) (*stepper, error) {
	net, err := nn.NewArch[float32](c.Arch, team, c.Batch, 1)
	if err != nil {
		return nil, err
	}
	loss, err := nn.NewLoss[float32](nn.LossConfig{Kind: nn.CrossEntropy}, c.Arch.Classes)
	if err != nil {
		return nil, err
	}
	s := &stepper{net: net, loss: loss, x: memory.Alloc[float32](c.Batch * c.Arch.Inputs()),
		dz: make([]float32, c.Batch*c.Arch.Classes), labels: make([]int32, c.Batch)}
	if !c.Eval {
		if s.sgd, err = optim.NewSGD(net.Params(), optim.SGDConfig{Momentum: 0.9, Nesterov: true, WeightDecay: 1e-3}, team); err != nil {
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range s.x {
		s.x[i] = float32(rng.NormFloat64())
	}
	for i := range s.labels {
		s.labels[i] = int32(rng.IntN(c.Arch.Classes))
	}
	return s, nil
}

func (s *stepper) step() {
	if s.sgd == nil {
		s.net.Forward(s.x, len(s.labels), nn.Eval)
		return
	}
	out := s.net.Forward(s.x, len(s.labels), nn.Train)
	s.value = s.loss.Gradient(out.Logits, s.labels, s.dz)
	s.net.Backward(s.dz)
	s.sgd.Step(0.01, s.value)
}

// Train times the step on the team's threads and, between steps, the limit that it is compared with. It returns an error if the
// network is wrong or the loss is not finite, so that no time of a broken step is reported.
func Train(c TrainConfig, team *parallel.Team) (TrainResult, error) {
	if c.Steps < 1 {
		return TrainResult{}, fmt.Errorf("bench: %d steps, wanted at least 1", c.Steps)
	}
	s, err := newStepper(c, team)
	if err != nil {
		return TrainResult{}, err
	}
	s.step() // warms up caches and buffers
	s.step()
	limit := newLoop[float32](team)
	times := make([]float64, c.Steps)
	for i := range times {
		limit.sample()
		times[i] = timed(s.step).Seconds()
	}
	if math.IsNaN(s.value) || math.IsInf(s.value, 0) {
		return TrainResult{}, fmt.Errorf("bench: the loss of %s is %v after %d steps; the time of such a step says nothing", c.Name, s.value, c.Steps+2)
	}
	slices.Sort(times)
	median := times[len(times)/2]
	all, useful := flops(listProducts(s.net), c.Batch, c.Eval)
	return TrainResult{Net: c.Name, Batch: c.Batch, Eval: c.Eval, Threads: team.Threads(), StepMS: median * 1e3, BestMS: times[0] * 1e3,
		ImagesPerS: float64(c.Batch) / median, GFLOPS: all / median / 1e9, UsefulGFLOPS: useful / median / 1e9,
		FractionOfPeak: all / median / 1e9 / limit.best, PeakGFLOPS: limit.best, RSSMB: PeakRSS(), Kernel: isa.Name()}, nil
}

// Rate returns how many steps per second each of slots runs side by side makes, every run with threads threads, measured for about
// the given time.
func Rate(c TrainConfig, slots, threads int, d time.Duration) (float64, error) {
	rates := make(chan float64, slots)
	errs := make(chan error, slots)
	for range slots {
		go func() {
			rate, err := rateOfOne(c, threads, d)
			if err != nil {
				errs <- err
				return
			}
			rates <- rate
		}()
	}
	slowest := math.Inf(1)
	for range slots {
		select {
		case rate := <-rates:
			slowest = min(slowest, rate)
		case err := <-errs:
			return 0, err
		}
	}
	return slowest, nil
}

func rateOfOne(c TrainConfig, threads int, d time.Duration) (float64, error) {
	team := parallel.NewTeam(threads)
	defer team.Close()
	s, err := newStepper(c, team)
	if err != nil {
		return 0, err
	}
	s.step()
	n, start := 0, time.Now()
	for n == 0 || time.Since(start) < d {
		s.step()
		n++
	}
	return float64(n) / time.Since(start).Seconds(), nil
}
