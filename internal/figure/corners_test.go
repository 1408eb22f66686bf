package figure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"

	"bytes"
	"os"
	"path/filepath"
)

// TestPlanesOfAllWidths names the axes by what they are: the space itself, a line, the difference of two means, the axes of several.
func TestPlanesOfAllWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 46))
	for _, of := range []struct {
		k, d  int
		x     string
		exact bool
		words string
	}{{2, 1, "h", false, "features lie on a line"}, {3, 1, "h", false, "features lie on a line"}, {3, 2, "h₁", true, ""}, {2, 3, "along h₂ − h₁", false, "difference of the class means"}, {3, 3, "first axis of the class means", false, "two main axes"}, {5, 9, "first axis of the class means", false, "two main axes"}} {
		p := planeOf(drawFeatures(r, of.k, 20, of.d))
		if p.X != of.x || p.exact != of.exact || !strings.Contains(p.Words, of.words) || (p.Words == "") != of.exact {
			t.Errorf("K = %d, d = %d: %+v", of.k, of.d, p)
		}
		if x, y := p.at(p.origin); x != 0 || y != 0 {
			t.Errorf("K = %d, d = %d: the origin is at %g, %g", of.k, of.d, x, y)
		}
	}
	// Directions are orthonormal whatever spreads: means, samples, or nothing.
	for _, spread := range []float64{0, 1} {
		for wanted := 1; wanted <= 4; wanted++ {
			f := drawFeatures(r, 2, 4, 4)
			means, _ := f.CleanMeans()
			for i := range f.TrainH {
				f.TrainH[i] = means[f.True[i/4]][i%4] + spread*(f.TrainH[i]-means[f.True[i/4]][i%4])
			}
			e := principal(f, means, means[0], wanted)
			if len(e) != wanted {
				t.Fatalf("%d directions, want %d", len(e), wanted)
			}
			for i := range e {
				top := floats.MaxIdx(absolute(e[i]))
				if e[i][top] < 0 {
					t.Errorf("direction %v points backwards", e[i])
				}
				for j := range i + 1 {
					if want := map[bool]float64{true: 1}[i == j]; !(math.Abs(floats.Dot(e[i], e[j])-want) < 1e-9) {
						t.Errorf("spread %g: %d and %d of %v", spread, i, j, e)
					}
				}
			}
		}
	}
	skewed := [][]float64{{.6, .8, 0}}
	for k := range 3 {
		f := &judge.Features{D: 3, K: 1, True: []int{0}, TrainH: make([]float64, 3)}
		e := principal(f, [][]float64{{-.6, -.8, 0}}, make([]float64, 3), k+1)
		if len(e) != k+1 || !near(e[0], skewed[0]) || k > 0 && !(math.Abs(floats.Dot(e[0], e[k])) < 1e-12) || !(math.Abs(floats.Norm(e[k], 2)-1) < 1e-12) {
			t.Errorf("%d directions: %v", k+1, e)
		}
	}
}

func absolute(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Abs(x)
	}
	return out
}

