package figure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"
)

// columnOf measures drawn features of k classes.
func columnOf(t *testing.T, r *rand.Rand, k, n, d int) measurement.Column {
	t.Helper()
	h, w, labels := make([]float64, k*n*d), make([]float64, k*d), make([]int32, k*n)
	for i := range w {
		w[i] = r.NormFloat64()
	}
	for i := range labels {
		labels[i] = int32(i % k)
		for j := range d {
			h[i*d+j] = w[i%k*d+j] + .3*r.NormFloat64()
		}
	}
	report, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(h, d, labels), W: w, Classes: k}, measure.Options{KeepMeans: true, KeepMargins: true, KeepSpectrum: true})
	if err != nil {
		t.Fatal(err)
	}
	c := measurement.NewColumn("layer", report)
	c.Sample, c.Classes = h, labels
	return c
}

// by finds a picture by its name without the layer's.
func by(t *testing.T, pictures []Picture, id string) Picture {
	t.Helper()
	for _, p := range pictures {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("no picture %s", id)
	return Picture{}
}

// TestPicturesOfAColumn restates what each picture of measured features shows.
func TestPicturesOfAColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 46))
	for range 12 {
		k, d := 4+r.IntN(5), 4+r.IntN(5)
		c := columnOf(t, r, k, 6, d)
		m := &measurement.Result{Columns: []measurement.Column{c}}
		if r.IntN(2) == 0 {
			for i := range k {
				m.Values = append(m.Values, []string{"a long name", "eight ch"}[i%2]+strconv.Itoa(i))
			}
		}
		pictures := OfMeasurement(m)
		spectrumOf(t, by(t, pictures, "spectrum"), c)
		marginsOf(t, by(t, pictures, "margins"), c)
		planesOf(t, by(t, pictures, "plane"), m)
		gramOf(t, by(t, pictures, "gram"), m)
		for _, id := range []string{"classes", "decisions"} {
			p := by(t, pictures, id)
			column := 2
			for _, panel := range p.Panels {
				for _, s := range panel.Series {
					v := c.PerClass[s.ID]
					if !near(s.Y, chart.Numbers(v)) || !near(s.X, upTo(k)) || s.Size != 5 || s.Kind != chart.Points || p.Table.Columns[column] != s.Label {
						t.Fatalf("%s: %+v, want %v", id, s, v)
					}
					for i, row := range p.Table.Rows {
						if row[column] != format.Digits(v[i]) || row[0] != m.Class(&c, i) || row[1] != "6" {
							t.Fatalf("%s: %q, want %g", id, row, v[i])
						}
					}
					column++
				}
				if *panel.X.Range != [2]float64{-.5, float64(k) - .5} || len(panel.X.Ticks) != k || (panel.Y.Label == "variance" || panel.Y.Label == "norm") != (id == "classes") || id == "classes" && !panel.Y.Zero {
					t.Fatalf("%s: %+v", id, panel)
				}
			}
			if column < 4 || len(p.Table.Rows) != k {
				t.Fatalf("%s: %d columns, %d rows", id, column, len(p.Table.Rows))
			}
		}
	}
}

func upTo(n int) (out chart.Numbers) {
	for i := range n {
		out = append(out, float64(i))
	}
	return out
}

func spectrumOf(t *testing.T, p Picture, c measurement.Column) {
	t.Helper()
	rank, _ := c.Measures.Get(measure.KeyRankBetween)
	for i, panel := range p.Panels {
		s, line := panel.Series[0], panel.Series[1]
		if !near(s.Y, chart.Numbers(c.Eigenvalues)) || s.X[0] != 1 || s.X[len(s.X)-1] != float64(len(c.Eigenvalues)) || line.Kind != chart.VLine || line.X[0] != rank+.5 || (panel.Y.Scale == chart.Log) != (i == 1) || s.Kind != chart.LinePoints {
			t.Fatalf("%+v of %v, rank %g", panel, c.Eigenvalues, rank)
		}
	}
	sum := 0.0
	for _, v := range c.Eigenvalues {
		sum += math.Max(v, 0)
	}
	for i, row := range p.Table.Rows {
		if want := []string{strconv.Itoa(i + 1), format.Digits(c.Eigenvalues[i]), format.Digits(c.Eigenvalues[i] / sum)}; !slices.Equal(row, want) {
			t.Fatalf("%q, want %q", row, want)
		}
	}
	if len(p.Panels) != 2 || len(p.Table.Rows) != len(c.Eigenvalues) {
		t.Fatalf("%d panels, %d rows", len(p.Panels), len(p.Table.Rows))
	}
}

