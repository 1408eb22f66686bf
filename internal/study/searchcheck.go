package study

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"collapse/internal/search"
	"collapse/internal/train"
)

// check completes the definition from the study's base and finds what cannot be.
func (d *Search) check(f *File, bad *FileError) {
	var found bool
	if d.split, d.measure, found = strings.Cut(d.Metric, "."); !found {
		bad.add("[search] metric is %q; wanted split.measure, such as validation.accuracy", d.Metric)
	}
	if d.Goal != GoalMax && d.Goal != GoalMin {
		bad.add("[search] goal is %q; wanted max or min", d.Goal)
	}
	if d.split == "validation" && !slices.ContainsFunc(f.base, func(s string) bool { return strings.HasPrefix(s, "data.validation=") }) {
		f.base = append(f.base, "data.validation=0.2")
	}
	base, err := train.LoadShared(f.base...)
	if err != nil {
		bad.add("[base] %v", err)
		return
	}
	d.Epochs = cmp.Or(d.Epochs, base.Run.Epochs)
	checked := map[string]bool{}
	for _, c := range f.Places() {
		if _, err := c.Search(); err != nil {
			bad.add("[search] %s", strings.TrimPrefix(err.Error(), "search: "))
			return
		}
		c.checkSettings(checked, bad)
	}
	if d.Schedule != search.Full {
		for _, rung := range d.config(nil, 0).Ladder() {
			if rung%base.Run.MeasureEvery != 0 {
				bad.add("[search] trials stop at epoch %d, which run.measure_every = %d does not measure; wanted rungs that are its multiples (epochs over powers of eta)",
					rung, base.Run.MeasureEvery)
			}
		}
	}
}

// checkSettings loads both ends of every parameter, and what the final runs change, but for what was checked before.
func (c *Place) checkSettings(checked map[string]bool, bad *FileError) {
	for _, p := range c.space {
		if checked[p.Name] {
			continue
		}
		checked[p.Name] = true
		for _, at := range []float64{p.lowest(), p.highest()} {
			setting := p.Name + "=" + p.text(at)
			if err := problemsOf(p.Name, append(slices.Clone(c.base), setting)); err != nil {
				bad.add("[search.space] %s = %s: %v", p.Name, p.text(at), err)
			}
		}
	}
	if checked["final"] {
		return
	}
	checked["final"] = true
	for _, settings := range c.Finals() {
		if _, err := train.LoadShared(slices.Concat(c.base, settings)...); err != nil {
			bad.add("[search.final] %v", err)
		}
	}
}

// problemsOf says what is wrong with settings, of those that have no effect only what is wrong with key.
func problemsOf(key string, settings []string) error {
	var all *train.ConfigError
	if _, err := train.Load("", nil, settings...); errors.As(err, &all) {
		if i := slices.IndexFunc(all.Problems, func(p train.Problem) bool { return p.Key == key }); i >= 0 {
			return &train.ConfigError{Problems: all.Problems[i : i+1]}
		}
	}
	_, err := train.LoadShared(settings...)
	return err
}

func (p SearchParam) lowest() float64 {
	if p.Scale == search.Choice {
		return 0
	}
	return p.Low
}

func (p SearchParam) highest() float64 {
	if p.Scale == search.Choice {
		return float64(p.Choices - 1)
	}
	return p.High
}
