package findings

import (
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/recipe"
)

// takenTable lists what a search found for each cell, and in which trial. A setting without effect in a cell is a dash there.
func takenTable(found recipe.Found) (t format.Table) {
	var cells, taken []string
	for _, f := range found {
		cells, taken = addKeys(cells, f.Cell), addKeys(taken, f.Settings)
	}
	if len(found) > 0 {
		t.Columns = slices.Concat(cells, taken, []string{"from"})
	}
	for _, f := range found {
		var row []string
		for _, key := range slices.Concat(cells, taken) {
			row = append(row, valueOf(key, slices.Concat(f.Cell, f.Settings)))
		}
		t.Rows = append(t.Rows, append(row, f.From))
	}
	return t
}

// addKeys adds the keys of settings, "key=value", that are missing from a list.
func addKeys(keys, settings []string) []string {
	for _, s := range settings {
		if key, _, _ := strings.Cut(s, "="); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// valueOf is the value of a key among settings; a dash if missing.
func valueOf(key string, settings []string) string {
	for _, s := range settings {
		if k, value, _ := strings.Cut(s, "="); k == key {
			return strings.Trim(value, `"`)
		}
	}
	return "–"
}
