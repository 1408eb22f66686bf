package results_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/results"
)

// spoilings calls use with a text for each part of a value of JSON, in which that part is replaced by each of a few others.
func spoilings(root any, use func(text []byte)) {
	others := []any{nil, -1.0, 1e300, "", strings.Repeat("x", 3000), []any{}, []any{nil}, map[string]any{}, true}
	var walk func(part any, set func(v any))
	walk = func(part any, set func(v any)) {
		for _, other := range others {
			set(other)
			if text, err := json.Marshal(root); err == nil {
				use(text)
			}
		}
		set(part)
		switch part := part.(type) {
		case map[string]any:
			for key, v := range part {
				walk(v, func(v any) { part[key] = v })
			}
		case []any:
			for i, v := range part {
				walk(v, func(v any) { part[i] = v })
			}
		}
	}
	for key, v := range root.(map[string]any) {
		if key != "id" {
			walk(v, func(v any) { root.(map[string]any)[key] = v })
		}
	}
}

// TestAnyPartMayBeWrong: whatever stands in the place of a part of a file, the table, the figures and judging again are made, or refused in words.
func TestAnyPartMayBeWrong(t *testing.T) {
	r := drawn()
	r.Claims = append(r.Claims, answered(t))
	r.Figures[0].Panels[0].Series = append(r.Figures[0].Panels[0].Series,
		chart.Series{ID: "heat", Kind: chart.HeatMap, Heat: &chart.Heat{Columns: 1, Rows: 1, X: [2]float64{0, 1}, Y: [2]float64{0, 1}, Z: chart.Numbers{1}}},
		chart.Series{ID: "band", Kind: chart.Band, X: chart.Numbers{1}, Y: chart.Numbers{1}, YLo: chart.Numbers{1}, YHi: chart.Numbers{2}})
	r.Claims[1].Effect.Cells = r.Claims[1].Effect.Cells[:1]
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	base, n, refused := t.TempDir(), 0, 0
	spoilings(root, func(text []byte) {
		dir := filepath.Join(base, fmt.Sprint(n))
		n++
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%v\n%.3000s", p, text)
			}
		}()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Rebuild(outfile.At(dir, results.Kind)); err != nil {
			refused++
		}
		_, _ = results.Check(dir, func(r results.Recipe) (*results.Recipe, error) { r.Claims = nil; return &r, nil })
		os.RemoveAll(dir)
	})
	if n < 500 || refused == 0 || refused == n {
		t.Errorf("%d files, %d of them refused", n, refused)
	}
}
