package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// Training holds the sections of a recipe that trains networks.
type Training struct {
	Base     map[string]any            `toml:"base"`     // settings of every run, as in collapse train
	Presets  map[string]map[string]any `toml:"presets"`  // other settings: "code" is what the released code does
	Full     Scale                     `toml:"full"`     // --scale paper
	Standard Scale                     `toml:"standard"` // --scale standard: decides claims on two cores
	Quick    Scale                     `toml:"quick"`    // --scale quick
	Search   map[string]any            `toml:"search"`   // search settings instead of computing the whole grid, as in a study file

	SettingsFrom *SettingsFrom `toml:"settings_from"` // takes settings from another recipe's search

	Drawings     []figure.Drawing  `toml:"drawing"`
	Memorization bool              `toml:"memorization"` // draw and judge as in M-D Fig. 1
	Claims       []judge.Statement `toml:"claim"`
	Numbers      []judge.Number    `toml:"number"`
	Printed      *judge.Printed    `toml:"printed"` // the claim that the numbers equal the paper's
}

// Scale is a grid: every variant with every combination of the grid's values and every seed.
type Scale struct {
	Seeds         int              `toml:"seeds"`    // seeds 1 to Seeds
	Set           map[string]any   `toml:"set"`      // settings of every run
	Grid          map[string][]any `toml:"grid"`     // key → values
	Variants      []map[string]any `toml:"variants"` // settings that change together
	Search        map[string]any   `toml:"search"`   // overrides the recipe's
	Substitutions []Substitution   `toml:"substitution"`
}

// Substitution is a departure of the runs from the paper's setting.
type Substitution struct {
	What  string `toml:"what"`
	Paper string `toml:"paper"`
	Here  string `toml:"here"`
	Why   string `toml:"why"`
	Part  bool   `toml:"-"` // only a part of the grid was asked for, each run as the recipe has it
}

// checkTraining checks grids, measures and settings that claims and panels name.
func (r *Recipe) checkTraining(text []byte) error {
	if err := r.checkChain(text); err != nil {
		return err // no use checking cells
	}
	var errs []error
	for _, d := range r.Drawings {
		errs = append(errs, d.Check(judge.Vocabulary{}))
	}
	seen := map[string]bool{}
	for _, c := range r.Claims {
		if c.ID == "" || c.Says == "" || seen[c.ID] {
			errs = append(errs, fmt.Errorf("claim %q: id and says must be given, and each id only once", c.ID))
		}
		seen[c.ID] = true
		if err := c.Check(judge.Vocabulary{}); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", lineOf(text, c.ID), err))
		}
	}
	for _, n := range r.Numbers {
		errs = append(errs, n.Check())
	}
	if r.Printed != nil {
		errs = append(errs, r.Printed.Check())
	}
	for _, scale := range Scales {
		if scale == "standard" && r.Standard.Seeds == 0 {
			continue // not yet
		}
		runs, err := r.Foresee(Choice{Scale: scale})
		if err == nil {
			err = r.checkCells(runs)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("scale %s: %w", scale, err))
		}
	}
	if r.Search == nil && (r.Quick.Search != nil || r.Standard.Search != nil || r.Full.Search != nil) ||
		r.Search != nil && len(r.Quick.Variants)+len(r.Standard.Variants)+len(r.Full.Variants) > 0 {
		errs = append(errs, errors.New("a search needs [search], and no variants"))
	}
	for preset := range r.Presets {
		if _, err := r.Foresee(Choice{Scale: "paper", Preset: preset}); err != nil {
			errs = append(errs, fmt.Errorf("preset %s: %w", preset, err))
		}
	}
	return errors.Join(errs...)
}

// checkCells reports claims about several cells of which these runs have only one: "under every optimiser" would hold under one.
func (r *Recipe) checkCells(runs []Run) error {
	values := map[string]map[string]bool{}
	for _, run := range runs {
		for _, setting := range run.Varied {
			key, value, _ := strings.Cut(setting, "=")
			if values[key] == nil {
				values[key] = map[string]bool{}
			}
			values[key][value] = true
		}
	}
	for _, c := range r.Claims {
		if len(c.Cells) > 0 && !slices.ContainsFunc(c.Cells, func(key string) bool { return len(values[key]) > 1 }) {
			return fmt.Errorf("claim %q has cells by %s, which does not vary there: give the scale a grid, or leave out cells", c.ID, strings.Join(c.Cells, ", "))
		}
	}
	return nil
}

// lineOf is the line on which the claim with an ID begins.
func lineOf(text []byte, id string) int {
	before, _, _ := strings.Cut(string(text), "\nid = "+strconv.Quote(id)+"\n")
	return strings.Count(before, "\n") + 1
}

// Scales are the scales at which a recipe can run.
var Scales = []string{"quick", "standard", "paper"}

func (r *Recipe) scale(name string) (Scale, error) {
	switch name {
	case "quick":
		return r.Quick, nil
	case "standard":
		return r.Standard, nil
	case "paper":
		return r.Full, nil
	}
	return Scale{}, fmt.Errorf("there is no scale %q, only %s", name, strings.Join(Scales, ", "))
}

// DataSets lists the data sets a scale trains on.
func DataSets(runs []Run) []string {
	var out []string
	for _, run := range runs {
		if !slices.Contains(out, run.Config.Data.Name) {
			out = append(out, run.Config.Data.Name)
		}
	}
	return out
}
