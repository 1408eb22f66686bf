// Package results keeps what recipes showed in a folder that people read in a repository: a JSON file for each recipe, and, made of
// these files alone, a table of all claims (README.md) and a page of figures (figures.md, figures/*.svg). Nothing else is needed to
// make table and figures anew: no lab, no run. What else a user keeps there stays (see outfile.Folder).
package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
)

// Recipe is what a figure, table or theorem of a paper came to.
type Recipe struct {
	ID        string             `json:"id"`
	Title     string             `json:"title"`
	Paper     string             `json:"paper"` // which figure, table or theorem of which paper
	Scale     string             `json:"scale"`
	Command   string             `json:"command"`          // that makes it again
	Choice    *Choice            `json:"choice,omitempty"` // what was asked for; nil: not recorded, as before version 0.2
	Claims    []judge.Claim      `json:"claims"`
	Numbers   []judge.Comparison `json:"numbers,omitempty"` // the paper's beside ours
	Notes     []string           `json:"notes,omitempty"`
	Changed   []Change           `json:"changed,omitzero"` // what is not as in the paper; nil: not recorded, as before version 0.2
	Runs      int                `json:"runs"`             // 0: it trains none
	Failed    int                `json:"failed,omitempty"` // or not ended
	Partly    bool               `json:"partly,omitempty"` // a budget was spent before all had ended
	CoreHours float64            `json:"core_hours,omitempty"`
	Program   string             `json:"program"` // version
	Machine   string             `json:"machine"`
	Date      time.Time          `json:"date"`
	Figures   []chart.Figure     `json:"figures"`
}

// Choice is what was asked for of a recipe.
type Choice struct {
	Scale   string   `json:"scale"`
	Preset  string   `json:"preset,omitempty"`
	Set     []string `json:"set,omitempty"`
	Seeds   int      `json:"seeds,omitempty"` // 0: the scale's
	BuiltIn bool     `json:"built_in,omitempty"`
	Recipes string   `json:"recipes,omitempty"` // folder of the recipe; "": it is one of the papers'
}

// Change is a setting of the runs that is not the paper's.
type Change struct {
	What  string `json:"what"`
	Paper string `json:"paper"`
	Here  string `json:"here"`
	Why   string `json:"why"`
	Part  bool   `json:"part,omitempty"` // only a part of a grid was asked for, each run as the recipe has it
}

// Kind is what folders hold that this package writes.
const Kind = "results of recipes"

// suffix is that of a recipe's file.
const suffix = ".json"

// RowsName is the folder of a folder of results that may hold a lab with the rows of its runs.
const RowsName = "lab"

const (
	tableName   = "README.md"
	galleryName = "figures.md"
	scalesName  = "scales.md"
)

func figureName(id string) string { return "figures/" + id + ".svg" }

// FilesOf are the files of a folder that the results of a recipe change.
func FilesOf(id string) []string {
	return []string{id + suffix, figureName(id), galleryName, scalesName, tableName}
}

// Save writes the file of a recipe, and table and figures anew.
func Save(to *outfile.Folder, r Recipe) error {
	_, err := rebuild(to, &r)
	return err
}

// Rebuild makes table and figures of the files of recipes that a folder holds.
func Rebuild(to *outfile.Folder) ([]Recipe, error) {
	if _, err := os.Stat(to.Path()); errors.Is(err, fs.ErrNotExist) {
		return nil, noResults(to.Path())
	}
	return rebuild(to, nil)
}

// hasRows reports whether the rows of the runs lie beside the results.
func hasRows(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, RowsName))
	return err == nil && info.IsDir()
}

func noResults(dir string) error {
	return fmt.Errorf("results: %s holds no results; make some with: collapse reproduce ID --results %s", dir, dir)
}

// rebuild makes the files of a folder anew, with a result more if there is one.
func rebuild(to *outfile.Folder, one *Recipe) (all []Recipe, err error) {
	err = to.Write(func(files *outfile.Files) error {
		if all, err = load(files, to.Path(), one); err != nil {
			return err
		}
		if err := drawAll(files, all); err != nil {
			return err
		}
		if err := files.PutBytes(galleryName, []byte(gallery(all))); err != nil {
			return err
		}
		name, smaller := smallerOf(to.Path(), all)
		if page := besideSmaller(all, name, smaller); page != "" {
			if err := files.PutBytes(scalesName, []byte(page)); err != nil {
				return err
			}
		}
		return files.PutBytes(tableName, []byte(table(all, len(smaller) > 0, hasRows(to.Path()))))
	})
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return all, nil
}

// load reads the files of recipes, by name, and puts that of one. A file that is as this program would write it counts as written by it.
func load(files *outfile.Files, dir string, one *Recipe) (all []Recipe, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != suffix || one != nil && e.Name() == one.ID+suffix {
			continue
		}
		r, text, err := read(filepath.Join(dir, e.Name()), files.Listed(e.Name()))
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		all = append(all, *r)
		files.Keep(e.Name())
		if same, err := encode(*r); err == nil && bytes.Equal(same, text) {
			if err := files.PutBytes(e.Name(), text); err != nil {
				return nil, err
			}
		}
	}
	if one != nil {
		text, err := encode(*one)
		if err == nil {
			err = files.PutBytes(one.ID+suffix, text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.ID, err)
		}
		all = append(all, *one)
		sort.Slice(all, func(i, j int) bool { a, b := &all[i], &all[j]; return strings.Compare(a.ID+suffix, b.ID+suffix) < 0 })
	}
	if len(all) == 0 {
		return nil, noResults(dir)
	}
	return all, nil
}

func encode(r Recipe) ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}

// read reads a file; nil if it is of somebody else: neither in the folder's list nor about a recipe.
func read(name string, listed bool) (*Recipe, []byte, error) {
	text, err := inputfile.Read(name, inputfile.Record)
	var kind *inputfile.KindError
	var size *inputfile.SizeError
	if !listed && (errors.As(err, &kind) || errors.As(err, &size)) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var r Recipe
	err = json.Unmarshal(text, &r)
	if !listed && (err != nil || r.ID == "" || r.Program == "") {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if r.ID+suffix != filepath.Base(name) {
		return nil, nil, fmt.Errorf("%s is about %q; a file is named after its recipe", name, r.ID)
	}
	for i := range r.Figures {
		if err := r.Figures[i].Drawable(); err != nil {
			return nil, nil, fmt.Errorf("%s: figure %d: %w", name, i+1, err)
		}
	}
	return &r, text, nil
}

// drawAll draws the first figure of each recipe.
func drawAll(files *outfile.Files, all []Recipe) error {
	for _, r := range all {
		if len(r.Figures) == 0 {
			continue
		}
		if err := files.Put(figureName(r.ID), func(w io.Writer) error { return chart.WriteSVG(w, r.Figures[0], chart.Light) }); err != nil {
			return err
		}
	}
	return nil
}
