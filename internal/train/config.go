// Package train is one training run: a configuration, the loop, the rows of measures taken on the way, checkpoints that survive
// kill -9, and a trace that another framework can repeat step by step.
//
// Read config.go for what a run is, plan.go for its typed form, run.go for the order of events, engine.go for what computes it, loop.go
// for an epoch, checkpoint.go for what is on disk.
package train

import (
	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/classcounts"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// Config is everything that decides a run. A zero where the comment says "0 = …" is filled in by Resolved. fields.go lists all
// fields once, with their names in TOML, meaning, limits and defaults.
type Config struct {
	Data  DataConfig
	Net   NetConfig
	Loss  LossConfig
	Optim OptimConfig
	Run   RunConfig
}

// DataConfig names the images and what is done to their labels and pixels.
type DataConfig struct {
	Name                string  // glyphs (built in), or one of data.List
	Dir                 string  // folder that holds the data sets; empty: the environment's COLLAPSE_DATA. Never part of a run's identity
	Classes             int     // K: the first K classes are kept
	SamplesPerClass     int     // 0 = all the files hold (glyphs: data.DefaultTrainPerClass)
	TestSamplesPerClass int     // 0 = all the files hold (glyphs: data.DefaultTestPerClass)
	Samples             int     // of files, in total, equally many per class; 0 = see SamplesPerClass
	TestSamples         int     // the same for test samples
	Imbalance           string  // none, step, long-tail: how training samples fall over classes; see classcounts
	ImbalanceRatio      float64 // samples of the largest class to those of the smallest
	Minority            int     // step: how many classes have fewer, the last ones; 0 = half of them
	Validation          float64 // share of the training samples, with clean labels, held out for choosing settings; 0 = none
	FirstSamples        bool    // a subset per class is the first samples of the file, rather than drawn by Seed
	Subset              string  // of training samples: fixed (see Seed and FirstSamples), or seed: drawn anew by run.seed
	Noise               float64 // η: what data.Noise.Rate is to the kind of noise
	NoiseKind           string  // one of data.NoiseKinds
	NoiseRates          string  // per_class: a rate for each true class, separated by commas
	NoiseTruncate       bool    // cut every observed class to the size of the smallest
	NoiseGenerator      string  // collapse (own streams, by sample) or torch (MT19937, the released code's pattern)
	NoiseSeed           uint64  // 0 = run.seed
	Pipeline            string  // one of data.PipelineKinds
	Augment             string  // one of data.AugmentKinds, of training images
	Size                int     // pixels per side; glyphs: 0 = 28; folder: 0 = as the files are
	Color               bool    // glyphs only: three channels
	Seed                uint64  // which samples a subset keeps; glyphs: which images are drawn
}

// NetConfig is the network.
type NetConfig struct {
	Kind           string  // one of nn.Networks
	Preset         string  // mlp: paper (9 hidden layers) or code (8): depth and width where these are 0
	Depth          int     // mlp: hidden layers, not counting the d-wide one; 0 = preset's
	Width          int     // mlp: units of a hidden layer; 0 = preset's
	Stem           string  // resnet18: default (7×7 stride 2, max pool) or cifar (3×3 stride 1, no pool)
	StemWidth      int     // resnet18-adapt: k, channels of the stem
	FeatureDim     int     // d, the width of the features; 0 = data.classes for an mlp, else the architecture's own
	Activation     string  // mlp: relu or sigmoid
	BatchNorm      bool    // mlp
	LinearFeatures bool    // mlp: no activation in the layer of width d
	Classifier     string  // learned; etf: a fixed simplex ETF; normalized: unit features and unit rows
	Temperature    float64 // normalized: τ, the factor of the cosines
	ETF            string  // etf: identity or random, how the frame lies in the d dimensions
	Truncate       bool    // etf: cut the frame where d is below K−1 and no simplex ETF exists
	Bias           bool    // of the classifier
	FreezeBias     bool    // etf: the bias stays at 0
}

// LossConfig is the objective, without weight decay.
type LossConfig = nn.LossConfig

// OptimConfig is the optimiser, its weight decay and its schedule.
type OptimConfig struct {
	Kind        string // one of optim.Kinds
	LR          float64
	Momentum    float64 // sgd
	Nesterov    bool    // sgd
	Decay       string  // all, peeled, peeled-batch or peeled-code
	WeightDecay float64 // decay all
	LambdaW     float64 // peeled: λ_W of ½λ_W‖W‖²
	LambdaB     float64 // peeled: λ_b of ½λ_b‖b‖²
	LambdaH     float64 // peeled: λ_H of ½λ_H‖H‖², the features of all training samples
	Adam        AdamConfig
	LBFGS       LBFGSConfig
	Schedule    ScheduleConfig
}

// AdamConfig holds settings that only Adam uses.
type AdamConfig struct{ Beta1, Beta2, Eps float64 }

// LBFGSConfig holds settings that only L-BFGS uses, named as in torch.optim.LBFGS.
type LBFGSConfig struct {
	LineSearch      string // none or strong_wolfe
	MaxIter         int    // iterations per step
	MaxEval         int    // evaluations of the loss after which a step starts no further iteration
	History         int    // pairs kept
	ToleranceGrad   float64
	ToleranceChange float64
}

// ScheduleConfig is the learning rate as a function of the epoch.
type ScheduleConfig struct {
	Kind       string // step (lr·gamma^⌊epoch/every⌋), multistep, cosine (with restarts) or constant
	Every      int    // step: epochs
	Gamma      float64
	Milestones string  // multistep: increasing epochs, separated by commas
	Period     int     // cosine: epochs to the first restart; 0 = all after the warm-up
	Factor     int     // cosine: ratio of each period's length to the one before
	MinLR      float64 // cosine: rate at the end of a period
	Warmup     int     // epochs in which the rate rises to lr
}

// RunConfig says how long a run is, its seed, what is measured and what is kept.
type RunConfig struct {
	Epochs          int
	Batch           int
	Seed            uint64
	MeasureEvery    int    // epochs between rows of measures; the last epoch always has one
	MeasureStart    bool   // also measure epoch 0, the network before its first step
	MeasureFrom     string // eval, or training-pass: train measures on the features that training itself computed
	Taps            string // layers measured besides the features, separated by commas
	TapPool         string // average or flatten: how a tapped layer's maps become features
	CheckpointEvery int    // epochs between checkpoints, the most that a killed run loses; 0: by time. Not part of a run's identity
	Keep            string // last (two checkpoints), every=N, all. Not part of a run's identity
	SaveFeatures    string // epochs whose features are saved in full: none, last, every=N, all or a list. Not part of a run's identity
	DType           string // float32 or float64
	Engine          string // go, this program's kernels, or torch, a Python process
	Precision       string // torch: arithmetic of matrix products and convolutions in training steps; float32, tf32 or bf16
}

// Default is the common setting of the memorization–dilation experiments (Nguyen et al. 2023, Sections 4.1 and A.1.1: an MLP of nine
// hidden layers of 2048 units, batch norm, ReLU, SGD with Nesterov momentum), on MNIST's first two classes with clean labels and
// cross entropy. A run's identity leaves out what is at its default, so changing a default here would rename every stored run.
func Default() Config {
	return Config{
		Data: DataConfig{Name: "mnist", Classes: 2, NoiseKind: data.NoiseUniform, NoiseGenerator: data.GeneratorCollapse,
			Imbalance: classcounts.Balanced, ImbalanceRatio: 10, Subset: fixedSubset, Pipeline: data.PipelineMD, Augment: data.AugmentNone, Seed: 1},
		Net: NetConfig{Kind: nn.KindMLP, Preset: "paper", Stem: nn.StemDefault, StemWidth: 64, Activation: "relu", BatchNorm: true,
			Classifier: nn.ClassifierLearned, Temperature: 10, ETF: nn.ETFIdentity, Bias: true},
		Loss: nn.DefaultLoss(),
		Optim: OptimConfig{Kind: "sgd", LR: 0.1, Momentum: 0.9, Nesterov: true, Decay: string(optim.DecayAll), WeightDecay: 1e-3,
			LambdaW: 0.01, LambdaB: 0.01, LambdaH: 1e-5,
			Adam: AdamConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
			LBFGS: LBFGSConfig{LineSearch: string(optim.NoLineSearch), MaxIter: 20, MaxEval: 25, History: 10,
				ToleranceGrad: 1e-7, ToleranceChange: 1e-9},
			Schedule: ScheduleConfig{Kind: "step", Every: 40, Gamma: 0.1, Factor: 1}},
		Run: RunConfig{Epochs: 200, Batch: 512, Seed: 1, MeasureEvery: 1, MeasureFrom: "eval", TapPool: "average",
			Keep: "last", SaveFeatures: "none", DType: "float32",
			Engine: engineGo, Precision: "float32"},
	}
}

// Resolved fills in every field whose zero means "derived": depth and width from the preset, d from K, the noise seed from the run's
// seed. Keys without effect in this configuration (momentum under Adam) are set to their default. A run computes with the result,
// which also determines its identity.
func (c Config) Resolved() Config {
	c = c.derived()
	defaults := derivedDefaults()
	for i, f := range c.fields() {
		if !f.applies(&c) {
			f.copyFrom(defaults[i])
		}
		if p, ok := f.ptr.(*string); ok && f.list != "" {
			*p = f.list.plain(*p)
		}
	}
	return c
}

// derived fills in zeros.
func (c Config) derived() Config {
	if c.reads("net.preset") {
		if c.Net.Depth == 0 {
			c.Net.Depth = map[string]int{"paper": 9, "code": 8}[c.Net.Preset]
		}
		if c.Net.Width == 0 {
			c.Net.Width = 2048
		}
		c.Net.Preset = Default().Net.Preset // from here on, depth and width say everything
		if c.Net.FeatureDim == 0 {
			c.Net.FeatureDim = c.Data.Classes
		}
	}
	if c.Optim.Schedule.Kind == "cosine" && c.Optim.Schedule.Period == 0 {
		c.Optim.Schedule.Period = max(1, c.Run.Epochs-c.Optim.Schedule.Warmup)
	}
	if c.Data.Name == glyphs && c.Data.Size == 0 {
		c.Data.Size = 28
	}
	if c.Data.Imbalance == classcounts.Step && c.Data.Minority == 0 {
		c.Data.Minority = c.Data.Classes / 2
	}
	if c.Data.NoiseSeed == 0 {
		c.Data.NoiseSeed = c.Run.Seed
	}
	return c
}

// External reports whether another process computes the run.
func (c Config) External() bool { return c.Run.Engine != engineGo }
