// Package findings says what runs show, as data: verdicts on claims, the paper's numbers beside ours, a headline, tables and pictures. It
// knows no HTML and writes nothing: pages, the live server, JSON and the terminal print what it returns.
//
// study.go is about any runs, recipe.go about those of a recipe or a search; group.go draws the runs of one experiment, tables.go and
// taken.go list runs, cost.go says what they took, tally.go and sources.go count verdicts in sentences. Package judge answers single
// claims, package figure defines single pictures.
package findings

import (
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// StudyMeasures are the measures that Judge and the map of a study read: pages about many runs load no others.
var StudyMeasures = []string{"accuracy", "dilation", "mean_norm_ratio", "nc1_pinv", "memorization_flipped",
	"memorization_redrawn", "memorization_mean", "memorization_normalised"}

// Judged is what finished runs show so far.
type Judged struct {
	Title   string
	Claims  []judge.Claim
	Numbers []judge.Comparison // the paper's next to ours
	Figures []figure.Picture
	Tables  []judge.Tabled
	Notes   []string // what could not be drawn or tabulated, and why
}

// Judge draws the main figures of every experiment among the runs and judges the paper's claims on them. Unfinished runs
// are ignored.
func Judge(runs []judge.Run) []Judged {
	gs, _ := judge.Experiments(runs)
	var out []Judged
	for _, g := range gs {
		j := Judged{Title: g.Title}
		if manyNoisy(g) {
			j.Claims = g.Claims()
			j.Figures = drawn(figure.MainFigures(g)...)
		}
		out = append(out, j)
	}
	return out
}

// drawn are the pictures that show something.
func drawn(pictures ...figure.Picture) (out []figure.Picture) {
	for _, p := range pictures {
		if len(p.Panels) > 0 {
			out = append(out, p)
		}
	}
	return out
}
