package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"collapse/data"
)

// field is one key of the configuration: the single place that knows its name, its variable, its meaning and its limits.
type field struct {
	key     string // section.key as the user writes it
	ptr     any    // *string, *int, *uint64, *float64 or *bool inside a Config
	doc     string // one line of the printed configuration
	choices []string
	limits  interval
	outside bool // not part of a run's identity: a folder, what is kept, or what the digests of the data sets already say
}

// interval is an allowed range of a number; open ends are excluded. The zero value allows everything.
type interval struct {
	lo, hi         float64
	openLo, openHi bool
	set            bool
}

func from(lo float64) interval { return interval{lo: lo, hi: math.Inf(1), openHi: true, set: true} }
func above(lo float64) interval {
	return interval{lo: lo, hi: math.Inf(1), openLo: true, openHi: true, set: true}
}
func between(lo, hi float64) interval  { return interval{lo: lo, hi: hi, set: true} }
func halfOpen(lo, hi float64) interval { return interval{lo: lo, hi: hi, openHi: true, set: true} }
func (r interval) holds(x float64) bool {
	return (x > r.lo || x == r.lo && !r.openLo) && (x < r.hi || x == r.hi && !r.openHi)
}

func (r interval) String() string {
	lo, hi := strconv.FormatFloat(r.lo, 'g', -1, 64), strconv.FormatFloat(r.hi, 'g', -1, 64)
	switch {
	case math.IsInf(r.hi, 1) && r.openLo:
		return "a finite number above " + lo
	case math.IsInf(r.hi, 1):
		return "at least " + lo
	case r.openHi:
		return "at least " + lo + " and below " + hi
	}
	return "between " + lo + " and " + hi
}

// fields lists every key with pointers into c, in the order they are printed.
func (c *Config) fields() []field {
	d, n, l, o, r := &c.Data, &c.Net, &c.Loss, &c.Optim, &c.Run
	return []field{
		{key: "data.name", ptr: &d.Name, doc: "which images; glyphs is built in", choices: dataNames},
		{key: "data.dir", ptr: &d.Dir, doc: "folder that holds the data sets; empty: the environment's COLLAPSE_DATA", outside: true},
		{key: "data.classes", ptr: &d.Classes, doc: "K, the first K classes are kept", limits: between(2, 10000)},
		{key: "data.samples_per_class", ptr: &d.SamplesPerClass, doc: fmt.Sprintf("training samples of a class; 0 = all (glyphs: %d)", data.DefaultTrainPerClass), limits: between(0, 1e7), outside: true},
		{key: "data.test_samples_per_class", ptr: &d.TestSamplesPerClass, doc: fmt.Sprintf("test samples of a class; 0 = all (glyphs: %d)", data.DefaultTestPerClass), limits: between(0, 1e7), outside: true},
		{key: "data.noise", ptr: &d.Noise, doc: "probability that a training label is redrawn over all K classes", limits: between(0, 1)},
		{key: "data.noise_generator", ptr: &d.NoiseGenerator, doc: "collapse: a stream of its own for each sample; torch: the released code's MT19937", choices: []string{data.GeneratorCollapse, data.GeneratorTorch}},
		{key: "data.noise_seed", ptr: &d.NoiseSeed, doc: "0 = run.seed"},
		{key: "data.pipeline", ptr: &d.Pipeline, doc: "pixels to numbers; md: grey to 3 channels, resized to 32, normalised (the papers); plain: normalised only", choices: []string{data.PipelineMD, data.PipelinePlain}},
		{key: "data.size", ptr: &d.Size, doc: "glyphs: pixels a side, 28, 32 or 84", limits: between(28, 84), outside: true},
		{key: "data.color", ptr: &d.Color, doc: "glyphs: three channels", outside: true},
		{key: "data.seed", ptr: &d.Seed, doc: "which samples a subset keeps; glyphs: which images are drawn", outside: true},
		{key: "net.kind", ptr: &n.Kind, doc: "architecture", choices: []string{"mlp"}},
		{key: "net.preset", ptr: &n.Preset, doc: "what 0 means for depth and width; paper: 9 x 2048, code: 8 x 2048", choices: []string{"paper", "code"}, outside: true},
		{key: "net.depth", ptr: &n.Depth, doc: "hidden layers without the d-wide one; 0 = the preset's", limits: between(0, 1000)},
		{key: "net.width", ptr: &n.Width, doc: "units of a hidden layer; 0 = the preset's", limits: between(0, 1e6)},
		{key: "net.feature_dim", ptr: &n.FeatureDim, doc: "d, the width of the last hidden layer; 0 = data.classes", limits: between(0, 1e6)},
		{key: "net.activation", ptr: &n.Activation, doc: "of every hidden layer, the features included", choices: []string{"relu", "sigmoid"}},
		{key: "net.batch_norm", ptr: &n.BatchNorm, doc: "batch norm after every hidden linear layer"},
		{key: "net.bias", ptr: &n.Bias, doc: "bias of the classifier"},
		{key: "loss.kind", ptr: &l.Kind, doc: "cross entropy, label smoothing, label relaxation, squared error, rescaled squared error", choices: []string{"ce", "ls", "lr", "mse", "rescaled_mse"}},
		{key: "loss.smoothing", ptr: &l.Smoothing, doc: "ls and lr: the share of the label given to other classes", limits: halfOpen(0, 1)},
		{key: "loss.alpha", ptr: &l.Alpha, doc: "rescaled_mse: weight of the true class's error", limits: above(0)},
		{key: "loss.m", ptr: &l.M, doc: "rescaled_mse: target of the true class", limits: above(0)},
		{key: "loss.reduction", ptr: &l.Reduction, doc: "torch: mean over batch (and classes); paper: squared errors halved and not divided by K", choices: []string{"torch", "paper"}},
		{key: "optim.kind", ptr: &o.Kind, doc: "optimiser", choices: []string{"sgd"}},
		{key: "optim.lr", ptr: &o.LR, doc: "learning rate of the first epoch", limits: above(0)},
		{key: "optim.momentum", ptr: &o.Momentum, doc: "0 = none", limits: halfOpen(0, 1)},
		{key: "optim.nesterov", ptr: &o.Nesterov, doc: "Nesterov's form of the momentum"},
		{key: "optim.weight_decay", ptr: &o.WeightDecay, doc: "added to the gradient of every trained parameter, biases and batch norm included", limits: from(0)},
		{key: "optim.schedule.kind", ptr: &o.Schedule.Kind, doc: "learning rate by epoch", choices: []string{"step", "constant"}},
		{key: "optim.schedule.every", ptr: &o.Schedule.Every, doc: "step: epochs between factors", limits: between(1, 1e9)},
		{key: "optim.schedule.gamma", ptr: &o.Schedule.Gamma, doc: "step: the factor", limits: above(0)},
		{key: "run.epochs", ptr: &r.Epochs, doc: "passes over the training set", limits: between(1, 1e7)},
		{key: "run.batch", ptr: &r.Batch, doc: "samples of a step; the last batch of an epoch may be smaller", limits: between(1, 1e6)},
		{key: "run.seed", ptr: &r.Seed, doc: "of initial weights, order of samples, and label noise"},
		{key: "run.measure_every", ptr: &r.MeasureEvery, doc: "epochs between rows of measures; the last epoch always has one", limits: between(1, 1e7)},
		{key: "run.checkpoint_every", ptr: &r.CheckpointEvery, doc: "epochs between checkpoints; the last epoch always has one", limits: between(1, 1e7), outside: true},
		{key: "run.keep", ptr: &r.Keep, doc: "checkpoints kept besides the last two: last (none), every=N, all", outside: true},
		{key: "run.dtype", ptr: &r.DType, doc: "float32, or float64 for parity tests", choices: []string{"float32", "float64"}},
	}
}

