package study

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"collapse/internal/store"
	"collapse/internal/train"
)

// Settings returns the settings of each run as "section.key" and a number, a text or a truth value, and the keys that are not the same
// in all of them. Those of a training run are whole, defaults included; nil stands for a setting that a run of another kind lacks.
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
		if r.Kind == store.Train { // an identity leaves defaults out
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

// SettingText is a setting as --set takes it; "" for none.
func SettingText(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
