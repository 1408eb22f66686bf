package page_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/theoryrun"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// The most that a page may weigh: it opens at once on a phone.
const (
	mostOfRecipe = 1_000_000
	mostOfDemo   = 1_500_000
)

func weigh(t *testing.T, what, index string, most int64) {
	t.Helper()
	info, err := os.Stat(index)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%s: %d bytes", what, info.Size()); info.Size() > most {
		t.Errorf("%s weighs %d bytes, wanted at most %d", what, info.Size(), most)
	}
}

// TestDemoIsLight gives a grid of the demo every measure there is, with noise in each curve: what can be drawn at all is drawn on the page.
// The whole test takes the demo's largest grid, and makes the pictures, too.
func TestDemoIsLight(t *testing.T) {
	longtest.Only(t)
	if testing.Short() {
		t.Skip("makes a page of two thousand curves")
	}
	if !longtest.Whole() {
		page.WithoutFiles(t)
	}
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds = []string{"ce", "ls", "mse"}, longtest.Of([]float64{0, 0.05, 0.2, 0.4}, []float64{0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4}), longtest.Of(2, 4)
	runs := m.Runs(t)
	for i := range runs {
		runs[i] = noisy(t, runs[i].Run, names(t, &runs[i]), 160)
		runs[i].SetFeatures(judgetest.Cloud(2, 2, 600, []float64{3, 2.5}, int(500*runs[i].Noise)), "")
	}
	res, err := page.WriteStudy(outfile.At(filepath.Join(t.TempDir(), "demo"), page.Kind), findings.Study{ID: "demo", Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	weigh(t, "the demo's page", res.Index, mostOfDemo)
	if res.More == "" {
		t.Error("the other measures are on no page")
	}
}

// names are the values of a run and every measure of every split.
func names(t *testing.T, r *judge.Run) []store.Key {
	t.Helper()
	keys := map[store.Key]bool{}
	for _, k := range r.Keys() {
		keys[store.Key{Series: "epoch", Split: k.Split, Layer: k.Layer, Measure: k.Measure}] = true
	}
	for _, d := range measure.Definitions() {
		for _, split := range []string{"train", "test"} {
			keys[store.Key{Series: "epoch", Split: split, Measure: d.Key}] = true
		}
	}
	return slices.Collect(maps.Keys(keys))
}

// noisy is a finished run whose values fall from about 1 and jump at every epoch.
func noisy(t *testing.T, row store.Run, keys []store.Key, epochs int) judge.Run {
	t.Helper()
	random := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(row.Hash))))
	var values []store.Value
	for _, k := range keys {
		for e := 1; e <= epochs; e++ {
			v := math.Exp(-5*float64(e)/float64(epochs)) * (0.5 + random.Float64())
			if strings.HasSuffix(k.Measure, "accuracy") {
				v = 1 - v/2
				if e == epochs {
					v = 1
				}
			}
			values = append(values, store.Value{Key: k, Step: int64(e), Value: v})
		}
	}
	r, err := judge.NewRun(row, values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// longTheory are recipes whose theory takes seconds even at the scale quick; their pages are made in the whole test.
var longTheory = []string{"deep-lowrank", "tb-fig4", "tb-fig9", "tb-thm4.2", "gen-codes"}

// TestRecipesAreLight makes the page of every recipe: the theory's quick results, and made-up runs of those that train. The whole test makes
// their pictures, too.
func TestRecipesAreLight(t *testing.T) {
	longtest.Only(t)
	if testing.Short() {
		t.Skip("makes some fifty pages")
	}
	if !longtest.Whole() {
		page.WithoutPictures(t)
	}
	for _, id := range recipe.IDs() {
		t.Run(id, func(t *testing.T) {
			if !longtest.Whole() && slices.Contains(longTheory, id) {
				t.Skipf("its theory takes seconds: %s=1 makes its page", longtest.Variable)
			}
			r, err := recipe.Load(id)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			switch {
			case r.Search != nil:
				t.Skip("a search has its own tests")
			case recipe.Trains(id):
				of, err := findings.OfRecipe(r, recipe.Choice{Scale: "quick"}, madeUp(t, r))
				if err != nil {
					t.Fatal(err)
				}
				res, err := page.JudgeAndWrite(outfile.At(dir, page.Kind), of)
				if err != nil {
					t.Fatal(err)
				}
				weigh(t, id, res.Index, mostOfRecipe)
			default:
				if !longtest.Whole() { // few steps fill a page, too
					r.Descent.Quick = 40
				}
				found, err := theoryrun.Run(context.Background(), r, theoryrun.Options{Quick: true})
				if err != nil {
					t.Fatal(err)
				}
				p := findings.Theory{ID: r.ID, Title: r.Title, Claims: found.Claims, Facts: found.Facts, Notes: found.Notes, Figures: found.Figures}
				res, err := page.WriteRecipe(outfile.At(dir, page.Kind), p.Findings())
				if err != nil {
					t.Fatal(err)
				}
				weigh(t, id, res.Index, mostOfRecipe)
			}
		})
	}
}

// A recipe with more figures than its page has room for keeps the first, and links to the others on the second page.
func TestFiguresBeyondTheRoomOfAPage(t *testing.T) {
	longtest.Only(t)
	page.WithoutFiles(t)
	m := judgetest.Common()
	var runs []judge.Run
	for _, loss := range []string{"ce", "ls", "mse", "lr"} {
		r := m.Run(t, loss, 0, 1)
		runs = append(runs, noisy(t, r.Run, []store.Key{{Series: "epoch", Split: "train", Measure: "nc1_pinv"}}, 2000))
	}
	r := findings.Recipe{ID: "x", Title: "Many figures", Runs: runs}
	for range 40 {
		r.Drawings = append(r.Drawings, figure.Drawing{Title: "NC1", Panels: []figure.DrawingPanel{{X: "epoch", Y: "train.nc1_pinv", Curves: []string{"loss.kind"}}}})
	}
	res, err := page.JudgeAndWrite(outfile.At(t.TempDir(), page.Kind), r)
	if err != nil {
		t.Fatal(err)
	}
	weigh(t, "a page of many figures", res.Index, mostOfRecipe)
	first, second := text(t, res.Index), text(t, res.More)
	if len(res.Figures) != 40 || !strings.Contains(first, `data-figure="x-1"`) || !strings.Contains(first, `href="more.html#x-40"`) || !strings.Contains(second, `<figure id="x-40"`) || strings.Contains(second, `id="x-1"`) {
		t.Errorf("%d figures; the first page lacks its first figure or the link to the last, or the second page the last one", len(res.Figures))
	}
	for i := range 40 {
		if a, b := strings.Contains(first, fmt.Sprintf(`<figure id="x-%d"`, i+1)), strings.Contains(second, fmt.Sprintf(`<figure id="x-%d"`, i+1)); a == b {
			t.Errorf("figure %d stands on both pages or on none", i+1)
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// madeUp are finished runs of a recipe with every value that its drawings show.
func madeUp(t *testing.T, r *recipe.Recipe) []judge.Run {
	t.Helper()
	runs, err := r.Foresee(recipe.Choice{Scale: "quick", Seeds: 2, BuiltIn: true})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out []judge.Run
	for i, run := range runs {
		row := store.Run{Hash: fmt.Sprintf("%064x", 1<<40+i), Kind: store.Train, Config: train.Canonical(run.Config, "aa", "bb"), Status: store.Done, Label: run.Note(), Started: begin, Finished: begin.Add(time.Minute)}
		made := noisy(t, row, drawn(t, r, row), min(run.Config.Run.Epochs, 100))
		k, err := strconv.Atoi(made.Settings["data.classes"])
		if err != nil {
			t.Fatal(err)
		}
		size := make([]float64, k)
		for c := range size {
			size[c] = 3
		}
		made.SetFeatures(judgetest.Cloud(max(k, 3), k, 1500/k, size, 40/k), "")
		out = append(out, made)
	}
	return out
}

// drawn are the values that a recipe's drawings and M-D Fig. 1 ask of a run.
func drawn(t *testing.T, r *recipe.Recipe, row store.Run) []store.Key {
	t.Helper()
	bare, err := judge.NewRun(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[store.Key]bool{}
	add := func(name string) {
		split, layer, key := judge.SplitName(name)
		layers := []string{layer}
		if layer == "*" {
			layers = strings.Fields(strings.NewReplacer(",", " ", "[", " ", "]", " ", `"`, " ").Replace(bare.Settings["run.taps"]))
		}
		for _, l := range layers {
			keys[store.Key{Series: "epoch", Split: split, Layer: l, Measure: key}] = true
		}
	}
	for _, name := range []string{"train.accuracy", "test.accuracy", "train.nc1_pinv", "test.dilation", "train.memorization_flipped", "train.memorization_mean", "clean.mean_norm_ratio"} {
		add(name)
	}
	for _, d := range r.Drawings {
		for _, p := range d.Panels {
			for _, name := range []string{p.X, p.Y} {
				if strings.Contains(name, ".") {
					add(name)
				}
			}
		}
	}
	return slices.Collect(maps.Keys(keys))
}