// TestAFilmOfTheLastFeatures: a run that kept no epochs has one scene, of its last features, with the samples of each class.
func TestAFilmOfTheLastFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 46))
	dir := t.TempDir()
	f := drawFeatures(r, 3, 10, 4)
	labels := func(v []int) []int32 { return judge.Labels32(v) }
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("train_h", []int{30, 4}, f.TrainH), arrayfile.Of("train_observed", []int{30}, labels(f.Observed)), arrayfile.Of("train_true", []int{30}, labels(f.True)),
		arrayfile.Of("train_redrawn", []int{30}, make([]uint8, 30)), arrayfile.Of("test_h", []int{30, 4}, f.TestH), arrayfile.Of("test_true", []int{30}, labels(f.TestTrue)), arrayfile.Of("weight", []int{3, 4}, f.Weight), arrayfile.Of("bias", []int{3}, f.Bias)}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "features.npz"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	film, err := OpenFilm(dir)
	if err != nil || film.Whole() || !slices.Equal(film.Epochs, []int64{0}) {
		t.Fatalf("%+v, %v", film, err)
	}
	pictures, err := film.Pictures(0)
	if err != nil || pictures[0].Title != "Features and class means at the last epoch" || len(pictures) != 3 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	samples, wrong, named := 0, 0, 0
	for _, s := range pictures[0].Panels[0].Series {
		if s.ID != "means" {
			samples += len(s.X)
		}
		if strings.HasPrefix(s.ID, "mislabelled") {
			wrong += len(s.X)
			named += map[bool]int{true: 1}[s.Label == "trained with another label"]
		}
		if dot := strings.HasPrefix(s.ID, "class-"); s.Faint != dot {
			t.Errorf("%s is faint: %v", s.ID, s.Faint)
		}
	}
	want := 0
	for i := range f.True {
		want += map[bool]int{true: 1}[f.Corrupted(i)]
	}
	if samples != 30 || wrong != want || named != 1 {
		t.Errorf("%d samples, %d mislabelled of %d, %d names", samples, wrong, want, named)
	}
	if err := os.MkdirAll(filepath.Join(dir, "frames", "3.npz"), 0o755); err != nil { // no file
		t.Fatal(err)
	}
	if _, err := OpenFilm(dir); err == nil || !strings.Contains(err.Error(), "epoch 3") {
		t.Errorf("a frame that is a folder: %v", err)
	}
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, "frames"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFilm(blocked); err == nil {
		t.Error("frames that are a file are opened")
	}
}

