package recipe

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
)

// Departures lists where the runs of a choice depart from the paper's setting.
func (r *Recipe) Departures(c Choice) ([]Substitution, error) {
	scale, err := r.scale(c.Scale)
	if err != nil {
		return nil, err
	}
	var out []Substitution
	if c.BuiltIn {
		out = append(out, Substitution{What: dataSet, Paper: strings.Join(r.dataSets(), ", "),
			Here: "glyphs, drawn by this program", Why: "requested by --built-in, which replaces the paper's data sets"})
	}
	out = append(out, scale.Substitutions...)
	for _, s := range c.Set {
		key, value, _ := strings.Cut(s, "=")
		out = append(out, Substitution{What: key, Paper: "the recipe's", Here: value, Why: "set by hand"})
	}
	return out, nil
}

// Departs says in a sentence what is not as in the paper, data that the paper did not use first; "" if all is.
func Departs(from []Substitution) string {
	first, others := "", []string{}
	for _, s := range from {
		if s.What == dataSet {
			first = "On " + s.Here + ", instead of " + s.Paper + ": these verdicts are not about the paper's data. "
		} else {
			others = append(others, s.What)
		}
	}
	if len(others) > 0 {
		first += "Not as in the paper: " + strings.Join(others, ", ") + "."
	}
	return strings.TrimSpace(first)
}

// dataSet is what built-in images stand for.
const dataSet = "data set"

// dataSets are the data sets of the full scale.
func (r *Recipe) dataSets() []string {
	runs, err := r.Foresee(Choice{Scale: "paper"})
	if err != nil {
		return nil // Parse has checked it
	}
	return DataSets(runs)
}

// Describe says what was chosen, and how many runs it has.
func (c Choice) Describe(runs int) string {
	words := fmt.Sprintf("Scale %s: %d runs.", c.Scale, runs)
	if c.Preset != "" {
		words += " Preset " + c.Preset + "."
	}
	return words
}

// Command is the command that repeats the choice for a recipe.
func (c Choice) Command(id string) string {
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
	return strings.Join(words, " ") + c.RecipesFlag()
}

// RecipesFlag is what a command needs to find the recipe.
func (c Choice) RecipesFlag() string {
	if c.Recipes == "" {
		return ""
	}
	return " --recipes " + format.ShellWord(c.Recipes)
}
