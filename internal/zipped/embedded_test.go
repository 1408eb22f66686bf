package zipped_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/python"
	"collapse.example/collapse/recipes"
)

// TestTheProgramHoldsTheFiles: packed folders are what lies there now, and nothing else.
func TestTheProgramHoldsTheFiles(t *testing.T) {
	for _, folder := range []struct {
		name     string
		held     fs.FS
		patterns []string
		least    int
	}{
		{"recipes", recipes.Files(), []string{"*.toml"}, 50},
		{"internal/page", page.Sources(), []string{"*.html", "collapse.js"}, 8},
		{"python", python.Files(), []string{"collapse/__init__.py", "collapse/engine/*.py"}, 15},
	} {
		at := os.DirFS(filepath.Join("../..", folder.name))
		var there, held []string
		for _, pattern := range folder.patterns {
			names, err := fs.Glob(at, pattern)
			if err != nil {
				t.Fatal(err)
			}
			there = append(there, names...)
		}
		slices.Sort(there)
		err := fs.WalkDir(folder.held, ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				held = append(held, name)
			}
			return err
		})
		if err != nil || len(there) < folder.least || !slices.Equal(held, there) {
			t.Errorf("%s: the program holds %q, the folder %q (%v); go generate ./%s packs it anew", folder.name, held, there, err, folder.name)
		}
		for _, name := range there {
			now, err := fs.ReadFile(at, name)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := fs.ReadFile(folder.held, name); err != nil || string(text) != string(now) {
				t.Errorf("%s/%s has changed since it was packed (%v); go generate ./%s packs it anew", folder.name, name, err, folder.name)
			}
		}
	}
}