// TestFilmsOfFewDimensions: features of one or two coordinates have one panel, of more two; samples of very many classes are thinned.
func TestFilmsOfFewDimensions(t *testing.T) {
	for d, panels := range map[int]int{2: 1, 3: 2, 5: 2} {
		dir := t.TempDir()
		judgetest.WriteFrame(t, dir, 4, 2, d, 1, .2)
		film, err := OpenFilm(dir)
		if err != nil {
			t.Fatal(err)
		}
		p, err := film.Scene(4)
		if err != nil || len(p.Panels) != panels {
			t.Errorf("d = %d: %d panels, %v", d, len(p.Panels), err)
		}
		if third := p.Panels[0].Series[0].Z != nil; third != (d > 2) {
			t.Errorf("d = %d: a third coordinate %v", d, third)
		}
	}
	dir := t.TempDir()
	judgetest.WriteFrame(t, dir, 4, 21, 21, 1, .2)
	film, err := OpenFilm(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := film.Scene(4)
	var shown []string
	for _, s := range p.Panels[0].Series {
		if strings.HasPrefix(s.ID, "class-") {
			shown = append(shown, s.ID[6:]+s.Label)
		}
	}
	if fmt.Sprint(shown) != "[0 2 4 6 8 10 12 14 16 18 20]" { // every second, without names: eleven would share colours
		t.Errorf("%v", shown)
	}
}

// TestTheDecisionLineCrossesTheFrame: on flat and on upright frames it reaches from edge to edge, and rows of W are a quarter of the longer side.
func TestTheDecisionLineCrossesTheFrame(t *testing.T) {
	f := &judge.Features{D: 2, K: 2, Weight: []float64{4, 0, -4, 0}, Bias: []float64{-100, 100}}
	v := view{f: f, plane: planeOf(f)}
	for _, frame := range []rectangle{{20, 30, -1, 1}, {24, 26, -50, 50}} {
		line := v.decision(frame)
		if len(line.X) != 1 || !near(chart.Numbers{line.X[0], line.X2[0]}, chart.Numbers{25, 25}) || min(line.Y[0], line.Y2[0]) > frame.y0-2*frame.longest()+1e-9 || max(line.Y[0], line.Y2[0]) < frame.y1+2*frame.longest()-1e-9 {
			t.Errorf("%v: %+v", frame, line)
		}
		if rows := v.rowsOfW(frame); !near(rows.X2, chart.Numbers{frame.longest() / 4, -frame.longest() / 4}) || !near(rows.Y2, chart.Numbers{0, 0}) {
			t.Errorf("%v: %+v", frame, rows)
		}
	}
	f.Weight = make([]float64, 4)
	if rows := v.rowsOfW(rectangle{0, 1, 0, 1}); len(rows.X) != 0 {
		t.Errorf("rows without length: %+v", rows)
	}
}

// TestSamplesThatAreNotDrawn are counted: at most 1500 of a class are drawn, evenly.
func TestSamplesThatAreNotDrawn(t *testing.T) {
	for n, want := range map[int]int{1500: 1500, 1501: 751, 3000: 1500, 3001: 1001} {
		f := judgetest.Cloud(2, 2, n, []float64{3, 2}, 0)
		v := view{f: f, plane: planeOf(f)}
		if s := v.clouds(f.TestH, f.TestTrue, nil, "class %d", chart.Dot, 1); len(s) != 2 || len(s[0].X) != want || v.left != 2*(n-want) {
			t.Errorf("of %d: %d drawn, %d left", n, len(s[0].X), v.left)
		}
	}
}

// TestPagesOfMemorization have the figures of every experiment that has panels, and no others.
func TestPagesOfMemorization(t *testing.T) {
	m := judgetest.Common()
	m.Noises, m.Seeds = []float64{0, .1}, 2
	runs := m.Runs(t)
	for i := range runs {
		for _, key := range []string{"memorization_redrawn", "memorization_mean", "memorization_normalised"} {
			judgetest.Forget(&runs[i], "train", key)
		}
	}
	other := m.Run(t, "ce", .1, 3)
	other.Settings["net.width"] = "7"
	pictures := Memorization(append(runs, other))
	var ids []string
	for _, p := range pictures {
		ids = append(ids, p.ID)
	}
	if !slices.Equal(ids, []string{"dilation", "dilation-2", "dilation-other-forms-2"}) {
		t.Errorf("%q", ids)
	}
	if panels := OtherForms(one(t, []judge.Run{other})).Panels; len(panels) != 6 {
		t.Errorf("%d panels of three forms", len(panels))
	}
}

// TestColumnsAloneHaveNoLayers: one column's pictures keep their names, and samples without directions none.
func TestColumnsAloneHaveNoLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 46))
	c := columnOf(t, r, 4, 5, 6)
	m := &measurement.Result{Columns: []measurement.Column{c}}
	pictures := OfMeasurement(m)
	if pictures[0].ID != "plane" || len(OfColumn(m, 0)) != len(pictures) {
		t.Errorf("%s, %d pictures", pictures[0].ID, len(pictures))
	}
	shares := by(t, pictures, "decisions").Panels[0]
	if shares.ID != "shares" || shares.Y.Zero || shares.Y.Range == nil || by(t, pictures, "decisions").Panels[1].Y.Zero {
		t.Errorf("%+v", shares)
	}
	if line := by(t, pictures, "spectrum").Panels[0].Series[1]; !line.Dashed || !by(t, pictures, "plane").Panels[0].Series[0].Faint || !by(t, pictures, "plane").Panels[0].Equal {
		t.Errorf("%+v", line)
	}
	for name, change := range map[string]func(*measurement.Column){
		"plane":     func(c *measurement.Column) { c.Sample, c.Classes = nil, nil },
		"gram":      func(c *measurement.Column) { o := *c.Report; o.ClassMeans = nil; c.Report = &o },
		"spectrum":  func(c *measurement.Column) { o := *c.Report; o.Eigenvalues = nil; c.Report = &o },
		"margins":   func(c *measurement.Column) { o := *c.Report; o.Margins = nil; c.Report = &o },
		"classes":   func(c *measurement.Column) { o := *c.Report; o.PerClass = nil; c.Report = &o },
		"decisions": func(c *measurement.Column) { o := *c.Report; o.PerClass = map[string]measure.Vector{}; c.Report = &o },
	} {
		without := c
		change(&without)
		if slices.ContainsFunc(OfMeasurement(&measurement.Result{Columns: []measurement.Column{without}}), func(p Picture) bool { return p.ID == name }) {
			t.Errorf("%s is drawn of nothing", name)
		}
	}
	o := *c.Report
	o.Histograms = map[string]measure.Histogram{measure.KeyCDNV: {Edges: measure.Vector{1, 2, 4}, Counts: []int{3, 1}}}
	o.Directions = measure.Vector{.5, .25}
	c.Report = &o
	p := separation(m, &c)
	if len(p.Notes) != 0 || len(p.Panels) != 2 || !near(p.Panels[0].Series[0].X, chart.Numbers{1, 2}) || !near(p.Panels[1].Series[0].X, chart.Numbers{1, 1, 2, 2, 4, 4}) || !near(p.Panels[1].Series[0].Y, chart.Numbers{0, 3, 3, 1, 1, 0}) || fmt.Sprint(p.Table.Rows) != "[[1 0.500] [2 0.250]]" {
		t.Errorf("%q, %+v", p.Notes, p.Panels)
	}
}

