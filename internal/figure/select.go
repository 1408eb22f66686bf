package figure

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// Memorization is what M-D Fig. 1 shows, for every experiment among the runs.
func Memorization(runs []judge.Run) (out []Picture) {
	gs, _ := judge.Experiments(runs)
	for _, g := range gs {
		for _, p := range append(MainFigures(g), OtherForms(g)) {
			if len(p.Panels) > 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// MainFigures are M-D Fig. 1 without degenerate runs, unless there are no others, and, if there are
// degenerate runs, the figure with them.
func MainFigures(g *judge.Experiment) []Picture {
	var out []Picture
	regular := g.Pick(judge.IsRegular)
	if len(regular) > 0 {
		out = append(out, regularFigure(g, regular))
	}
	if len(regular) < len(g.Runs) {
		all := dilationFigure(g, "dilation-all-runs", g.Runs, []judge.MemoryForm{g.Form()})
		all.Title = "The same with degenerate runs"
		if len(regular) == 0 {
			all.Title = "Dilation and test accuracy against memorization: every run is degenerate"
		}
		all.Caption = "Every finished run, including those in the configuration of M-D Fig. 4(a)."
		out = append(out, all)
	}
	return out
}

// regularFigure is M-D Fig. 1 with the runs that are not degenerate.
func regularFigure(g *judge.Experiment, regular []*judge.JudgedRun) Picture {
	fig := dilationFigure(g, "dilation", regular, []judge.MemoryForm{g.Form()})
	fig.Title = "Dilation and test accuracy against memorization"
	fig.Caption = "After M-D Fig. 1. Each point is the mean over seeds at one noise level η, with one standard deviation on either side; the faint dots are single runs. Along a curve, η goes from " + levels(g.Noises) + "; it is written at the ends where there is room. Dilation is √NC1 of the test features around their own class means."
	unknown := g.Count(func(s *judge.JudgedRun) bool { return !s.DegenerateKnown })
	switch n := len(g.Runs) - len(regular); {
	case n > 0:
		fig.Notes = append(fig.Notes, fmt.Sprintf("%s left out here and drawn in the figure with all runs.", format.Count(n, "degenerate run")))
	case unknown == 0:
		fig.Notes = append(fig.Notes, "No run is degenerate (smallest norm of a clean class mean below a tenth of the largest; our definition): none is left out.")
	}
	if unknown > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("Whether %s are degenerate is unknown: neither the ratio of norms nor the features were saved.", format.Count(unknown, "run")))
	}
	if early := g.Count(func(s *judge.JudgedRun) bool { return judge.IsRegular(s) && !s.Terminal }); early > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("%s drawn here did not reach the terminal phase (train accuracy ≥ 99.9 %%).", format.Count(early, "run")))
	}
	return fig
}

// levels lists noise levels as a sentence does.
func levels(noises []float64) string {
	words := make([]string, len(noises))
	for i, v := range noises {
		words[i] = format.Decimal(v)
	}
	return strings.Join(words, " to ")
}

// OtherForms is the main figure with the forms of memorization that it does not show; without
// panels if there are none.
func OtherForms(g *judge.Experiment) Picture {
	var others []judge.MemoryForm
	for _, f := range judge.MemoryForms {
		if f.Key != g.Form().Key && g.Count(func(s *judge.JudgedRun) bool { _, ok := s.Memory(f.Key); return ok }) > 0 {
			others = append(others, f)
		}
	}
	p := dilationFigure(g, "dilation-other-forms", g.Pick(judge.IsRegular), others)
	p.Title = "The same against the other forms of memorization"
	p.Caption = "The raw sums grow with the number of corrupted samples and the length of the features; the last form depends on neither."
	return p
}

// FeatureFigures draws the features of chosen runs: those asked for, or the first regular seed of
// each loss at a low and at the highest noise level, and up to two degenerate runs.
func FeatureFigures(g *judge.Experiment, asked []string) []Picture {
	has := func(s *judge.JudgedRun) bool { return s.Features() != nil }
	caption := "After M-D Fig. 4. Colour is the class; rings mark class means. The dashed line is where the decision changes."
	if g.Noisy() {
		caption = "After M-D Fig. 4. Colour is the true class; crosses are samples trained with a wrong label; rings mark class means, triangles the means of a class's mislabelled samples. The dashed line is where the decision changes."
	}
	named := func(p Picture, title string) Picture {
		p.Title, p.Caption = title, caption
		return p
	}
	if asked != nil {
		runs := g.Pick(func(s *judge.JudgedRun) bool {
			for _, h := range asked {
				if has(s) && h != "" && strings.HasPrefix(s.Hash, h) {
					return true
				}
			}
			return false
		})
		return []Picture{named(featureFigure(g, "features", runs), "Features of the chosen runs")}
	}
	var out []Picture
	for _, noise := range shownNoises(g, has) {
		var runs []*judge.JudgedRun
		for _, curve := range g.Curves {
			for _, s := range judge.OnCurve(g.Runs, curve) {
				if s.Noise == noise && has(s) && !s.Degenerate {
					runs = append(runs, s)
					break
				}
			}
		}
		title := "The features themselves"
		if g.Noisy() {
			title += ", η = " + format.Decimal(noise)
		}
		out = append(out, named(featureFigure(g, "features-noise-"+format.Decimal(noise), runs), title))
	}
	if bad := g.Pick(func(s *judge.JudgedRun) bool { return has(s) && s.Degenerate }); len(bad) > 0 {
		out = append(out, named(featureFigure(g, "features-degenerate", bad[:min(len(bad), 2)]), "Degenerate runs, as in M-D Fig. 4(a)"))
	}
	return out
}

// shownNoises are the level nearest to 0.1 and the highest, among those with features.
func shownNoises(g *judge.Experiment, has func(*judge.JudgedRun) bool) []float64 {
	at := judge.Levels(g.Pick(func(s *judge.JudgedRun) bool { return has(s) && !s.Degenerate }))
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

func WhyNoFeatures(g *judge.Experiment) string {
	reasons := map[string]int{}
	for _, s := range g.Runs {
		reasons[s.NoFeatures()]++
	}
	var words []string
	for why, n := range reasons {
		if why != "" {
			words = append(words, fmt.Sprintf("%s: %s", format.Count(n, "run"), why))
		}
	}
	sort.Strings(words)
	return strings.Join(words, "; ")
}
