package nn

import (
	"fmt"

	"collapse.example/collapse/parallel"
)

// KindMLP is the multi-layer perceptron of Nguyen et al. 2023 (Memorization-Dilation): HiddenLayers blocks
// Linear(→ HiddenWidth) – BN – act, then one block Linear(→ d) – BN – act, whose outputs are the features.
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
const KindMLP = "mlp"

var mlpKind = netKind{
	Kind: Kind{Name: KindMLP, Title: "multi-layer perceptron",
		Doc:  "hidden layers of one width, then one of width d: linear, batch norm, activation each (Nguyen et al. 2023)",
		Uses: []string{"preset", "depth", "width", "feature_dim", "activation", "batch_norm", "linear_features"}},
	features: func(a Arch) int { return a.Classes },
	check:    checkMLP,
	dense:    mlpBlocks,
	sizes: []Size{{"mlp", 512, Arch{Channels: 1, Height: 28, Width: 28, Classes: 2, FeatureDim: 2, HiddenWidth: 2048, HiddenLayers: 9,
		BatchNorm: true}}},
	widen: func(a *Arch, width int) { a.HiddenWidth = width },
}

// Activation names a point-wise non-linearity; the zero value is none.
type Activation string

const (
	NoActivation Activation = ""
	ReLU         Activation = "relu"    // max(x, 0); NaN stays NaN
	Sigmoid      Activation = "sigmoid" // 1/(1+e^−x)
)

// denseBlock is Linear(→ width) [– BatchNorm1d] [– activation], the unit of perceptrons.
type denseBlock struct {
	width     int  // outputs of the Linear
	noBias    bool // leave out the Linear's bias; PyTorch's default has one
	batchNorm bool // eps 1e-5, momentum 0.1, affine, as PyTorch's default
	act       Activation
}

func checkMLP(a Arch, c *complaints) {
	c.least("hidden layers", a.HiddenLayers, 0)
	if a.HiddenLayers > 0 {
		c.least("hidden width", a.HiddenWidth, 1)
	}
	c.oneOf("activation", string(a.activation()), string(ReLU), string(Sigmoid))
}

func (a Arch) activation() Activation {
	if a.Activation == NoActivation {
		return ReLU
	}
	return a.Activation
}

func mlpBlocks(a Arch) []denseBlock {
	d := a.FeatureDim
	if d == 0 {
		d = a.Classes
	}
	hidden := denseBlock{width: a.HiddenWidth, batchNorm: a.BatchNorm, act: a.activation()}
	var blocks []denseBlock
	for range a.HiddenLayers {
		blocks = append(blocks, hidden)
	}
	hidden.width = d
	if a.LinearFeatures {
		hidden.act = NoActivation
	}
	return append(blocks, hidden)
}

// addDense puts blocks on the input, one after another.
func (n *Network[T]) addDense(blocks []denseBlock, team *parallel.Team) {
	for _, b := range blocks {
		n.addBlock(b, team)
		n.features, n.widest = b.width, max(n.widest, b.width)
		n.taps = append(n.taps, Tap{Name: fmt.Sprintf("layers.%d", len(n.modules)-1), Channels: b.width, Height: 1, Width: 1, Stage: true})
		n.tapLayers = append(n.tapLayers, len(n.layers)-1)
	}
}

// addBlock appends the layers of b.
func (n *Network[T]) addBlock(b denseBlock, team *parallel.Team) {
	name := func() string { return fmt.Sprintf("layers.%d", len(n.modules)) }
	linear := Module{Kind: "linear", Name: name(), In: n.features, Out: b.width, Bias: !b.noBias}
	n.add(newLinear[T](linear.Name, linear.In, linear.Out, linear.Bias, team, n.maxBatch))
	n.modules = append(n.modules, linear)
	switch {
	case b.batchNorm:
		norm := Module{Kind: "batch_norm", Name: name(), Out: b.width, Eps: batchNormEps, Momentum: batchNormMomentum}
		n.add(newBatchNorm[T](norm.Name, b.width, b.act, team, n.maxBatch))
		n.loneNorm = true
		n.modules = append(n.modules, norm)
	case b.act != NoActivation:
		n.add(newActivation[T](b.act, b.width, team))
	}
	if b.act != NoActivation {
		n.modules = append(n.modules, Module{Kind: string(b.act)})
	}
}

func (n *Network[T]) add(l layer[T]) {
	n.layers = append(n.layers, l)
	l.collect(n)
}

// addClassifier puts fc after the features.
func (n *Network[T]) addClassifier(bias bool, team *parallel.Team) {
	n.fc = newLinear[T]("fc", n.features, n.classes, bias, team, n.maxBatch)
	n.fc.collect(n)
}

// Module is one module of a perceptron as PyTorch has it.
type Module struct {
	Kind     string  `json:"kind"`           // linear, batch_norm, relu or sigmoid
	Name     string  `json:"name,omitempty"` // prefix of its tensors' names
	In       int     `json:"in,omitempty"`   // of a linear
	Out      int     `json:"out,omitempty"`
	Bias     bool    `json:"bias,omitempty"` // of a linear
	Eps      float64 `json:"eps,omitempty"`  // of a batch norm
	Momentum float64 `json:"momentum,omitempty"`
}

// Modules lists the modules of a perceptron in order, the classifier last; nil for a network of images.
func (n *Network[T]) Modules() []Module {
	if n.trunk != nil {
		return nil
	}
	_, bias := n.Classifier()
	return append(n.modules[:len(n.modules):len(n.modules)], Module{Kind: "linear", Name: "fc", In: n.features, Out: n.classes, Bias: bias != nil})
}
