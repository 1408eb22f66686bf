package serve

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/measurement/measurementtest"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/reproduce"
	"collapse.example/collapse/internal/store"
)

// TestEveryPageCanBeRead looks at every kind of page, at three widths, light, dark and printed. Its share are a few pages of each
// kind, each at the three widths, of which one is light, one dark and one printed: which one goes round from page to page. The whole looks at
// every page so, and at every fourth each way.
func TestEveryPageCanBeRead(t *testing.T) {
	t.Parallel()
	needChromium(t)
	dir := paperLab(t)
	for _, kind := range []struct {
		name  string
		pages func(*testing.T, string, wanted) []lookedAt
		share wanted
	}{
		{"reports", runReports, wanted{}},
		{"recipes", recipeReports, wanted{"zhou-fig5", "every recipe"}},
		{"theory", theoryReports, wanted{"zhu-thmD.1"}},
		{"measurements", measurementReports, wanted{"layers"}},
		{"live", livePages, wanted{"run", "measured"}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			tab := useTab(t, 30*time.Minute)
			complaints := consoleErrors(t, tab)
			pages := kind.pages(t, dir, longtest.Of(kind.share, nil))
			if !longtest.Whole() && len(pages) != len(kind.share) {
				t.Fatalf("%d pages are looked at, wanted %q", len(pages), kind.share)
			}
			slices.SortFunc(pages, func(a, b lookedAt) int { return strings.Compare(a.name, b.name) })
			for i, p := range pages {
				began := time.Now()
				lookAt(t, tab, complaints, p, func(width, media int) bool { return longtest.Whole() && i%4 == 0 || (width+media+i)%3 == 0 })
				t.Logf("%5.1f s %s", time.Since(began).Seconds(), p.name)
			}
		})
	}
}

// wanted are the names of the pages to look at; nil is all of them.
type wanted []string

func (w wanted) has(name string) bool { return w == nil || slices.Contains(w, name) }

// looked are recipes that train, of each paper and each kind of figure.
var looked = longtest.Of([]string{"zhou-fig5"}, []string{"md-fig2", "md-fig1", "md-tab2", "zhou-fig4", "zhou-fig5", "zhu-fig6", "tb-fig5"})

