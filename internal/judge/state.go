package judge

import (
	"collapse/internal/store"
	"collapse/measure"
)

// State is what there is to know of an ended run before anything is read off it: a word, and the sentence that every page and list says.
type State struct{ Name, Sentence string }

// The states.
var (
	Failed     = State{"failed", "It ended in an error: it enters no figure and no claim."}
	Early      = State{"early", "The terminal phase (training accuracy at least 99.9 % on the labels trained on) was not reached: nothing here is evidence about collapse, and most claims leave the run out."}
	Degenerate = State{"degenerate", "One class mean lies near the origin (M-D Fig. 4a): the least norm of clean class means is below a tenth of the largest. Means over runs leave the run out."}
)

// States are those of a run, as its measures say; the features that it saved are not read. None before it has ended.
func (r *Run) States() (out []State) {
	switch r.Status {
	case store.Failed:
		return []State{Failed}
	case store.Done:
	default:
		return nil
	}
	if v, ok, _ := r.Final("train", "accuracy"); ok && v < terminalAccuracy {
		out = append(out, Early)
	}
	if v, ok := r.measuredNormRatio(); ok && v < measure.DegenerateRatio {
		out = append(out, Degenerate)
	}
	return out
}

// measuredNormRatio is min‖h_k‖/max‖h_k‖ over the class means of clean training samples, as measured while training.
func (r *Run) measuredNormRatio() (v float64, ok bool) {
	split := "clean"
	if r.Noise == 0 {
		split = "train"
	}
	v, ok, _ = r.Final(split, "mean_norm_ratio")
	return v, ok
}
