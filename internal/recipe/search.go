package recipe

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/train"
)

// SearchFile is the study file of a recipe that searches settings: the table [search], with the changes of preset and scale, in
// each combination of the grid and for each seed.
func (r *Recipe) SearchFile(name string, c Choice) ([]byte, error) {
	scale, set, err := r.chosen(c)
	if err != nil {
		return nil, err
	}
	common, seeds, err := r.common(c, scale)
	if err != nil {
		return nil, err
	}
	base := map[string]string{}
	byHand := slices.Concat(c.builtIn(), set) // overrides the grid
	for key, values := range scale.Grid {
		if named(c.Set, key) && len(values) == 1 {
			byHand = append(byHand, key+"="+train.Literal(values[0]))
		}
	}
	var changed []string // in [search]
	for _, s := range slices.Concat(common, byHand) {
		key, value, _ := strings.Cut(s, "=")
		if strings.HasPrefix(key, "search.") {
			changed = append(changed, s)
			continue
		}
		base[key] = quoted(value)
	}
	if len(changed) > 0 {
		return nil, fmt.Errorf("%s: a recipe's search is fixed; copy it to a study file to change it", strings.Join(changed, ", "))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "[study]\nname = %s\ntitle = %s\n[base]\n", train.Literal(name), train.Literal(r.Title))
	for _, key := range slices.Sorted(maps.Keys(base)) {
		fmt.Fprintf(&b, "%q = %s\n", key, base[key])
	}
	b.WriteString("[grid]\n")
	for _, key := range slices.Sorted(maps.Keys(scale.Grid)) {
		if !named(byHand, key) {
			fmt.Fprintf(&b, "%q = %s\n", key, train.Literal(scale.Grid[key]))
		}
	}
	list := make([]int, seeds)
	for i := range list {
		list[i] = i + 1
	}
	fmt.Fprintf(&b, "\"run.seed\" = %s\n", train.Literal(list))
	if err := toml.NewEncoder(&b).Encode(map[string]any{"search": r.searchTable(c, scale)}); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	return b.Bytes(), nil
}

// searchTable is the table [search]. The scale says how much is computed, the preset how; the preset wins.
func (r *Recipe) searchTable(c Choice, scale Scale) map[string]any {
	table := maps.Clone(r.Search)
	preset, _ := r.Presets[c.Preset]["search"].(map[string]any)
	maps.Copy(table, scale.Search)
	maps.Copy(table, preset)
	return table
}

// quoted is a value as TOML: unchanged if it is TOML, else as a string.
func quoted(value string) string {
	var v struct{ V any }
	if toml.Unmarshal([]byte("V = "+value), &v) == nil {
		return value
	}
	return train.Literal(value)
}
