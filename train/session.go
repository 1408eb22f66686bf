package train

import (
	"fmt"
	"strconv"

	"collapse/data"
	"collapse/internal/kernel"
	"collapse/measure"
	"collapse/nn"
	"collapse/optim"
)

// inputs is what a run reads: the splits, with label noise on the first, and their prepared pixels. held is what data.validation
// holds out of the first; nil: nothing.
type inputs struct {
	train, held, test                *data.Set
	trainPixel, heldPixel, testPixel *data.Inputs
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
	if c.Data.Validation > 0 {
		if in.train, in.held, err = in.train.HoldOut(c.Data.Validation, c.Data.Seed); err != nil {
			return inputs{}, err
		}
	}
	if in.train, err = in.train.WithNoise(c.noise()); err != nil {
		return inputs{}, err
	}
	return in, nil
}

// source names the data as package data wants it.
func (c Config) source() data.Source {
	d := c.Data
	s := data.Source{Name: d.Name, Root: d.Dir, Classes: d.Classes, TrainPerClass: d.SamplesPerClass, TestPerClass: d.TestSamplesPerClass,
		TrainSamples: d.Samples, TestSamples: d.TestSamples, First: d.FirstSamples, Seed: d.Seed}
	if d.Name == glyphs || d.Name == folder { // other files have their own size
		s.Size, s.Color = d.Size, d.Color
	}
	return s
}

// noise is the label noise as package data wants it. Check has accepted the rates.
func (c Config) noise() data.Noise {
	d := c.Data
	n := data.Noise{Rate: d.Noise, Kind: d.NoiseKind, Truncate: d.NoiseTruncate, Generator: d.NoiseGenerator, Seed: d.NoiseSeed}
	for _, text := range split(d.NoiseRates) {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic("train: a list of rates that Check refuses")
		}
		n.Rates = append(n.Rates, rate)
	}
	return n
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
	if in.held != nil {
		if in.heldPixel, err = p.Prepare(in.held); err != nil {
			return err
		}
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
	decay    *optim.Decay[T]
	opt      optim.Optimizer[T]
	schedule optim.Schedule
	batches  *data.Batches

	augment data.Augment
	fill    filler[T]
	x       []T // batch×inputs
	labels  []int32
	batch   int // samples of the loaded batch
	dlogits []T // batch×K

	taps        []nn.Tap // layers measured besides the features
	train, test evaluation[T]
	held        evaluation[T]   // the validation split, if there is one
	means       *measure.Report // of the training features, with class means; nil before the first measured epoch
	onTrain     *measure.Engine[T]
	onClean     *measure.Engine[T]
	onTest      *measure.Engine[T]
	onLayer     *measure.Engine[T]
	weight      []float64 // the classifier being measured
	bias        []float64
	collect     bool // the training pass keeps its features for the measures

	need     Footprint
	step     int64 // finished steps of the run
	lastLoss float64
}

// newSession builds the network and everything a step needs, and checks what only the data can tell.
func newSession[T Float](c Config, in inputs, team *kernel.Team) (*session[T], error) {
	s := &session[T]{cfg: c, in: in, team: team}
	var err error
	if s.net, err = nn.NewArch[T](c.arch(in), team, c.batch(in), c.Run.Seed); err != nil {
		return nil, err
	}
	if err := s.checkBatches(); err != nil {
		return nil, err
	}
	if s.taps, err = c.tapped(s.net.Taps()); err != nil {
		return nil, err
	}
	if s.loss, err = nn.NewLoss[T](c.Loss.nn(), in.train.Classes); err != nil {
		return nil, err
	}
	if err := s.newOptimiser(); err != nil {
		return nil, err
	}
	s.schedule = c.schedule()
	if s.batches, err = data.NewBatches(in.train.N(), c.Run.Batch, false, c.Run.Seed); err != nil {
		return nil, err
	}
	if s.augment, err = data.AugmentNamed(c.Data.Augment, c.Run.Seed); err != nil {
		return nil, err
	}
	for _, e := range []**measure.Engine[T]{&s.onTrain, &s.onClean, &s.onTest, &s.onLayer} {
		if *e, err = measure.NewEngine[T](measure.Options{Team: team, KeepMeans: e == &s.onTrain, Without: notEveryEpoch}); err != nil {
			return nil, err
		}
	}
	s.x = kernel.Alloc[T](c.batch(in) * in.trainPixel.Dim())
	s.labels = make([]int32, c.batch(in))
	s.dlogits = make([]T, c.batch(in)*in.train.Classes)
	return s, nil
}

// batch is the largest batch of a run.
func (c Config) batch(in inputs) int { return min(c.Run.Batch, in.train.N()) }

// arch is the network as package nn wants it.
func (c Config) arch(in inputs) nn.Arch {
	n, image := c.Net, in.trainPixel.Shape
	a := nn.Arch{Kind: n.Kind, Channels: image.C, Height: image.H, Width: image.W, Classes: in.train.Classes, FeatureDim: n.FeatureDim,
		NoClassifierBias: !n.Bias, Classifier: n.Classifier}
	switch n.Kind {
	case nn.KindMLP:
		a.HiddenWidth, a.HiddenLayers, a.BatchNorm, a.Activation = n.Width, n.Depth, n.BatchNorm, nn.Activation(n.Activation)
	case nn.KindResNet18:
		a.Stem = n.Stem
	case nn.KindAdapt:
		a.StemWidth = n.StemWidth
	}
	if n.Classifier == nn.ClassifierETF {
		a.ETF, a.TruncateETF, a.FreezeBias = n.ETF, n.Truncate, n.FreezeBias
	}
	return a
}

// mlp is the network as package nn wants it, for a trace of its layers.
func (c Config) mlp(inputs, classes int) nn.MLPConfig {
	return nn.MLPConfig{Inputs: inputs, Width: c.Net.Width, Depth: c.Net.Depth, FeatureDim: c.Net.FeatureDim, Classes: classes,
		BatchNorm: c.Net.BatchNorm, Activation: nn.Activation(c.Net.Activation), NoClassifierBias: !c.Net.Bias}
}

// checkBatches refuses, before the first epoch, a batch size whose last batch the network cannot take.
func (s *session[T]) checkBatches() error {
	n, batch := s.in.train.N(), s.net.MaxBatch()
	sizes := []int{batch}
	if last := n % batch; last != 0 {
		sizes = append(sizes, last)
	}
	for _, size := range sizes {
		if err := s.net.CheckBatch(size, nn.Train); err != nil {
			return fmt.Errorf("train: %d samples in batches of %d (run.batch): %w", n, batch, err)
		}
	}
	return nil
}

func (l LossConfig) nn() nn.LossConfig {
	return nn.LossConfig{Kind: l.Kind, Smoothing: l.Smoothing, Alpha: l.Alpha, M: l.M, Reduction: l.Reduction}
}

// parameters counts the numbers of the network, fixed ones included.
func (s *session[T]) parameters() int {
	n := 0
	for _, p := range s.net.Params() {
		n += len(p.Value)
	}
	return n
}

// notEveryEpoch are the measures that need the covariance of the features, which costs as much as all others together: a
// capture of the features gives them.
var notEveryEpoch = []string{measure.KeyVCI, measure.KeyFeatureRank, measure.KeyFeatureStableRank, measure.KeyWMeanAlignment}
