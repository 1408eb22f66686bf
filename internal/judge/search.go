package judge

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Search is the trials of a search of settings for one combination and seed.
type Search struct {
	Group   string // the combination without the seed, in words
	Metric  string // split.measure
	Called  string // what people call the metric
	Lowest  bool   // smaller is better
	Params  []SearchParam
	Trials  []SearchTrial
	Best    int        // index in Trials; -1: no trial has a value
	Default *SearchRun // the default settings, at the full budget
	Final   [2]float64 // mean test accuracy with all training samples: the best settings, the default; NaN: none
	Command string     // how the best run of a script was started; "" if that is not known
	Again   []float64  // of a script, the metric of the best settings in the runs of [search.final]
	With    []string   // the settings of these, but for their seed
	Spent   int        // epochs of all trials
	Whole   int        // epochs had none been stopped early
	// Reported are the names of what a script's trials report, if that is never the metric.
	Reported []string
}

// SearchParam is a searched setting.
type SearchParam struct {
	Name      string
	Log       bool
	Low, High float64  // for a number
	Choices   []string // the choices; nil: a number
}

// SearchTrial is a trial at the furthest rung it reached.
type SearchTrial struct {
	SearchRun
	Number   int
	Earlier  bool // of an earlier version of the search
	Settings map[string]string
}

// SearchRun is a run with its value.
type SearchRun struct {
	Run    string // hash
	Epochs int
	Value  float64 // NaN: none
	Lacks  string  // what it has instead, in a word or two: failed, NaN, …; "" where nobody knows
}

// Name is what people call the trial.
func (t SearchTrial) Name() string {
	if t.Earlier {
		return "earlier"
	}
	return strconv.Itoa(t.Number)
}

// Place is the trial's position on a parameter's axis; false if the parameter has no effect in it.
func (p SearchParam) Place(t SearchTrial) (x float64, ok bool) {
	text, ok := t.Settings[p.Name]
	if p.Choices != nil {
		i := slices.Index(p.Choices, text)
		return float64(i), ok && i >= 0
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, ok && err == nil
}

// Begun reports whether a trial has ended.
func (s Search) Begun() bool {
	return s.Best >= 0 || slices.ContainsFunc(s.Trials, func(t SearchTrial) bool { return t.Lacks != "" })
}

// Budget is the furthest epoch any trial was trained to.
func (s Search) Budget() int {
	most := 0
	for _, t := range s.Trials {
		most = max(most, t.Epochs)
	}
	return most
}

func (s Search) Unit() (factor float64, unit string) {
	if strings.HasSuffix(s.Metric, ".accuracy") {
		return 100, "%"
	}
	return 1, ""
}

// SearchGroups are the groups in order.
func SearchGroups(all []Search) (names []string) {
	for _, s := range all {
		if !slices.Contains(names, s.Group) {
			names = append(names, s.Group)
		}
	}
	return names
}

// SoFar is, for each trial, the index of the best trial up to it, by the search's own rule: trained further, then better. −1
// before any has a value.
func (s Search) SoFar() []int {
	out, best := make([]int, len(s.Trials)), -1
	for i, t := range s.Trials {
		if !math.IsNaN(t.Value) {
			switch {
			case best < 0, t.Epochs > s.Trials[best].Epochs:
				best = i
			case t.Epochs == s.Trials[best].Epochs && (t.Value > s.Trials[best].Value) != s.Lowest && t.Value != s.Trials[best].Value:
				best = i
			}
		}
		out[i] = best
	}
	return out
}
