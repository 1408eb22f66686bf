package train

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/nn"
)

// A trace is a folder with meta.json and one step-<number>.safetensors for each traced step:
//
//	batch.indices (B), batch.x (B×inputs), batch.labels (B), logits (B×K), loss (scalar, float64)
//	relu.<i> (B×…)                            output of the i-th ReLU, which says on which side of 0 each input was
//	grad.<parameter>                          gradient of the loss, without coupled weight decay, of what is trained
//	before.<tensor>, after.<tensor>           parameters, running statistics and their counters
//	before_optim.<tensor>, after_optim.<…>    steps; <parameter>.momentum_buffer, .exp_avg, .exp_avg_sq
//
// Every number is as the step saw it, so a step can be repeated from the state before it, whatever happened earlier. If the name is
// a named pipe (mkfifo), the same files go through it as a tar stream, with meta.json repeated before each step's file: a step of a
// large network takes some hundred megabytes, and a program that checks them as they come needs no disk.
const traceMeta = "meta.json"

// traceInfo is meta.json.
type traceInfo struct {
	Format  int             `json:"format"` // 2
	Version string          `json:"version"`
	Machine Machine         `json:"machine"`
	DType   string          `json:"dtype"`
	Config  json.RawMessage `json:"config"`
	Inputs  int             `json:"inputs"`
	Classes int             `json:"classes"`
	Net     traceNet        `json:"net"`
	Loss    LossConfig      `json:"loss"`
	Decay   traceDecay      `json:"decay"`
	Optim   traceOptim      `json:"optim"`
	Steps   []traceStep     `json:"steps"` // so far
}

// traceNet is the network. An image network is given by kind and stem, and its tensors have torchvision's names.
type traceNet struct {
	Kind        string      `json:"kind"`
	Channels    int         `json:"channels"` // of an image
	Height      int         `json:"height"`
	Width       int         `json:"width"`
	Stem        string      `json:"stem,omitempty"`
	Layers      []nn.Module `json:"layers,omitempty"`      // of an MLP
	Temperature float64     `json:"temperature,omitempty"` // of a normalized classifier
	Convs       []traceConv `json:"convs,omitempty"`       // and the algorithm each one uses
}

type traceConv struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"` // direct or winograd4
}

// traceDecay is the penalty inside loss and gradients; see optim.DecayConfig. The optimiser applies coupled decay.
type traceDecay struct {
	Kind       string  `json:"kind"`
	Classifier float64 `json:"classifier"`
	Bias       float64 `json:"bias"`
	Features   float64 `json:"features"`
	Samples    int     `json:"samples"` // N
}

type traceOptim struct {
	Kind        string  `json:"kind"` // sgd or adam
	Momentum    float64 `json:"momentum"`
	Nesterov    bool    `json:"nesterov"`
	Beta1       float64 `json:"beta1"`
	Beta2       float64 `json:"beta2"`
	Eps         float64 `json:"eps"`
	WeightDecay float64 `json:"weight_decay"` // coupled
}

type traceStep struct {
	Step  int64   `json:"step"`
	Epoch int     `json:"epoch"` // from 1
	LR    float64 `json:"lr"`
	File  string  `json:"file"`
}

// tracer writes a trace. A nil tracer does nothing.
type tracer[T Float] struct {
	to     traceSink
	steps  []int64 // sorted, those still to come
	info   traceInfo
	arrays []arrayfile.Array // of the current step
}

// newTracer prepares the folder, or returns nil if no trace was requested.
func newTracer[T Float](ctx context.Context, fs rundir.FS, t Trace, s *session[T]) (*tracer[T], error) {
	if t.Dir == "" {
		return nil, nil
	}
	n, own := s.engine.(*native[T])
	if !own {
		return nil, fmt.Errorf("train: trace: %s shows no single steps", s.engine.machine())
	}
	steps := slices.Compact(slices.Sorted(slices.Values(t.Steps)))
	if len(steps) == 0 {
		return nil, fmt.Errorf("train: trace: no steps requested; add --trace-steps 10")
	}
	last := int64(s.cfg.Run.Epochs)*int64(s.stepsPerEpoch()) - 1
	if steps[0] < s.step || steps[len(steps)-1] > last {
		return nil, fmt.Errorf("train: trace: steps %d to %d were requested; this run still has steps %d to %d to do (--again starts over)",
			steps[0], steps[len(steps)-1], s.step, last)
	}
	if s.cfg.Optim.Kind == "lbfgs" {
		return nil, fmt.Errorf("train: trace: a step of L-BFGS is many steps; only optim.kind = sgd and adam have traces")
	}
	to, err := openTrace(ctx, fs, t.Dir)
	if err != nil {
		return nil, fmt.Errorf("train: trace: %w", err)
	}
	return &tracer[T]{to: to, steps: steps, info: n.traceInfo()}, nil
}

