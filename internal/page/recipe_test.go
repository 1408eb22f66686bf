package page

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/outfile"
)

func recipeOf(t *testing.T) findings.Recipe {
	return findings.Recipe{ID: "x-fig1", Title: "A figure", Source: "Someone 2022, Fig. 1", Caption: "It falls.", Scale: "quick", Runs: judgetest.Common().Runs(t), Memorization: true,
		Drawings: []figure.Drawing{{Title: "Collapse", Panels: []figure.DrawingPanel{
			{Title: "NC1", X: "epoch", Y: "train.nc1_pinv", Curves: []string{"loss.kind"}, Log: "y"},
			{Title: "Accuracy by noise", X: "data.noise", Y: "test.accuracy", Curves: []string{"loss.kind"}, Unit: "%"},
			{Title: "Nowhere", X: "epoch", Y: "train@layer1.nc1_pinv"},
		}}},
		Claims:  []judge.Statement{{ID: "falls", Says: "NC1 falls", Kind: judge.Less, Left: `final("train.nc1_pinv")`, Right: `start("train.nc1_pinv")`, Unit: "log-ratio", Cells: []string{"loss.kind", "data.noise"}}},
		Numbers: []judge.Number{{What: "accuracy of cross entropy at η = 0.4", Paper: "94.20", Spread: "0.3", Unit: "%", Ours: `final("test.accuracy", {"loss.kind": "ce", "data.noise": 0.4})`}},
	}
}

func TestWriteRecipe(t *testing.T) {
	WithSmallPictures(t)
	dir := t.TempDir()
	res, err := JudgeAndWrite(outfile.At(dir, Kind), recipeOf(t))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(res.Index)
	if err != nil {
		t.Fatal(err)
	}
	html := string(raw)
	for _, want := range []string{`data-claim="falls" data-verdict="holds"`, `data-claim="growth" data-verdict="holds"`, "94.20 ± 0.3", "no run has train@layer1.nc1_pinv", "cross entropy", "label smoothing", "loss.kind"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(html, "Zgotmpl") || !strings.Contains(html, ":root{ --page:#f6f7f9") {
		t.Error("the page's style did not pass the template")
	}
	if res.Runs != 60 || res.Failed != 0 || len(res.Figures) < 2 {
		t.Errorf("%d runs, %d failed, figures %v", res.Runs, res.Failed, res.Figures)
	}
	for _, f := range res.Figures {
		for _, ext := range []string{".svg", ".png", ".csv", ".json"} {
			if _, err := os.Stat(f + ext); err != nil {
				t.Error(err)
			}
		}
	}
}

// The paper's figure comes first, and a loss has one colour in all figures of a page.
func TestFiguresOfAPageAgree(t *testing.T) {
	study := judgetest.Common()
	study.Losses = []string{"ce", "ls", "lr", "mse"}
	r := recipeOf(t)
	r.Runs = study.Runs(t)
	judged, err := r.Judge()
	if err != nil {
		t.Fatal(err)
	}
	if id := judged.Pictures[0].ID; strings.HasPrefix(id, r.ID) {
		t.Errorf("the page begins with %s, not with memorization and dilation", id)
	}
	colour := map[string]chart.Color{}
	for _, f := range judged.Pictures {
		for _, p := range f.Panels {
			for _, s := range p.Series {
				if !strings.Contains("cross entropy, label smoothing, label relaxation, squared error", s.Label) || s.Label == "" {
					continue
				}
				if was, known := colour[s.Label]; known && was != s.Color {
					t.Errorf("%s is colour %d in %s, and %d before", s.Label, s.Color, f.ID, was)
				}
				colour[s.Label] = s.Color
			}
		}
	}
	if len(colour) != 4 {
		t.Errorf("colours %v, want one for each of four losses", colour)
	}
}

// The drawn mean at each noise level is the mean of the runs' own values.
func TestDrawingMeans(t *testing.T) {
	WithSmallPictures(t)
	r := recipeOf(t)
	dir := t.TempDir()
	if _, err := JudgeAndWrite(outfile.At(dir, Kind), r); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "figures", "x-fig1-1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	want := map[float64]float64{}
	for _, run := range r.Runs {
		if v, ok, _ := run.Final("test", "accuracy"); ok && run.Loss == "ls" {
			want[run.Noise] += 100 * v / 6
		}
	}
	found := 0
	for _, row := range rows[1:] {
		if row[at["panel"]] != "panel-2" || row[at["label"]] != "label smoothing" {
			continue
		}
		x, _ := strconv.ParseFloat(row[at["x"]], 64)
		y, _ := strconv.ParseFloat(row[at["y"]], 64)
		if !(math.Abs(y-want[x]) < 1e-9*want[x]) {
			t.Errorf("η = %g: drawn %g, mean %g", x, y, want[x])
		}
		found++
	}
	if found != 5 {
		t.Errorf("%d points of label smoothing, wanted 5; columns %v", found, rows[0])
	}
}
