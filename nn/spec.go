package nn

import (
	"errors"
	"fmt"

	"collapse/internal/kernel"
)

// Activation names a point-wise non-linearity; the zero value is none.
type Activation string

const (
	NoActivation Activation = ""
	ReLU         Activation = "relu"    // max(x, 0); NaN stays NaN
	Sigmoid      Activation = "sigmoid" // 1/(1+e^−x)
)

// Block describes Linear(→ Width) [– BatchNorm1d] [– activation], the unit of the papers' MLPs.
type Block struct {
	Width     int  // outputs of the Linear
	NoBias    bool // leave out the Linear's bias; PyTorch's default has one
	BatchNorm bool // eps 1e-5, momentum 0.1, affine, as PyTorch's default
	Act       Activation
}

// Spec describes a sequential network: blocks, then the classifier fc.
//
// Parameters are named as in the PyTorch module
//
//	class Net(nn.Module):
//	    def __init__(self):
//	        super().__init__()
//	        self.layers = nn.Sequential(nn.Linear(784, 512), nn.BatchNorm1d(512), nn.ReLU(), ...)
//	        self.fc = nn.Linear(d, K)
//	    def forward(self, x): return self.fc(self.layers(x))
//
// Every part of a block takes one index of the Sequential, activations too, and a missing batch
// norm or activation takes none: layers.0.weight, layers.0.bias, layers.1.weight,
// layers.1.running_mean, ..., layers.3.weight, ..., fc.weight, fc.bias.
type Spec struct {
	Inputs         int
	Blocks         []Block
	Classes        int
	ClassifierBias bool
}

// Validate returns all problems of the spec at once, or nil.
func (s Spec) Validate() error {
	var errs []error
	positive := func(name string, v int) {
		if v < 1 {
			errs = append(errs, fmt.Errorf("nn: %s is %d, wanted at least 1", name, v))
		}
	}
	positive("inputs", s.Inputs)
	positive("classes", s.Classes)
	for i, b := range s.Blocks {
		positive(fmt.Sprintf("width of block %d", i), b.Width)
		switch b.Act {
		case NoActivation, ReLU, Sigmoid:
		default:
			errs = append(errs, fmt.Errorf("nn: activation of block %d is %q, wanted %q or %q", i, b.Act, ReLU, Sigmoid))
		}
	}
	return errors.Join(errs...)
}

// New builds the network that spec describes, initialised from seed, with arenas for batches of
// up to maxBatch samples. team may be nil: then everything runs on the caller's goroutine. The
// same seed gives the same values in float32 and float64 up to rounding, whatever the team.
func New[T kernel.Float](spec Spec, team *kernel.Team, maxBatch int, seed uint64) (*Network[T], error) {
	n, err := sequential[T](spec, team, maxBatch)
	if err != nil {
		return nil, err
	}
	n.allocateParams()
	n.initialise(seed)
	return n, nil
}

// sequential is New without any memory.
func sequential[T kernel.Float](spec Spec, team *kernel.Team, maxBatch int) (*Network[T], error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := checkMaxBatch(maxBatch); err != nil {
		return nil, err
	}
	n := &Network[T]{inputs: spec.Inputs, classes: spec.Classes, maxBatch: maxBatch}
	width, index := spec.Inputs, 0
	for _, b := range spec.Blocks {
		index += n.addBlock(b, width, index, team)
		width, n.widest = b.Width, max(n.widest, b.Width)
		n.taps = append(n.taps, Tap{Name: fmt.Sprintf("layers.%d", index-1), Channels: width, Height: 1, Width: 1, Stage: true})
		n.tapLayers = append(n.tapLayers, len(n.layers)-1)
	}
	n.features = width
	n.addClassifier(spec.ClassifierBias, team)
	return n, nil
}

func checkMaxBatch(maxBatch int) error {
	if maxBatch < 1 {
		return fmt.Errorf("nn: largest batch is %d, wanted at least 1", maxBatch)
	}
	return nil
}

// addClassifier puts fc behind the features.
func (n *Network[T]) addClassifier(bias bool, team *kernel.Team) {
	n.fc = newLinear[T]("fc", n.features, n.classes, bias, team, n.maxBatch)
	n.fc.collect(n)
}

// addBlock appends the layers of b, whose Linear takes index in the Sequential, and returns how
// many indices b used.
func (n *Network[T]) addBlock(b Block, in, index int, team *kernel.Team) int {
	name := func(i int) string { return fmt.Sprintf("layers.%d", i) }
	used := 1
	n.add(newLinear[T](name(index), in, b.Width, !b.NoBias, team, n.maxBatch))
	switch {
	case b.BatchNorm:
		n.add(newBatchNorm[T](name(index+1), b.Width, b.Act, team, n.maxBatch))
		n.loneNorm = true
		used++
	case b.Act != NoActivation:
		n.add(newActivation[T](b.Act, b.Width, team))
	}
	if b.Act != NoActivation {
		used++
	}
	return used
}

func (n *Network[T]) add(l layer[T]) {
	n.layers = append(n.layers, l)
	l.collect(n)
}
