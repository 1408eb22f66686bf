// Package train is one training run: a configuration, the loop, the rows of measures taken on the way, checkpoints that survive
// kill -9, and a trace that another framework can repeat step by step.
//
// Open config.go for what a run is, run.go for the order of events, loop.go for an epoch, checkpoint.go for what is on disk.
package train

import "collapse/data"

// Config is everything that decides a run. A zero where the comment says "0 = …" is filled in by Resolved. The fields, their
// names in TOML, their meaning, limits and defaults are listed once, in fields.go.
type Config struct {
	Data  DataConfig
	Net   NetConfig
	Loss  LossConfig
	Optim OptimConfig
	Run   RunConfig
}

// DataConfig names the images and what is done to their labels and pixels.
type DataConfig struct {
	Name                string  // glyphs (built in), mnist, fashion-mnist
	Dir                 string  // folder that holds the data sets; empty: the environment's COLLAPSE_DATA. Never part of a run's identity
	Classes             int     // K: the first K classes are kept
	SamplesPerClass     int     // 0 = all the files hold (glyphs: data.DefaultTrainPerClass)
	TestSamplesPerClass int     // 0 = all the files hold (glyphs: data.DefaultTestPerClass)
	Noise               float64 // η: each training label is redrawn uniformly over all K classes with this probability
	NoiseGenerator      string  // collapse (own streams, by sample) or torch (MT19937, the released code's pattern)
	NoiseSeed           uint64  // 0 = run.seed
	Pipeline            string  // md (the papers') or plain
	Size                int     // glyphs only: pixels a side
	Color               bool    // glyphs only: three channels
	Seed                uint64  // which samples a subset keeps; glyphs: what is drawn
}

// NetConfig is the network.
type NetConfig struct {
	Kind       string // mlp
	Preset     string // paper (9 hidden layers) or code (8): what depth and width are when they are 0
	Depth      int    // hidden layers without the d-wide one; 0 = preset's
	Width      int    // units of a hidden layer; 0 = preset's
	FeatureDim int    // d, the width of the last hidden layer; 0 = data.classes
	Activation string // relu or sigmoid
	BatchNorm  bool
	Bias       bool // bias of the classifier
}

// LossConfig is the objective, without weight decay.
type LossConfig struct {
	Kind      string  // ce, ls, lr, mse, rescaled_mse
	Smoothing float64 // ls and lr: α in M-D
	Alpha     float64 // rescaled_mse: weight of the true class's error
	M         float64 // rescaled_mse: target of the true class
	Reduction string  // torch or paper
}

// OptimConfig is the optimiser and its schedule.
type OptimConfig struct {
	Kind        string // sgd
	LR          float64
	Momentum    float64
	Nesterov    bool
	WeightDecay float64
	Schedule    ScheduleConfig
}

// ScheduleConfig is the learning rate by epoch.
type ScheduleConfig struct {
	Kind  string // step (lr·gamma^⌊epoch/every⌋) or constant
	Every int    // epochs
	Gamma float64
}

// RunConfig is how long, from which seed, and what is kept.
type RunConfig struct {
	Epochs          int
	Batch           int
	Seed            uint64
	MeasureEvery    int    // epochs between rows of measures; the last epoch always has one
	CheckpointEvery int    // epochs between checkpoints, what a killed run may lose; not part of a run's identity
	Keep            string // last (two checkpoints), every=N, all. Not part of a run's identity
	DType           string // float32 or float64
}

// Default is the common setting of the memorization–dilation experiments (Nguyen et al. 2023, Section 5 and A.1: an MLP of nine
// hidden layers of 2048 units, batch norm, ReLU, SGD with Nesterov momentum), on MNIST's first two classes with clean labels and
// cross entropy. A run's identity leaves out what is at its default, so changing a default here would rename every stored run.
func Default() Config {
	return Config{
		Data: DataConfig{Name: "mnist", Classes: 2, NoiseGenerator: data.GeneratorCollapse, Pipeline: data.PipelineMD, Size: 28, Seed: 1},
		Net:  NetConfig{Kind: "mlp", Preset: "paper", Activation: "relu", BatchNorm: true, Bias: true},
		Loss: LossConfig{Kind: "ce", Smoothing: 0.1, Alpha: 1, M: 1, Reduction: "torch"},
		Optim: OptimConfig{Kind: "sgd", LR: 0.1, Momentum: 0.9, Nesterov: true, WeightDecay: 1e-3,
			Schedule: ScheduleConfig{Kind: "step", Every: 40, Gamma: 0.1}},
		Run: RunConfig{Epochs: 200, Batch: 512, Seed: 1, MeasureEvery: 1, CheckpointEvery: 1, Keep: "last", DType: "float32"},
	}
}

// Resolved fills in every field whose zero means "derived": depth and width from the preset, d from K, the noise seed from the
// run's seed. It is what a run computes with and what its identity is taken from.
func (c Config) Resolved() Config {
	if c.Net.Depth == 0 {
		c.Net.Depth = map[string]int{"paper": 9, "code": 8}[c.Net.Preset]
	}
	if c.Net.Width == 0 {
		c.Net.Width = 2048
	}
	c.Net.Preset = Default().Net.Preset // depth and width say it all from here on
	if c.Net.FeatureDim == 0 {
		c.Net.FeatureDim = c.Data.Classes
	}
	if c.Data.NoiseSeed == 0 {
		c.Data.NoiseSeed = c.Run.Seed
	}
	return c
}