// paperLab is the lab of the demo, with a made-up study of some recipes and a failed run.
func paperLab(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(demoLab(t))); err != nil {
		t.Fatal(err)
	}
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	for _, id := range looked {
		r, err := recipe.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		madeUp(t, lab, r, id+".quick")
	}
	lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Tags: []string{"broken"}, Config: map[string]any{"run": map[string]int{"epochs": 20}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Fail(errors.New("train: step 1200: loss is NaN (0.83 at step 1199); lower --lr (0.1) or set --clip")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// read loads the runs of a lab that a filter chooses.
func read(t *testing.T, dir string, f store.Filter) []judge.Run {
	t.Helper()
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	rows, err := lab.List(f)
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for _, row := range rows {
		hashes = append(hashes, row.Hash)
	}
	runs, err := judge.Load(lab, hashes...)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func report(name, index string) lookedAt {
	return lookedAt{name: name, address: (&url.URL{Scheme: "file", Path: index}).String(), folder: filepath.Dir(index)}
}

// runReports are those of a demo, of a run, of a run that failed, and of none.
func runReports(t *testing.T, dir string, only wanted) (pages []lookedAt) {
	demo := read(t, dir, store.Filter{Tag: "demo"})
	departs := []recipe.Substitution{{What: "network", Paper: "a network of the paper's own", Here: "three hidden layers", Why: "minutes instead of days"}}
	for name, s := range map[string]findings.Study{
		"demo": {ID: "demo", Title: "Memorization and dilation", Runs: demo, Substitutions: departs, Commands: []string{"collapse demo"}},
		"run":  {ID: "report", Runs: demo[:1], Commands: []string{"collapse report"}}, "failed run": {Runs: read(t, dir, store.Filter{Tag: "broken"})}, "no run": {}} {
		if !only.has(name) {
			continue
		}
		found, err := s.Judge()
		if err != nil {
			t.Fatal(err)
		}
		res, err := page.Write(outfile.At(t.TempDir(), page.Kind), found)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, report(name, res.Index))
	}
	return pages
}

// recipeReports are those of recipes that train, of a search, and the page over all recipes.
func recipeReports(t *testing.T, dir string, only wanted) (pages []lookedAt) {
	var entries []page.IndexEntry
	all := t.TempDir()
	write := func(r findings.Recipe) {
		found, err := r.Judge()
		if err != nil {
			t.Fatal(err)
		}
		res, err := page.WriteRecipe(outfile.At(filepath.Join(all, r.ID), page.Kind), found)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, page.IndexEntry{ID: r.ID, Title: r.Title, Paper: r.Source, Scale: "quick", Index: res.Index, Claims: res.Claims, Seconds: 90})
		if only.has(r.ID) {
			pages = append(pages, report(r.ID, res.Index))
		}
	}
	for _, id := range looked {
		r, err := recipe.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		made, err := findings.OfRecipe(r, recipe.Choice{Scale: "quick"}, read(t, dir, store.Filter{Study: id + ".quick"}))
		if err != nil {
			t.Fatal(err)
		}
		write(made)
	}
	write(findings.Recipe{ID: "find", Title: "What find found", Study: true, Searches: judgetest.SomeSearches([]float64{0.9}, []float64{0.8}), Runs: judgetest.Common().Runs(t)[:4]})
	write(findings.Recipe{ID: "nothing", Title: "A recipe without runs", Drawings: []figure.Drawing{{Title: "Nowhere"}}})
	index, err := page.WriteIndex(outfile.At(all, page.Kind), append(entries, page.IndexEntry{ID: "md-tab1", Error: "the data set svhn is not there"}), judgetest.Common().Runs(t)[0].Started)
	if err != nil {
		t.Fatal(err)
	}
	return append(pages, report("every recipe", index))
}

// theoryReports are those of all recipes that need no training, with few starts and steps.
func theoryReports(t *testing.T, _ string, only wanted) (pages []lookedAt) {
	for _, id := range recipe.IDs() {
		if !only.has(id) {
			continue
		}
		r, err := recipe.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Trains() {
			continue
		}
		r.Descent.Quick = 200
		if r.Kind == "relu" {
			r.Cases, r.ReLU.KMax, r.ReLU.Steps, r.ReLU.QuickStarts = r.Cases[:1], 6, 12, 4
		}
		found, err := reproduce.Theory(context.Background(), r, recipe.Choice{Scale: "quick"}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := page.WriteRecipe(outfile.At(t.TempDir(), page.Kind), found)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, report(id, res.Index))
	}
	return pages
}

// measurementReports are those of one layer, of many, of two classes, and of eleven.
func measurementReports(t *testing.T, _ string, only wanted) (pages []lookedAt) {
	layer := func(k int, name string, spread float64) measurement.Column {
		r, h, labels := measurementtest.Spikes(t, k, 4, k+2, spread)
		c := measurement.NewColumn(name, r)
		c.Sample, c.Classes = h, labels
		return c
	}
	for name, m := range map[string]*measurement.Result{
		"measurement":        {Columns: []measurement.Column{layer(3, "features", 0.1)}, Command: "collapse measure features.npz --html page.html"},
		"layers":             {Columns: []measurement.Column{layer(3, "one", 0.5), layer(3, "two", 0.1), layer(3, "three", 0.01)}, Main: 2},
		"of two classes":     {Columns: []measurement.Column{layer(2, "features", 0.1)}},
		"of eleven classes":  {Columns: []measurement.Column{layer(11, "features", 0.1)}},
		"without deviations": {Columns: []measurement.Column{layer(4, "features", 0)}},
	} {
		if !only.has(name) {
			continue
		}
		index := filepath.Join(t.TempDir(), "index.html")
		var b bytes.Buffer
		if err := page.WritePage(m, &b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(index, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		p := report(name, index)
		p.drawn = map[string]*chart.Figure{}
		for at := range m.Columns {
			for _, f := range figure.OfColumn(m, at) {
				p.drawn[f.ID] = &f.Figure
			}
		}
		pages = append(pages, p)
	}
	return pages
}

// livePages are all that collapse serve shows of a lab, and of one that is empty.
func livePages(t *testing.T, dir string, only wanted) (pages []lookedAt) {
	s := startTest(t, Options{Lab: dir, Control: &recorded{}})
	demo, failed, odd := read(t, dir, store.Filter{Tag: "demo"}), read(t, dir, store.Filter{Tag: "broken"}), read(t, dir, store.Filter{Study: looked[0] + ".quick"})
	answer, _ := upload(t, s, map[string][]byte{"mine.npz": featureFile(t)})
	paths := map[string]string{"studies": "", "study": "study?tag=demo", "sorted": "study?tag=demo&sort=-nc1&page=1", "failed runs": "study?tag=broken",
		"run": "run/" + demo[0].Hash, "earlier epoch": "run/" + demo[0].Hash + "?epoch=4", "failed run": "run/" + failed[0].Hash, "made-up run": "run/" + odd[0].Hash,
		"choose": "compare", "one chosen": "compare?" + choose([]store.Run{demo[0].Run}), "compare": "compare?" + choose([]store.Run{demo[0].Run, demo[5].Run, failed[0].Run}),
		"compare many": "compare?" + choose(rowsOf(demo)), "measure": "measure", "measured": strings.TrimPrefix(answer.Request.URL.Path, "/"),
		"words": "words", "filtered": "study?tag=demo&state=done&sort=-nc1", "nothing like that": "study?tag=demo&state=failed&find=nobody",
		"groups": "compare?tag=demo&by=loss.kind", "theory": "theory", "theory of squares": "theory?model=mse&k=11&d=2&lw=0.9", "no optimum": "theory?model=ls-nonneg&k=20&d=1", "no page": "nothing"}
	for _, id := range looked {
		paths["study "+id] = "study?study=" + id + ".quick"
	}
	for name, path := range paths {
		if !only.has(name) {
			continue
		}
		pages = append(pages, lookedAt{name: "live " + name, address: s.URL() + path, missing: name == "no page"})
	}
	if only != nil {
		return pages
	}
	empty := t.TempDir()
	lab, err := store.Open(empty, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Close(); err != nil {
		t.Fatal(err)
	}
	none := startTest(t, Options{Lab: empty})
	for _, path := range []string{"", "compare"} {
		pages = append(pages, lookedAt{name: "live empty lab /" + path, address: none.URL() + path})
	}
	return pages
}

func rowsOf(runs []judge.Run) (rows []store.Run) {
	for _, r := range runs {
		rows = append(rows, r.Run)
	}
	return rows
}
