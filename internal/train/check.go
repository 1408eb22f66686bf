package train

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/optim"
)

// checkFields reports values that are impossible by themselves, and keys without effect.
func (c Config) checkFields(p *complaints) {
	for _, f := range c.fields() {
		if message := f.outOfRange(); message != "" {
			p.about(f.key, "%s", message)
		}
	}
	if len(p.list) == 0 && !slices.ContainsFunc(governing, func(key string) bool { return p.skip[key] }) {
		for key, message := range c.meaningless() {
			p.about(key, "%s", message)
		}
	}
}

// check reports keys of the optimiser that conflict.
func (o OptimConfig) check(p *complaints) {
	if o.Kind == "sgd" && o.Nesterov && o.Momentum == 0 {
		p.about("optim.nesterov", "needs optim.momentum above 0; set nesterov = false or momentum = 0.9")
	}
	if o.Decay == string(optim.DecayPeeledCode) && o.LambdaB != o.LambdaW {
		p.about("optim.lambda_b", "is %g and lambda_w %g; the released code has a single number for both", o.LambdaB, o.LambdaW)
	}
	if k := o.Schedule; k.Kind == "cosine" && !(k.MinLR <= o.LR) {
		p.about("optim.schedule.min_lr", "is %g; wanted at most optim.lr, %g", k.MinLR, o.LR)
	}
}

// checkNet reports keys of the network that conflict with others.
func (c Config) checkNet(p *complaints) {
	if c.reads("net.batch_norm") && c.Net.BatchNorm && c.Run.Batch == 1 {
		p.about("run.batch", "is 1, and batch norm has no variance with one sample; wanted at least 2, or net.batch_norm = false")
	}
	if c.Net.normalized() && c.Optim.Decay != string(optim.DecayAll) {
		p.about("optim.decay", "is %q, which decays the norms of classifier and features, and net.classifier = normalized fixes both; wanted %s", c.Optim.Decay, optim.DecayAll)
	}
}

// checkData reports keys of the data that conflict.
func (c Config) checkData(p *complaints) {
	d := c.Data
	drawn := d.Name == glyphs
	switch {
	case drawn && d.Size != 0 && d.Size != 28 && d.Size != 32 && d.Size != 84:
		p.about("data.size", "is %d; wanted 28, 32 or 84", d.Size)
	case !drawn && d.Color:
		p.about("data.color", "can be set only for %s; files have their own", glyphs)
	case !drawn && d.Name != folder && d.Size != 0 && d.Size != 28: // 28 was once the default of every set
		p.about("data.size", "can be set only for %s and %s; files have their own", glyphs, folder)
	}
	if drawn && (d.Samples != 0 || d.TestSamples != 0 || d.FirstSamples) {
		p.about("data.samples", "is for files; %s has samples_per_class and test_samples_per_class", glyphs)
	}
	if d.Samples != 0 && d.SamplesPerClass != 0 || d.TestSamples != 0 && d.TestSamplesPerClass != 0 {
		p.about("data.samples", "is set together with a number per class; wanted only one of them")
	}
}

// governing are the keys that decide which other keys have an effect.
var governing = []string{"data.name", "data.noise_kind", "net.kind", "net.classifier", "optim.kind", "optim.decay", "optim.schedule.kind", "run.engine", "run.dtype"}

// meaningless yields the keys that differ from their default although nothing reads them, with the message.
func (c Config) meaningless() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		asWritten, asStored := writtenDefaults(), derivedDefaults()
		for i, f := range c.fields() {
			if v := f.value(); f.applies(&c) || v == asWritten[i].value() || v == asStored[i].value() {
				continue
			}
			if !yield(f.key, f.idle()) {
				return
			}
		}
	}
}

// outOfRange says what is wrong with the field's value, or "".
func (f field) outOfRange() string {
	var x float64
	switch v := f.value().(type) {
	case string:
		if f.list != "" {
			return f.list.complaint(v)
		}
		return f.notAChoice(v)
	case float64:
		x = v
	case int:
		x = float64(v)
	case uint64:
		if v > math.MaxInt64 {
			return fmt.Sprintf("is %d; wanted at most %d, the largest number of a configuration file", v, math.MaxInt64)
		}
		return ""
	default:
		return ""
	}
	if f.limits.set && !f.limits.holds(x) || math.IsNaN(x) {
		return fmt.Sprintf("is %s; wanted %s", strconv.FormatFloat(x, 'g', -1, 64), f.limits)
	}
	return ""
}

func (f field) notAChoice(v string) string {
	if f.choices == nil {
		return ""
	}
	near, nearest := "", 3
	for _, c := range f.choices {
		if c == v {
			return ""
		}
		if d := spelling.Distance(strings.ToLower(v), c); d < nearest && d < len(c) {
			near, nearest = c, d
		}
	}
	message := fmt.Sprintf("is %q; wanted %s", v, f.wanted())
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return message
}

// keepRule says which checkpoints are kept besides the last two: those whose epoch is a multiple of every; 0 for none.
type keepRule struct{ every int }

func parseKeep(text string) (keepRule, error) {
	switch {
	case text == "last":
		return keepRule{}, nil
	case text == "all":
		return keepRule{every: 1}, nil
	case strings.HasPrefix(text, "every="):
		n, err := strconv.Atoi(text[len("every="):])
		if err == nil && n >= 1 {
			return keepRule{every: n}, nil
		}
	}
	return keepRule{}, fmt.Errorf("is %q; wanted last, every=N (N at least 1) or all", text)
}

func (k keepRule) keeps(epoch int) bool { return k.every > 0 && epoch%k.every == 0 }
