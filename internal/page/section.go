package page

import (
	"fmt"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// section is one group of the page.
type section struct {
	ID, Title string
	Noisy     bool // has runs with label noise
	Script    bool // of somebody's own script, which is asked for no features or theory
	Claims    []judge.Claim
	Main      []shown // M-D Fig. 1, with and without degenerate runs
	More      []shown // the same with other forms of memorization, folded
	Features  []shown
	Why       string // why there are no features, if there are none
	Reel      *reel  // features epoch by epoch; nil: none
	Epochs    []epochs
	Limits    format.Table
	LimitNote string // which runs the table of limits leaves out
}

// epochs is the foldable part for one noise level.
type epochs struct {
	Title   string
	Open    bool
	Figures []shown
}

// mostSections is how many settings have a section of their own, with figures in files: a grid of a thousand would make as many.
const mostSections = 12

// manyNoisy reports whether the paper's claims are asked of an experiment.
func manyNoisy(g *judge.Experiment) bool {
	return len(g.Runs) > 1 && g.Count(func(s *judge.JudgedRun) bool { return s.Noise > 0 }) > 0
}

// sectionOf draws everything of one group.
func sectionOf(g *judge.Experiment, study Study) (section, []figure.Picture, []judge.Claim) {
	s := section{ID: "group" + g.Suffix, Title: g.Title, Noisy: g.Noisy(), Script: g.OfScripts()}
	var drawn []figure.Picture
	add := func(p figure.Picture) (shown, bool) {
		if len(p.Panels) == 0 {
			return shown{}, false
		}
		drawn = append(drawn, p)
		return prepare(p), true
	}
	if manyNoisy(g) {
		s.Claims = g.Claims()
		for _, p := range figure.MainFigures(g) {
			if f, ok := add(p); ok {
				s.Main = append(s.Main, f)
			}
		}
		if f, ok := add(figure.OtherForms(g)); ok {
			s.More = append(s.More, f)
		}
	}
	for _, p := range figure.FeatureFigures(g, study.FeatureRuns) {
		if f, ok := add(p); ok {
			s.Features = append(s.Features, f)
		}
	}
	s.Reel = reelOf(g)
	if len(s.Features) == 0 {
		s.Why = figure.WhyNoFeatures(g)
	}
	for i, noise := range g.Noises {
		e := epochsOf(g, noise, add)
		e.Open = i == 0
		s.Epochs = append(s.Epochs, e)
	}
	s.Limits, s.LimitNote = limits(g)
	return s, drawn, s.Claims
}

// epochsOf draws the runs of one noise level against epoch.
func epochsOf(g *judge.Experiment, noise float64, add func(figure.Picture) (shown, bool)) epochs {
	at := format.Count(g.Count(func(s *judge.JudgedRun) bool { return s.Noise == noise }), "run")
	e, level := epochs{Title: at}, ""
	if g.Noisy() {
		level = ", η = " + format.Decimal(noise)
		e.Title = fmt.Sprintf("η = %s (%s)", format.Decimal(noise), at)
	}
	first, rest := figure.EpochFigures(g, noise)
	first.Title = "The measures of collapse against epoch" + level
	first.Caption = "Mean over seeds; the band runs from the smallest to the largest seed. Training measures are taken in evaluation mode on the labels trained on; test labels are never corrupted."
	rest.Title = "Every other measure against epoch" + level
	rest.Caption = "As above. “clean” means the training samples that kept their label. The key and the split of each measure stand above its axis."
	if g.OfScripts() { // which say nothing of label noise
		first.Title, rest.Title = "Measures of collapse against epoch", "What the script reported against epoch"
		first.Caption = "Mean over seeds; the band runs from the smallest to the largest seed."
		rest.Caption = first.Caption + " The name and the split of each value stand above its axis."
	}
	for _, p := range []figure.Picture{first, rest} {
		if f, ok := add(p); ok {
			e.Figures = append(e.Figures, f)
		}
	}
	return e
}
