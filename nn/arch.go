package nn

import (
	"errors"
	"fmt"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/parallel"
)

// The classifiers fc: R^d → R^K.
const (
	ClassifierLearned = "learned"
	ClassifierETF     = "etf" // the weight is a simplex ETF and stays as it is
	// ClassifierNormalized divides features and rows of the weight by their norms: logits are τ·cos(w_k, h), without a bias, and
	// Forward's features are unit vectors (Yaras et al. 2022; NormFace, Wang et al. 2017).
	ClassifierNormalized = "normalized"
)

// Placements of a fixed simplex ETF in R^d.
const (
	ETFIdentity = "identity" // on the first K coordinates; for d = K−1 the Helmert basis
	ETFRandom   = "random"   // rotated by a random orthonormal matrix
)

// Arch describes any network of the papers: everything needed to rebuild it except the weights.
type Arch struct {
	Kind                    string // by its name; see Networks
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
	// first d coordinates of the identity placement, as in the released code of Zhou et al. 2022.
	TruncateETF bool
	FreezeBias  bool // with a fixed ETF: fc.bias stays at 0
	// Temperature is τ of a normalized classifier, above 0: the factor of its cosines.
	Temperature  float64
	HiddenWidth  int        // MLP: of every hidden block
	HiddenLayers int        // MLP: blocks before the one of width d
	BatchNorm    bool       // MLP
	Activation   Activation // MLP; "" means ReLU
	// LinearFeatures leaves out the activation of an MLP's last block, so that its features can point anywhere.
	LinearFeatures bool
}

// Inputs returns the length of an input row.
func (a Arch) Inputs() int { return a.Channels * a.Height * a.Width }

// Features returns d.
func (a Arch) Features() int {
	if k := a.kind(); a.FeatureDim == 0 && k != nil {
		return k.features(a)
	}
	return a.FeatureDim
}

// Validate returns all problems of the description at once, or nil.
func (a Arch) Validate() error {
	c := &complaints{}
	c.least("channels", a.Channels, 1)
	c.least("height", a.Height, 1)
	c.least("width", a.Width, 1)
	c.least("classes", a.Classes, 1)
	c.least("feature dimension", a.FeatureDim, 0)
	c.oneOf("network", a.Kind, kinds.Names(Networks())...)
	if k := a.kind(); k != nil && k.check != nil {
		k.check(a, c)
	}
	a.checkClassifier(c)
	return errors.Join(c.errs...)
}

// NewArch builds the network that a describes, initialised from seed as its authors do, for batches of up to
// maxBatch samples. team may be nil: then everything runs on the caller's goroutine. The same seed gives the
// same values in float32 and float64 up to rounding, whatever the team.
//
// Inputs are rows of Channels×Height×Width values (PyTorch's NCHW). Activations are allocated by the first
// Forward that needs them; see EstimateBytes.
func NewArch[T kernel.Float](a Arch, team *parallel.Team, maxBatch int, seed uint64) (*Network[T], error) {
	n, err := design[T](a, team, maxBatch)
	if err != nil {
		return nil, err
	}
	n.allocateParams()
	n.initialise(seed)
	n.fixClassifier(a, seed)
	return n, nil
}

// design lays out the network that a describes, without memory for parameters or activations.
func design[T kernel.Float](a Arch, team *parallel.Team, maxBatch int) (*Network[T], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if maxBatch < 1 {
		return nil, fmt.Errorf("nn: largest batch is %d, wanted at least 1", maxBatch)
	}
	n := &Network[T]{inputs: a.Inputs(), features: a.Inputs(), classes: a.Classes, maxBatch: maxBatch}
	k := a.kind()
	if k.dense != nil {
		n.addDense(k.dense(a), team)
	} else {
		t := newTrunk(n, mapShape{a.Channels, a.Height, a.Width}, team)
		k.images(t, a)
		n.addTrunk()
	}
	n.addClassifier(!a.NoClassifierBias, team)
	n.normalizeClassifier(a)
	n.fc.deviation = k.deviation
	return n, nil
}