// TestChosenRuns are those whose hash begins as asked, and have features.
func TestChosenRuns(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds = []string{"ce"}, []float64{.1}, 3
	runs := m.Runs(t)
	r := rand.New(rand.NewPCG(17, 46))
	for i := range 2 {
		runs[i].SetFeatures(drawFeatures(r, 2, 4, 2), "")
		runs[i].Hash = strings.Repeat(string(rune('a'+i)), 64)
	}
	g := one(t, runs)
	for asked, want := range map[string]int{"a": 2, "aa,b": 4, "c": 0, "": 0, "aab": 0, runs[2].Hash[:9]: 0} {
		if got := len(FeatureFigures(g, strings.Split(asked, ","))[0].Panels); got != want {
			t.Errorf("%q: %d panels, want %d", asked, got, want)
		}
	}
}

// TestMapsOfTrainedRuns: of this program's runs a map shows NC1, dilation and accuracy.
func TestMapsOfTrainedRuns(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds = []string{"ce", "ls"}, []float64{0, .1}, 2
	runs := m.Runs(t)
	for i := range runs { // what goes with the loss is no setting of its own
		runs[i].Settings = map[string]string{"loss.kind": runs[i].Loss, "data.noise": runs[i].Settings["data.noise"], "run.seed": runs[i].Settings["run.seed"]}
	}
	var titles []string
	for _, p := range SettingsMap(runs).Panels {
		titles = append(titles, p.Title)
	}
	if !slices.Equal(titles, []string{"train/nc1_pinv", "test/dilation", "test/accuracy"}) {
		t.Errorf("%q", titles)
	}
}

// TestTablesOfDrawings have the columns of curves or, for features, of classes.
func TestTablesOfDrawings(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	g := one(t, runs)
	p := Drawing{Columns: 2, Panels: []DrawingPanel{{Title: "T", X: "epoch", Y: "train.loss"}}}.Draw("d", g.Runs)
	if !slices.Equal(p.Table.Columns, []string{"panel", "curve", "x", "runs", "mean", "smallest", "largest"}) || p.Columns != 2 {
		t.Errorf("%q in %d columns", p.Table.Columns, p.Columns)
	}
	var groups []Group
	for _, width := range []string{"1", "2"} {
		groups = append(groups, Group{Value: width, Words: "width = " + width, Runs: runs[:3]})
	}
	for _, panel := range GroupCurves(groups).Panels {
		for _, s := range panel.Series {
			if s.Kind == chart.Line && (s.YLo != nil || s.N != nil) || s.Kind == chart.Band && s.YLo == nil {
				t.Errorf("%+v", s)
			}
		}
	}
}
