package page

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
)

// IndexEntry is one recipe on the page over all recipes.
type IndexEntry struct {
	ID      string        `json:"id"`
	Title   string        `json:"title"`
	Paper   string        `json:"paper"` // which figure or table of which paper
	Scale   string        `json:"scale"`
	Claims  []judge.Claim `json:"claims"`
	Index   string        `json:"index"`             // path of its page
	Picture string        `json:"picture,omitempty"` // path of its first figure, an SVG
	Seconds float64       `json:"seconds"`
	Error   string        `json:"error,omitempty"` // why there is no page
}

// Counts is the number of claims per verdict, in words.
func (e IndexEntry) Counts() string {
	var words []string
	for _, v := range judge.Verdicts {
		if n := e.Count(v); n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(words) == 0 {
		return "no claim"
	}
	return strings.Join(words, ", ")
}

// Count is the number of claims with a verdict.
func (e IndexEntry) Count(v judge.Verdict) int {
	n := 0
	for _, c := range e.Claims {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// indexRow is an entry prepared for the template.
type indexRow struct {
	IndexEntry
	Link, Preview string // relative to the page
}

// WriteIndex makes the page over all recipes, index.html in a folder, and returns its path.
func WriteIndex(to *outfile.Folder, entries []IndexEntry, made time.Time) (index string, err error) {
	page := struct {
		Rows  []indexRow
		Tiles []format.Tile
		Made  string
	}{Made: format.Time(made)}
	counts, seconds, failed := map[judge.Verdict]int{}, 0.0, 0
	for _, e := range entries {
		row := indexRow{IndexEntry: e}
		if e.Picture != "" {
			row.Preview = relative(to.Path(), e.Picture)
		}
		if e.Error == "" {
			row.Link = relative(to.Path(), e.Index)
		} else {
			failed++
		}
		seconds += e.Seconds
		for _, v := range judge.Verdicts {
			counts[v] += e.Count(v)
		}
		page.Rows = append(page.Rows, row)
	}
	page.Tiles = []format.Tile{tile(fmt.Sprint(len(entries)), "recipes"), tile(fmt.Sprint(counts[judge.Holds]), "claims hold"), tile(fmt.Sprint(counts[judge.Partly]), "hold partly"), tile(fmt.Sprint(counts[judge.Fails]), "do not hold"),
		tile(fmt.Sprint(counts[judge.CannotTell]), "cannot tell"), tile(fmt.Sprint(failed), "recipes failed"), tile(format.Digits(seconds/60), "minutes")}
	html, err := execute("index", page)
	if err != nil {
		return "", err
	}
	err = to.Write(func(files *outfile.Files) error {
		index = files.Path(indexName)
		return files.PutBytes(indexName, html)
	})
	return index, err
}
