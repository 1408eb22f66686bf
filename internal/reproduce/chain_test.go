package reproduce

import (
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
)

// TestATableWithoutItsSearchSaysWhatToRun: a recipe that takes settings from a search which has not begun names it and the command.
func TestATableWithoutItsSearchSaysWhatToRun(t *testing.T) {
	r, err := recipe.Load("md-tab2")
	if err != nil {
		t.Fatal(err)
	}
	lab, err := store.Open(filepath.Join(t.TempDir(), "lab"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	job := Job{Recipe: r, Choice: recipe.Choice{Scale: "quick"}}
	f, err := job.source()
	if err != nil || f == nil {
		t.Fatalf("the search is %v, %v", f, err)
	}
	const want = "the search md-tab1.quick has not begun, and md-tab2 takes settings from it; run: collapse reproduce md-tab1 --scale quick"
	if found, err := job.foundBy(lab.Reader, f); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, %v", found, err)
	}
	found, first, err := job.FoundBefore(func() (*store.Reader, error) { return lab.Reader, nil })
	if found != nil || first == nil || first.Name != f.Name || err != nil {
		t.Errorf("before the search: %v, %v, %v", found, first, err)
	}
}
