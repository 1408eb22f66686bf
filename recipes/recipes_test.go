package recipes

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPackedRecipesAreTheFiles: the program holds the recipes of this folder as they are now, and nothing else.
func TestPackedRecipesAreTheFiles(t *testing.T) {
	names, err := filepath.Glob("*.toml")
	if err != nil || len(names) < 50 {
		t.Fatalf("%d recipes, %v", len(names), err)
	}
	held, err := fs.Glob(Files(), "*")
	if err != nil || !slices.Equal(held, names) {
		t.Fatalf("the program holds %q, the folder %q, %v; go generate ./recipes packs them anew", held, names, err)
	}
	for _, name := range names {
		now, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := fs.ReadFile(Files(), name); err != nil || string(text) != string(now) {
			t.Errorf("%s has changed since it was packed (%v); go generate ./recipes packs it anew", name, err)
		}
	}
}
