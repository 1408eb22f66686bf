package nn

import (
	"fmt"

	"collapse/internal/kernel"
)

// MLPConfig describes the multi-layer perceptron of Nguyen et al. 2023 (Memorization-Dilation):
// Depth blocks Linear(→ Width) – BN – act, then one block Linear(→ FeatureDim) – BN – act, whose
// outputs are the features, then fc: FeatureDim → Classes. Width, depth and d are free.
type MLPConfig struct {
	Inputs     int // length of an input row
	Width      int // of every hidden block
	Depth      int // hidden blocks, the FeatureDim-wide one not counted; 0 is allowed
	FeatureDim int // d; 0 means Classes, the papers' choice
	Classes    int // K
	BatchNorm  bool
	Activation Activation // shared by all blocks, the penultimate one included; "" means ReLU
	// NoClassifierBias leaves out fc.bias.
	NoClassifierBias bool
}

// MLPPreset returns a named network of Nguyen et al. 2023: "paper" has 9 hidden blocks of 2048
// as the text says, "code" has the 8 of the released code's command line. Both use batch norm,
// ReLU and d = classes.
func MLPPreset(name string, inputs, classes int) (MLPConfig, error) {
	cfg := MLPConfig{Inputs: inputs, Width: 2048, FeatureDim: classes, Classes: classes, BatchNorm: true, Activation: ReLU}
	switch name {
	case "paper":
		cfg.Depth = 9
	case "code":
		cfg.Depth = 8
	default:
		return MLPConfig{}, fmt.Errorf("nn: unknown MLP preset %q, wanted \"paper\" or \"code\"", name)
	}
	return cfg, nil
}

// Spec returns the network that the configuration describes, block by block.
func (c MLPConfig) Spec() Spec {
	act, d := c.Activation, c.FeatureDim
	if act == NoActivation {
		act = ReLU
	}
	if d == 0 {
		d = c.Classes
	}
	blocks := make([]Block, 0, max(c.Depth, 0)+1)
	for range c.Depth {
		blocks = append(blocks, Block{Width: c.Width, BatchNorm: c.BatchNorm, Act: act})
	}
	blocks = append(blocks, Block{Width: d, BatchNorm: c.BatchNorm, Act: act})
	return Spec{Inputs: c.Inputs, Blocks: blocks, Classes: c.Classes, ClassifierBias: !c.NoClassifierBias}
}

// NewMLP builds the network that cfg describes; see New for the other arguments.
func NewMLP[T kernel.Float](cfg MLPConfig, team *kernel.Team, maxBatch int, seed uint64) (*Network[T], error) {
	if cfg.Depth < 0 {
		return nil, fmt.Errorf("nn: depth is %d, wanted at least 0", cfg.Depth)
	}
	return New[T](cfg.Spec(), team, maxBatch, seed)
}
