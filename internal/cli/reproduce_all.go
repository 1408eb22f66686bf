package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/version"
)

func (c *reproduceCmd) allDir() string { return cmp.Or(c.Out, filepath.Join("out", "all")) }

// all makes every missing page, and the index of all pages. A recipe that fails is shown as failed
// and does not stop the others.
func (c *reproduceCmd) all(a *app, book *recipe.Book) error {
	var entries []page.IndexEntry
	for _, id := range book.IDs() {
		entry, err := c.oneOfAll(a, book, id)
		if a.ctx.Err() != nil {
			return fmt.Errorf("%w at %s; continue with: %s", a.ctx.Err(), id, a.commandLine())
		}
		if err != nil {
			a.notef("%s failed: %v\n", id, err)
			entry = page.IndexEntry{ID: id, Error: err.Error()}
		}
		entries = append(entries, entry)
	}
	index, err := page.WriteIndex(c.index, entries, time.Now())
	if err != nil {
		return err
	}
	return a.emit(struct {
		Index   string            `json:"index"`
		Recipes []page.IndexEntry `json:"recipes"`
	}{index, entries}, func() { printAll(a, index, entries) })
}

// oneOfAll makes a page unless the same program has made it before at the same scale.
func (c *reproduceCmd) oneOfAll(a *app, book *recipe.Book, id string) (page.IndexEntry, error) {
	const saved = "result.json"
	kept := filepath.Join(c.dir(id), saved)
	var before reproduced
	if text, err := inputfile.Read(kept, inputfile.Record); err == nil && !c.Again && json.Unmarshal(text, &before) == nil &&
		before.Scale == c.Scale && before.Program == version.Version && (!c.RunPages || len(before.RunPages) > 0 || !book.Trains(id)) {
		return before.IndexEntry, nil
	}
	a.notef("== %s\n", id)
	result, err := c.one(a, id)
	if err != nil {
		return page.IndexEntry{}, err
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return page.IndexEntry{}, err
	}
	return result.IndexEntry, outfile.At(c.dir(id), page.Kind).Add(saved, text)
}

func printAll(a *app, index string, entries []page.IndexEntry) {
	var claims []judge.Claim
	for _, e := range entries {
		if e.Error != "" {
			reason, _, _ := strings.Cut(e.Error, "\n")
			a.printf("%-18s failed: %s\n", e.ID, reason)
			continue
		}
		a.printf("%-18s %-40s %.0f s\n", e.ID, e.Counts(), e.Seconds)
		claims = append(claims, e.Claims...)
	}
	if len(claims) > 0 {
		a.printf("\n")
		a.printBySource("", claims, func(judge.Claim) {})
	}
	a.printf("\n%s\n", index)
}
