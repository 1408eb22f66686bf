package train

import "collapse.example/collapse/data"

// inputs is what a run reads: the splits, with label noise on the first, and their prepared pixels. held is the part of the first
// that data.validation holds out; nil: none.
type inputs struct {
	train, held, test                *data.Set
	trainPixel, heldPixel, testPixel *data.Inputs
}

// openInputs reads the sets that a plan names.
func openInputs(c Plan, opts Options) (in inputs, err error) {
	open := opts.Open
	if open == nil {
		open = data.Open
	}
	if in.train, err = open(c.source(data.Train), data.Train); err != nil {
		return inputs{}, err
	}
	if in.test, err = open(c.source(data.Test), data.Test); err != nil {
		return inputs{}, err
	}
	if c.Data.imbalanced() {
		if in.train, err = in.train.Imbalanced(c.Data.profile(), c.source(data.Train).Seed); err != nil {
			return inputs{}, err
		}
	}
	if c.Data.Validation > 0 {
		if in.train, in.held, err = in.train.HoldOut(c.Data.Validation, c.Data.Seed); err != nil {
			return inputs{}, err
		}
	}
	in.train, err = in.train.WithNoise(c.Noise)
	return in, err
}

// prepare resizes the images; it is delayed until a run is known to be new.
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

// pixels returns the prepared images of a split.
func (in *inputs) pixels(split string) *data.Inputs {
	switch split {
	case splitTest:
		return in.testPixel
	case splitHeld:
		return in.heldPixel
	}
	return in.trainPixel
}

// sizes are the sizes of prepared inputs.
func (in inputs) sizes() sizes {
	return sizes{image: in.trainPixel.Shape, classes: in.train.Classes, train: in.train.N(), held: in.heldN(), test: in.test.N()}
}

// heldN is the number of samples that are held out.
func (in inputs) heldN() int {
	if in.held == nil {
		return 0
	}
	return in.held.N()
}

// canonical is Canonical for these data sets. What is held out is part of a run, since its numbers are.
func (in inputs) canonical(c Config) []byte {
	if in.held == nil {
		return Canonical(c, in.train.Digest, in.test.Digest)
	}
	return canonicalJSON(c, map[string]any{"data.train_digest": in.train.Digest, "data.validation_digest": in.held.Digest, "data.test_digest": in.test.Digest})
}
