package page

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"collapse.example/collapse/internal/findings"
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
	Index   string        `json:"index,omitempty"`   // path of its page; empty if none was made
	Picture string        `json:"picture,omitempty"` // path of its first figure, an SVG
	Seconds float64       `json:"seconds"`
	Error   string        `json:"error,omitempty"` // why there is no page
}

// Counts is the number of claims per source and verdict, in words.
func (e IndexEntry) Counts() string {
	return cmp.Or(judge.CountsBySource(e.Claims), "no claim")
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
		Rows   []indexRow
		Tiles  []format.Tile
		Counts string // of verdicts, by source
		Made   string
	}{Made: format.Time(made)}
	var claims []judge.Claim
	seconds, failed := 0.0, 0
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
		claims = append(claims, e.Claims...)
		page.Rows = append(page.Rows, row)
	}
	page.Counts = judge.CountsBySource(claims)
	page.Tiles = append([]format.Tile{tile(fmt.Sprint(len(entries)), "recipes")}, findings.HeldTiles(claims)...)
	page.Tiles = append(page.Tiles, tile(fmt.Sprint(failed), "recipes failed"), tile(format.Digits(seconds/60), "minutes"))
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

func tile(value, name string) format.Tile { return format.Tile{Value: value, Name: name} }