func marginsOf(t *testing.T, p Picture, c measurement.Column) {
	t.Helper()
	n := float64(len(c.Margins))
	s := p.Panels[0].Series
	if !near(s[0].Y, chart.Numbers(c.Margins)) || !near(chart.Numbers{s[0].X[0], s[0].X[len(s[0].X)-1]}, chart.Numbers{1 / n, 1}) || !near(s[1].Y, chart.Numbers{0}) || !near(s[2].Y, chart.Numbers{float64(c.K) / float64(c.K-1)}) {
		t.Fatalf("%+v of %v", s, c.Margins)
	}
	counts(t, p.Panels[1].Series[0], c.Margins)
	if mark := p.Panels[1].Series[1]; mark.X[0] != s[2].Y[0] || mark.Kind != chart.VLine || p.Panels[1].Title != "distribution" {
		t.Fatalf("%+v", mark)
	}
	for i, q := range measurement.Quantiles {
		if want := []string{format.Percent(q), format.Digits(c.Quantiles[format.Decimal(q)])}; !slices.Equal(p.Table.Rows[i], want) {
			t.Fatalf("%q, want %q", p.Table.Rows[i], want)
		}
	}
}

// counts reads a histogram's steps: each value is in the bin where it is counted, and the line begins and ends on the axis.
func counts(t *testing.T, s chart.Series, values []float64) {
	t.Helper()
	if len(s.X) != 122 || s.Y[0] != 0 || s.Y[121] != 0 || math.Abs(s.X[0]-slices.Min(values)) > 1e-8 || math.Abs(s.X[121]-slices.Max(values)) > 1e-8 || s.X[0] != s.X[1] {
		t.Fatalf("%+v", s)
	}
	total := 0.0
	for b := range 60 {
		lo, hi := s.X[1+2*b], s.X[2+2*b]
		n := 0.0
		for _, v := range values {
			if v >= lo-1e-12 && (v < hi-1e-12 || b == 59) {
				n++
			}
		}
		if s.Y[1+2*b] != s.Y[2+2*b] || math.Abs(n-s.Y[1+2*b]) > 1 || b > 0 && math.Abs(lo-s.X[2*b]) > 1e-12 {
			t.Fatalf("bin %d from %g to %g counts %g, want %g", b, lo, hi, s.Y[1+2*b], n)
		}
		total += s.Y[1+2*b]
	}
	if total != float64(len(values)) {
		t.Fatalf("%g values, want %d", total, len(values))
	}
}

// planesOf: samples and means are as far apart as in the feature space, or nearer, along both axes' sum of squares.
func planesOf(t *testing.T, p Picture, m *measurement.Result) {
	t.Helper()
	c := &m.Columns[0]
	if len(p.Panels) != 2 || len(p.Table.Rows) != c.K || strings.Contains(p.Caption, "Only") || !strings.Contains(p.Caption, format.Count(len(c.Classes), "sample")) {
		t.Fatalf("%d panels: %s", len(p.Panels), p.Caption)
	}
	spread := [3]float64{}
	for i, panel := range p.Panels {
		means := panel.Series[len(panel.Series)-1]
		if len(panel.Series) != c.K+1 || len(means.X) != c.K || panel.Y.Label != fmt.Sprint("axis ", i+2) || panel.ID != fmt.Sprint("axes1-", i+2) {
			t.Fatalf("%+v", panel)
		}
		for k := range c.K {
			s := panel.Series[k]
			if s.Label != "class "+m.Class(c, k) || s.Color != chart.ColorFor(k) || len(s.X) != 6 || means.Labels[k] != m.Class(c, k) {
				t.Fatalf("class %d: %+v", k, s)
			}
			if !near(chart.Numbers{average(s.X), average(s.Y)}, chart.Numbers{means.X[k], means.Y[k]}) {
				t.Fatalf("class %d has its mean at %g, %g; its samples at %g, %g", k, means.X[k], means.Y[k], average(s.X), average(s.Y))
			}
			if row := p.Table.Rows[k]; i == 0 && (row[0] != m.Class(c, k) || row[1] != format.Digits(means.X[k]) || row[2] != format.Digits(means.Y[k])) {
				t.Fatalf("%q, want %g and %g", row, means.X[k], means.Y[k])
			}
			spread[0] += map[bool]float64{true: means.X[k] * means.X[k]}[i == 0]
			spread[i+1] += means.Y[k] * means.Y[k]
		}
		if !near(chart.Numbers{average(means.X) + 1, average(means.Y) + 1}, chart.Numbers{1, 1}) {
			t.Fatalf("the centre is at %g, %g", average(means.X), average(means.Y))
		}
	}
	for i, v := range spread { // the main axes are those of the largest eigenvalues of the covariance of means
		if want := c.Eigenvalues[i] * float64(c.K); !(math.Abs(v-want) <= 1e-6*want) {
			t.Fatalf("spread %v along the axes, eigenvalues times classes %v", spread, c.Eigenvalues)
		}
	}
}

