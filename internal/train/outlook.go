package train

import (
	"collapse.example/collapse/data"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// Outlook predicts what a run will take, from its shapes.
type Outlook struct {
	Arch        nn.Arch
	Batch       int
	Steps       int64 // training steps of the whole run
	Trained     int64 // samples that pass forward and backward
	Forward     int64 // samples that only pass forward, over all measurements
	Evaluations int64 // of loss and gradient in a training step: 1, for L-BFGS at most this many (see evaluations)
	MACs        int64 // multiply-adds of a sample's forward pass (nn.Outline)
	Memory      Footprint
}

// FLOP is the arithmetic of the run as papers count it: 2 operations for each multiply-add of convolutions and linear layers, and a
// backward pass counting as two forward ones. Evaluations of L-BFGS beyond the first of a step are not included.
func (o Outlook) FLOP() float64 { return 2 * float64(o.MACs) * float64(3*o.Trained+o.Forward) }

// MostFLOP is FLOP with every evaluation that a step of L-BFGS may take.
func (o Outlook) MostFLOP() float64 {
	return 2 * float64(o.MACs) * float64(3*o.Trained*o.Evaluations+o.Forward)
}

// sizes are the properties of a run's data that determine its network and its work.
type sizes struct {
	image             data.Shape // of an input
	classes           int        // observed
	train, held, test int        // samples
}

// Foresee reads a run's data and predicts what it will take. open nil: data.Open.
func Foresee(cfg Config, open func(data.Source, data.Split) (*data.Set, error)) (Outlook, error) {
	c, err := cfg.Plan()
	if err != nil {
		return Outlook{}, err
	}
	in, err := openInputs(c, Options{Open: open})
	if err != nil {
		return Outlook{}, err
	}
	if err := in.prepare(c.Data.Pipeline); err != nil {
		return Outlook{}, err
	}
	return c.outlook(in.sizes())
}

// ForeseeOfficial is Foresee without files, from the official sizes of the data sets. A training set that label noise truncates counts in full.
func ForeseeOfficial(cfg Config) (Outlook, error) {
	c, err := cfg.Plan()
	if err != nil {
		return Outlook{}, err
	}
	on, err := c.official()
	if err != nil {
		return Outlook{}, err
	}
	return c.outlook(on)
}

// official are the sizes of a run's data as published.
func (c Plan) official() (on sizes, err error) {
	train, err := data.SizesOf(c.source(data.Train), data.Train)
	if err != nil {
		return on, err
	}
	test, err := data.SizesOf(c.source(data.Test), data.Test)
	if err != nil {
		return on, err
	}
	if c.Data.imbalanced() {
		if train, err = train.Imbalanced(c.Data.profile(), c.Data.Name, data.Train); err != nil {
			return on, err
		}
	}
	if c.Data.Validation > 0 {
		var held data.Sizes
		train, held = train.HoldOut(c.Data.Validation)
		on.held = held.N()
	}
	on.train, on.test, on.classes = train.N(), test.N(), c.Noise.Classes(len(train.Counts))
	pipeline, err := data.PipelineNamed(c.Data.Pipeline)
	if err != nil {
		return on, err
	}
	on.image, err = pipeline.OutShape(train.Shape)
	return on, err
}

// outlook predicts a run on data of these sizes.
func (c Plan) outlook(on sizes) (Outlook, error) {
	need := footprint[float32]
	if c.Run.DType == "float64" {
		need = footprint[float64]
	}
	memory, err := need(c, on)
	if err != nil {
		return Outlook{}, err
	}
	outline, err := nn.Outlined(c.arch(on))
	if err != nil {
		return Outlook{}, err
	}
	batch := c.batch(on)
	return Outlook{Arch: c.arch(on), Batch: batch, MACs: outline.MACs, Memory: memory,
		Steps:   int64(c.Run.Epochs) * int64((on.train+batch-1)/batch),
		Trained: int64(c.Run.Epochs) * int64(on.train),
		Forward: c.evaluated(on), Evaluations: c.Optim.evaluations()}, nil
}

// evaluations bounds how often a training step computes loss and gradient. L-BFGS without a line search does so at most once before
// each iteration; with one, it begins no iteration after max_eval evaluations, a number that the last search may exceed.
func (o OptimConfig) evaluations() int64 {
	l := o.LBFGS
	switch {
	case o.Kind != "lbfgs":
		return 1
	case l.LineSearch == string(optim.NoLineSearch):
		return int64(min(l.MaxIter, l.MaxEval))
	}
	return int64(l.MaxEval)
}

// evaluated counts the samples in a run's evaluations: after each epoch that is measured or whose features are saved. If measures
// come from the training pass, only the last evaluation reads the training set again.
func (c Plan) evaluated(on sizes) (samples int64) {
	onTrain, apart := int64(on.train), int64(on.test+on.held)
	for epoch := 1; epoch <= c.Run.Epochs; epoch++ {
		if !c.measures(epoch) && !c.saved.holds(epoch, c.Run.Epochs) {
			continue
		}
		samples += apart
		if c.Run.MeasureFrom != fromTraining {
			samples += onTrain
		}
	}
	if c.Run.MeasureFrom == fromTraining {
		samples += onTrain + apart
	}
	return samples
}
