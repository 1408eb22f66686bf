package results_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/results"
)

// TestTwoScales: a folder called paper says what its recipes found beside the one called standard, what changed between them, and nothing of
// recipes that only one of them has.
func TestTwoScales(t *testing.T) {
	root := t.TempDir()
	large, small := filepath.Join(root, "paper"), filepath.Join(root, "standard")
	save := func(dir string, r results.Recipe) {
		t.Helper()
		if err := results.Save(outfile.At(dir, results.Kind), r); err != nil {
			t.Fatal(err)
		}
	}
	few := some("a", judge.Holds)
	few.Changed = []results.Change{{What: "epochs", Paper: "200", Here: "20", Why: "time"}}
	save(small, few)
	save(small, some("only-small", judge.Fails))
	if _, err := os.Stat(filepath.Join(small, "scales.md")); err == nil || strings.Contains(read(t, small, "README.md"), "scales.md") {
		t.Error("the smallest scale has a page of scales")
	}
	many := some("a", judge.CannotTell)
	many.Scale, many.Machine, many.Runs, many.Changed = "paper", "a device", 3, []results.Change{}
	many.Claims = append(many.Claims, judge.Claim{ID: "new", Statement: "It also rises", Provenance: judge.Provenance{Source: judge.Ours}, Verdict: judge.CannotTell, Reason: "one seed"})
	save(large, many)
	other := some("only-large", judge.Holds)
	other.Scale, other.Changed = "paper", []results.Change{{What: "only a part of data.name", Part: true}}
	save(large, other)
	page := read(t, large, "scales.md")
	for _, want := range []string{"| | scale paper | scale standard |", "| runs | 3 | 12 |", "| machine | a device | a processor |", "| figure | ![Falling](figures/a.svg) | ![Falling](../standard/figures/a.svg) |",
		"| NC1 \\| falls &lt;b>: “it falls” (Sec. 9) | **cannot tell**: ratio 0.500 (0.250 to 0.750), 6 seeds | **holds**: ratio 0.500 (0.250 to 0.750), 6 seeds |", "| It also rises: ours | **cannot tell**: one seed | not asked |",
		"Scale paper: no setting departs from the paper's.", "What is not as in the paper at scale standard:", "| epochs | 200 | 20 | time |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "only-") {
		t.Error("a recipe of one scale is on the page")
	}
	table := read(t, large, "README.md")
	if !strings.Contains(table, "(scales.md)") || !strings.Contains(table, "the papers’ own") || strings.Contains(table, "far narrower") {
		t.Error(table)
	}
	other.Changed[0].Part = false
	save(large, other)
	if table := read(t, large, "README.md"); strings.Contains(table, "the papers’ own;") || !strings.Contains(table, "but for what a command sets by hand") {
		t.Error(table)
	}
	many.Changed = nil // as results of earlier versions
	save(large, many)
	if page := read(t, large, "scales.md"); !strings.Contains(page, "Scale paper: what departs from the paper was not recorded.") {
		t.Error(page)
	}
	if table := read(t, small, "README.md"); !strings.Contains(table, "far narrower") {
		t.Error(table)
	}
}

// TestCommittedResultsSayWhatTheirRecipesChange: a recipe whose settings change needs new results.
func TestCommittedResultsSayWhatTheirRecipesChange(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "results", "standard", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		var r results.Recipe
		if err := json.Unmarshal([]byte(read(t, name)), &r); err != nil {
			t.Fatal(err)
		}
		of, err := recipe.Load(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		departures, err := of.Departures(recipe.Choice{Scale: r.Scale})
		if err != nil {
			t.Fatal(err)
		}
		var want []results.Change
		for _, d := range departures {
			want = append(want, results.Change(d))
		}
		if !slices.Equal(r.Changed, want) {
			t.Errorf("%s says %+v; the recipe %+v", r.ID, r.Changed, want)
		}
	}
}
