package page

import (
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// StudyMeasures are the measures that Judged and Grid read: pages about many runs load no others.
var StudyMeasures = []string{"accuracy", "dilation", "mean_norm_ratio", "nc1_pinv", "memorization_flipped",
	"memorization_redrawn", "memorization_mean", "memorization_normalised"}

// Judged is what the finished runs of one experiment in a study show so far.
type Judged struct {
	Title   string
	Claims  []judge.Claim
	Numbers []judge.Comparison // the paper's next to ours
	Figures []figure.Picture
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
			for _, p := range figure.MainFigures(g) {
				if len(p.Panels) > 0 {
					j.Figures = append(j.Figures, p)
				}
			}
		}
		out = append(out, j)
	}
	return out
}
