package recipe

import (
	"fmt"
	"slices"
	"strings"

	"collapse/internal/report"
)

// ShowsFeatures reports whether a drawing is of features themselves, which are larger than all measures of a run together.
func (r *Recipe) ShowsFeatures() bool {
	return slices.ContainsFunc(r.Drawings, func(d report.Drawing) bool {
		return slices.ContainsFunc(d.Panels, func(p report.DrawingPanel) bool { return p.X == "features" })
	})
}

// Page gives the words and figures of a recipe's page to its runs.
func (r *Recipe) Page(c Choice, runs []report.Run) (report.Recipe, error) {
	scale, err := r.scale(c.Scale)
	if err != nil {
		return report.Recipe{}, err
	}
	p := report.Recipe{ID: r.ID, Title: r.Title, Source: r.Paper, Caption: r.Caption, Scale: c.describe(len(runs)), Runs: runs,
		Drawings: r.Drawings, Memorization: r.Memorization, Claims: r.Claims, Numbers: r.Numbers, Commands: []string{c.command(r.ID)}}
	if r.Ours != "" {
		p.Notes = append(p.Notes, "Ours, not the paper's: "+r.Ours)
	}
	if c.BuiltIn {
		p.Substitutions = append(p.Substitutions, report.Substitution{What: "data set", Paper: strings.Join(r.dataSets(), ", "),
			Here: "glyphs, drawn by this program", Why: "asked for with --built-in: the data sets of the paper were not at hand"})
	}
	for _, s := range scale.Substitutions {
		p.Substitutions = append(p.Substitutions, report.Substitution(s))
	}
	for _, s := range c.Set {
		key, value, _ := strings.Cut(s, "=")
		p.Substitutions = append(p.Substitutions, report.Substitution{What: key, Paper: "the recipe's", Here: value, Why: "set by hand"})
	}
	return p, nil
}

// dataSets are those of the full scale.
func (r *Recipe) dataSets() []string {
	runs, err := r.Expand(Choice{Scale: "paper"})
	if err != nil {
		return nil // Parse has checked it
	}
	return DataSets(runs)
}

func (c Choice) describe(runs int) string {
	words := fmt.Sprintf("Scale %s: %d runs.", c.Scale, runs)
	if c.Preset != "" {
		words += " Preset " + c.Preset + "."
	}
	return words
}

// command repeats the choice.
func (c Choice) command(id string) string {
	words := []string{"collapse reproduce", id, "--scale", c.Scale}
	if c.Preset != "" {
		words = append(words, "--preset", c.Preset)
	}
	if c.Seeds > 0 {
		words = append(words, "--seeds", fmt.Sprint(c.Seeds))
	}
	if c.BuiltIn {
		words = append(words, "--built-in")
	}
	for _, s := range slices.Sorted(slices.Values(c.Set)) {
		words = append(words, "--set", s)
	}
	return strings.Join(words, " ")
}