var dataNames = func() (names []string) {
	for _, info := range data.List() {
		names = append(names, info.Name)
	}
	return names
}()

// value is what the field holds now.
func (f field) value() any {
	switch p := f.ptr.(type) {
	case *string:
		return *p
	case *int:
		return *p
	case *uint64:
		return *p
	case *float64:
		return *p
	case *bool:
		return *p
	}
	panic("train: a configuration field of unknown type")
}

// text is the field's value in TOML.
func (f field) text() string {
	switch v := f.value().(type) {
	case string:
		return tomlString(v)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0" // a TOML float needs a point or an exponent
		}
		return s
	default:
		return fmt.Sprint(v)
	}
}

// wanted names the type in the user's words.
func (f field) wanted() string {
	switch f.ptr.(type) {
	case *string:
		if f.choices != nil {
			return "one of " + strings.Join(f.choices, ", ")
		}
		return "a text in quotes"
	case *int:
		return "a whole number"
	case *uint64:
		return "a whole number, at least 0"
	case *float64:
		return "a number"
	}
	return "true or false"
}

// set stores a decoded TOML value and says what is wrong with it, or "".
func (f field) set(v any) string {
	bad := fmt.Sprintf("is %s; wanted %s", describe(v), f.wanted())
	switch p := f.ptr.(type) {
	case *string:
		s, ok := v.(string)
		if !ok {
			return bad
		}
		*p = s
	case *bool:
		b, ok := v.(bool)
		if !ok {
			return bad
		}
		*p = b
	case *float64:
		switch x := v.(type) {
		case float64:
			*p = x
		case int64:
			*p = float64(x)
		default:
			return bad
		}
	case *int:
		x, ok := v.(int64)
		if !ok || int64(int(x)) != x {
			return bad
		}
		*p = int(x)
	case *uint64:
		x, ok := v.(int64)
		if !ok || x < 0 {
			return bad
		}
		*p = uint64(x)
	}
	return ""
}

func describe(v any) string {
	switch x := v.(type) {
	case string:
		return strconv.Quote(x)
	case map[string]any:
		return "a section"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}
