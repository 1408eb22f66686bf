// Package results keeps what recipes showed in a folder that people read in a repository: a JSON file for each recipe, and, made of
// these files alone, a table of all claims (README.md) and a page of figures (figures.md, figures/*.svg). Nothing else is needed to
// make table and figures anew: no lab, no run.
package results

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"collapse/internal/chart"
	"collapse/internal/inputfile"
	"collapse/internal/judge"
	"collapse/internal/outfile"
)

// Recipe is what a figure, table or theorem of a paper came to.
type Recipe struct {
	ID        string             `json:"id"`
	Title     string             `json:"title"`
	Paper     string             `json:"paper"` // which figure, table or theorem of which paper
	Scale     string             `json:"scale"`
	Command   string             `json:"command"` // that makes it again
	Claims    []judge.Claim      `json:"claims"`
	Numbers   []judge.Comparison `json:"numbers,omitempty"` // the paper's beside ours
	Notes     []string           `json:"notes,omitempty"`
	Runs      int                `json:"runs"` // 0: it trains none
	Failed    int                `json:"failed,omitempty"`
	CoreHours float64            `json:"core_hours,omitempty"`
	Program   string             `json:"program"` // version
	Machine   string             `json:"machine"`
	Date      time.Time          `json:"date"`
	Figures   []chart.Figure     `json:"figures"`
}

// suffix is that of a recipe's file.
const suffix = ".json"

// Save writes the file of a recipe, and table and figures anew.
func Save(dir string, r Recipe) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("results: %s: %w", r.ID, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if err := outfile.Write(filepath.Join(dir, r.ID+suffix), append(text, '\n')); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	_, err = Rebuild(dir)
	return err
}

// Load reads the files of a folder, by name.
func Load(dir string) ([]Recipe, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("results: %s holds no results; make some with: collapse reproduce ID --results %s", dir, dir)
	}
	var out []Recipe
	for _, name := range names {
		text, err := inputfile.Read(name, inputfile.Record)
		if err != nil {
			return nil, fmt.Errorf("results: %w", err)
		}
		var r Recipe
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("results: %s: %w", name, err)
		}
		if r.ID+suffix != filepath.Base(name) {
			return nil, fmt.Errorf("results: %s is about %q; a file is named after its recipe", name, r.ID)
		}
		out = append(out, r)
	}
	return out, nil
}

// Rebuild makes table and figures of what a folder holds.
func Rebuild(dir string) ([]Recipe, error) {
	all, err := Load(dir)
	if err != nil {
		return nil, err
	}
	if err := drawAll(filepath.Join(dir, "figures"), all); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"README.md": table(all), "figures.md": gallery(all)} {
		if err := outfile.Write(filepath.Join(dir, name), []byte(text)); err != nil {
			return nil, fmt.Errorf("results: %w", err)
		}
	}
	return all, nil
}

// drawAll draws the first figure of each recipe, and removes those of recipes that are gone.
func drawAll(dir string, all []Recipe) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	var wanted []string
	for _, r := range all {
		if len(r.Figures) == 0 {
			continue
		}
		var b strings.Builder
		if err := chart.WriteSVG(&b, r.Figures[0], chart.Light); err != nil {
			return fmt.Errorf("results: %s: %w", r.ID, err)
		}
		if err := outfile.Write(filepath.Join(dir, r.ID+".svg"), []byte(b.String())); err != nil {
			return fmt.Errorf("results: %w", err)
		}
		wanted = append(wanted, r.ID+".svg")
	}
	there, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	for _, path := range there {
		if !slices.Contains(wanted, filepath.Base(path)) {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("results: %w", err)
			}
		}
	}
	return nil
}
