package train

import (
	"fmt"
	"strconv"
	"strings"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/classcounts"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// Plan is a configuration in typed form: what a run computes with. Only Config.Plan makes one, so a Plan is always valid.
type Plan struct {
	Config   // resolved
	Noise    data.Noise
	Rule     optim.Rule // the optimiser, with the weight decay that it applies itself
	Decay    optim.DecayConfig
	Schedule optim.Schedule // learning rate by epoch

	given Config    // as the user wrote it
	keep  keepRule  // checkpoints that stay
	saved epochRule // epochs whose features are saved
}

// Plan parses c once. The error is a *ConfigError that lists every problem.
func (c Config) Plan() (Plan, error) {
	plan, problems := c.parse(nil)
	if len(problems) > 0 {
		return Plan{}, &ConfigError{Problems: problems}
	}
	return plan, nil
}

// Check reports every impossible value of a configuration made in code, as Load does for a file.
func (c Config) Check() error {
	_, err := c.Plan()
	return err
}

// complaints are the problems found so far, without further ones about keys that already have one.
type complaints struct {
	list []Problem
	skip map[string]bool
}

func (p *complaints) about(key, format string, args ...any) {
	if !p.skip[key] {
		p.list = append(p.list, Problem{Key: key, Message: fmt.Sprintf(format, args...)})
	}
}

// parse turns c into a plan and lists the impossible values, except for keys in skip. Combinations of keys are checked only if each
// of them is possible by itself.
func (c Config) parse(skip map[string]bool) (Plan, []Problem) {
	p := &complaints{skip: skip}
	plan := Plan{Config: c.Resolved(), given: c}
	c.checkFields(p)
	var err error
	if plan.keep, err = parseKeep(c.Run.Keep); err != nil {
		p.about("run.keep", "%v", err)
	}
	if plan.saved, err = parseEpochs(c.Run.SaveFeatures); err != nil {
		p.about("run.save_features", "%v", err)
	}
	c.Optim.check(p)
	if len(p.list) == 0 {
		plan.Schedule = plan.Optim.schedule(p)
	}
	if len(p.list) == 0 {
		c.checkData(p)
		plan.Noise = plan.Data.noise(p)
	}
	c.checkNet(p)
	if len(p.list) == 0 && len(skip) == 0 { // every kind is known to exist
		plan.Rule, plan.Decay = plan.Optim.rule()
	}
	return plan, p.list
}

// schedule returns the learning rate as a function of the epoch.
func (o OptimConfig) schedule(p *complaints) optim.Schedule {
	k := o.Schedule
	var s optim.Schedule = optim.Constant(o.LR)
	switch k.Kind {
	case "step":
		s = optim.StepLR{Base: o.LR, Every: k.Every, Gamma: k.Gamma}
	case "multistep":
		milestones, err := listed(k.Milestones, strconv.Atoi)
		m := optim.MultiStep{Base: o.LR, Milestones: milestones, Gamma: k.Gamma}
		if err != nil || m.Validate() != nil || len(milestones) == 0 {
			p.about("optim.schedule.milestones", "is %q; wanted increasing epochs such as [60, 120]", k.Milestones)
		}
		s = m
	case "cosine":
		s = optim.CosineRestarts{Base: o.LR, Period: k.Period, Factor: k.Factor, Min: k.MinLR}
	}
	if k.Warmup > 0 {
		s = optim.Warmup{Epochs: k.Warmup, Then: s}
	}
	return s
}

// rule returns the optimiser and the decay outside it. L-BFGS must see the penalty in the loss, as in the released code.
func (o OptimConfig) rule() (optim.Rule, optim.DecayConfig) {
	var rule optim.Rule
	switch o.Kind {
	case "sgd":
		rule = optim.SGDConfig{Momentum: o.Momentum, Nesterov: o.Nesterov}
	case "adam":
		rule = optim.AdamConfig{Beta1: o.Adam.Beta1, Beta2: o.Adam.Beta2, Eps: o.Adam.Eps}
	case "lbfgs":
		l := o.LBFGS
		rule = optim.MinibatchLBFGSConfig{Iterations: l.MaxIter, Evaluations: l.MaxEval, History: l.History, Gradient: l.ToleranceGrad,
			Change: l.ToleranceChange, LineSearch: optim.LineSearch(l.LineSearch)}
	}
	decay := optim.DecayConfig{Kind: optim.DecayKind(o.Decay), All: o.WeightDecay, Classifier: o.LambdaW, Bias: o.LambdaB, Features: o.LambdaH,
		InLoss: rule.InLoss()}
	return rule.Decayed(decay.Coupled()), decay
}

// noise returns the label noise in the form that package data takes.
func (d DataConfig) noise(p *complaints) data.Noise {
	rates, err := listed(d.NoiseRates, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
	n := data.Noise{Rate: d.Noise, Kind: d.NoiseKind, Rates: rates, Truncate: d.NoiseTruncate, Generator: d.NoiseGenerator, Seed: d.NoiseSeed}
	if err == nil {
		err = n.Check()
	}
	if err != nil {
		p.about("data.noise_kind", "%s", strings.TrimPrefix(err.Error(), "data: "))
	}
	return n
}

// imbalanced reports whether classes are to have different numbers of training samples.
func (d DataConfig) imbalanced() bool {
	return d.Imbalance == classcounts.Step || d.Imbalance == classcounts.LongTail
}

// profile is how training samples fall over the classes.
func (d DataConfig) profile() classcounts.Profile {
	return classcounts.Profile{Kind: d.Imbalance, Ratio: d.ImbalanceRatio, Minority: d.Minority}
}

// source names the data of a split in the form that package data takes. run.seed draws a training set that is a separate subset for
// each seed; the test set stays.
func (c Config) source(split data.Split) data.Source {
	d := c.Data
	s := data.Source{Name: d.Name, Root: d.Dir, Classes: d.Classes, TrainPerClass: d.SamplesPerClass, TestPerClass: d.TestSamplesPerClass,
		TrainSamples: d.Samples, TestSamples: d.TestSamples, First: d.FirstSamples, Seed: d.Seed}
	if d.Name == glyphs || d.Name == folder { // other files have a fixed size
		s.Size, s.Color = d.Size, d.Color
	}
	if split == data.Train && d.Subset == seedSubset {
		s.Seed = c.Run.Seed
	}
	return s
}

// arch returns the network in the form that package nn takes, for images of a shape and a number of classes. nn ignores settings
// that its kind does not use.
func (n NetConfig) arch(image data.Shape, classes int) nn.Arch {
	a := nn.Arch{Kind: n.Kind, Channels: image.C, Height: image.H, Width: image.W, Classes: classes,
		HiddenWidth: n.Width, HiddenLayers: n.Depth, Stem: n.Stem, StemWidth: n.StemWidth, FeatureDim: n.FeatureDim,
		BatchNorm: n.BatchNorm, Activation: nn.Activation(n.Activation), LinearFeatures: n.LinearFeatures, Classifier: n.Classifier, NoClassifierBias: !n.Bias}
	if n.Classifier == nn.ClassifierETF {
		a.ETF, a.TruncateETF, a.FreezeBias = n.ETF, n.Truncate, n.FreezeBias
	}
	if n.normalized() {
		a.Temperature, a.NoClassifierBias = n.Temperature, true
	}
	return a
}

// normalized reports whether features and class vectors are divided by their norms.
func (n NetConfig) normalized() bool { return n.Classifier == nn.ClassifierNormalized }

// arch is the network for the run's images.
func (c Config) arch(s sizes) nn.Arch { return c.Net.arch(s.image, s.classes) }

// batch is the largest batch of a run.
func (c Config) batch(s sizes) int { return min(c.Run.Batch, s.train) }
