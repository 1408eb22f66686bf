// Package recipe reads recipes: a figure, table or theorem of a paper as one file of recipes/. Its kind says what computes it:
// kind training is a grid of training runs, with figures, the paper's numbers and claims; every other kind has a runner in
// internal/theoryrun.
//
// recipe.go lists, reads and checks files, source.go says whose the claims are; theory.go and
// training.go define their contents; expand.go turns a grid into configurations, chain.go takes settings for it from a search,
// search.go turns a search into a study's file; choice.go describes a choice of runs in words.
package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/unknownkeys"
	"collapse.example/collapse/recipes"
)

// Head is the part that every recipe has.
type Head struct {
	ID      string `toml:"id"`
	Title   string `toml:"title"`
	Paper   string `toml:"paper"`   // which figure, table or theorem of which paper
	Caption string `toml:"caption"` // what the paper shows there
	Kind    string `toml:"kind"`    // one of Kinds
	Ours    string `toml:"ours"`    // values that the paper does not print
}

// Recipe is a figure, table or theorem of a paper. It has the sections of its kind.
type Recipe struct {
	Head
	Theory
	Training
	Sources []Attribution `toml:"source"` // whose the claims of a theory recipe are

	source *Recipe // of SettingsFrom; nil: none
}

// KindTraining is the kind of recipes that train networks.
const KindTraining = "training"

// sections lists the sections of each kind. A training recipe may leave some out; the others need all of them.
var sections = map[string][]string{
	KindTraining:  {"base", "presets", "full", "standard", "quick", "search", "settings_from", "drawing", "memorization", "claim", "number", "printed"},
	"attenuation": {"noise", "case"},
	"biases":      {"case"},
	"curve":       {"curve"},
	"depth":       {"depth"},
	"descent":     {"model", "descent"},
	"dilation":    {"dilation"},
	"feasible":    {"dilation"},
	"gradients":   {"landscape"},
	"imbalance":   {"imbalance"},
	"nc1-map":     {"nc1"},
	"optima":      {"case"},
	"outputs":     {"curve"},
	"relu":        {"case", "relu"},
	"saddles":     {"case"},
	"scheme":      {"landscape"},
	"sphere":      {"sphere"},
	"surfaces":    {"landscape"},
}

// Kinds lists the kinds of recipes, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(sections)) }

// Trains reports whether the recipe trains networks; internal/theoryrun computes the others.
func (h Head) Trains() bool { return h.Kind == KindTraining }

// Notes say what in the recipe is not from the paper.
func (h Head) Notes() []string {
	if h.Ours == "" {
		return nil
	}
	return []string{"Ours, not the paper's: " + h.Ours}
}

// Parse reads a recipe from TOML and checks it completely. file is the name of its file, ID.toml.
func Parse(file string, text []byte) (*Recipe, error) { return parse(recipes.Files(), file, text) }

// parse is Parse for a file that may refer to another recipe in the same folder.
func parse(files fs.FS, file string, text []byte) (*Recipe, error) {
	var r Recipe
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&r)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		return nil, fmt.Errorf("recipe: %s: %w", file, unknownkeys.In(strict, reflect.TypeFor[Recipe]()))
	}
	if err != nil {
		return nil, fmt.Errorf("recipe: %s: %s", file, unknownkeys.Syntax(err))
	}
	if r.SettingsFrom != nil {
		err = r.loadSource(files)
	}
	if err == nil {
		err = r.check(text)
	}
	if err == nil && r.ID+".toml" != file {
		err = fmt.Errorf("id is %q", r.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("recipe: %s: %w", file, err)
	}
	return &r, nil
}

func (r *Recipe) check(text []byte) error {
	var errs []error
	if r.ID == "" || r.Title == "" || r.Paper == "" {
		errs = append(errs, errors.New("id, title and paper must be given"))
	}
	if _, ok := sections[r.Kind]; !ok {
		return errors.Join(append(errs, fmt.Errorf("kind is %q, wanted one of %s", r.Kind, strings.Join(Kinds(), ", ")))...)
	}
	errs = append(errs, r.checkSections(text), r.checkSources(text))
	if r.Trains() {
		errs = append(errs, r.checkTraining(text))
	}
	return errors.Join(errs...)
}

// checkSections reports sections of other kinds, and missing sections of a theory recipe.
func (r *Recipe) checkSections(text []byte) error {
	var given map[string]any
	if err := toml.Unmarshal(text, &given); err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		own := slices.Contains(sections[r.Kind], name) || name == "source" && !r.Trains() // a sketch has no claims, so it needs no sources
		if !own && !slices.Contains([]string{"id", "title", "paper", "caption", "kind", "ours"}, name) {
			errs = append(errs, fmt.Errorf("a recipe of kind %s cannot have %s, only %s", r.Kind, name, strings.Join(sections[r.Kind], ", ")))
		}
	}
	for _, name := range sections[r.Kind] {
		if _, ok := given[name]; !ok && !r.Trains() {
			errs = append(errs, fmt.Errorf("%s is missing, which a recipe of kind %s needs", name, r.Kind))
		}
	}
	return errors.Join(errs...)
}