// traceInfo is meta.json without the steps.
func (n *native[T]) traceInfo() traceInfo {
	c, o, d := n.cfg, n.cfg.Optim, n.cfg.Decay
	a := c.arch(n.in.sizes())
	net := traceNet{Kind: a.Kind, Channels: a.Channels, Height: a.Height, Width: a.Width, Layers: n.net.Modules(), Temperature: a.Temperature}
	if c.reads("net.stem") {
		net.Stem = a.Stem
	}
	for _, conv := range n.net.Convs() {
		net.Convs = append(net.Convs, traceConv{conv.Name, conv.Algorithm})
	}
	return traceInfo{
		Format: 2, Version: version.Version, Machine: ThisMachine(), DType: c.Run.DType,
		Config: Canonical(c.Config, n.in.train.Digest, n.in.test.Digest), Inputs: n.net.Inputs(), Classes: n.net.Classes(), Net: net,
		Loss:  c.Loss,
		Decay: traceDecay{string(d.Kind), d.Classifier, d.Bias, d.Features, n.in.train.N()},
		Optim: traceOptim{o.Kind, o.Momentum, o.Nesterov, o.Adam.Beta1, o.Adam.Beta2, o.Adam.Eps, d.Coupled()},
	}
}

func (t *tracer[T]) wants(step int64) bool { return t != nil && len(t.steps) > 0 && t.steps[0] == step }

// before copies the state that the step starts from.
func (t *tracer[T]) before(n *native[T], samples []int32, step traceStep) {
	t.arrays = []arrayfile.Array{keep("batch.indices", arrayfile.Of("", []int{len(samples)}, samples))}
	t.state("before", n)
	step.File = fmt.Sprintf("step-%d.safetensors", step.Step)
	t.info.Steps = append(t.info.Steps, step)
}

// middle copies batch, outputs and gradients.
func (t *tracer[T]) middle(n *native[T], x []T, labels []int32, logits []T, loss float64) {
	b := len(labels)
	t.arrays = append(t.arrays,
		keep("batch.x", arrayfile.Of("", []int{b, n.net.Inputs()}, x)),
		keep("batch.labels", arrayfile.Of("", []int{b}, labels)),
		keep("logits", arrayfile.Of("", []int{b, n.net.Classes()}, logits)),
		keep("loss", arrayfile.Of("", nil, []float64{loss})))
	relu := 0
	n.net.ReLUOutputs(func(shape []int, rows []T) {
		t.arrays = append(t.arrays, keep(fmt.Sprint("relu.", relu), arrayfile.Of("", append([]int{b}, shape...), rows)))
		relu++
	})
	for _, p := range n.net.Params() {
		if !p.Frozen {
			t.arrays = append(t.arrays, keep("grad."+p.Name, arrayfile.Of("", p.Shape, p.Grad)))
		}
	}
}

// after writes the step's file, and ends the trace after the last one.
func (t *tracer[T]) after(n *native[T]) error {
	t.state("after", n)
	t.steps = t.steps[1:]
	if err := t.write(); err != nil {
		return fmt.Errorf("train: trace: %w", err)
	}
	return nil
}

func (t *tracer[T]) write() error {
	text, err := json.MarshalIndent(t.info, "", " ")
	if err != nil {
		return err
	}
	err = t.to.put(traceMeta, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	arrays := t.arrays
	t.arrays = nil
	err = t.to.put(t.info.Steps[len(t.info.Steps)-1].File, func(w io.Writer) error { return arrayfile.WriteSafetensors(w, arrays, nil) })
	if err != nil || len(t.steps) > 0 {
		return err
	}
	return t.to.end()
}

func (t *tracer[T]) state(when string, n *native[T]) {
	for _, a := range modelArrays(n.net) {
		t.arrays = append(t.arrays, keep(when+"."+a.Name, a))
	}
	for _, a := range optimArrays(n.opt.State()) {
		t.arrays = append(t.arrays, keep(when+"_optim."+a.Name, a))
	}
}

// keep returns a copy of a under another name.
func keep(name string, a arrayfile.Array) arrayfile.Array {
	a.Name, a.Data = name, slices.Clone(a.Data)
	return a
}
