package study

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/spelling"
)

// check completes the definition from the study's base and reports what is impossible.
func (d *Search) check(f *File, bad *FileError) {
	epochs, every, ok := f.subject.search(d, f, bad)
	d.own = f.Trainer != nil
	if !d.nameKey() && f.Trainer == nil {
		bad.add("[search] metric is %q; wanted split.measure, such as validation.accuracy", d.Metric)
	}
	d.checkGoal(bad)
	before := len(bad.Problems)
	if !strings.HasPrefix(f.Source, searchMark) { // what an earlier version has accepted stays readable
		d.checkSpace(f, bad)
	}
	if d.checkConditions(f, bad); !ok || len(bad.Problems) > before {
		return
	}
	d.Epochs = cmp.Or(d.Epochs, epochs)
	if d.Schedule == "" {
		d.Schedule = search.Hyperband
		if d.MinEpochs == d.Epochs { // there are no rungs, and Hyperband would try one at a time
			d.Schedule = search.Full
		}
	}
	for _, set := range f.set {
		key, _, _ := strings.Cut(set, "=")
		if key = strings.TrimSpace(key); slices.ContainsFunc(d.Space, func(p SearchParam) bool { return p.Name == key }) {
			bad.add("--set %s: [search.space] searches %s; take it out of there to fix it", set, key)
		}
	}
	checked := map[string]bool{}
	for _, c := range f.Places() {
		if _, err := c.Search(); err != nil {
			bad.add("[search] %s", strings.TrimPrefix(err.Error(), "search: "))
			return
		}
		if n := d.config(c.space, c.number).Space.Size(d.Trials); n < c.trials && !strings.HasPrefix(f.Source, searchMark) {
			bad.add("[search] %s never fills its rungs with the %d different settings of [search.space]; wanted schedule = %q", d.Schedule, n, search.Full)
		}
		c.checkSettings(checked, bad)
	}
	if d.Schedule != search.Full {
		for _, rung := range d.config(nil, 0).Ladder() {
			if rung%every != 0 {
				bad.add("[search] trials stop at epoch %d, which run.measure_every = %d does not measure; wanted rungs that are its multiples (epochs over powers of eta)",
					rung, every)
			}
		}
	}
}

// lengths are names by which a script may call how many epochs it trains.
var lengths = []string{"epochs", "num_epochs", "n_epochs", "max_epochs"}

// checkSpace refuses settings that are given twice, or that a search does not choose.
func (d *Search) checkSpace(f *File, bad *FileError) {
	for _, p := range d.Space {
		if len(p.kinds) > 1 {
			bad.add("[search.space] %s has %s; wanted one of them", p.Name, strings.Join(p.kinds, " and "))
		}
		switch {
		case slices.ContainsFunc(f.axes, func(a axis) bool { return a.key == p.Name }):
			bad.add("[grid] and [search.space] both have %s; leave it out of one of them", p.Name)
		case p.Name == script.EpochsKey || f.Trainer != nil && slices.Contains(lengths, p.Name):
			bad.add("[search.space] %s: a search does not choose how long trials train; epochs is that of the longest, and a schedule stops others earlier", p.Name)
		case p.Name == script.SeedKey || f.Trainer != nil && p.Name == "seed" && len(f.seeds) > 0:
			bad.add("[search.space] %s: a search does not choose the seed, which [study] seeds give", p.Name)
		}
	}
}

// checkConditions refuses conditions that no run could meet.
func (d *Search) checkConditions(f *File, bad *FileError) {
	known, fixed := map[string]bool{}, map[string][]string{} // fixed: the values that a setting has without the search
	for _, s := range f.base {
		key, value, _ := strings.Cut(s, "=")
		known[key], fixed[key] = true, append(fixed[key], value)
	}
	for _, a := range f.axes {
		known[a.key], fixed[a.key] = true, a.values
	}
	for _, p := range d.Space {
		known[p.Name] = true
	}
	for _, p := range d.Space {
		for _, key := range slices.Sorted(maps.Keys(p.When)) {
			at := slices.IndexFunc(d.Space, func(other SearchParam) bool { return other.Name == key })
			switch {
			case !known[key]:
				bad.add("[search.space] %s: when names %s, which neither [base], [grid] nor [search.space] sets%s", p.Name, key, spelling.Suggestion(key, slices.Sorted(maps.Keys(known))))
			case at >= 0 && d.Space[at].Scale != search.Choice:
				bad.add("[search.space] %s: when names %s, which is no choice", p.Name, key)
			case at < 0 && !slices.ContainsFunc(p.When[key], func(v string) bool { return slices.Contains(fixed[key], v) }):
				bad.add("[search.space] %s: when wants %s = %s, and it is %s: it would never be searched", p.Name, key, strings.Join(p.When[key], " or "), strings.Join(fixed[key], ", "))
			case at >= 0:
				for _, value := range p.When[key] {
					if !slices.Contains(d.Space[at].Values, value) {
						bad.add("[search.space] %s: when has %s = %s, which is none of its choices %s", p.Name, key, value, strings.Join(d.Space[at].Values, ", "))
					}
				}
			}
		}
	}
	for _, p := range d.config(d.Space, 0).Space.Circles() {
		bad.add("[search.space] %s depends on itself", p)
	}
}

// checkGoal completes the goal from the metric's name where that leaves no doubt.
func (d *Search) checkGoal(bad *FileError) {
	if d.Goal == "" {
		d.Goal = map[string]string{"accuracy": GoalMax, "loss": GoalMin}[d.measure]
	}
	switch {
	case d.Goal == "" && d.measure != "":
		bad.add(`[search] goal is missing: is a large or a small %s better? wanted goal = "max" or goal = "min"`, d.MetricName())
	case d.Goal != GoalMax && d.Goal != GoalMin && d.measure != "":
		bad.add("[search] goal is %q; wanted max or min", d.Goal)
	}
}

// checkSettings loads both ends of every parameter, and what the final runs change, except for what was checked before.
func (c *Place) checkSettings(checked map[string]bool, bad *FileError) {
	for _, p := range c.space {
		if checked[p.Name] {
			continue
		}
		checked[p.Name] = true
		for _, at := range []float64{p.lowest(), p.highest()} {
			setting := p.Name + "=" + p.text(at)
			if err := c.subject.checkOne(p.Name, append(slices.Clone(c.base), setting)); err != nil {
				bad.add("[search.space] %s = %s: %v", p.Name, p.text(at), err)
			}
		}
	}
	if checked["final"] {
		return
	}
	checked["final"] = true
	for _, settings := range c.Finals() {
		if err := c.subject.check(slices.Concat(c.base, settings)); err != nil {
			bad.add("[search.final] %v", err)
		}
	}
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
