package results

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/judge"
)

// Audit is what judging the claims of a folder once more came to.
type Audit struct {
	Recipes   int          `json:"recipes"`
	Again     int          `json:"again"`     // claims judged again from the answers of their seeds
	NotKept   int          `json:"not_kept"`  // claims over seeds whose answers were not kept: made before version 0.2.0
	NoSeeds   int          `json:"no_seeds"`  // claims that are not judged over seeds
	FromRows  int          `json:"from_rows"` // recipes made again from the rows of their runs
	Numbers   int          `json:"numbers"`   // of claims, tables and figures, compared with those made again from rows
	NoRows    []Difference `json:"no_rows"`   // recipes that were not, and why
	Skipped   []string     `json:"skipped"`   // files that are no results
	Different []Difference `json:"different"` // between what the folder says and what follows from the answers, or from the rows
}

// Difference is a claim of which a file says something else than its own numbers, or a recipe of which it says something else than the rows: the first.
type Difference struct {
	Recipe string `json:"recipe"`
	Claim  string `json:"claim,omitempty"` // "": what differs is no claim's
	What   string `json:"what"`
}

// String says which recipe, which claim of it, and what.
func (d Difference) String() string {
	if d.Claim == "" {
		return d.Recipe + ": " + d.What
	}
	return d.Recipe + ", claim " + d.Claim + ": " + d.What
}

// Remake makes a recipe again from the rows of its runs; nil if it trains no networks. An error says why it cannot be.
type Remake func(Recipe) (*Recipe, error)

// Check judges every claim of a folder again, from what each seed answered in each cell: interval, verdict and reason. Unless remake is nil, it
// compares what a file says, but for the date and the program's version, with what remake makes of the rows. It changes nothing.
func Check(dir string, remake Remake) (Audit, error) {
	out := Audit{Skipped: []string{}, Different: []Difference{}, NoRows: []Difference{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out, fmt.Errorf("results: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != suffix {
			continue
		}
		r, _, err := read(filepath.Join(dir, e.Name()), false)
		switch {
		case err != nil:
			return out, fmt.Errorf("results: %w", err)
		case r == nil:
			out.Skipped = append(out.Skipped, e.Name())
			continue
		}
		out.Recipes++
		for _, c := range r.Claims {
			out.add(r.ID, c)
		}
		if err := out.compare(*r, remake); err != nil {
			return out, fmt.Errorf("results: %s: %w", r.ID, err)
		}
	}
	if out.Recipes == 0 {
		return out, noResults(dir)
	}
	return out, nil
}

func (a *Audit) add(recipe string, c judge.Claim) {
	again, err := c.FromSeeds()
	switch {
	case errors.Is(err, judge.ErrNoAnswers) && c.Effect == nil:
		a.NoSeeds++
		return
	case errors.Is(err, judge.ErrNoAnswers):
		a.NotKept++
		return
	}
	a.Again++
	what := ""
	if err != nil {
		what = err.Error()
	} else {
		what = difference(c, again)
	}
	if what != "" {
		a.Different = append(a.Different, Difference{recipe, c.ID, what})
	}
}

// difference says where a claim and its repetition part; "" if nowhere. Why a seed has no value is known only where it is judged first.
func difference(c, again judge.Claim) string {
	switch {
	case c.Verdict != again.Verdict:
		return fmt.Sprintf("the verdict is %q; its numbers give %q", c.Verdict, again.Verdict)
	case !strings.HasPrefix(c.Reason, again.Reason):
		return fmt.Sprintf("the reason is %q; its numbers give %q", c.Reason, again.Reason)
	}
	was, is := withMean(c.Effect), withMean(again.Effect)
	if len(was) != len(is) {
		return fmt.Sprintf("%d cells and means; its numbers give %d", len(was), len(is))
	}
	for i, a := range was {
		b := is[i]
		if a.Name != b.Name || a.Contradicts != b.Contradicts || a.Seeds != b.Seeds {
			return fmt.Sprintf("cell %q has %d seeds, contradicts: %v; its numbers give %q, %d, %v", a.Name, a.Seeds, a.Contradicts, b.Name, b.Seeds, b.Contradicts)
		}
		for k, v := range quantities(a) {
			if w := quantities(b)[k]; !same(v, w) {
				return fmt.Sprintf("cell %q: %s is %v; its numbers give %v", a.Name, quantityNames[k], float64(v), float64(w))
			}
		}
	}
	return ""
}

var quantityNames = [...]string{"left", "right", "the effect", "the interval's lower end", "the interval's upper end"}

func quantities(c judge.Cell) [len(quantityNames)]judge.Quantity {
	return [...]judge.Quantity{c.Left, c.Right, c.Value, c.Lo, c.Hi}
}

// withMean are an effect's cells, and their mean.
func withMean(e *judge.Effect) []judge.Cell {
	if e.Pooled == nil {
		return e.Cells
	}
	return append(slices.Clone(e.Cells), *e.Pooled)
}

// same allows for the order in which processors round.
func same(a, b judge.Quantity) bool {
	x, y := float64(a), float64(b)
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.IsNaN(x) == math.IsNaN(y)
	}
	return near(x, y)
}

func near(x, y float64) bool {
	return x == y || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
