package study

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	"collapse/internal/store"
	"collapse/internal/train"
)

// Settings returns the settings of each run as "section.key" and a number, a text or a truth value, and the keys that are not the same
// in all of them. Those of a training run are whole, defaults included; nil stands for a setting that a run of another kind lacks.
func Settings(runs []store.Run) (settings []map[string]any, differ []string, err error) {
	defaults, err := trainDefaults()
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for _, r := range runs {
		tree := map[string]any{}
		if err := json.Unmarshal(r.Config, &tree); err != nil {
			return nil, nil, fmt.Errorf("study: configuration of run %.12s: %w", r.Hash, err)
		}
		own := map[string]any{}
		flatten("", tree, own)
		for k := range own {
			seen[k] = true
		}
		settings = append(settings, own)
	}
	for i, own := range settings {
		if runs[i].Kind == store.Train { // an identity leaves defaults out
			for k, v := range defaults {
				if _, ok := own[k]; !ok {
					own[k] = v
				}
			}
		}
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

// trainDefaults are the settings that a training run's identity leaves out.
func trainDefaults() (map[string]any, error) {
	tree := map[string]any{}
	if err := toml.Unmarshal([]byte(train.PrintConfig(train.Default().Resolved())), &tree); err != nil {
		return nil, fmt.Errorf("study: the default configuration: %w", err)
	}
	out := map[string]any{}
	flatten("", tree, out)
	return out, nil
}

// flatten writes nested objects under dotted keys.
func flatten(prefix string, tree map[string]any, out map[string]any) {
	for k, v := range tree {
		if below, ok := v.(map[string]any); ok {
			flatten(prefix+k+".", below, out)
			continue
		}
		out[prefix+k] = v
	}
}
