package report

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// mainFigures are M-D Fig. 1 without degenerate runs, unless there are no others, and, where
// there are degenerate runs, the figure with them.
func (g *group) mainFigures() []picture {
	var out []picture
	regular := g.pick(isRegular)
	if len(regular) > 0 {
		out = append(out, g.regularFigure(regular))
	}
	if len(regular) < len(g.subjects) {
		all := g.dilationFigure("dilation-all-runs", g.subjects, []memoryForm{g.form()})
		all.Title = "The same with degenerate runs"
		if len(regular) == 0 {
			all.Title = "Dilation and test accuracy against memorization: every run is degenerate"
		}
		all.Caption = "Every finished run, those in the configuration of M-D Fig. 4(a) included."
		out = append(out, all)
	}
	return out
}

// regularFigure is M-D Fig. 1 with the runs that are not degenerate.
func (g *group) regularFigure(regular []*subject) picture {
	fig := g.dilationFigure("dilation", regular, []memoryForm{g.form()})
	fig.Title = "Dilation and test accuracy against memorization"
	fig.Caption = "After M-D Fig. 1. Each point is the mean over seeds at one noise level η, with one standard deviation both ways; the faint dots are single runs; η stands beside a point where there is room. Dilation is √NC1 of the test features around their own class means."
	unknown := g.count(func(s *subject) bool { return !s.degenerateKnown })
	switch n := len(g.subjects) - len(regular); {
	case n > 0:
		fig.Notes = append(fig.Notes, fmt.Sprintf("%s left out here and drawn in the figure with all runs.", count(n, "degenerate run")))
	case unknown == 0:
		fig.Notes = append(fig.Notes, "No run is degenerate (least norm of a clean class mean below a tenth of the largest, ours): none is left out.")
	}
	if unknown > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("Of %s it is not known whether they are degenerate: neither the ratio of norms nor the features were saved.", count(unknown, "run")))
	}
	if early := g.count(func(s *subject) bool { return isRegular(s) && !s.terminal }); early > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("%s drawn here did not reach the terminal phase (train accuracy ≥ 99.9 %%).", count(early, "run")))
	}
	return fig
}

// otherForms is the main figure against the forms of memorization that it does not show; without
// panels if there are none.
func (g *group) otherForms() picture {
	var others []memoryForm
	for _, f := range memoryForms {
		if f.key != g.form().key && g.count(func(s *subject) bool { _, ok := s.memory(f.key); return ok }) > 0 {
			others = append(others, f)
		}
	}
	p := g.dilationFigure("dilation-other-forms", g.pick(isRegular), others)
	p.Title = "The same against the other forms of memorization"
	p.Caption = "The raw sums grow with the number of corrupted samples and with the length of the features; the last form has neither scale."
	return p
}

// featureFigures chooses runs to draw: those asked for, or at a low and at the highest noise level
// the first regular seed of each loss, and up to two degenerate runs.
func (g *group) featureFigures(asked []string) []picture {
	has := func(s *subject) bool { return s.Features != nil }
	caption := "After M-D Fig. 4. Colour is the true class; crosses are samples trained with a wrong label; rings mark class means, triangles the means of a class's mislabelled samples. The dashed line is where the decision changes."
	named := func(p picture, title string) picture {
		p.Title, p.Caption = title, caption
		return p
	}
	if asked != nil {
		runs := g.pick(func(s *subject) bool {
			for _, h := range asked {
				if has(s) && h != "" && strings.HasPrefix(s.Hash, h) {
					return true
				}
			}
			return false
		})
		return []picture{named(g.featureFigure("features", runs), "Features of the chosen runs")}
	}
	var out []picture
	for _, noise := range g.shownNoises(has) {
		var runs []*subject
		for _, curve := range g.curves {
			for _, s := range onCurve(g.subjects, curve) {
				if s.Noise == noise && has(s) && !s.degenerate {
					runs = append(runs, s)
					break
				}
			}
		}
		out = append(out, named(g.featureFigure("features-noise-"+decimal(noise), runs), "The features themselves, η = "+decimal(noise)))
	}
	if bad := g.pick(func(s *subject) bool { return has(s) && s.degenerate }); len(bad) > 0 {
		out = append(out, named(g.featureFigure("features-degenerate", bad[:min(len(bad), 2)]), "Degenerate runs, as in M-D Fig. 4(a)"))
	}
	return out
}

// shownNoises are the level nearest to 0.1 and the highest, among those with features.
func (g *group) shownNoises(has func(*subject) bool) []float64 {
	at := levels(g.pick(func(s *subject) bool { return has(s) && !s.degenerate }))
	if len(at) == 0 {
		return nil
	}
	near := at[0]
	for _, n := range at {
		if math.Abs(n-0.1) < math.Abs(near-0.1)-1e-12 {
			near = n
		}
	}
	if last := at[len(at)-1]; last != near {
		return []float64{near, last}
	}
	return []float64{near}
}

func (g *group) whyNoFeatures() string {
	reasons := map[string]int{}
	for _, s := range g.subjects {
		reasons[s.NoFeatures]++
	}
	var words []string
	for why, n := range reasons {
		if why != "" {
			words = append(words, fmt.Sprintf("%s: %s", count(n, "run"), why))
		}
	}
	sort.Strings(words)
	return strings.Join(words, "; ")
}
