package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
)

func TestWriteIndex(t *testing.T) {
	WithoutPictures(t)
	dir := t.TempDir()
	res, err := JudgeAndWrite(outfile.At(filepath.Join(dir, "x-fig1"), Kind), recipeOf(t))
	if err != nil {
		t.Fatal(err)
	}
	entries := []IndexEntry{
		{ID: "x-fig1", Title: "A figure", Paper: "Someone 2022, Fig. 1", Scale: "quick", Index: res.Index, Picture: filepath.Join(dir, "x-fig1", "figures", "one.svg"), Claims: res.Claims, Seconds: 90},
		{ID: "x-fig2", Error: "the data set <svhn> is not there"},
	}
	index, err := WriteIndex(outfile.At(dir, Kind), entries, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	html := string(raw)
	for _, want := range []string{`href="x-fig1/index.html"`, `src="x-fig1/figures/one.svg"`, `data-tile="recipes">2<`, "&lt;svhn&gt;", `data-tile="minutes">1.50<`, "2 January 2026"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	holds := judge.BySource{Claims: entries[0].Claims}.Count(judge.Holds)
	if holds == 0 || strings.Count(html, `<li data-verdict="holds">`) != holds {
		t.Errorf("%d claims that hold on the page, wanted %d", strings.Count(html, `<li data-verdict="holds">`), holds)
	}
	if got := (IndexEntry{}).Counts(); got != "no claim" {
		t.Errorf("counts of nothing: %q", got)
	}
}
