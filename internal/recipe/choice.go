package recipe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/train"
)

// Departures lists where the runs of a choice depart from the paper's setting.
func (r *Recipe) Departures(c Choice) ([]Substitution, error) {
	scale, err := r.scale(c.Scale)
	if err != nil {
		return nil, err
	}
	_, set, err := r.chosen(c)
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
		if slices.Contains(technical, strings.TrimSpace(key)) {
			continue
		}
		d := Substitution{What: key, Paper: "the recipe's", Here: value, Why: "set by hand"}
		if grid := scale.Grid[strings.TrimSpace(key)]; !slices.Contains(set, s) && isPart(s, grid) {
			if isWhole(s, grid) {
				continue
			}
			d.What, d.Part = onlyPart+key, true
			if c.Scale == "paper" {
				d.Paper = train.Literal(grid)
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// technical are the settings that say who computes a run and what it keeps: no paper's setting departs by them.
var technical = []string{"data.dir", "run.engine", "run.checkpoint_every", "run.keep", "run.save_features"}

// mostSettings bounds what is set by hand: a file may say anything.
const mostSettings = 1000

// chosen is a scale whose grid has the values that are set by hand, and the settings by hand of every run.
func (r *Recipe) chosen(c Choice) (scale Scale, set []string, err error) {
	if scale, err = r.scale(c.Scale); err != nil {
		return scale, nil, err
	}
	if c.Seeds < 0 || len(c.Set) > mostSettings {
		return scale, nil, fmt.Errorf("%d seeds and %d settings by hand; wanted at least none and at most %d", c.Seeds, len(c.Set), mostSettings)
	}
	grid := maps.Clone(scale.Grid)
	for _, s := range c.Set {
		key, values, list, err := axis(s)
		if err != nil {
			return scale, nil, err
		}
		if key == "run.seed" {
			return scale, nil, fmt.Errorf("--set %s: a recipe has seeds 1 to N; choose N with --seeds", s)
		}
		if _, varies := grid[key]; varies || list {
			if len(values) == 0 {
				return scale, nil, fmt.Errorf("--set %s: has no values, so there would be no run", s)
			}
			if grid == nil {
				grid = map[string][]any{}
			}
			grid[key] = distinct(values)
			set = slices.DeleteFunc(set, func(one string) bool { return named([]string{one}, key) })
		} else {
			set = append(set, s)
		}
	}
	scale.Grid = grid
	return scale, set, scale.checkSize(c.Seeds)
}

// checkSize reports a grid that is too large, before anything is made from it. seeds is 0 for the scale's.
func (s Scale) checkSize(seeds int) error {
	runs := max(1, len(s.Variants))
	for _, factor := range append([]int{cmp.Or(seeds, s.Seeds)}, lengths(s.Grid)...) {
		if factor > train.MaxRuns/runs {
			return fmt.Errorf("grid and seeds ask for more than %d runs; leave out values or seeds", train.MaxRuns)
		}
		runs *= max(1, factor)
	}
	return nil
}

func lengths(grid map[string][]any) (list []int) {
	for _, values := range grid {
		list = append(list, len(values))
	}
	return list
}

// axis is what a setting by hand says of an axis of a grid.
func axis(setting string) (key string, values []any, list bool, err error) {
	key, value, _ := strings.Cut(setting, "=")
	key = strings.TrimSpace(key)
	if values, list, err = train.Axis(key, strings.TrimSpace(value)); err != nil {
		err = fmt.Errorf("--set %s: not a list of values: %w", setting, err)
	}
	return key, values, list, err
}

// isPart reports whether a setting by hand has only values that a grid has.
func isPart(setting string, grid []any) bool {
	_, values, _, err := axis(setting)
	known := literals(grid)
	return err == nil && !slices.ContainsFunc(values, func(v any) bool { return !known[train.Literal(v)] })
}

// isWhole reports whether a setting by hand has every value of a grid.
func isWhole(setting string, grid []any) bool {
	_, values, _, err := axis(setting)
	return err == nil && len(literals(values)) == len(literals(grid))
}

// distinct are values without repetitions.
func distinct(values []any) (out []any) {
	seen := map[string]bool{}
	for _, v := range values {
		if text := train.Literal(v); !seen[text] {
			seen[text] = true
			out = append(out, v)
		}
	}
	return out
}

// literals are values as texts: 0 and 0.0 are the same.
func literals(values []any) map[string]bool {
	out := map[string]bool{}
	for _, v := range values {
		out[train.Literal(v)] = true
	}
	return out
}

// Departs says in a sentence what is not as in the paper, data that the paper did not use first; "" if all is.
func Departs(from []Substitution) string {
	first, others, parts := "", []string{}, []string{}
	for _, s := range from {
		if s.Part {
			parts = append(parts, strings.TrimPrefix(s.What, onlyPart))
		} else if s.What == dataSet {
			first = "On " + s.Here + ", instead of " + s.Paper + ": these verdicts are not about the paper's data. "
		} else {
			others = append(others, s.What)
		}
	}
	if len(parts) > 0 {
		first += "Of " + format.List(parts) + " only a part was computed. "
	}
	if len(others) > 0 {
		first += "Not as in the paper: " + strings.Join(others, ", ") + "."
	}
	return strings.TrimSpace(first)
}

// onlyPart begins what a part of a grid is called.
const onlyPart = "only a part of "

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
		words = append(words, "--set", format.ShellWord(s))
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