func gramOf(t *testing.T, p Picture, m *measurement.Result) {
	t.Helper()
	c := &m.Columns[0]
	target := -1 / float64(c.K-1)
	means := make([][]float64, c.K)
	square := 0.0
	for k := range means {
		means[k] = minus(c.ClassMeans[k*c.D:(k+1)*c.D], c.GlobalMean)
		square += floats.Dot(means[k], means[k]) / float64(c.K)
	}
	var pairs []float64
	cosine, off := p.Panels[0].Series[0].Heat, p.Panels[1].Series[0].Heat
	most := 1e-6
	for i := range means {
		for j := range means {
			dot := floats.Dot(means[i], means[j])
			cos, want := dot/floats.Norm(means[i], 2)/floats.Norm(means[j], 2), dot/square-target
			if i == j {
				want = dot/square - 1
			} else if i > j {
				pairs = append(pairs, cos)
			}
			most = math.Max(most, math.Abs(want))
			if !near(chart.Numbers{cosine.Z[i*c.K+j], off.Z[i*c.K+j]}, chart.Numbers{cos, want}) {
				t.Fatalf("%d, %d: %g and %g, want %g and %g", i, j, cosine.Z[i*c.K+j], off.Z[i*c.K+j], cos, want)
			}
		}
	}
	edge := [2]float64{-.5, float64(c.K) - .5}
	if *cosine.Range != [2]float64{-1, 1} || !near((*off.Range)[:], chart.Numbers{-most, most}) || cosine.X != edge || cosine.Y != edge || *p.Panels[0].X.Range != edge || cosine.Columns != c.K || cosine.Rows != c.K {
		t.Fatalf("%+v, %+v", cosine, off)
	}
	for k, tick := range p.Panels[0].X.Ticks {
		name := m.Class(c, k)
		if len(name) > 8 {
			name = name[:7] + "…"
		}
		if tick.Value != float64(k) || tick.Label != name {
			t.Fatalf("%+v, want %q", tick, name)
		}
	}
	want := []string{strconv.Itoa(len(pairs)), format.Digits(average(pairs)), format.Digits(slices.Min(pairs)), format.Digits(slices.Max(pairs)), format.Digits(target)}
	if !slices.Equal(p.Table.Rows[0], want) || len(p.Panels[0].X.Ticks) != c.K || !strings.Contains(p.Caption, "= "+format.Digits(target)+" ") {
		t.Fatalf("%q, want %q", p.Table.Rows, want)
	}
}

