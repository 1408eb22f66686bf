package study

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Settings returns the settings of each run, as "section.key" with a number, a text or a truth value, and the keys whose
// values differ between runs. The settings of a training run are complete, defaults included; nil stands for a setting
// that a run of another kind lacks.
func Settings(runs []store.Run) (settings []map[string]any, differ []string, err error) {
	defaults, seen := train.DefaultSettings(), map[string]bool{}
	for _, r := range runs {
		tree := map[string]any{}
		if err := json.Unmarshal(r.Config, &tree); err != nil {
			return nil, nil, fmt.Errorf("study: configuration of run %.12s: %w", r.Hash, err)
		}
		own, all := train.Flat(tree), map[string]any{}
		for k := range own {
			seen[k] = true
		}
		if r.Kind == store.Train { // an identity omits defaults
			maps.Copy(all, defaults)
		}
		maps.Copy(all, own)
		settings = append(settings, all)
	}
	maps.DeleteFunc(seen, func(k string, _ bool) bool {
		return !slices.ContainsFunc(settings, func(own map[string]any) bool { return SettingText(own[k]) != SettingText(settings[0][k]) })
	})
	return settings, slices.Sorted(maps.Keys(seen)), nil
}

// SettingText returns a setting in the form that --set takes; "" for none.
func SettingText(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return format.Setting(v)
}
