package judge

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// mostOwnValues is how many values of a script a headline names.
const mostOwnValues = 6

// scriptHeadline is that of a run of somebody's own script: its settings, and what it reported last.
func (s *JudgedRun) scriptHeadline() (finding, numbers string) {
	finding = "One run of a script"
	if settings := s.settingsInWords(); len(settings) > 0 {
		finding += ": " + strings.Join(settings, ", ")
	}
	var parts []string
	for _, k := range s.OwnKeys() {
		if v, ok := s.Last(k.Split, k.Measure); ok {
			parts = append(parts, NameOf(k)+" "+format.Measure(k.Measure, v))
		}
	}
	if len(parts) == 0 {
		return finding, "It has reported no values."
	}
	return finding, "After " + format.Count(int(s.LastStep()), "epoch") + ": " + format.List(parts[:min(len(parts), mostOwnValues)]) + "."
}

// settingsInWords are all settings of a script but for its length.
func (r *Run) settingsInWords() (settings []string) {
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		if !strings.HasPrefix(key, "trainer.") && key != "run.epochs" && key != "run.horizon" {
			settings = append(settings, ShortKey(key)+" "+ShortValue(r.Settings[key]))
		}
	}
	return settings
}

// OwnKeys are the values of a run, but for those of inner layers and for settings that a script reports, as SortOwn sorts them.
func (r *Run) OwnKeys() []SeriesKey {
	keys := slices.DeleteFunc(r.Keys(), func(k SeriesKey) bool { return k.Layer != "" || r.Restates(k) })
	SortOwn(keys)
	return keys
}

// Restates reports whether a value is a setting of the run, such as the learning rate: it has the name, and began as the number.
func (r *Run) Restates(k SeriesKey) bool {
	text, setting := r.Settings[k.Measure]
	if !setting || k.Split != "" {
		return false
	}
	x, err := strconv.ParseFloat(text, 64)
	points := r.Rows("", "", k.Measure)
	return err == nil && len(points) > 0 && points[0].Missing == "" && points[0].Value == x
}

// SortOwn sorts values of a script: names that no measure has come first, the learning rate last of them, then accuracies, NC1 to NC4 of training
// features, and all others.
func SortOwn(keys []SeriesKey) {
	properties := measure.Properties()
	rank := func(k SeriesKey) int {
		if _, known := measure.Lookup(k.Measure); !known {
			return map[bool]int{true: 1}[k == rate]
		}
		at := slices.IndexFunc(properties, func(p measure.Property) bool { return p.Key == k.Measure })
		switch {
		case k.Measure == measure.KeyAccuracy:
			return 2
		case at >= 0 && k.Split == "train":
			return 3 + at
		}
		return 3 + len(properties)
	}
	slices.SortFunc(keys, func(a, b SeriesKey) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(NameOf(a), NameOf(b)))
	})
}

// rate is the learning rate as most scripts report it.
var rate = SeriesKey{Measure: "lr"}

// NameOf is the name under which a script reports a value.
func NameOf(k SeriesKey) string { return strings.TrimPrefix(k.Split+"/"+k.Measure, "/") }

// OfScripts reports whether the runs are of somebody's own script.
func (g *Experiment) OfScripts() bool { return len(g.Runs) > 0 && g.Runs[0].Kind == store.Script }

// ownNames are the names of OwnKeys.
func (r *Run) ownNames() (names []string) {
	for _, k := range r.OwnKeys() {
		names = append(names, NameOf(k))
	}
	return names
}

// OnlyScripts reports whether all runs are of scripts; false without any.
func OnlyScripts(gs []*Experiment) bool {
	return len(gs) > 0 && !slices.ContainsFunc(gs, func(g *Experiment) bool { return !g.OfScripts() })
}

// ownValues are the means over runs of a script of what the first of them reports; "" for other runs.
func ownValues(runs []*JudgedRun) string {
	if len(runs) == 0 || runs[0].Kind != store.Script {
		return ""
	}
	var parts []string
	for _, k := range runs[0].OwnKeys() {
		var last []float64
		for _, s := range runs {
			if v, ok := s.Last(k.Split, k.Measure); ok {
				last = append(last, v)
			}
		}
		parts = append(parts, NameOf(k)+" "+WithHalf(last))
	}
	if len(parts) == 0 {
		return "no values were reported"
	}
	return strings.Join(parts[:min(len(parts), mostOwnValues)], ", ")
}