// TestManyClassesAreSummarised: from 201 classes on curves are sorted and thinned, the map shows blocks, and a histogram counts pairs.
func TestManyClassesAreSummarised(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 46))
	const k = 1005
	c := columnOf(t, r, k, 1, 12)
	for i := range c.D { // one class at the centre has no direction
		c.ClassMeans[i] = c.GlobalMean[i]
	}
	m := &measurement.Result{Columns: []measurement.Column{c}}
	pictures := OfMeasurement(m)
	p := by(t, pictures, "gram")
	mean, class := centred(&c, pairedClasses)
	if len(class) != 502 || class[0] != 2 || class[501] != 1004 { // every second, without the first
		t.Fatalf("%d classes from %d to %d", len(class), class[0], class[len(class)-1])
	}
	if len(p.Notes) != 1 || p.Notes[0] != "502 of 1005 classes, evenly chosen." || !strings.Contains(p.Caption, " 1005 classes do not fit") || len(p.Panels) != 2 {
		t.Errorf("%q, %d panels", p.Notes, len(p.Panels))
	}
	cosines, off := gramMaps(mean, -1./(k-1))
	counts(t, p.Panels[1].Series[0], lowerTriangle(cosines, len(mean)))
	h := p.Panels[0].Series[0].Heat
	if h.Columns != 84 || h.Rows != 84 || h.X != [2]float64{0, k} || h.Y != h.X || *p.Panels[0].X.Range != h.X {
		t.Fatalf("%+v", h)
	}
	for _, at := range [][2]int{{0, 0}, {3, 7}, {83, 83}, {83, 1}} {
		var block []float64
		for i := 6 * at[0]; i < min(6*at[0]+6, len(mean)); i++ {
			for j := 6 * at[1]; j < min(6*at[1]+6, len(mean)); j++ {
				block = append(block, off[i*len(mean)+j])
			}
		}
		if got := h.Z[at[0]*84+at[1]]; !(math.Abs(got-average(block)) < 1e-12) {
			t.Errorf("block %v is %g, want %g", at, got, average(block))
		}
	}
	for _, id := range []string{"classes", "decisions"} {
		p := by(t, pictures, id)
		if len(p.Table.Rows) != 200 || !strings.HasSuffix(p.Caption, " With 1005 classes, each curve is sorted separately.") {
			t.Errorf("%d rows: %s", len(p.Table.Rows), p.Caption)
		}
		for _, panel := range p.Panels {
			for _, s := range panel.Series {
				v := slices.DeleteFunc(slices.Clone(c.PerClass[s.ID]), math.IsNaN)
				slices.Sort(v)
				if !slices.IsSorted(s.Y) || s.Kind != chart.Line || len(s.X) > 800 || len(s.X) > 0 && (s.Y[0] != v[0] || s.Y[len(s.Y)-1] != v[len(v)-1] || s.X[len(s.X)-1] != float64(len(v)-1)) {
					t.Errorf("%s: %d points", s.ID, len(s.X))
				}
			}
			if panel.X.Label != "classes, sorted" || panel.X.Ticks != nil {
				t.Errorf("%+v", panel.X)
			}
		}
	}
	plane := by(t, pictures, "plane")
	if shown := len(plane.Table.Rows); !strings.HasSuffix(plane.Caption, fmt.Sprintf(" Only %d of 1005 classes are drawn.", shown)) || shown > measurement.SampleClasses || shown < measurement.SampleClasses/2 || plane.Panels[0].Series[0].Label != "" {
		t.Errorf("%s", plane.Caption)
	}
	if at := by(t, pictures, "spectrum").Panels[0].Series[0]; len(at.X) != len(c.Eigenvalues) {
		t.Errorf("%d eigenvalues, want %d", len(at.X), len(c.Eigenvalues))
	}
}

// TestThinning keeps both ends, in order and evenly.
func TestThinning(t *testing.T) {
	for _, n := range []int{0, 1, 2, 799, 800, 801, 1600, 100000} {
		got := thinned(n)
		if len(got) != min(n, 800) || !slices.IsSorted(got) || n > 0 && (got[0] != 0 || got[len(got)-1] != n-1) {
			t.Fatalf("%d of %d", len(got), n)
		}
		for i := 1; i < len(got); i++ {
			if step := got[i] - got[i-1]; step < 1 || step > n/800+2 {
				t.Fatalf("a step of %d of %d", step, n)
			}
		}
	}
	for v, want := range map[float64][2]float64{.2: {.2 - .04, 1.04}, .95: {.9 - .005, 1.005}} {
		if got := *upToOne([]chart.Series{{Y: chart.Numbers{1, v, math.NaN()}}}); !near(got[:], want[:]) {
			t.Errorf("shares from %g: %v, want %v", v, got, want)
		}
	}
}

