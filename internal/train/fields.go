package train

import (
	"fmt"
	"sync"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/classcounts"
	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// Where keys have an effect, apart from those that belong to a kind of network, loss or optimiser: see conditions.go.
var (
	forNoise = condition{text: "data.noise_kind = uniform or latent", holds: func(c *Config) bool {
		return c.Data.NoiseKind != data.NoisePerClass && c.Data.NoiseKind != data.NoiseRandomLabels
	}}
	forNoiseRates    = condition{text: "data.noise_kind = per_class", holds: func(c *Config) bool { return c.Data.NoiseKind == data.NoisePerClass }}
	forImbalance     = condition{text: "data.imbalance = step or long-tail", holds: func(c *Config) bool { return c.Data.imbalanced() }}
	forStepOfClasses = condition{text: "data.imbalance = step", holds: func(c *Config) bool { return c.Data.Imbalance == classcounts.Step }}
	forETF           = condition{text: "net.classifier = etf", holds: func(c *Config) bool { return c.Net.Classifier == nn.ClassifierETF }}
	forNormalized    = condition{text: "net.classifier = normalized", holds: func(c *Config) bool { return c.Net.normalized() }}
	forBias          = condition{text: "net.classifier = learned or etf", holds: func(c *Config) bool { return !c.Net.normalized() }}
	forDecayAll      = condition{text: "optim.decay = all", holds: func(c *Config) bool { return c.Optim.Decay == string(optim.DecayAll) }}
	forPeeled        = condition{text: "optim.decay = peeled", holds: func(c *Config) bool { return c.Optim.Decay != string(optim.DecayAll) }}
	forStep          = forSchedule("step")
	forGamma         = forSchedule("step", "multistep")
	forMilestones    = forSchedule("multistep")
	forCosine        = forSchedule("cosine")
	forSubset        = condition{text: "data.samples_per_class or data.samples above 0, on data from files, without data.first_samples", holds: func(c *Config) bool {
		return c.Data.Name != glyphs && (c.Data.SamplesPerClass > 0 || c.Data.Samples > 0) && !c.Data.FirstSamples
	}}
	forTaps      = condition{text: "run.taps", holds: func(c *Config) bool { return c.Run.Taps != "" }}
	forPrecision = condition{text: "run.engine = torch and run.dtype = float32", holds: func(c *Config) bool {
		return c.Run.Engine == engineTorch && c.Run.DType == "float32"
	}}
)

// Data sets that have keys of their own.
const (
	glyphs = "glyphs" // drawn, not read
	folder = "folder" // of class folders
)

// Values of data.subset.
const (
	fixedSubset = "fixed" // drawn by data.seed, or the first samples
	seedSubset  = "seed"  // drawn by run.seed
)

// Values of run.engine.
const (
	engineGo    = "go"
	engineTorch = "torch"
)

// fromTraining computes train measures on the features from the training pass.
const fromTraining = "training-pass"

// fields lists every key with pointers into c, in the order in which they are printed.
func (c *Config) fields() []field {
	d, n, l, o, r := &c.Data, &c.Net, &c.Loss, &c.Optim, &c.Run
	return byKind([]field{
		{key: "data.name", ptr: &d.Name, doc: "which images; glyphs is built in", choices: dataNames},
		{key: "data.dir", ptr: &d.Dir, doc: "folder that holds the data sets; empty: the environment's COLLAPSE_DATA", outside: true},
		{key: "data.classes", ptr: &d.Classes, doc: "K, the first K classes are kept", limits: between(2, 10000)},
		{key: "data.samples_per_class", ptr: &d.SamplesPerClass, doc: fmt.Sprintf("training samples per class; 0 = all (glyphs: %d)", data.DefaultTrainPerClass), limits: between(0, 1e7), outside: true},
		{key: "data.test_samples_per_class", ptr: &d.TestSamplesPerClass, doc: fmt.Sprintf("test samples per class; 0 = all (glyphs: %d)", data.DefaultTestPerClass), limits: between(0, 1e7), outside: true},
		{key: "data.samples", ptr: &d.Samples, doc: "training samples in total, equally many per class; 0 = see samples_per_class. Files only", limits: between(0, 1e9), outside: true},
		{key: "data.test_samples", ptr: &d.TestSamples, doc: "test samples in total; 0 = see test_samples_per_class. Files only", limits: between(0, 1e9), outside: true},
		{key: "data.first_samples", ptr: &d.FirstSamples, doc: "a subset is the first samples of each class in the file, like Zhu et al.'s sample_size, rather than drawn by data.seed", outside: true},
		{key: "data.subset", ptr: &d.Subset, doc: "which training samples a subset keeps; fixed: the same for every run.seed; seed: drawn by run.seed, so that each seed sees other samples", choices: []string{fixedSubset, seedSubset}, only: forSubset},
		{key: "data.imbalance", ptr: &d.Imbalance, doc: "training samples by class; step: the last classes have fewer; long-tail: numbers fall exponentially from the first class to the last", choices: classcounts.Kinds},
		{key: "data.imbalance_ratio", ptr: &d.ImbalanceRatio, doc: "samples of the largest class to those of the smallest", limits: between(1, 1e6), only: forImbalance},
		{key: "data.minority", ptr: &d.Minority, doc: "step: how many classes have fewer samples, the last ones; 0 = half of them", limits: between(0, 10000), only: forStepOfClasses},
		{key: "data.validation", ptr: &d.Validation, doc: "share of each class's training samples held out before label noise and reported as split validation; drawn by data.seed", limits: halfOpen(0, 1)},
		{key: "data.noise", ptr: &d.Noise, doc: "uniform: probability that a training label is redrawn over all K classes; latent: share moved to the latent class", limits: between(0, 1), only: forNoise},
		{key: "data.noise_kind", ptr: &d.NoiseKind, doc: "what happens to training labels", choices: data.NoiseKinds},
		{key: "data.noise_rates", ptr: &d.NoiseRates, doc: "per_class: a rate for each true class", list: numbers, only: forNoiseRates},
		{key: "data.noise_truncate", ptr: &d.NoiseTruncate, doc: "per_class: cut every observed class to the size of the smallest, as the released code does", only: forNoiseRates},
		{key: "data.noise_generator", ptr: &d.NoiseGenerator, doc: "collapse: a random stream per sample; torch: the released code's MT19937", choices: []string{data.GeneratorCollapse, data.GeneratorTorch}},
		{key: "data.noise_seed", ptr: &d.NoiseSeed, doc: "0 = run.seed"},
		{key: "data.pipeline", ptr: &d.Pipeline, doc: "pixels to numbers; md, zhu: 3 channels, 32 x 32, normalised; plain: normalised only; imagenet: plain with ImageNet's constants", choices: data.PipelineKinds},
		{key: "data.augment", ptr: &d.Augment, doc: "training images; crop_flip: random crops after 4 pixels of padding, and flips", choices: data.AugmentKinds},
		{key: "data.size", ptr: &d.Size, doc: "pixels per side; glyphs: 28 (also if 0), 32 or 84; folder: 0 = as the files are", limits: between(0, 4096), outside: true},
		{key: "data.color", ptr: &d.Color, doc: "glyphs: three channels", outside: true},
		{key: "data.seed", ptr: &d.Seed, doc: "which samples a subset keeps; glyphs: which images are drawn", outside: true},
		{key: "net.kind", ptr: &n.Kind, doc: "architecture", choices: networkNames},
		{key: "net.preset", ptr: &n.Preset, doc: "what 0 means for depth and width; paper: 9 x 2048, code: 8 x 2048", choices: []string{"paper", "code"}, outside: true},
		{key: "net.depth", ptr: &n.Depth, doc: "hidden layers, not counting the d-wide one; 0 = the preset's", limits: between(0, 1000)},
		{key: "net.width", ptr: &n.Width, doc: "units per hidden layer; 0 = the preset's", limits: between(0, 1e6)},
		{key: "net.stem", ptr: &n.Stem, doc: "default: 7x7 stride 2 and max pool; cifar: 3x3 stride 1", choices: []string{nn.StemDefault, nn.StemCIFAR}},
		{key: "net.stem_width", ptr: &n.StemWidth, doc: "k, channels of the stem; the stages have k, 2k, 4k, 8k", limits: between(1, 4096)},
		{key: "net.feature_dim", ptr: &n.FeatureDim, doc: "d, the width of the features; 0 = data.classes for an mlp, else the architecture's own", limits: between(0, 1e6)},
		{key: "net.activation", ptr: &n.Activation, doc: "activation of every hidden layer, including the features", choices: []string{"relu", "sigmoid"}},
		{key: "net.batch_norm", ptr: &n.BatchNorm, doc: "batch norm after every hidden linear layer"},
		{key: "net.linear_features", ptr: &n.LinearFeatures, doc: "no activation in the layer of width d: features can point anywhere"},
		{key: "net.classifier", ptr: &n.Classifier, doc: "trained; etf: a fixed simplex ETF; normalized: trained, features and class vectors divided by their norms", choices: []string{nn.ClassifierLearned, nn.ClassifierETF, nn.ClassifierNormalized}},
		{key: "net.temperature", ptr: &n.Temperature, doc: "the logits are this times the cosines between class vectors and features", limits: above(0), only: forNormalized},
		{key: "net.etf", ptr: &n.ETF, doc: "how the fixed frame is placed in d dimensions: on the first K coordinates (d = K-1: Helmert's basis), or rotated at random", choices: []string{nn.ETFIdentity, nn.ETFRandom}, only: forETF},
		{key: "net.truncate_etf", ptr: &n.Truncate, doc: "if d is below K-1 and no simplex ETF exists: cut the frame, as the released code does", only: forETF},
		{key: "net.bias", ptr: &n.Bias, doc: "bias of the classifier", only: forBias},
		{key: "net.freeze_bias", ptr: &n.FreezeBias, doc: "keep the bias at 0 along with the fixed weights", only: forETF},
		{key: "loss.kind", ptr: &l.Kind, doc: lossTitles, choices: lossNames},
		{key: "loss.smoothing", ptr: &l.Smoothing, doc: "the share of the label given to other classes", limits: halfOpen(0, 1)},
		{key: "loss.alpha", ptr: &l.Alpha, doc: "weight of the true class's error", limits: above(0)},
		{key: "loss.m", ptr: &l.M, doc: "target of the true class", limits: above(0)},
		{key: "loss.reduction", ptr: &l.Reduction, doc: "torch: mean over batch (and classes); paper: squared errors halved and not divided by K", choices: []string{"torch", "paper"}},
		{key: "optim.kind", ptr: &o.Kind, doc: "optimiser", choices: optimiserNames},
		{key: "optim.lr", ptr: &o.LR, doc: "learning rate of the first epoch", limits: above(0)},
		{key: "optim.momentum", ptr: &o.Momentum, doc: "0 = none", limits: halfOpen(0, 1)},
		{key: "optim.nesterov", ptr: &o.Nesterov, doc: "Nesterov's form of the momentum"},
		{key: "optim.decay", ptr: &o.Decay, doc: "what is decayed: every parameter; or only classifier and features, with features summed over all samples as in the paper, over a batch, or as the released code computes it", choices: decayKinds},
		{key: "optim.weight_decay", ptr: &o.WeightDecay, doc: "added to the gradient of every trained parameter, biases and batch norm included", limits: from(0), only: forDecayAll},
		{key: "optim.lambda_w", ptr: &o.LambdaW, doc: "peeled: penalty on the classifier's weights, half of it times their squared norm", limits: from(0), only: forPeeled},
		{key: "optim.lambda_b", ptr: &o.LambdaB, doc: "peeled: penalty on the classifier's bias", limits: from(0), only: forPeeled},
		{key: "optim.lambda_h", ptr: &o.LambdaH, doc: "peeled: penalty on the features", limits: from(0), only: forPeeled},
		{key: "optim.adam.beta1", ptr: &o.Adam.Beta1, doc: "decay rate of the mean gradient", limits: halfOpen(0, 1)},
		{key: "optim.adam.beta2", ptr: &o.Adam.Beta2, doc: "decay rate of the mean squared gradient", limits: halfOpen(0, 1)},
		{key: "optim.adam.eps", ptr: &o.Adam.Eps, doc: "added to the square root", limits: above(0)},
		{key: "optim.lbfgs.line_search", ptr: &o.LBFGS.LineSearch, doc: "none: steps of lr; strong_wolfe", choices: []string{string(optim.NoLineSearch), string(optim.StrongWolfe)}},
		{key: "optim.lbfgs.max_iter", ptr: &o.LBFGS.MaxIter, doc: "iterations per batch", limits: between(1, 1e6)},
		{key: "optim.lbfgs.max_eval", ptr: &o.LBFGS.MaxEval, doc: "evaluations per batch after which no further iteration starts", limits: between(1, 1e7)},
		{key: "optim.lbfgs.history", ptr: &o.LBFGS.History, doc: "pairs kept", limits: between(1, 1000)},
		{key: "optim.lbfgs.tolerance_grad", ptr: &o.LBFGS.ToleranceGrad, doc: "stop a step when no gradient entry exceeds this", limits: above(0)},
		{key: "optim.lbfgs.tolerance_change", ptr: &o.LBFGS.ToleranceChange, doc: "stop a step when changes fall below this", limits: above(0)},
		{key: "optim.schedule.kind", ptr: &o.Schedule.Kind, doc: "learning rate by epoch", choices: []string{"step", "multistep", "cosine", "constant"}},
		{key: "optim.schedule.every", ptr: &o.Schedule.Every, doc: "step: epochs between factors", limits: between(1, 1e9), only: forStep},
		{key: "optim.schedule.gamma", ptr: &o.Schedule.Gamma, doc: "step, multistep: the factor", limits: above(0), only: forGamma},
		{key: "optim.schedule.milestones", ptr: &o.Schedule.Milestones, doc: "multistep: the epochs after which the factor applies", list: wholeNumbers, only: forMilestones},
		{key: "optim.schedule.period", ptr: &o.Schedule.Period, doc: "cosine: epochs to the first restart; 0 = all after the warm-up", limits: between(0, 1e9), only: forCosine},
		{key: "optim.schedule.factor", ptr: &o.Schedule.Factor, doc: "cosine: ratio of each period's length to the one before", limits: between(1, 1000), only: forCosine},
		{key: "optim.schedule.min_lr", ptr: &o.Schedule.MinLR, doc: "cosine: rate at the end of a period", limits: from(0), only: forCosine},
		{key: "optim.schedule.warmup", ptr: &o.Schedule.Warmup, doc: "epochs over which the rate rises to lr", limits: between(0, 1e7)},
		{key: "run.epochs", ptr: &r.Epochs, doc: "passes over the training set", limits: between(1, 1e7)},
		{key: "run.batch", ptr: &r.Batch, doc: "samples per step; the last batch of an epoch may be smaller", limits: between(1, 1e6)},
		{key: "run.seed", ptr: &r.Seed, doc: "seed of initial weights, sample order and label noise"},
		{key: "run.measure_every", ptr: &r.MeasureEvery, doc: "epochs between rows of measures; the last epoch always has one", limits: between(1, 1e7)},
		{key: "run.measure_start", ptr: &r.MeasureStart, doc: "also measure epoch 0, the network before its first step, with batch norm's statistics taken from the training set"},
		{key: "run.measure_from", ptr: &r.MeasureFrom, doc: "train measures use features from an exact pass in eval mode, or those computed during training", choices: []string{"eval", fromTraining}},
		{key: "run.taps", ptr: &r.Taps, doc: "layers measured besides the features", list: names},
		{key: "run.tap_pool", ptr: &r.TapPool, doc: "how a tapped layer's maps become features: their averages, or every value", choices: []string{"average", "flatten"}, only: forTaps},
		{key: "run.checkpoint_every", ptr: &r.CheckpointEvery, doc: "epochs between checkpoints; 0: by time, each 2 s unless saving is slow; the last epoch always has one", limits: between(0, 1e7), outside: true},
		{key: "run.keep", ptr: &r.Keep, doc: "checkpoints kept besides the last two: last (none), every=N, all", outside: true},
		{key: "run.save_features", ptr: &r.SaveFeatures, doc: "epochs whose features are saved in full: none, last, every=N, all or a list", list: epochList, outside: true},
		{key: "run.dtype", ptr: &r.DType, doc: "float32, or float64 for parity tests", choices: []string{"float32", "float64"}},
		{key: "run.engine", ptr: &r.Engine, doc: "what computes the run: go, this program's own kernels; torch, PyTorch in a separate process (docs/internal/engines.md)", choices: []string{engineGo, engineTorch}},
		{key: "run.precision", ptr: &r.Precision, doc: "arithmetic of training steps on a GPU; tf32, bf16: faster and coarser products", choices: []string{"float32", "tf32", "bf16"}, only: forPrecision},
	})
}

// fieldsOf lists the fields of a copy of the configuration.
func fieldsOf(c Config) []field { return c.fields() }

// What never changes is made once: a page reads thousands of configurations.
var (
	writtenDefaults = sync.OnceValue(func() []field { return fieldsOf(Default()) })
	defaultTexts    = sync.OnceValue(func() (texts []string) {
		for _, f := range writtenDefaults() {
			texts = append(texts, f.text())
		}
		return texts
	})
	derivedDefaults  = sync.OnceValue(func() []field { return fieldsOf(Default().derived()) })
	resolvedDefault  = sync.OnceValue(func() Config { return Default().Resolved() })
	resolvedDefaults = sync.OnceValue(func() []field { return fieldsOf(resolvedDefault()) })
	networkNames     = kinds.Names(nn.Networks())
	lossNames        = kinds.Names(nn.Losses())
	lossTitles       = kindTitles(nn.Losses())
	optimiserNames   = kinds.Names(optim.Kinds())
)

var decayKinds = func() (names []string) {
	for _, kind := range optim.DecayKinds {
		names = append(names, string(kind))
	}
	return names
}()

var dataNames = func() (names []string) {
	for _, info := range data.List() {
		names = append(names, info.Name)
	}
	return names
}()
