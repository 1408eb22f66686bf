package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/train"
)

// SettingsFrom chains a recipe to one that searches: each run takes the settings that were found for its cell.
type SettingsFrom struct {
	Recipe string   `toml:"recipe"` // the recipe that searches
	Match  []string `toml:"match"`  // settings that identify a run's search
	Take   []string `toml:"take"`   // settings to take from it
}

// Taken are the settings that a search found for a cell.
type Taken struct {
	Cell     []string `json:"cell"`     // "key=value" of SettingsFrom.Match
	Settings []string `json:"settings"` // "key=value" of SettingsFrom.Take
	From     string   `json:"from"`     // which trial, in words
}

// Found are the settings that a search found, cell by cell.
type Found []Taken

// of returns the settings of a cell; ok is false if there was no search for it.
func (f Found) of(cell []string) (settings []string, ok bool) {
	i := slices.IndexFunc(f, func(t Taken) bool { return slices.Equal(t.Cell, cell) })
	if i < 0 {
		return nil, false
	}
	return f[i].Settings, true
}

// Of are the searched settings that a cell takes.
func (s *SettingsFrom) Of(searched []string) (taken []string) {
	for _, setting := range searched {
		if key, _, _ := strings.Cut(setting, "="); slices.Contains(s.Take, key) {
			taken = append(taken, setting)
		}
	}
	return taken
}

// Source is the recipe that a choice takes settings from; nil if there is none, or if all these settings are set by
// hand.
func (r *Recipe) Source(c Choice) *Recipe {
	if r.SettingsFrom == nil || !slices.ContainsFunc(r.SettingsFrom.Take, func(key string) bool { return !c.sets(key) }) {
		return nil
	}
	return r.source
}

// OfSource is the choice for the search that a chained recipe takes settings from. Settings by hand and the number of seeds apply only to
// the chained recipe.
func (c Choice) OfSource() Choice {
	return Choice{Scale: c.Scale, Preset: c.Preset, BuiltIn: c.BuiltIn, Dir: c.Dir, Recipes: c.Recipes}
}

// sets reports whether a key is set by hand.
func (c Choice) sets(key string) bool { return named(c.Set, key) }

// named reports whether a key is among settings.
func named(settings []string, key string) bool {
	return slices.ContainsFunc(settings, func(s string) bool { k, _, _ := strings.Cut(s, "="); return strings.TrimSpace(k) == key })
}

// noSearch is the error that a cell has no search; it says what to do.
func (r *Recipe) noSearch(c Choice, cell []string) error {
	from := r.SettingsFrom
	var byHand []string
	for _, key := range from.Take {
		byHand = append(byHand, "--set "+key+"=…")
	}
	return fmt.Errorf("%s takes settings from %s, which has none for %s; run %s if its search is not finished, or set them by hand: %s",
		r.ID, from.Recipe, strings.Join(cell, ", "), c.OfSource().Command(from.Recipe), strings.Join(byHand, " "))
}

// loadSource reads the recipe that a chained one takes settings from. checkChain reports it if missing.
func (r *Recipe) loadSource(files fs.FS) error {
	file := r.SettingsFrom.Recipe + ".toml"
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return nil
	}
	var ahead struct {
		SettingsFrom *SettingsFrom `toml:"settings_from"`
	}
	if toml.Unmarshal(text, &ahead) == nil && ahead.SettingsFrom != nil {
		return fmt.Errorf("settings_from.recipe is %q, which itself takes settings from another recipe", r.SettingsFrom.Recipe)
	}
	r.source, err = parse(files, file, text)
	return err
}

// checkChain checks what a chained recipe says about its source. Foresee checks that the source has a search for each cell.
func (r *Recipe) checkChain(text []byte) error {
	from, lines := r.SettingsFrom, linesOf(text)
	if from == nil {
		return nil
	}
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("line %d: settings_from.%s %s", max(lines[key], lines[""]), key, fmt.Sprintf(format, args...)))
	}
	switch {
	case r.Search != nil:
		bad("recipe", "has no effect: the recipe searches its own settings")
	case r.source == nil:
		bad("recipe", "is %q, which is not a recipe%s", from.Recipe, spelling.Suggestion(from.Recipe, IDs()))
	case r.source.Search == nil:
		bad("recipe", "is %q, which has no [search]", from.Recipe)
	}
	if len(errs) == 0 {
		r.checkKeys(bad)
	}
	return errors.Join(errs...)
}

// checkKeys checks match, which must give every cell one search, and take, and that the search has every preset.
func (r *Recipe) checkKeys(bad func(key, format string, args ...any)) {
	from := r.SettingsFrom
	table, _ := r.source.Search["space"].(map[string]any)
	space := settingsOfSpace("", table)
	slices.Sort(space)
	if len(from.Take) == 0 {
		bad("take", "is missing; %s searches %s", from.Recipe, strings.Join(space, ", "))
	}
	for _, key := range from.Take {
		if !slices.Contains(space, key) {
			bad("take", "has %q, which %s does not search%s", key, from.Recipe, spelling.Suggestion(key, space))
		}
	}
	var known []string
	for _, k := range train.Keys() {
		known = append(known, k.Name)
	}
	for _, key := range from.Match {
		if !slices.Contains(known, key) || key == "run.seed" {
			bad("match", "has %q; wanted settings other than the seed%s", key, spelling.Suggestion(key, known))
		}
	}
	for preset := range r.Presets {
		if _, ok := r.source.Presets[preset]; !ok {
			bad("recipe", "is %q, which has no preset %s", from.Recipe, preset)
		}
	}
	for _, scale := range []Scale{r.source.Quick, r.source.Standard, r.source.Full} {
		for _, key := range slices.Sorted(maps.Keys(scale.Grid)) {
			if !slices.Contains(from.Match, key) && key != "run.seed" {
				bad("match", "lacks %q, by which the searches of %s differ", key, from.Recipe)
			}
		}
	}
}

// settingsOfSpace are the settings of a table [search.space]; each is a table with a list, such as { choice = [0.1, 0.5] }.
func settingsOfSpace(prefix string, space map[string]any) (keys []string) {
	for _, k := range slices.Sorted(maps.Keys(space)) {
		below, _ := space[k].(map[string]any)
		isSetting := false
		for _, v := range below {
			_, isList := v.([]any)
			isSetting = isSetting || isList
		}
		if isSetting {
			keys = append(keys, prefix+k)
		} else {
			keys = append(keys, settingsOfSpace(prefix+k+".", below)...)
		}
	}
	return keys
}

// linesOf maps the keys of [settings_from] to their lines, and "" to the line of the section.
func linesOf(text []byte) map[string]int {
	var section struct {
		SettingsFrom struct{} `toml:"settings_from"`
	}
	lines := map[string]int{}
	for _, target := range []any{&section, &struct{}{}} {
		var missing *toml.StrictMissingError
		if !errors.As(toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(target), &missing) {
			continue
		}
		for i := range missing.Errors {
			line, _ := missing.Errors[i].Position()
			switch key := missing.Errors[i].Key(); {
			case len(key) == 2 && key[0] == "settings_from":
				lines[key[1]] = line
			case len(key) == 1 && key[0] == "settings_from":
				lines[""] = line
			}
		}
	}
	return lines
}
