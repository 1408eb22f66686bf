// Package recipe reads the recipes that train networks: a figure or table of a paper as one file
// of recipes/, with its settings, its grid at every scale, what its page draws, the paper's
// numbers and its claims. Recipes of pure theory belong to internal/theory.
//
// recipe.go reads and checks a file; expand.go turns it into configurations; page.go into the
// words of its page.
package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse/internal/report"
	"collapse/recipes"
)

// Kind marks the recipes of this package.
const Kind = "training"

// Recipe is a figure or table of a paper that needs trained networks.
type Recipe struct {
	ID      string `toml:"id"`
	Title   string `toml:"title"`
	Paper   string `toml:"paper"`   // which figure or table of which paper
	Caption string `toml:"caption"` // what it shows there
	Kind    string `toml:"kind"`    // Kind
	Ours    string `toml:"ours"`    // values the paper does not print

	Base    map[string]any            `toml:"base"`    // settings of every run, as collapse train has them
	Presets map[string]map[string]any `toml:"presets"` // other settings: "code" is what the released code does
	Full    Scale                     `toml:"full"`    // --scale paper
	Quick   Scale                     `toml:"quick"`   // --scale quick
	Search  map[string]any            `toml:"search"`  // choose settings instead of computing all of the grid, as a study's file says it

	Drawings     []report.Drawing   `toml:"drawing"`
	Memorization bool               `toml:"memorization"` // draw and judge as M-D Fig. 1
	Claims       []report.Statement `toml:"claim"`
	Numbers      []report.Number    `toml:"number"`
}

// Scale is a grid: every variant with every combination of the grid's values and every seed.
type Scale struct {
	Seeds         int              `toml:"seeds"`    // seeds 1 to Seeds
	Set           map[string]any   `toml:"set"`      // settings of every run
	Grid          map[string][]any `toml:"grid"`     // key → values
	Variants      []map[string]any `toml:"variants"` // settings that change together
	Search        map[string]any   `toml:"search"`   // stronger than the recipe's
	Substitutions []Substitution   `toml:"substitution"`
}

// Substitution is a departure from the paper's setting.
type Substitution struct {
	What  string `toml:"what"`
	Paper string `toml:"paper"`
	Here  string `toml:"here"`
	Why   string `toml:"why"`
}

// List returns the IDs of the recipes that train networks, in order.
func List() []string {
	entries, err := fs.ReadDir(recipes.Files, ".")
	if err != nil {
		panic("recipe: the embedded recipes cannot be listed: " + err.Error())
	}
	var out []string
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".toml")
		if ok && Is(id) {
			out = append(out, id)
		}
	}
	return out
}

// Is reports whether id names a recipe that trains networks.
func Is(id string) bool {
	text, err := fs.ReadFile(recipes.Files, id+".toml")
	var head struct {
		Kind string `toml:"kind"`
	}
	return err == nil && toml.Unmarshal(text, &head) == nil && head.Kind == Kind
}

// Load returns the recipe of an ID, checked.
func Load(id string) (*Recipe, error) {
	text, err := fs.ReadFile(recipes.Files, id+".toml")
	if err != nil {
		return nil, fmt.Errorf("recipe: there is no recipe %q; there are %s", id, strings.Join(List(), ", "))
	}
	r, err := Parse(id+".toml", text)
	if err == nil && r.ID != id {
		err = fmt.Errorf("recipe: %s.toml has id %q", id, r.ID)
	}
	return r, err
}

// Parse reads a recipe from TOML and checks all it says: keys, grids, measures and settings that
// claims and panels name. file names the text in errors.
func Parse(file string, text []byte) (*Recipe, error) {
	var r Recipe
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&r)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		return nil, fmt.Errorf("recipe: %s has unknown keys:\n%s", file, strict.String())
	}
	if err != nil {
		return nil, fmt.Errorf("recipe: %s: %w", file, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("recipe: %s: %w", file, err)
	}
	return &r, nil
}

func (r *Recipe) check() error {
	var errs []error
	if r.ID == "" || r.Title == "" || r.Paper == "" {
		errs = append(errs, errors.New("id, title and paper must be given"))
	}
	if r.Kind != Kind {
		errs = append(errs, fmt.Errorf("kind is %q, wanted %q", r.Kind, Kind))
	}
	for _, d := range r.Drawings {
		errs = append(errs, d.Check())
	}
	seen := map[string]bool{}
	for _, c := range r.Claims {
		if c.ID == "" || c.Says == "" || seen[c.ID] {
			errs = append(errs, fmt.Errorf("claim %q: id and says must be given, and no id twice", c.ID))
		}
		seen[c.ID] = true
		errs = append(errs, c.Check())
	}
	for _, n := range r.Numbers {
		errs = append(errs, n.Check())
	}
	for _, scale := range Scales {
		if _, err := r.Expand(Choice{Scale: scale}); err != nil {
			errs = append(errs, fmt.Errorf("scale %s: %w", scale, err))
		}
	}
	if r.Search == nil && (r.Quick.Search != nil || r.Full.Search != nil) || r.Search != nil && len(r.Quick.Variants)+len(r.Full.Variants) > 0 {
		errs = append(errs, errors.New("a search needs [search], and no variants"))
	}
	for preset := range r.Presets {
		if _, err := r.Expand(Choice{Scale: "paper", Preset: preset}); err != nil {
			errs = append(errs, fmt.Errorf("preset %s: %w", preset, err))
		}
	}
	return errors.Join(errs...)
}

// Scales are what a recipe can be run at.
var Scales = []string{"quick", "paper"}

func (r *Recipe) scale(name string) (Scale, error) {
	switch name {
	case "quick":
		return r.Quick, nil
	case "paper":
		return r.Full, nil
	}
	return Scale{}, fmt.Errorf("there is no scale %q, only %s", name, strings.Join(Scales, " and "))
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