// TestOverLayers: a panel for each measure that some layer has, a column for each layer in the table.
func TestOverLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 46))
	m := &measurement.Result{Main: 1}
	for i := range 3 {
		c := columnOf(t, r, 4, 5, 3+i)
		c.Name = fmt.Sprint("layer", i)
		m.Columns = append(m.Columns, c)
	}
	pictures := OfMeasurement(m)
	p := pictures[0]
	if p.ID != "layers" || pictures[1].ID != "plane-layer1" || len(p.Panels) != len(layerKeys) || len(p.Table.Rows) != len(layerKeys) || !slices.Equal(p.Table.Columns, []string{"measure", "layer0", "layer1", "layer2"}) || !slices.Equal(p.Notes, []string{"1: layer0, d = 3", "2: layer1, d = 4", "3: layer2, d = 5"}) {
		t.Fatalf("%s, %s, %d panels, %q", p.ID, pictures[1].ID, len(p.Panels), p.Notes)
	}
	for i, panel := range p.Panels {
		key := layerKeys[i].key
		var want chart.Numbers
		for j := range m.Columns {
			v, _ := m.Columns[j].Measures.Get(key)
			want = append(want, v)
			if p.Table.Rows[i][j+1] != m.Columns[j].Value(key) {
				t.Errorf("%q", p.Table.Rows[i])
			}
		}
		if panel.ID != key || !near(panel.Series[0].Y, want) || !near(panel.Series[0].X, upTo(3)) || (panel.Y.Scale == chart.Log) != layerKeys[i].log || *panel.X.Range != [2]float64{-.3, 3 - .7} || len(panel.X.Ticks) != 3 || panel.X.Ticks[2] != (chart.Tick{Value: 2, Label: "3"}) || p.Table.Rows[i][0] != key {
			t.Errorf("%+v, want %v", panel, want)
		}
	}
}

// TestGeometryOfAnOptimum draws means without samples: rings with spokes to them, and their Gram matrix.
func TestGeometryOfAnOptimum(t *testing.T) {
	means := []float64{2, 0, 0, 0, 2, 0, 0, 0, 2}
	pictures := Geometry(means, 3, 3)
	if len(pictures) != 2 || pictures[0].Title != "Class means" || pictures[1].ID != "gram" {
		t.Fatalf("%d pictures", len(pictures))
	}
	panel := pictures[0].Panels[0]
	spokes, rings := panel.Series[0], panel.Series[1]
	if len(panel.Series) != 2 || !near(spokes.X, make(chart.Numbers, 3)) || !near(spokes.Y, make(chart.Numbers, 3)) || !near(spokes.X2, rings.X) || !near(spokes.Y2, rings.Y) || rings.Marker != chart.Ring {
		t.Fatalf("%+v", panel.Series)
	}
	for i := range 3 {
		if length := math.Hypot(rings.X[i], rings.Y[i]); !(math.Abs(length-2*math.Sqrt(2./3)) < 1e-9) {
			t.Errorf("mean %d is %g from the centre", i, length)
		}
	}
	if got := Geometry([]float64{1, 1}, 2, 1); len(got) != 0 {
		t.Errorf("of means that are equal in one dimension: %d pictures", len(got))
	}
}

