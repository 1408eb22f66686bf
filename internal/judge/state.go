package judge

import (
	"slices"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// State is a warning about an ended run that readers should know first: a word, and the sentence that every page and list shows.
type State struct {
	Name, Sentence string
	Predicted      bool // theory has it for the run's penalties and classes
}

// The states.
var (
	Failed     = State{Name: "failed", Sentence: "It ended in an error and enters no figure and no claim."}
	Early      = State{Name: "unfitted", Sentence: "It did not reach the terminal phase (training accuracy of at least 99.9 % on the labels trained on): it is no evidence about collapse, and most claims leave it out."}
	Degenerate = State{Name: "degenerate", Sentence: "One class mean lies near the origin (M-D Fig. 4a): the smallest norm of clean class means is below a tenth of the largest. Means over runs of the program’s own networks leave it out."}
)

// OfCollapse reports whether a run is about collapse: every run of this program is, and a script's with a measure of it.
func (r *Run) OfCollapse() bool {
	return r.Kind != store.Script || slices.ContainsFunc(r.Keys(), func(k SeriesKey) bool { return isCollapse(k.Measure) })
}

// isCollapse reports whether the name of a value is that of a measure of collapse.
func isCollapse(key string) bool {
	d, known := measure.Lookup(key)
	return known && d.Key != measure.KeyAccuracy
}

// States are the states of a run, from its measures; its saved features are not read. There are none before it has
// ended.
func (r *Run) States() (out []State) {
	switch r.Status {
	case store.Failed:
		return []State{Failed}
	case store.Done:
	default:
		return nil
	}
	if state, ok := r.predicted(); ok {
		return []State{state}
	}
	if v, ok, _ := r.Final("train", "accuracy"); ok && v < terminalAccuracy && r.OfCollapse() {
		out = append(out, Early)
	}
	if v, ok := r.measuredNormRatio(); ok && v < measure.DegenerateRatio {
		out = append(out, Degenerate)
	}
	return out
}

// measuredNormRatio is min‖h_k‖/max‖h_k‖ over the class means of clean training samples, as measured during training; 0 if all of them
// lie at the origin.
func (r *Run) measuredNormRatio() (v float64, ok bool) {
	split := "clean"
	if r.Noise == 0 {
		split = "train"
	}
	v, ok, reason := r.Final(split, measure.KeyMeanNormRatio)
	return v, ok || reason == measure.AllMeansZero
}
