package train

import (
	"collapse/data"
	"collapse/nn"
)

// Outlook is what a run will take, foreseen from its shapes.
type Outlook struct {
	Arch    nn.Arch
	Batch   int
	Steps   int64 // training steps of the whole run
	Trained int64 // samples that pass forward and backward
	Forward int64 // samples that only pass forward, in all measurements together
	MACs    int64 // multiply-adds of a sample's forward pass (nn.Outline)
	Memory  Footprint
}

// FLOP is the arithmetic of the run as papers count it: 2 operations for each multiply-add of convolutions and linear layers, and a
// backward pass twice a forward one. Evaluations of L-BFGS beyond the first of a step are not in it.
func (o Outlook) FLOP() float64 { return 2 * float64(o.MACs) * float64(3*o.Trained+o.Forward) }

// Foresee reads a run's data and says what it will take. open nil: data.Open.
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
	need := footprint[float32]
	if c.Run.DType == "float64" {
		need = footprint[float64]
	}
	memory, err := need(c, in)
	if err != nil {
		return Outlook{}, err
	}
	outline, err := nn.Outlined(c.arch(in))
	if err != nil {
		return Outlook{}, err
	}
	batch := c.batch(in)
	return Outlook{Arch: c.arch(in), Batch: batch, MACs: outline.MACs, Memory: memory,
		Steps:   int64(c.Run.Epochs) * int64((in.train.N()+batch-1)/batch),
		Trained: int64(c.Run.Epochs) * int64(in.train.N()),
		Forward: c.evaluated(in)}, nil
}

// evaluated counts the samples of a run's evaluations: after each epoch that is measured or whose features are saved. Measured on the
// training pass, only the last of them reads the training set again.
func (c Plan) evaluated(in inputs) (samples int64) {
	onTrain, apart := int64(in.train.N()), int64(in.test.N()+in.heldN())
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
