package page

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/store"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hashed gives runs names that look like ones.
func hashed(runs []judge.Run) []judge.Run {
	for i := range runs {
		runs[i].Hash = fmt.Sprintf("%012x%052d", 0xabc000000000+i, i)
	}
	return runs
}

// TestRunPages follows every link of the tables of a recipe and of a study, failed runs included.
func TestRunPages(t *testing.T) {
	WithoutPictures(t)
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds = m.Losses[:1], m.Noises[:1], 3
	runs := hashed(m.Runs(t))
	runs[2].Status, runs[2].Error = store.Failed, "the loss is NaN"
	for name, write := range map[string]func(dir string, pages bool) (Result, error){
		"recipe": func(dir string, pages bool) (Result, error) {
			return JudgeAndWrite(outfile.At(dir, Kind), findings.Recipe{ID: "x-fig1", Runs: runs, RunPages: pages})
		},
		"study": func(dir string, pages bool) (Result, error) {
			return WriteStudy(outfile.At(dir, Kind), findings.Study{ID: "x", Runs: runs, RunPages: pages})
		},
	} {
		dir := t.TempDir()
		res, err := write(dir, true)
		if err != nil || len(res.RunPages) != 3 {
			t.Fatalf("%s: %v, pages %v", name, err, res.RunPages)
		}
		links := regexp.MustCompile(`<a href="(runs/[^"]+)">([0-9a-f]{12})</a>`).FindAllStringSubmatch(read(t, res.Index), -1)
		if len(links) != 3 {
			t.Fatalf("%s: links %v", name, links)
		}
		for _, l := range links {
			page := read(t, filepath.Join(dir, filepath.FromSlash(l[1])))
			if !strings.Contains(page, "collapse report "+l[2]) {
				t.Errorf("%s: the page of %s does not say how to make it", name, l[2])
			}
			if failed := l[2] == runs[2].Hash[:12]; strings.Contains(page, "the loss is NaN") != failed {
				t.Errorf("%s: the page of %s and the failure: %v", name, l[2], failed)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "runs", runs[0].Hash[:12], "figures")); err != nil {
			t.Error(err)
		}
		dir = t.TempDir()
		if res, err = write(dir, false); err != nil || res.RunPages != nil {
			t.Fatalf("%s: %v, pages %v", name, err, res.RunPages)
		}
		if _, err := os.Stat(filepath.Join(dir, "runs")); err == nil {
			t.Errorf("%s: pages that nobody asked for", name)
		}
		page := read(t, res.Index)
		for _, r := range runs {
			if !strings.Contains(page, `<code class="copy">collapse report `+r.Hash[:12]+"</code>") {
				t.Errorf("%s: the table does not say how to make the page of %.12s", name, r.Hash)
			}
		}
	}
}

// TestPageOfManyRuns: 240 trials, each with its own rate, make a page that is light and folds its long tables.
func TestPageOfManyRuns(t *testing.T) {
	WithoutPictures(t)
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds = []string{"ce"}, []float64{0}, 240
	runs := hashed(m.Runs(t))
	search := judgetest.SomeSearches([]float64{0.9}, []float64{0.8})[0]
	search.Trials, search.Best = nil, 0
	for i := range runs {
		rate := fmt.Sprintf("%.6g", 1e-5*float64(i+1)*(1+1e-3*float64(i)))
		runs[i].Settings["optim.lr"] = rate
		search.Trials = append(search.Trials, judge.SearchTrial{SearchRun: judge.SearchRun{Run: runs[i].Hash, Epochs: 3, Value: float64(i) / 240}, Number: i + 1, Settings: map[string]string{"optim.lr": rate, "optim.schedule.gamma": "0.1"}})
	}
	for name, r := range map[string]findings.Recipe{"a search": {ID: "x", Study: true, Runs: runs, Searches: []judge.Search{search}}, "a grid": {ID: "x", Runs: runs, Drawings: recipeOf(t).Drawings}} {
		res, err := JudgeAndWrite(outfile.At(t.TempDir(), Kind), r)
		if err != nil {
			t.Fatal(err)
		}
		page := read(t, res.Index)
		if len(page) > 2e6 || len(page) < 3e4 {
			t.Errorf("%s: a page of %d bytes", name, len(page))
		}
		t.Logf("%s: %d kB", name, len(page)/1000)
		open := regexp.MustCompile(`(?s)<details.*?</details>`).ReplaceAllString(page, "")
		if n := strings.Count(open, "<tr>"); n > 60 {
			t.Errorf("%s: %d rows of tables stand open", name, n)
		}
		for _, want := range []string{"240 finished runs", "(240 values)", "collapse report " + runs[239].Hash[:12]} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
	}
}
