package nn

import (
	"errors"
	"fmt"

	"collapse/internal/kernel"
)

// The networks of the papers.
const (
	KindMLP      = "mlp"
	KindResNet18 = "resnet18"       // BasicBlocks 2-2-2-2 of 64, 128, 256 and 512 channels (He et al. 2016)
	KindAdapt    = "resnet18-adapt" // the same at width k: k, 2k, 4k, 8k channels behind a 3×3 stem (Zhu et al. 2021)
	KindVGG13    = "vgg13"          // configuration B without the 4096-wide head (Nguyen et al. 2023)
	KindVGG13BN  = "vgg13-bn"
)

// The stems of resnet18.
const (
	StemDefault = "default" // 7×7 convolution of stride 2 and 3×3 max pooling of stride 2
	StemCIFAR   = "cifar"   // 3×3 convolution of stride 1
)

// The classifiers fc: R^d → R^K.
const (
	ClassifierLearned = "learned"
	ClassifierETF     = "etf" // the weight is a simplex ETF and stays as it is
)

// Placements of a fixed simplex ETF in R^d.
const (
	ETFIdentity = "identity" // on the first K coordinates; for d = K−1 the Helmert basis
	ETFRandom   = "random"   // turned by a random orthonormal matrix
)

// Arch describes any network of the papers: what it takes to build it again, weights apart.
type Arch struct {
	Kind                    string // one of the Kind constants
	Channels, Height, Width int    // of an image; an MLP sees Channels·Height·Width inputs
	Classes                 int    // K

	Stem      string // resnet18: one of the Stem constants; "" means StemDefault
	StemWidth int    // resnet18-adapt: k
	// FeatureDim is d. 0 means the network's own: 512, 8k, or K for an MLP. Another d gives a ResNet
	// the fixdim form of Zhou et al. 2022, also at 512: the last BasicBlock's second convolution has d
	// outputs and its shortcut is a 1×1 convolution with batch norm. VGG13 has no other d than 512.
	FeatureDim int

	NoClassifierBias bool   // leaves out fc.bias
	Classifier       string // one of the Classifier constants; "" means ClassifierLearned
	ETF              string // placement of a fixed ETF; "" means ETFIdentity
	// TruncateETF allows a fixed classifier with d < K−1, where no simplex ETF exists: the weight is the
	// first d coordinates of the identity placement, as the released code of Zhou et al. 2022 has it.
	TruncateETF  bool
	FreezeBias   bool       // of a fixed ETF: fc.bias stays at 0
	HiddenWidth  int        // MLP: of every hidden block
	HiddenLayers int        // MLP: blocks before the one of width d
	BatchNorm    bool       // MLP
	Activation   Activation // MLP; "" means ReLU
}

// Inputs returns the length of an input row.
func (a Arch) Inputs() int { return a.Channels * a.Height * a.Width }

// Features returns d.
func (a Arch) Features() int {
	switch {
	case a.FeatureDim != 0:
		return a.FeatureDim
	case a.Kind == KindMLP:
		return a.Classes
	case a.Kind == KindAdapt:
		return 8 * a.StemWidth
	}
	return 512
}

// mlp returns the MLP that a describes.
func (a Arch) mlp() MLPConfig {
	return MLPConfig{Inputs: a.Inputs(), Width: a.HiddenWidth, Depth: a.HiddenLayers, FeatureDim: a.FeatureDim,
		Classes: a.Classes, BatchNorm: a.BatchNorm, Activation: a.Activation, NoClassifierBias: a.NoClassifierBias}
}

// Validate returns all problems of the description at once, or nil.
func (a Arch) Validate() error {
	var errs []error
	problem := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("nn: "+format, args...))
		}
	}
	least := func(name string, v, least int) { problem(v < least, "%s is %d, wanted at least %d", name, v, least) }
	oneOf := func(name, v string, allowed ...string) {
		for _, s := range allowed {
			if v == s {
				return
			}
		}
		problem(true, "%s is %q, wanted one of %q", name, v, allowed)
	}
	least("channels", a.Channels, 1)
	least("height", a.Height, 1)
	least("width", a.Width, 1)
	least("classes", a.Classes, 1)
	least("feature dimension", a.FeatureDim, 0)
	switch a.Kind {
	case KindMLP:
		least("hidden layers", a.HiddenLayers, 0)
		if a.HiddenLayers > 0 {
			least("hidden width", a.HiddenWidth, 1)
		}
	case KindResNet18:
		oneOf("stem", a.stem(), StemDefault, StemCIFAR)
	case KindAdapt:
		least("stem width", a.StemWidth, 1)
	case KindVGG13, KindVGG13BN:
		problem(a.FeatureDim != 0 && a.FeatureDim != 512, "feature dimension is %d, but %s has 512", a.FeatureDim, a.Kind)
		problem(a.Height < 32 || a.Width < 32, "images of %d×%d do not survive the five poolings of %s; wanted at least 32×32", a.Height, a.Width, a.Kind)
	default:
		oneOf("network", a.Kind, KindMLP, KindResNet18, KindAdapt, KindVGG13, KindVGG13BN)
	}
	errs = append(errs, a.classifierProblems(oneOf, problem)...)
	return errors.Join(errs...)
}

func (a Arch) stem() string {
	if a.Stem == "" {
		return StemDefault
	}
	return a.Stem
}

// NewArch builds the network that a describes, initialised from seed as its authors do, for batches of up to
// maxBatch samples. team may be nil: then everything runs on the caller's goroutine. The same seed gives the
// same values in float32 and float64 up to rounding, whatever the team.
//
// Inputs are rows of Channels×Height×Width values (PyTorch's NCHW). Activations are allocated by the first
// Forward that needs them; see EstimateBytes.
func NewArch[T kernel.Float](a Arch, team *kernel.Team, maxBatch int, seed uint64) (*Network[T], error) {
	n, err := design[T](a, team, maxBatch)
	if err != nil {
		return nil, err
	}
	n.allocateParams()
	n.initialise(seed)
	n.fixClassifier(a, seed)
	return n, nil
}

// design lays out the network that a describes without memory for parameters or activations.
func design[T kernel.Float](a Arch, team *kernel.Team, maxBatch int) (*Network[T], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if a.Kind == KindMLP {
		return sequential[T](a.mlp().Spec(), team, maxBatch)
	}
	if err := checkMaxBatch(maxBatch); err != nil {
		return nil, err
	}
	n := &Network[T]{inputs: a.Inputs(), classes: a.Classes, maxBatch: maxBatch}
	t := newTrunk(n, mapShape{a.Channels, a.Height, a.Width}, team)
	if a.Kind == KindResNet18 || a.Kind == KindAdapt {
		t.addResNet(a)
	} else {
		t.addVGG(a.Kind == KindVGG13BN)
	}
	n.finishTrunk(!a.NoClassifierBias, team)
	if a.Kind == KindVGG13 || a.Kind == KindVGG13BN {
		n.fc.deviation = 0.01
	}
	return n, nil
}
