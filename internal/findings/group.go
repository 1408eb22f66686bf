package findings

import (
	"fmt"
	"slices"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// Group is what the runs of one experiment show.
type Group struct {
	*judge.Experiment
	ID        string
	Claims    []judge.Claim
	Main      []figure.Picture // M-D Fig. 1, with and without degenerate runs
	More      []figure.Picture // the same with other forms of memorization
	Features  []figure.Picture
	Why       string // why there are no features, if there are none
	Epochs    []Epochs
	Limits    format.Table
	LimitNote string // which runs the table of limits leaves out
}

// Epochs are the values of the runs with one level of label noise against epoch.
type Epochs struct {
	Title    string
	Pictures []figure.Picture
}

// MostGroups is how many settings have a group of their own, with figures in files: a grid of a thousand would make as many.
const MostGroups = 12

// manyNoisy reports whether the paper's claims are asked of an experiment.
func manyNoisy(g *judge.Experiment) bool {
	return len(g.Runs) > 1 && g.Count(func(s *judge.JudgedRun) bool { return s.Noise > 0 }) > 0
}

// groupOf judges and draws everything of one experiment.
func groupOf(g *judge.Experiment, featureRuns []string) Group {
	out := Group{Experiment: g, ID: "group" + g.Suffix, Features: drawn(figure.FeatureFigures(g, featureRuns)...)}
	if manyNoisy(g) {
		out.Claims = g.Claims()
		out.Main, out.More = drawn(figure.MainFigures(g)...), drawn(figure.OtherForms(g))
	}
	if len(out.Features) == 0 {
		out.Why = figure.WhyNoFeatures(g)
	}
	for _, noise := range g.Noises {
		out.Epochs = append(out.Epochs, epochsOf(g, noise))
	}
	out.Limits, out.LimitNote = limits(g)
	return out
}

// epochsOf draws the runs of one noise level against epoch.
func epochsOf(g *judge.Experiment, noise float64) Epochs {
	title, level := format.Count(g.Count(func(s *judge.JudgedRun) bool { return s.Noise == noise }), "run"), ""
	if g.Noisy() {
		level = ", η = " + format.Decimal(noise)
		title = fmt.Sprintf("η = %s (%s)", format.Decimal(noise), title)
	}
	first, rest := figure.EpochFigures(g, noise)
	first.Title = "The measures of collapse against epoch" + level
	first.Caption = "Mean over seeds; the band runs from the smallest to the largest seed. Training measures are taken in evaluation mode on the labels trained on; test labels are never corrupted."
	rest.Title = "Every other measure against epoch" + level
	rest.Caption = "As above. “clean” means the training samples that kept their label. The key and the split of each measure stand above its axis."
	if g.OfScripts() { // which say nothing of label noise
		first.Title, rest.Title = "Measures of collapse against epoch", "What the script reported, against epoch"
		if !slices.ContainsFunc(g.Runs, func(s *judge.JudgedRun) bool { return s.OfCollapse() }) {
			first.Title = "Loss and accuracy against epoch"
		}
		if first.Caption = ""; len(g.Runs) > 1 {
			first.Caption = "Mean over seeds; the band runs from the smallest to the largest seed. "
		}
		rest.Caption = first.Caption + "The name and the split of each value stand above its axis."
	}
	return Epochs{title, drawn(first, rest)}
}
