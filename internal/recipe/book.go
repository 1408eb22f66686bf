package recipe

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/recipes"
)

// Book is a folder of recipes, <id>.toml each.
type Book struct {
	files fs.FS
	dir   string // "": those of the papers, which the program carries
}

var papers = &Book{files: recipes.Files()}

// BookIn is a folder of somebody's own recipes; "" is those of the papers. An own recipe may not have the id of one of the papers: their
// studies in a lab would have one name.
func BookIn(dir string) (*Book, error) {
	if dir == "" {
		return papers, nil
	}
	b := &Book{folder(dir), dir}
	ids, err := b.ids()
	switch {
	case err != nil:
		return nil, fmt.Errorf("recipe: %w", err)
	case len(ids) == 0:
		return nil, fmt.Errorf("recipe: %s holds no file ID.toml", dir)
	}
	for _, id := range ids {
		if _, taken := head(id); taken {
			return nil, fmt.Errorf("recipe: %s: the papers have a recipe %q: give yours another id, and rename its file", filepath.Join(dir, id+suffix), id)
		}
	}
	return b, nil
}

const suffix = ".toml"

// folder is a folder of small regular files.
type folder string

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	return inputfile.Open(filepath.Join(string(f), name))
}

// ReadFile implements fs.ReadFileFS.
func (f folder) ReadFile(name string) ([]byte, error) {
	return inputfile.Read(filepath.Join(string(f), name), inputfile.Text)
}

// ReadDir implements fs.ReadDirFS.
func (f folder) ReadDir(string) ([]fs.DirEntry, error) { return os.ReadDir(string(f)) }

func (b *Book) ids() ([]string, error) {
	entries, err := fs.ReadDir(b.files, ".")
	var out []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && !strings.HasPrefix(id, ".") {
			out = append(out, id)
		}
	}
	return out, err
}

// List returns the heads of all recipes in the order of their IDs. Files whose head cannot be read are left out; Load says what is wrong.
func (b *Book) List() []Head {
	ids, _ := b.ids() // BookIn has read them
	var out []Head
	for _, id := range ids {
		if h, ok := b.head(id); ok {
			out = append(out, h)
		}
	}
	return out
}

// IDs returns the IDs of all recipes in order.
func (b *Book) IDs() []string {
	ids, _ := b.ids()
	return ids
}

// Trains reports whether id names a recipe that trains networks.
func (b *Book) Trains(id string) bool {
	h, ok := b.head(id)
	return ok && h.Trains()
}

// head reads only the head of a recipe; ok is false if no recipe has that ID.
func (b *Book) head(id string) (h Head, ok bool) {
	if !slices.Contains(b.IDs(), id) {
		return h, false
	}
	text, err := fs.ReadFile(b.files, id+suffix)
	return h, err == nil && toml.Unmarshal(text, &h) == nil
}

// UnknownError says that there is no recipe with an ID.
type UnknownError struct {
	ID   string
	Dir  string   // "": among those of the papers
	Have []string // the IDs that there are
}

func (e *UnknownError) Error() string {
	where := ""
	if e.Dir != "" {
		where = " in " + e.Dir
	}
	return fmt.Sprintf("there is no recipe %q%s%s", e.ID, where, spelling.Suggestion(e.ID, e.Have))
}

// Load returns the checked recipe with an ID; an *UnknownError if there is none.
func (b *Book) Load(id string) (*Recipe, error) {
	if have := b.IDs(); !slices.Contains(have, id) {
		return nil, &UnknownError{id, b.dir, have}
	}
	return LoadFrom(b.files, id)
}

// Recipes of the papers: see Book.

// List is Book.List of the papers.
func List() []Head { return papers.List() }

// IDs is Book.IDs of the papers.
func IDs() []string { return papers.IDs() }

// Trains is Book.Trains of the papers.
func Trains(id string) bool { return papers.Trains(id) }

// Load is Book.Load of the papers.
func Load(id string) (*Recipe, error) { return papers.Load(id) }

func head(id string) (Head, bool) { return papers.head(id) }

// LoadFrom reads a recipe from a folder and checks it completely.
func LoadFrom(files fs.FS, id string) (*Recipe, error) {
	text, err := fs.ReadFile(files, id+suffix)
	if err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	return parse(files, id+suffix, text)
}
