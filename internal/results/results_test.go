package results_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/results"
)

func some(id string, verdict judge.Verdict) results.Recipe {
	effect := &judge.Effect{Kind: judge.Less, Unit: "log-ratio", Sides: [2]string{"a", "b"}, Cells: []judge.Cell{{Left: 1, Right: 2, Value: 0.5, Lo: 0.25, Hi: 0.75, Seeds: 6}}}
	return results.Recipe{ID: id, Title: "A figure", Paper: "Someone 2022, Fig. 1", Scale: "standard", Command: "collapse reproduce " + id,
		Claims:  []judge.Claim{{ID: "falls", Statement: "NC1 | falls <b>", Provenance: judge.Provenance{Source: judge.FromPaper, Quote: "it falls", Place: "Sec. 9"}, Verdict: verdict, Reason: "the ratio is 0.5", Effect: effect, Statistics: []string{"2 runs left out"}}},
		Numbers: []judge.Comparison{{What: "accuracy", Paper: "99.50 ± 0.10", Ours: "99.1 ± 0.2", Difference: "−0.4"}},
		Runs:    12, CoreHours: 1.5, Program: "0.1", Machine: "a processor", Date: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
		Figures: []chart.Figure{{ID: "f", Title: "Falling", Panels: []chart.Panel{{ID: "p", X: chart.Axis{Label: "epoch"}, Y: chart.Axis{Label: "NC1"},
			Series: []chart.Series{{ID: "s", Kind: chart.Line, X: chart.Numbers{1, 2, 3}, Y: chart.Numbers{1, math.NaN(), 0.25}}}}}}}}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The table, the open claims and the figures come from the JSON files alone, and the same files give the same bytes.
func TestSaveAndRebuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "standard")
	for _, r := range []results.Recipe{some("a", judge.Holds), some("b", judge.Fails)} {
		if err := results.Save(outfile.At(dir, results.Kind), r); err != nil {
			t.Fatal(err)
		}
	}
	table := read(t, dir, "README.md")
	for _, want := range []string{"2 recipes. 24 runs, 3.0 core hours", "| trained networks: the papers’ sentences | 1 | 0 | 1 | 0 |", "| “it falls” (Sec. 9) |", "[Figures](figures.md)", "**Someone 2022, Fig. 1** (a)",
		"NC1 \\| falls &lt;b>", "| does not hold | ratio 0.500 (0.250 to 0.750) | 6 |", "2 runs left out.", "| a | accuracy | 99.50 ± 0.10 | 99.1 ± 0.2 | −0.4 |", "`collapse reproduce b`", "2026-11-23"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if open := table[strings.Index(table, "## What does not hold"):]; !strings.Contains(open, "falls: does not hold") || strings.Contains(open, "falls: holds") {
		t.Errorf("open claims: %s", open)
	}
	before := map[string]string{}
	for _, name := range []string{"README.md", "figures.md", "figures/a.svg", "figures/b.svg"} {
		before[name] = read(t, dir, name)
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := results.Rebuild(outfile.At(dir, results.Kind)); err != nil {
		t.Fatal(err)
	}
	for name, text := range before {
		if read(t, dir, name) != text || text == "" {
			t.Errorf("%s differs when it is made anew", name)
		}
	}
	if err := os.Remove(filepath.Join(dir, "b.json")); err != nil {
		t.Fatal(err)
	}
	if all, err := results.Rebuild(outfile.At(dir, results.Kind)); err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "figures", "b.svg")); err == nil || strings.Contains(read(t, dir, "README.md"), "(b)") {
		t.Error("a recipe that is gone is still there")
	}
}

// An open claim says what would decide it: twice as many seeds take twice as long as these did, on two cores.
func TestWhatWouldDecideAnOpenClaim(t *testing.T) {
	dir, r := t.TempDir(), some("a", judge.CannotTell)
	r.Claims[0].Effect.Needed = 12
	if err := results.Save(outfile.At(dir, results.Kind), r); err != nil {
		t.Fatal(err)
	}
	if table := read(t, dir, "README.md"); !strings.Contains(table, "2 runs left out. So many take about 1.5 hours on two such cores.") {
		t.Error(table)
	}
}

