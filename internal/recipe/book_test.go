package recipe

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every recipe of the examples can be computed, and claims something.
func TestExamplesAreRecipes(t *testing.T) {
	b, err := BookIn(filepath.Join("..", "..", "examples", "recipes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range b.IDs() {
		r, err := b.Load(id)
		if err != nil || len(r.Claims) == 0 {
			t.Errorf("%s: %v, %+v", id, err, r)
		}
	}
	if len(b.IDs()) == 0 || len(b.List()) != len(b.IDs()) || !b.Trains("papyan-pace") || b.Trains("md-fig1") {
		t.Errorf("the examples hold %v", b.IDs())
	}
}

// A folder holds its own recipes and no others; what cannot be one is refused by name.
func TestBookIn(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wrong := func(want string) {
		t.Helper()
		if _, err := BookIn(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
	wrong("holds no file ID.toml")
	write("notes.txt", "")
	write(".x.toml", "")
	wrong("holds no file ID.toml")
	write("x.toml", small)
	b, err := BookIn(dir)
	if err != nil || !slices.Equal(b.IDs(), []string{"x"}) {
		t.Fatal(b, err)
	}
	if r, err := b.Load("x"); err != nil || r.Title != "A title" {
		t.Error(r, err)
	}
	var unknown *UnknownError
	for _, id := range []string{"md-fig1", "../x", "y"} {
		if _, err := b.Load(id); !errors.As(err, &unknown) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", id, err)
		}
	}
	write("large.toml", strings.Repeat("#", 2<<20))
	if b, err = BookIn(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Load("large"); err == nil || errors.As(err, &unknown) {
		t.Errorf("a file of two megabytes: %v", err)
	}
	write("md-fig1.toml", small)
	wrong(`the papers have a recipe "md-fig1"`)
}