// TestPicturesOfDrawnSearches restates what three pictures and the table show of searches.
func TestPicturesOfDrawnSearches(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 46))
	for range 30 {
		var all []judge.Search
		var runs []judge.Run
		metric := []string{"validation.accuracy", "validation.loss"}[r.IntN(2)]
		for i := range 1 + r.IntN(4) {
			s := judge.Search{Group: []string{"a", "b"}[r.IntN(2)], Metric: metric, Best: -1, Spent: 10 + i, Whole: 20 + i, Final: [2]float64{r.Float64(), math.NaN()},
				Params: []judge.SearchParam{{Name: "optim.lr", Log: true}, {Name: "net.kind", Choices: []string{"mlp", "vgg13"}}}}
			for n := range 1 + r.IntN(5) {
				v := r.Float64()
				if r.IntN(4) == 0 {
					v = math.NaN()
				}
				hash := fmt.Sprintf("%d%d%s", i, n, strings.Repeat("f", 20))
				trial := judge.SearchTrial{SearchRun: judge.SearchRun{Run: hash, Epochs: 3 * (1 + r.IntN(2)), Value: v}, Number: n + 1, Settings: map[string]string{"optim.lr": "0.123456789", "net.kind": []string{"mlp", "vgg13", "odd"}[r.IntN(3)]}}
				s.Trials = append(s.Trials, trial)
				if r.IntN(4) > 0 {
					run := judgetest.Common().Run(t, "ce", 0, 1)
					run.Hash = hash
					runs = append(runs, run)
				}
			}
			s.Best = s.SoFar()[len(s.Trials)-1]
			if r.IntN(2) == 0 {
				s.Default = &judge.SearchRun{Value: r.Float64()}
			}
			all = append(all, s)
		}
		pictures := OfSearches("s", all, runs)
		bestRestated(t, pictures[0], all)
		trialsRestated(t, pictures[1], all)
		curvesRestated(t, pictures[2], all, runs)
		found, about := FoundInSearches(all)
		byDefault := slices.ContainsFunc(all, func(s judge.Search) bool { return s.Default != nil })
		final := slices.ContainsFunc(all, func(s judge.Search) bool { return !math.IsNaN(s.Final[0]) })
		if strings.Contains(about, "default settings") != byDefault || strings.Contains(about, "test accuracy") != final || slices.Contains(found.Columns, "test accuracy, all samples") != final {
			t.Fatalf("%q, %q", about, found.Columns)
		}
		for i, row := range found.Rows {
			s := all[i]
			want := []string{s.Group, "–", "–", "–", format.Percent(s.Final[0]), "–", strconv.Itoa(s.Spent), strconv.Itoa(s.Whole)}
			if !final {
				want = slices.Delete(want, 4, 6)
			}
			if s.Best >= 0 {
				want[1], want[2] = "optim.lr 0.123, net.kind "+s.Trials[s.Best].Settings["net.kind"], format.Digits(s.Trials[s.Best].Value)
			}
			if s.Default != nil {
				want[3] = format.Digits(s.Default.Value)
			}
			if !byDefault {
				want = slices.Delete(want, 3, 4)
			}
			if !slices.Equal(row, want) {
				t.Fatalf("%q, want %q", row, want)
			}
		}
	}
	if OfSearches("s", nil, nil) != nil {
		t.Error("pictures of no searches")
	}
	for text, want := range map[string]string{"": "–", "0.1234": "0.1234", "0.12345": "0.123", "momentum": "momentum", "true": "true"} {
		if got := settingDigits(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func bestRestated(t *testing.T, p Picture, all []judge.Search) {
	t.Helper()
	groups := judge.SearchGroups(all)
	if len(p.Panels) != len(groups) || p.Columns != min(len(groups), 3) {
		t.Fatalf("%d panels of %q", len(p.Panels), groups)
	}
	for i, group := range groups {
		want := map[string]chart.Series{}
		add := func(id string, x int, y float64) {
			s := want[id]
			s.X, s.Y = append(s.X, float64(x)), append(s.Y, y)
			want[id] = s
		}
		var defaults []float64
		for n, s := range all {
			if s.Group != group {
				continue
			}
			factor, unit := s.Unit()
			if p.Panels[i].Y.Unit != unit {
				t.Fatalf("unit %q, want %q", p.Panels[i].Y.Unit, unit)
			}
			for j, best := range s.SoFar() {
				trial := s.Trials[j]
				if !math.IsNaN(trial.Value) {
					add(map[bool]string{true: "full", false: "stopped"}[trial.Epochs == s.Budget()]+fmt.Sprint("-", i), trial.Number, factor*trial.Value)
				}
				if best >= 0 {
					add(fmt.Sprint("so-far-", n), trial.Number, factor*s.Trials[best].Value)
				}
			}
			if s.Default != nil {
				defaults = append(defaults, factor*s.Default.Value)
			}
		}
		if defaults != nil {
			want[fmt.Sprint("default-", i)] = chart.Series{Y: chart.Numbers{average(defaults)}}
		}
		sameSeries(t, p.Panels[i], want)
	}
	row := 0
	for _, s := range all {
		for j, best := range s.SoFar() {
			trial := s.Trials[j]
			want := []string{s.Group, strconv.Itoa(trial.Number), strconv.Itoa(trial.Epochs), format.Digits(trial.Value), "–", "–", trial.Run[:12]}
			if best >= 0 {
				want[4], want[5] = format.Digits(s.Trials[best].Value), strconv.Itoa(s.Trials[best].Number)
			}
			if !slices.Equal(p.Table.Rows[row], want) {
				t.Fatalf("%q, want %q", p.Table.Rows[row], want)
			}
			row++
		}
	}
}

// sameSeries compares the points of all series of a panel.
func sameSeries(t *testing.T, panel chart.Panel, want map[string]chart.Series) {
	t.Helper()
	for _, s := range panel.Series {
		if w, there := want[s.ID]; !there || !near(s.X, w.X) || !near(s.Y, w.Y) {
			t.Fatalf("%s: %+v, want %+v", panel.ID, s, w)
		}
	}
	if len(panel.Series) != len(want) {
		t.Fatalf("%s: %d series, want %d", panel.ID, len(panel.Series), len(want))
	}
}

func trialsRestated(t *testing.T, p Picture, all []judge.Search) {
	t.Helper()
	if len(p.Panels) != 2 || p.Columns != 2 || p.Panels[0].X.Scale != chart.Log || p.Panels[1].X.Scale != chart.Linear || p.Panels[0].X.Range != nil || *p.Panels[1].X.Range != [2]float64{-.5, 1.5} || len(p.Panels[1].X.Ticks) != 2 || p.Panels[1].X.Ticks[1] != (chart.Tick{Value: 1, Label: "vgg13"}) {
		t.Fatalf("%+v", p.Panels)
	}
	row := 0
	want := [2]map[string]chart.Series{{}, {}}
	for _, s := range all {
		factor, _ := s.Unit()
		for i, trial := range s.Trials {
			kind := "stopped"
			name := strconv.Itoa(trial.Number)
			if trial.Epochs == s.Budget() {
				kind = "full"
			}
			if i == s.Best {
				kind = "best"
				name += " (best)"
			}
			id := fmt.Sprintf("%s-%d", kind, slices.Index(judge.SearchGroups(all), s.Group))
			for k, x := range []float64{.123456789, map[string]float64{"mlp": 0, "vgg13": 1, "odd": math.NaN()}[trial.Settings["net.kind"]]} {
				if !math.IsNaN(x + trial.Value) {
					one := want[k][id]
					one.X, one.Y = append(one.X, x), append(one.Y, factor*trial.Value)
					want[k][id] = one
				}
			}
			cells := []string{s.Group, name, "0.123", trial.Settings["net.kind"], strconv.Itoa(trial.Epochs), format.Digits(trial.Value), trial.Run[:12]}
			if !slices.Equal(p.Table.Rows[row], cells) {
				t.Fatalf("%q, want %q", p.Table.Rows[row], cells)
			}
			row++
		}
	}
	for k := range want {
		sameSeries(t, p.Panels[k], want[k])
	}
}

func curvesRestated(t *testing.T, p Picture, all []judge.Search, runs []judge.Run) {
	t.Helper()
	for i, group := range judge.SearchGroups(all) {
		panel := p.Panels[i]
		n, thick := 0, 0
		for _, s := range all {
			if s.Group != group {
				continue
			}
			for j, trial := range s.Trials {
				if slices.ContainsFunc(runs, func(r judge.Run) bool { return r.Hash == trial.Run }) && j == s.Best {
					thick++
				}
			}
		}
		for j, s := range panel.Series {
			if s.Width == 2 {
				if n++; s.Faint || j < len(panel.Series)-thick {
					t.Fatalf("a thick line is number %d of %d: %+v", j, len(panel.Series), s)
				}
			} else if !s.Faint || len(s.X) == 0 {
				t.Fatalf("%+v", s)
			}
		}
		if n != thick || panel.Title != group {
			t.Fatalf("%d thick lines of %q, want %d", n, panel.Title, thick)
		}
	}
	if p.Columns != min(len(p.Panels), 3) {
		t.Fatalf("%d columns", p.Columns)
	}
}
