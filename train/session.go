package train

import (
	"collapse/data"
	"collapse/internal/kernel"
	"collapse/measure"
	"collapse/nn"
	"collapse/optim"
)

// inputs is what a run reads: both splits, with label noise on the first, and their prepared pixels.
type inputs struct {
	train, test           *data.Set
	trainPixel, testPixel *data.Inputs
}

// openInputs reads the sets that c names.
func openInputs(c Config, opts Options) (inputs, error) {
	open := opts.Open
	if open == nil {
		open = data.Open
	}
	var in inputs
	var err error
	if in.train, err = open(c.source(), data.Train); err != nil {
		return inputs{}, err
	}
	if in.test, err = open(c.source(), data.Test); err != nil {
		return inputs{}, err
	}
	noise := data.Noise{Rate: c.Data.Noise, Generator: c.Data.NoiseGenerator, Seed: c.Data.NoiseSeed}
	if in.train, err = in.train.WithNoise(noise); err != nil {
		return inputs{}, err
	}
	return in, nil
}

// source names the data as package data wants it.
func (c Config) source() data.Source {
	d := c.Data
	s := data.Source{Name: d.Name, Root: d.Dir, Classes: d.Classes, TrainPerClass: d.SamplesPerClass,
		TestPerClass: d.TestSamplesPerClass, Seed: d.Seed}
	if d.Name == glyphs { // files have their own size
		s.Size, s.Color = d.Size, d.Color
	}
	return s
}

// prepare resizes the images; it is put off until a run is known to be new.
func (in *inputs) prepare(pipeline string) error {
	p, err := data.PipelineNamed(pipeline)
	if err != nil {
		return err
	}
	if in.trainPixel, err = p.Prepare(in.train); err != nil {
		return err
	}
	in.testPixel, err = p.Prepare(in.test)
	return err
}

// session is a run in memory: what a step reads and writes, allocated once.
type session[T Float] struct {
	cfg  Config // resolved
	in   inputs
	team *kernel.Team

	net      *nn.Network[T]
	loss     *nn.Loss[T]
	opt      optim.Optimizer[T]
	schedule optim.Schedule
	batches  *data.Batches

	fill    filler[T]
	x       []T // batch×inputs
	labels  []int32
	dlogits []T // batch×K

	train, test evaluation[T]
	onTrain     *measure.Engine[T]
	onClean     *measure.Engine[T]
	onTest      *measure.Engine[T]

	step     int64 // finished steps of the run
	lastLoss float64
}

// newSession builds the network and everything a step needs, and checks what only the data can tell.
func newSession[T Float](c Config, in inputs, team *kernel.Team) (*session[T], error) {
	s := &session[T]{cfg: c, in: in, team: team}
	batch := min(c.Run.Batch, in.train.N())
	k := in.train.Classes
	var err error
	if c.Net.BatchNorm {
		if err := data.CheckBatchNorm(in.train.N(), c.Run.Batch, false); err != nil {
			return nil, err
		}
	}
	if s.net, err = nn.NewMLP[T](c.mlp(in.trainPixel.Dim(), k), team, batch, c.Run.Seed); err != nil {
		return nil, err
	}
	if s.loss, err = nn.NewLoss[T](c.Loss.nn(), k); err != nil {
		return nil, err
	}
	if s.opt, err = optim.NewSGD(s.net.Params(), optim.SGDConfig{Momentum: c.Optim.Momentum, Nesterov: c.Optim.Nesterov,
		WeightDecay: c.Optim.WeightDecay}, team); err != nil {
		return nil, err
	}
	s.schedule = c.schedule()
	if s.batches, err = data.NewBatches(in.train.N(), c.Run.Batch, false, c.Run.Seed); err != nil {
		return nil, err
	}
	for _, e := range []**measure.Engine[T]{&s.onTrain, &s.onClean, &s.onTest} {
		if *e, err = measure.NewEngine[T](measure.Options{Team: team}); err != nil {
			return nil, err
		}
	}
	s.x = kernel.Alloc[T](batch * in.trainPixel.Dim())
	s.labels = make([]int32, batch)
	s.dlogits = make([]T, batch*k)
	return s, nil
}

// mlp is the network as package nn wants it.
func (c Config) mlp(inputs, classes int) nn.MLPConfig {
	return nn.MLPConfig{Inputs: inputs, Width: c.Net.Width, Depth: c.Net.Depth, FeatureDim: c.Net.FeatureDim, Classes: classes,
		BatchNorm: c.Net.BatchNorm, Activation: nn.Activation(c.Net.Activation), NoClassifierBias: !c.Net.Bias}
}

func (l LossConfig) nn() nn.LossConfig {
	return nn.LossConfig{Kind: l.Kind, Smoothing: l.Smoothing, Alpha: l.Alpha, M: l.M, Reduction: l.Reduction}
}

// parameters counts the trained numbers.
func (s *session[T]) parameters() int {
	n := 0
	for _, p := range s.net.Params() {
		n += len(p.Value)
	}
	return n
}
