package bench

import (
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// LayersReport says where the time of a training step goes.
type LayersReport struct {
	Net        string     `json:"net"`
	Batch      int        `json:"batch"`
	Threads    int        `json:"threads"`
	Kernel     string     `json:"kernel"`
	PeakGFLOPS float64    `json:"peak_gflops"` // multiply-add limit measured between the steps
	StepMS     float64    `json:"step_ms"`     // median, with the clock running
	Uncounted  float64    `json:"uncounted"`   // share of all steps' time not attributed to any operation
	Operations []LayerOp  `json:"operations"`  // in the order of a step
	Kinds      []KindTime `json:"kinds"`       // the same by kind of operation
}

// LayerOp is one operation of one layer. Rates are 0 if there are no products to count.
type LayerOp struct {
	Layer          string  `json:"layer"`
	Op             string  `json:"op"`
	Algorithm      string  `json:"algorithm,omitempty"` // of a convolution
	MS             float64 `json:"ms"`                  // median
	Share          float64 `json:"share"`               // of the operations' sum
	GFLOPS         float64 `json:"gflops"`              // counting every filter tap
	UsefulGFLOPS   float64 `json:"useful_gflops"`       // counting only taps that see a pixel
	FractionOfPeak float64 `json:"fraction_of_peak"`    // of UsefulGFLOPS: above 1 if Winograd saves products
}

// KindTime sums a kind of operation over the layers.
type KindTime struct {
	Op    string  `json:"op"`
	MS    float64 `json:"ms"`
	Share float64 `json:"share"`
}

// Parts of a step outside the network.
const (
	opLoss      = "loss"
	opOptimiser = "optimiser"
)

// Layers times every operation of c's training step, or forward pass in evaluation, on the team's threads.
func Layers(c TrainConfig, team *parallel.Team) (LayersReport, error) {
	s, err := newStepper(c, team)
	if err != nil {
		return LayersReport{}, err
	}
	clock := &nn.Clock{}
	s.net.Watch(clock)
	limit := newLoop[float32](team)
	var steps []time.Duration
	for i := range c.Steps + 2 {
		if i == 2 { // warmed up
			clock.Reset()
			steps = nil
		}
		limit.sample()
		steps = append(steps, timed(func() { s.clocked(clock) }))
	}
	r := LayersReport{Net: c.Name, Batch: c.Batch, Threads: team.Threads(), Kernel: isa.Name(), PeakGFLOPS: limit.best,
		StepMS: milliseconds(steps)}
	products := map[string]product{}
	for _, p := range listProducts(s.net) {
		products[p.layer] = p
	}
	for _, o := range clock.Operations() {
		op := LayerOp{Layer: o.Layer, Op: o.Op, MS: milliseconds(clock.Laps(o))}
		if p, ok := products[o.Layer]; ok && slices.Contains([]string{nn.OpForward, nn.OpInputGrad, nn.OpWeightGrad}, o.Op) {
			scale := 2 * float64(c.Batch) / op.MS / 1e6
			op.Algorithm, op.GFLOPS, op.UsefulGFLOPS = p.algorithm, p.all*scale, p.useful*scale
			op.FractionOfPeak = op.UsefulGFLOPS / limit.best
		}
		r.Operations = append(r.Operations, op)
	}
	r.Uncounted = uncounted(clock, steps)
	r.share()
	r.sumKinds()
	return r, nil
}

// uncounted compares the sum of all laps with that of all steps.
func uncounted(clock *nn.Clock, steps []time.Duration) float64 {
	var counted, all time.Duration
	for _, o := range clock.Operations() {
		for _, lap := range clock.Laps(o) {
			counted += lap
		}
	}
	for _, step := range steps {
		all += step
	}
	return 1 - float64(counted)/float64(all)
}

// share divides by the sum of medians, which an interrupted step does not distort.
func (r *LayersReport) share() {
	sum := 0.0
	for _, op := range r.Operations {
		sum += op.MS
	}
	for i := range r.Operations {
		r.Operations[i].Share = r.Operations[i].MS / sum
	}
}

// clocked does a step with the clock running.
func (s *stepper) clocked(clock *nn.Clock) {
	clock.Start()
	if s.sgd == nil {
		s.net.Forward(s.x, len(s.labels), nn.Eval)
		return
	}
	out := s.net.Forward(s.x, len(s.labels), nn.Train)
	s.value = s.loss.Gradient(out.Logits, s.labels, s.dz)
	clock.Lap("", opLoss)
	s.net.Backward(s.dz)
	clock.Start() // time not attributed to a layer is not the optimiser's
	s.sgd.Step(0.01, s.value)
	clock.Lap("", opOptimiser)
}

func milliseconds(laps []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(laps))
	return sorted[len(sorted)/2].Seconds() * 1e3
}

func (r *LayersReport) sumKinds() {
	for _, op := range r.Operations {
		i := slices.IndexFunc(r.Kinds, func(k KindTime) bool { return k.Op == op.Op })
		if i < 0 {
			i = len(r.Kinds)
			r.Kinds = append(r.Kinds, KindTime{Op: op.Op})
		}
		r.Kinds[i].MS += op.MS
		r.Kinds[i].Share += op.Share
	}
	slices.SortStableFunc(r.Kinds, func(a, b KindTime) int { return strings.Compare(a.Op, b.Op) })
	slices.SortStableFunc(r.Kinds, func(a, b KindTime) int {
		if a.MS > b.MS {
			return -1
		}
		return 1
	})
}
