package train

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse/nn"
	"collapse/optim"
)

// Check reports every impossible value of a configuration made in code, as Load does for a file.
func (c Config) Check() error {
	if p := c.problems(nil); len(p) > 0 {
		return &ConfigError{Problems: p}
	}
	return nil
}

// problems lists the impossible values, leaving out keys already complained about.
func (c Config) problems(skip map[string]bool) []Problem {
	var list []Problem
	complain := func(key, format string, args ...any) {
		if !skip[key] {
			list = append(list, Problem{Key: key, Message: fmt.Sprintf(format, args...)})
		}
	}
	for _, f := range c.fields() {
		if message := f.outOfRange(); message != "" {
			complain(f.key, "%s", message)
		}
	}
	if governed := len(list) == 0 && !anyOf(skip, governing); governed {
		for key, message := range c.meaningless() {
			complain(key, "%s", message)
		}
	}
	if _, err := parseKeep(c.Run.Keep); err != nil {
		complain("run.keep", "%v", err)
	}
	if _, err := parseEpochs(c.Run.SaveFeatures); err != nil {
		complain("run.save_features", "%v", err)
	}
	if c.Optim.Kind == "sgd" && c.Optim.Nesterov && c.Optim.Momentum == 0 {
		complain("optim.nesterov", "needs optim.momentum above 0; set nesterov = false or momentum = 0.9")
	}
	if c.Optim.Decay == string(optim.DecayPeeledCode) && c.Optim.LambdaB != c.Optim.LambdaW {
		complain("optim.lambda_b", "is %g and lambda_w %g; the released code has one number for both", c.Optim.LambdaB, c.Optim.LambdaW)
	}
	if k := c.Optim.Schedule; k.Kind == "cosine" && !(k.MinLR <= c.Optim.LR) {
		complain("optim.schedule.min_lr", "is %g; wanted at most optim.lr, %g", k.MinLR, c.Optim.LR)
	}
	if k := c.Optim.Schedule; k.Kind == "multistep" && len(list) == 0 {
		if err := (optim.MultiStep{Base: c.Optim.LR, Milestones: k.milestones(), Gamma: k.Gamma}).Validate(); err != nil || k.Milestones == "" {
			complain("optim.schedule.milestones", "is %q; wanted increasing epochs such as [60, 120]", k.Milestones)
		}
	}
	if len(list) == 0 {
		c.dataProblems(complain)
	}
	if c.Net.Kind == nn.KindMLP && c.Net.BatchNorm && c.Run.Batch == 1 {
		complain("run.batch", "is 1, and batch norm has no variance of one sample; wanted at least 2, or net.batch_norm = false")
	}
	return list
}

// dataProblems finds keys of the data that do not go together.
func (c Config) dataProblems(complain func(key, format string, args ...any)) {
	d := c.Data
	drawn := d.Name == glyphs
	switch {
	case drawn && d.Size != 0 && d.Size != 28 && d.Size != 32 && d.Size != 84:
		complain("data.size", "is %d; wanted 28, 32 or 84", d.Size)
	case !drawn && d.Color:
		complain("data.color", "can be chosen for %s only; files have their own", glyphs)
	case !drawn && d.Name != folder && d.Size != 0 && d.Size != 28: // 28 was once the default of every set
		complain("data.size", "can be chosen for %s and %s only; files have their own", glyphs, folder)
	}
	if drawn && (d.Samples != 0 || d.TestSamples != 0 || d.FirstSamples) {
		complain("data.samples", "is for files; %s has samples_per_class and test_samples_per_class", glyphs)
	}
	if d.Samples != 0 && d.SamplesPerClass != 0 || d.TestSamples != 0 && d.TestSamplesPerClass != 0 {
		complain("data.samples", "stands beside a number per class; wanted one of the two")
	}
	if err := c.noise().Check(); err != nil {
		complain("data.noise_kind", "%s", strings.TrimPrefix(err.Error(), "data: "))
	}
}

// governing are the keys that decide which others mean something.
var governing = []string{"data.name", "data.noise_kind", "net.kind", "net.classifier", "optim.kind", "optim.decay", "optim.schedule.kind"}

func anyOf(set map[string]bool, keys []string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return set[k] })
}

// meaningless yields the keys that are away from their default though nothing reads them, with what to say.
func (c Config) meaningless() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		standard, resolved := Default(), Default().derived()
		asWritten, asStored := standard.fields(), resolved.fields()
		for i, f := range c.fields() {
			if v := f.value(); f.applies(&c) || v == asWritten[i].value() || v == asStored[i].value() {
				continue
			}
			if !yield(f.key, fmt.Sprintf("is %s, and means something with %s only; leave it out", f.text(), f.only.text)) {
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
		if d := editDistance(strings.ToLower(v), c); d < nearest && d < len(c) {
			near, nearest = c, d
		}
	}
	message := fmt.Sprintf("is %q; wanted %s", v, f.wanted())
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return message
}

// keepRule says which checkpoints stay besides the last two: those whose epoch is a multiple of every; 0 for none.
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
