package findings

import (
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/theoryfig"
)

// Theory is what the theory's models give for a recipe, or for a single solved setting.
type Theory struct {
	ID      string
	Title   string
	Source  string // which figure or theorem of which paper
	Caption string // what the paper shows
	Claims  []judge.Claim
	Facts   []theoryfig.Fact
	Notes   []string
	Command string // remakes the page
	Figures []chart.Figure
}

// Findings have the form of those of recipes that train networks, without runs.
func (p Theory) Findings() RecipeFindings {
	found := RecipeFindings{Recipe: Recipe{ID: p.ID, Title: p.Title, Source: p.Source, Caption: p.Caption, Notes: p.Notes, Commands: []string{p.Command}},
		Judged: p.Claims, Facts: p.Facts}
	for _, f := range p.Figures {
		found.Pictures = append(found.Pictures, figure.Picture{Figure: f})
	}
	return found
}
