package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/train"
)

// axis is a key of the grid with its values as TOML.
type axis struct {
	key    string
	values []string
}

// checkSize reports whether the grid is small enough, before anything is made from it.
func (f *File) checkSize(bad *FileError) bool {
	runs := max(1, len(f.seeds))
	for _, a := range f.axes {
		if len(a.values) > train.MaxRuns/runs {
			bad.add("[grid] and seeds ask for more than %d runs; leave out values, or make it several studies", train.MaxRuns)
			return false
		}
		runs *= max(1, len(a.values))
	}
	return true
}

// Configs expands the grid, with a note for each run that says what sets it apart. Seeds vary slowest, so that a study
// cut short has the whole grid for the first seeds; then come the keys in alphabetical order.
func (f *File) Configs() ([]train.Config, []string, error) {
	var configs []train.Config
	var notes []string
	bad := &FileError{File: f.Name}
	walkGrid(f.withSeeds(f.axes), func(settings []string) {
		cfg, err := train.LoadShared(append(slices.Clone(f.base), settings...)...)
		if err != nil {
			if text := fmt.Sprintf("%s: %v", noteOf(settings), err); len(bad.Problems) < 10 {
				bad.Problems = append(bad.Problems, text)
			}
			return
		}
		configs, notes = append(configs, cfg), append(notes, noteOf(settings))
	})
	if len(bad.Problems) > 0 {
		return nil, nil, bad
	}
	return configs, notes, nil
}

// Items expands the grid into runs with their identities, which means reading their data sets. progress, if not nil, is
// called with the number of runs done.
func (f *File) Items(progress func(done, all int)) (items []Item, err error) {
	var combinations [][]string
	walkGrid(f.withSeeds(f.axes), func(settings []string) { combinations = append(combinations, settings) })
	for i, settings := range combinations {
		item, err := f.subject.item(slices.Concat(f.base, settings), noteOf(settings))
		if err != nil {
			return nil, fmt.Errorf("study %s: %s: %w", f.Name, noteOf(settings), err)
		}
		items = append(items, item)
		if progress != nil {
			progress(i+1, len(combinations))
		}
	}
	return items, nil
}

// withSeeds puts the axis of seeds before the others.
func (f *File) withSeeds(axes []axis) []axis {
	if len(f.seeds) == 0 {
		return axes
	}
	a := axis{key: script.SeedKey}
	for _, s := range f.seeds {
		a.values = append(a.values, strconv.FormatUint(s, 10))
	}
	return append([]axis{a}, axes...)
}

// Idle refuses settings that have no effect in any configuration of the file: those that --set or the grid names, and
// those of the base that differ from the default. A study that is in the lab has been checked already.
func (f *File) Idle(configs []train.Config) error {
	if f.Search != nil && slices.ContainsFunc(f.Search.Space, func(p SearchParam) bool { return p.Scale == search.Choice }) {
		return nil // the search may choose a value that gives other settings an effect
	}
	bad := &FileError{File: f.Name}
	complain := func(where string, settings []string) {
		for _, u := range train.Idle(settings, configs) {
			bad.add("%s %s has no effect on any run: it has an effect only with %s; leave it out", where, u.Key, u.Needs)
		}
	}
	var axes []string
	for _, a := range f.axes {
		axes = append(axes, a.key+"=")
	}
	complain("--set", f.set)
	complain("[grid]", without(axes, f.set))
	complain("[base]", slices.DeleteFunc(without(f.base, f.set), atDefault))
	if len(bad.Problems) > 0 {
		return bad
	}
	return nil
}

// without returns the settings whose key does not occur in others.
func without(settings, others []string) []string {
	return slices.DeleteFunc(slices.Clone(settings), func(s string) bool {
		key, _, _ := strings.Cut(s, "=")
		return slices.ContainsFunc(others, func(o string) bool { k, _, _ := strings.Cut(o, "="); return strings.TrimSpace(k) == key })
	})
}

func atDefault(setting string) bool {
	c, err := train.Load("", nil, setting)
	return err == nil && c == train.Default()
}

// walkGrid calls f with the "key=value" pairs of each combination; the last axis varies fastest.
func walkGrid(axes []axis, f func(settings []string)) {
	at := make([]int, len(axes))
	for {
		settings := make([]string, len(axes))
		for i, a := range axes {
			settings[i] = a.key + "=" + a.values[at[i]]
		}
		f(settings)
		i := len(axes) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(axes[i].values) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// noteOf returns "loss ce, noise 0.1, seed 3" for loss.kind, data.noise and run.seed.
func noteOf(settings []string) string {
	if len(settings) == 0 {
		return "the only run"
	}
	parts := make([]string, len(settings))
	for i, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		section, name, _ := strings.Cut(key, ".")
		if name == "kind" || name == "name" || name == "" {
			name = section
		}
		parts[i] = name + " " + plain(value)
	}
	slices.Reverse(parts) // the seed comes last
	return strings.Join(parts, ", ")
}

// plain is a value without TOML's quotes and escapes, unless these keep it on one line.
func plain(value string) string {
	read, list, err := train.Axis("", value)
	if err != nil || list {
		return value
	}
	text, ok := read[0].(string)
	if !ok || strings.ContainsFunc(text, unicode.IsControl) {
		return strings.Trim(value, `"`)
	}
	return text
}