// What is not a folder of results is an error that names the file and says what to do.
func TestFoldersThatHoldNoResults(t *testing.T) {
	dir := t.TempDir()
	if _, err := results.Rebuild(outfile.At(dir, results.Kind)); err == nil || !strings.Contains(err.Error(), "collapse reproduce ID --results") {
		t.Errorf("an empty folder: %v", err)
	}
	for text, want := range map[string]string{"{": "holds no results", `{"name": "a package"}`: "holds no results", `{"id": "b", "program": "0.1"}`: `a.json is about "b"`} {
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Rebuild(outfile.At(dir, results.Kind)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, wanted %q", text, err, want)
		}
	}
}

// A folder that an older version wrote, without a list, is taken over if its files are as this version makes them; one of the program's own
// that was damaged is named, and what is somebody else's does not matter.
func TestFoldersOfOlderVersions(t *testing.T) {
	dir := t.TempDir()
	to := outfile.At(dir, results.Kind)
	if err := results.Save(to, some("a", judge.Holds)); err != nil {
		t.Fatal(err)
	}
	list := read(t, dir, outfile.ListName)
	if err := os.Remove(filepath.Join(dir, outfile.ListName)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"package.json": "[1]", "figures/mine.svg": "<svg/>"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newer := some("a", judge.Fails)
	var foreign *outfile.ForeignError
	if err := results.Save(to, newer); !errors.As(err, &foreign) || !foreign.Unlisted || !slices.Equal(foreign.Names, []string{"a.json", "README.md"}) {
		t.Errorf("saving into a folder without a list: %v", err)
	}
	if _, err := results.Rebuild(to); err != nil || read(t, dir, outfile.ListName) != list {
		t.Errorf("%v; the list is\n%s", err, read(t, dir, outfile.ListName))
	}
	if err := results.Save(to, newer); err != nil || read(t, dir, "package.json") != "[1]" || read(t, dir, "figures/mine.svg") != "<svg/>" {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := results.Save(to, some("b", judge.Holds)); err == nil || !strings.Contains(err.Error(), "a.json") {
		t.Errorf("a result that was damaged: %v", err)
	}
}

// The folders of results in the repository are what this program makes of their JSON files.
func TestCommittedResults(t *testing.T) {
	root, size := t.TempDir(), 0
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "results", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		to := filepath.Join(root, filepath.Base(filepath.Dir(name)))
		if err := errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, filepath.Base(name)), []byte(read(t, name)), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, scale := range []string{"standard", "paper"} {
		dir, committed := filepath.Join(root, scale), filepath.Join("..", "..", "docs", "results", scale)
		if _, err := os.Stat(filepath.Join(committed, results.RowsName)); err == nil { // the table says that it is there
			if err := os.Mkdir(filepath.Join(dir, results.RowsName), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		all, err := results.Rebuild(outfile.At(dir, results.Kind))
		if err != nil {
			t.Fatal(err)
		}
		if audit, err := results.Check(committed, nil); err != nil || audit.Recipes != len(all) || len(audit.Different) != 0 {
			t.Errorf("%s says something else than its numbers: %+v, %v", scale, audit, err)
		}
		names := []string{outfile.ListName, "README.md", "figures.md"}
		if scale == "paper" {
			names = append(names, "scales.md")
		}
		for _, r := range all {
			if len(r.Figures) > 0 { // a theorem may have none
				names = append(names, filepath.Join("figures", r.ID+".svg"))
			}
		}
		for _, name := range names {
			text := read(t, committed, name)
			if text != read(t, dir, name) {
				t.Errorf("%s of %s is not what its JSON files say; make it anew with: collapse results docs/results/%[2]s", name, scale)
			}
			if filepath.Ext(name) == ".svg" {
				size += len(text)
			}
		}
	}
	if size > 3<<20 {
		t.Errorf("the figures weigh %d bytes, at most 3 MiB are wanted", size)
	}
}

// A claim about several cells holds only where the interval of each supports it, unless its sentence is about their mean.
func TestEveryCellSupportsWhatHolds(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("..", "..", "docs", "results", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	several := 0
	for _, path := range folders {
		var recipe results.Recipe
		if err := json.Unmarshal([]byte(read(t, path)), &recipe); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range recipe.Claims {
			if c.Verdict != judge.Holds || c.Effect == nil || c.Effect.Pooled == nil || strings.Contains(c.Effect.How, "the claim is about the mean over cells") {
				continue
			}
			several++
			for _, cell := range c.Effect.Cells {
				if !supports(c.Effect, float64(cell.Lo), float64(cell.Hi)) || cell.Seeds < 5 {
					t.Errorf("%s %s holds, but in %s its interval is %v to %v of %d seeds", recipe.ID, c.ID, cell.Name, cell.Lo, cell.Hi, cell.Seeds)
				}
			}
		}
	}
	if several < 40 {
		t.Errorf("%d claims about several cells hold, more are wanted", several)
	}
}

// supports reports whether an interval lies where the kind of claim wants it.
func supports(e *judge.Effect, lo, hi float64) bool {
	null := 1.0
	if e.Unit == "difference" {
		null = 0
	}
	switch e.Kind {
	case judge.Less:
		return hi < null
	case judge.More:
		return lo > null
	}
	return e.Band[0] < lo && hi < e.Band[1]
}

// The rows that docs/papers quotes are those of the committed results: each verdict with its effect stands in the table.
func TestThePapersPagesQuoteTheResults(t *testing.T) {
	table := read(t, "..", "..", "docs", "results", "standard", "README.md")
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "papers", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoting := 0
	for _, page := range pages {
		_, rows, quotes := strings.Cut(read(t, page), "| claim | verdict | effect, 95 % interval |\n|---|---|---|\n")
		if !quotes {
			continue
		}
		quoting++
		rows, _, _ = strings.Cut(rows, "\n\n")
		quoted := 0
		for row := range strings.Lines(rows) {
			_, found, _ := strings.Cut(strings.TrimSpace(row)[2:], " | ")
			if quoted++; !strings.Contains(table, "| "+found) {
				t.Errorf("%s: the results have no %q", page, found)
			}
		}
		if quoted < 3 {
			t.Errorf("%s quotes %d claims, at least 3 are wanted", page, quoted)
		}
	}
	if quoting != 4 {
		t.Errorf("%d pages quote claims, 4 papers are built in", quoting)
	}
}

// README counts the papers' sentences as the committed results do.
func TestReadmeCountsThePapersSentences(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "docs", "results", "standard", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var said judge.BySource
	sentences := map[string]bool{}
	for _, path := range paths {
		var recipe struct{ Claims []judge.Claim }
		if err := json.Unmarshal([]byte(read(t, path)), &recipe); err != nil {
			t.Fatal(err)
		}
		for _, c := range recipe.Claims {
			if c.Source == judge.FromPaper {
				said.Claims = append(said.Claims, c)
				sentences[c.Quote] = true
			}
		}
	}
	want := fmt.Sprintf("Of %d such claims %d hold, %d do not and %d are open; they ask %d sentences", len(said.Claims), said.Count(judge.Holds), said.Count(judge.Fails),
		said.Count(judge.Partly)+said.Count(judge.CannotTell), len(sentences))
	if len(said.Claims) < 100 || !strings.Contains(read(t, "..", "..", "README.md"), want) {
		t.Errorf("README does not say %q", want)
	}
}
func TestRunsThatHaveNotEndedAreNotCounted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "paper")
	half := some("a", judge.CannotTell)
	half.Failed = 5
	for _, r := range []results.Recipe{half, some("b", judge.Holds)} {
		if err := results.Save(outfile.At(dir, results.Kind), r); err != nil {
			t.Fatal(err)
		}
	}
	table := read(t, dir, "README.md")
	for _, want := range []string{"2 recipes. 19 of 24 runs, 3.0 core hours", "| 7 of 12 | 1.50 |", "| 12 | 1.50 |"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}
