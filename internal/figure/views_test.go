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
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// drawFeatures draws features of k classes in d dimensions of which some samples carry another label.
func drawFeatures(r *rand.Rand, k, n, d int) *judge.Features {
	f := &judge.Features{D: d, K: k, Weight: make([]float64, k*d), Bias: make([]float64, k)}
	centre := make([]float64, k*d)
	for i := range centre {
		centre[i], f.Weight[i] = 3*r.NormFloat64(), r.NormFloat64()
	}
	for i := range k * n {
		observed := i % k
		if r.IntN(4) == 0 {
			observed = (observed + 1) % k
		}
		f.True, f.Observed, f.Redrawn, f.TestTrue = append(f.True, i%k), append(f.Observed, observed), append(f.Redrawn, observed != i%k), append(f.TestTrue, i%k)
		for j := range d {
			f.TrainH = append(f.TrainH, centre[i%k*d+j]+.2*r.NormFloat64())
			f.TestH = append(f.TestH, centre[i%k*d+j]+.7*r.NormFloat64())
		}
	}
	f.TrainN, f.TestN = k*n, k*n
	return f
}

// TestFeaturesOfRuns restates both panels of a run: every sample at its place on the plane, means of clean and of mislabelled samples, all of it inside
// the frame, and the numbers of each class.
func TestFeaturesOfRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 46))
	for i := range 30 {
		k, d := 2+r.IntN(3), 2+r.IntN(4)
		run := judgetest.Common().Run(t, "ce", .1, 1)
		f := drawFeatures(r, k, 10, d)
		if i%4 == 0 {
			f.TrainN++
		}
		run.SetFeatures(f, "")
		g := one(t, []judge.Run{run})
		p := FeatureFigures(g, []string{"", run.Hash[:5]})[0]
		if len(p.Panels) != 2 || p.Panels[0].Title != "cross entropy, η = 0.1, seed 1: train" || p.Panels[1].Title != "cross entropy, η = 0.1, seed 1: test" || p.Panels[0].Equal != (d == 2) {
			t.Fatalf("%q, %q", p.Panels[0].Title, p.Panels[1].Title)
		}
		at := planeOf(f)
		for split, panel := range map[string]chart.Panel{"train": p.Panels[0], "test": p.Panels[1]} {
			h, labels := f.TrainH, f.True
			if split == "test" {
				h, labels = f.TestH, f.TestTrue
			}
			want := map[string]chart.Series{}
			for s := range labels {
				id := "dot-" + strconv.Itoa(labels[s])
				if split == "train" && f.Corrupted(s) {
					id = "cross-" + strconv.Itoa(labels[s])
				}
				x, y := at.at(h[s*d : (s+1)*d])
				one := want[id]
				one.X, one.Y = append(one.X, x), append(one.Y, y)
				want[id] = one
			}
			inFrame(t, panel, want, k)
		}
		rowsOfFeatures(t, p, f)
		notes := strings.Join(p.Notes, "\n")
		if strings.Contains(notes, "The decision line is exact on that plane.") != (d > 2) || strings.Contains(notes, fmt.Sprintf("the run saved the first %d of %d training and %d of %d test samples", 10*k, f.TrainN, 10*k, f.TestN)) != (i%4 == 0) || strings.Contains(notes, "degenerate") || strings.Contains(notes, "not drawn") {
			t.Fatalf("%q", notes)
		}
	}
}

func inFrame(t *testing.T, panel chart.Panel, want map[string]chart.Series, k int) {
	t.Helper()
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	add := func(x, y float64) {
		lo, hi = [2]float64{min(lo[0], x), min(lo[1], y)}, [2]float64{max(hi[0], x), max(hi[1], y)}
	}
	found := 0
	for _, s := range panel.Series {
		w, there := want[s.ID]
		if there {
			if found++; !near(s.X, w.X) || !near(s.Y, w.Y) || s.Label != "class "+s.ID[len(s.ID)-1:]+map[bool]string{true: ", trained with a wrong label"}[strings.HasPrefix(s.ID, "cross")] {
				t.Fatalf("%s %q: %v, want %v", s.ID, s.Label, s.X, w.X)
			}
		}
		switch s.ID {
		case "rows":
			for i := range s.X2 {
				if add(s.X2[i], s.Y2[i]); s.X[i] != 0 || s.Y[i] != 0 || s.Labels[i] != "w"+string('₀'+rune(i)) {
					t.Fatalf("%+v", s)
				}
			}
			if len(s.X2) != k {
				t.Fatalf("%d rows", len(s.X2))
			}
		case "mean", "corrupted":
			kind := map[string]string{"mean": "dot-", "corrupted": "cross-"}[s.ID]
			n := 0
			for c := range k {
				if w, any := want[kind+strconv.Itoa(c)]; any {
					if !near(chart.Numbers{s.X[n], s.Y[n]}, chart.Numbers{average(w.X), average(w.Y)}) || s.N[n] != len(w.X) || s.Labels[n] != map[string]string{"mean": "class " + strconv.Itoa(c)}[s.ID] {
						t.Fatalf("%s of class %d at %g, %g of %d, want %g, %g of %d", s.ID, c, s.X[n], s.Y[n], s.N[n], average(w.X), average(w.Y), len(w.X))
					}
					n++
				}
			}
			if n != len(s.X) || s.Size != map[string]float64{"mean": 13, "corrupted": 7}[s.ID] {
				t.Fatalf("%d means, want %d, of size %g", len(s.X), n, s.Size)
			}
		}
		for i := range s.X {
			if s.ID != "decision" && s.ID != "rows" {
				add(s.X[i], s.Y[i])
			}
		}
	}
	if found != len(want) {
		t.Fatalf("%d of %d clouds", found, len(want))
	}
	for i, axis := range []*[2]float64{panel.X.Range, panel.Y.Range} {
		if axis[0] > lo[i]-.069*(hi[i]-lo[i]) || axis[1] < hi[i]+.069*(hi[i]-lo[i]) {
			t.Fatalf("what is drawn reaches from %g to %g, the axis from %g to %g", lo[i], hi[i], axis[0], axis[1])
		}
	}
}

func rowsOfFeatures(t *testing.T, p Picture, f *judge.Features) {
	t.Helper()
	for i, split := range []string{"train", "test"} {
		for k := range f.K {
			mean, bad := make([]float64, f.D), make([]float64, f.D)
			n, wrong, spread := 0, 0, 0.0
			h, labels := f.TrainH, f.True
			if split == "test" {
				h, labels = f.TestH, f.TestTrue
			}
			isWrong := func(s int) bool { return split == "train" && f.Corrupted(s) }
			for s := range labels {
				if labels[s] == k && isWrong(s) {
					wrong++
					floats.Add(bad, h[s*f.D:(s+1)*f.D])
				} else if labels[s] == k {
					n++
					floats.Add(mean, h[s*f.D:(s+1)*f.D])
				}
			}
			floats.Scale(1/float64(n), mean)
			floats.Scale(1/math.Max(float64(wrong), 1), bad)
			for s := range labels {
				if labels[s] == k && !isWrong(s) {
					spread += floats.Distance(mean, h[s*f.D:(s+1)*f.D], 2) / float64(n)
				}
			}
			text := func(v []float64, n int) string {
				if n == 0 {
					return "–"
				}
				if len(v) > 4 {
					return strconv.Itoa(len(v)) + " entries"
				}
				var words []string
				for _, x := range v {
					words = append(words, format.Digits(x))
				}
				return "(" + strings.Join(words, ", ") + ")"
			}
			want := []string{"cross entropy, η = 0.1, seed 1", split, strconv.Itoa(k), strconv.Itoa(n), text(mean, n), format.Digits(floats.Norm(mean, 2)), format.Digits(spread), strconv.Itoa(wrong), text(bad, wrong), "0.900"}
			if split == "test" {
				want[8], want[9] = "–", "–"
			}
			if got := p.Table.Rows[i*f.K+k]; !slices.Equal(got, want) {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	}
}

// TestFeaturesThatAreShown: of each loss the first regular run with features, at the noise nearest to 0.1 and at the highest, and two degenerate ones.
func TestFeaturesThatAreShown(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 46))
	for range 30 {
		m := judgetest.Common()
		m.Losses, m.Noises, m.Seeds = []string{"ce", "ls"}, [][]float64{{0}, {0, .05, .2}, {.1, .4}, {0, .2, .4}, {0, .09, .11, .12}}[r.IntN(5)], 3
		runs := m.Runs(t)
		for i := range runs {
			if r.IntN(3) > 0 {
				runs[i].SetFeatures(drawFeatures(r, 2, 3, 2), "")
			} else {
				runs[i].SetFeatures(nil, []string{"gone", ""}[r.IntN(2)])
			}
			if r.IntN(4) == 0 {
				judgetest.SetFinal(&runs[i], map[bool]string{true: "train", false: "clean"}[runs[i].Noise == 0], "mean_norm_ratio", .05)
			}
		}
		g := one(t, runs)
		want := map[string]int{} // panels by picture
		levels := map[float64]bool{}
		bad := 0
		for _, s := range g.Runs {
			if s.Features() == nil {
				continue
			}
			if s.Degenerate {
				bad++
			} else {
				levels[s.Noise] = true
			}
		}
		nearest, highest := math.NaN(), math.NaN()
		for _, n := range g.Noises {
			if levels[n] && !(math.Abs(n-.1) >= math.Abs(nearest-.1)-1e-12) {
				nearest = n
			}
			if levels[n] {
				highest = n
			}
		}
		for _, n := range []float64{nearest, highest} {
			for _, curve := range g.Curves {
				if slices.ContainsFunc(g.Runs, func(s *judge.JudgedRun) bool {
					return s.Curve == curve && s.Noise == n && s.Features() != nil && !s.Degenerate
				}) && (n != nearest || highest != nearest || want[fmt.Sprint("features-noise-", n)] < 4) {
					want[fmt.Sprint("features-noise-", n)] = min(want[fmt.Sprint("features-noise-", n)]+2, 4)
				}
			}
		}
		if nearest == highest { // counted twice
			one := 0
			for _, curve := range g.Curves {
				if slices.ContainsFunc(g.Runs, func(s *judge.JudgedRun) bool {
					return s.Curve == curve && s.Noise == nearest && s.Features() != nil && !s.Degenerate
				}) {
					one += 2
				}
			}
			want[fmt.Sprint("features-noise-", nearest)] = one
		}
		if bad > 0 {
			want["features-degenerate"] = 2 * min(bad, 2)
		}
		pictures := FeatureFigures(g, nil)
		for _, p := range pictures {
			if len(p.Panels) != want[p.ID] || want[p.ID] == 0 {
				t.Fatalf("%s: %d panels, want %v", p.ID, len(p.Panels), want)
			}
			named := strings.Contains(p.Title, "η = ")
			if notes := strings.Join(p.Notes, "\n"); strings.Contains(notes, "is in the degenerate configuration of M-D Fig. 4(a): its smallest clean class mean is 0.0500 of the largest") != (p.ID == "features-degenerate") || p.ID != "features-degenerate" && named != g.Noisy() || strings.Contains(p.Caption, "wrong label") != g.Noisy() {
				t.Fatalf("%s: %q, %q", p.ID, p.Title, notes)
			}
		}
		if len(pictures) != len(want) {
			t.Fatalf("%d pictures, want %v", len(pictures), want)
		}
		gone := len(some(runs, func(r judge.Run) bool { return r.NoFeatures() == "gone" }))
		if why := WhyNoFeatures(g); why != map[bool]string{true: format.Count(gone, "run") + ": gone"}[gone > 0] {
			t.Fatalf("%q, want %d", why, gone)
		}
	}
}

// TestScenesOfAFilm restates the pictures of an epoch: samples and means along the axes, in ranges that hold all epochs.
func TestScenesOfAFilm(t *testing.T) {
	for _, d := range []int{3, 6} {
		dir := t.TempDir()
		for _, epoch := range []int{1, 5, 9} {
			judgetest.WriteFrame(t, dir, epoch, 3, d, float64(epoch), .5)
		}
		film, err := OpenFilm(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range film.axes {
			for j, o := range film.axes {
				if want := map[bool]float64{true: 1}[i == j]; !(math.Abs(floats.Dot(e, o)-want) < 1e-9) {
					t.Errorf("axes %d and %d: %g", i, j, floats.Dot(e, o))
				}
			}
		}
		var ranges [][2]float64
		low, high := [3]float64{}, [3]float64{}
		for _, epoch := range film.Epochs {
			p, err := film.Scene(epoch)
			if err != nil {
				t.Fatal(err)
			}
			frame, _ := film.Frame(epoch)
			if p.Title != fmt.Sprintf("Features and class means at epoch %d", epoch) || len(p.Panels) != 2 || strings.Contains(p.Caption, "main axes") != (d > 3) {
				t.Fatalf("%q: %q", p.Title, p.Caption)
			}
			for k, row := range p.Table.Rows {
				if want := []string{strconv.Itoa(k), "1000", format.Digits(float64(epoch))}; !slices.Equal(row, want) {
					t.Errorf("%q, want %q", row, want)
				}
			}
			for n, panel := range p.Panels {
				placed := 0
				for _, s := range panel.Series {
					for i := range s.X {
						low[0], high[0], low[n+1], high[n+1] = min(low[0], s.X[i]), max(high[0], s.X[i]), min(low[n+1], s.Y[i]), max(high[n+1], s.Y[i])
					}
					if (s.Z != nil) != (n == 0) && len(s.X) > 0 {
						t.Errorf("panel %d: third coordinates %v", n, s.Z)
					}
					if s.ID == "means" {
						for k := range s.X {
							rest := minus(frame.Means[k*d:(k+1)*d], film.origin)
							if !near(chart.Numbers{s.X[k], s.Y[k]}, chart.Numbers{floats.Dot(rest, film.axes[0]), floats.Dot(rest, film.axes[n+1])}) || n == 0 && !near(chart.Numbers{s.Z[k]}, chart.Numbers{floats.Dot(rest, film.axes[2])}) || s.Labels[k] != strconv.Itoa(k) {
								t.Errorf("mean %d at %g, %g", k, s.X[k], s.Y[k])
							}
						}
					} else {
						placed += len(s.X)
					}
					if strings.HasPrefix(s.ID, "class-") && (s.Label != "class "+s.ID[6:] || s.Color != chart.ColorFor(int(s.ID[6]-'0'))) {
						t.Errorf("%s: %q", s.ID, s.Label)
					}
				}
				if placed != len(frame.True) || panel.ID != fmt.Sprint("axes1-", n+2) || panel.Y.Label != fmt.Sprint("axis ", n+2) {
					t.Errorf("%s: %d of %d samples", panel.ID, placed, len(frame.True))
				}
				ranges = append(ranges, *panel.X.Range, *panel.Y.Range)
			}
		}
		for i := range 4 {
			if ranges[i] != ranges[i+4] || ranges[i] != ranges[i+8] {
				t.Errorf("ranges %v", ranges)
			}
			axis := []int{0, 1, 0, 2}[i]
			if width := high[axis] - low[axis]; !near(ranges[i][:], chart.Numbers{low[axis] - .04*width, high[axis] + .04*width}) {
				t.Errorf("d = %d: the axis is from %g to %g, what is drawn from %g to %g", d, ranges[i][0], ranges[i][1], low[axis], high[axis])
			}
		}
		if pictures, err := film.Pictures(9); err != nil || !strings.HasPrefix(pictures[2].Notes[0], "For the 60 training samples saved for pictures") {
			t.Errorf("%v, %v", pictures[2].Notes, err)
		}
		if _, err := film.Scene(2); err == nil {
			t.Error("a scene of an epoch that is not there")
		}
		if _, err := film.Pictures(2); err == nil {
			t.Error("pictures of an epoch that is not there")
		}
		for asked, want := range map[int64]int64{-1: 1, 1: 1, 2: 1, 4: 5, 6: 5, 8: 9, 99: 9} {
			if got := film.Nearest(asked); got != want {
				t.Errorf("nearest to %d is %d, want %d", asked, got, want)
			}
		}
	}
}

// TestTheViewFromAfar is 35° around the third axis and 25° above the plane of the others, without scaling.
func TestTheViewFromAfar(t *testing.T) {
	view := orthographic()
	cross := []float64{view.e[0][1]*view.e[1][2] - view.e[0][2]*view.e[1][1], view.e[0][2]*view.e[1][0] - view.e[0][0]*view.e[1][2], view.e[0][0]*view.e[1][1] - view.e[0][1]*view.e[1][0]}
	sight := []float64{math.Cos(25*math.Pi/180) * math.Cos(35*math.Pi/180), math.Cos(25*math.Pi/180) * math.Sin(35*math.Pi/180), math.Sin(25 * math.Pi / 180)}
	if !near(cross, sight) || view.e[0][2] != 0 || view.e[1][2] <= 0 {
		t.Errorf("looking along %v, want %v", cross, sight)
	}
	run := judgetest.Common().Run(t, "ce", 0, 1)
	r := rand.New(rand.NewPCG(12, 46))
	for _, d := range []int{2, 3} {
		f := drawFeatures(r, 3, 5, d)
		f.Observed = slices.Clone(f.True)
		run.SetFeatures(f, "")
		for _, show := range []string{"", "train", "test", "scheme"} {
			p := Drawing{Panels: []DrawingPanel{{Title: "T", X: "features", Show: show}}}.Draw("d", []*judge.JudgedRun{judge.JudgeRun(&run)})
			panel := p.Panels[0]
			lo, hi := math.Inf(1), math.Inf(-1)
			longest := 0.0
			var axes chart.Series
			for _, s := range panel.Series {
				if s.ID == "axes" {
					axes = s
				}
				for _, x := range slices.Concat(s.X, s.X2) {
					if s.ID != "decision" && s.ID != "axes" {
						lo, hi = min(lo, x), max(hi, x)
					}
				}
			}
			if panel.Title != "T" || panel.X.Range == nil || panel.X.Range[0] > lo || panel.X.Range[1] < hi || !panel.Equal {
				t.Errorf("%d %q: from %g to %g in %v", d, show, lo, hi, panel.X.Range)
			}
			if (axes.X2 != nil) != (d == 3 && show == "") {
				t.Errorf("%d %q: axes %v", d, show, axes.X2)
			}
			for j := range axes.X2 {
				x, y := view.direction([]float64{map[bool]float64{true: 1}[j == 0], map[bool]float64{true: 1}[j == 1], map[bool]float64{true: 1}[j == 2]})
				ratio := math.Hypot(axes.X2[j], axes.Y2[j]) / math.Hypot(x, y)
				if longest == 0 {
					longest = ratio
				}
				if !(math.Abs(ratio-longest) < 1e-9) || axes.Labels[j] != "h"+string('₁'+rune(j)) || axes.X[j] != 0 || axes.Y[j] != 0 {
					t.Errorf("axis %d: %+v", j, axes)
				}
			}
			h, labels := f.TrainH, f.True
			if show == "test" || show == "scheme" {
				h, labels = f.TestH, f.TestTrue
			}
			for k, row := range p.Table.Rows {
				mean, n := make([]float64, d), 0
				for s := range labels {
					if labels[s] == k {
						floats.Add(mean, h[s*d:(s+1)*d])
						n++
					}
				}
				floats.Scale(1/float64(n), mean)
				if want := []string{"T", strconv.Itoa(k), strconv.Itoa(n), format.Digits(floats.Norm(mean, 2))}; !slices.Equal(row[:4], want) {
					t.Errorf("%q, want %q", row, want)
				}
			}
			if len(p.Table.Rows) != 3 {
				t.Errorf("%d rows", len(p.Table.Rows))
			}
		}
	}
}

// TestCurvesOfEachRun: a line for each run, without spread, its measures split into those of collapse and the others; what is left out is said.
func TestCurvesOfEachRun(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds = []string{"ce", "ls"}, []float64{.1}, 2
	runs := m.Runs(t)
	runs[1].Every = 7
	first, rest := Curves(runs), OtherCurves(runs)
	for _, p := range []Picture{first, rest} {
		for _, panel := range p.Panels {
			n := 0
			for _, s := range panel.Series {
				if s.Kind == chart.HLine {
					continue
				}
				if n++; s.YLo != nil || s.YHi != nil || s.N != nil || s.Kind != chart.Line {
					t.Fatalf("%+v", s)
				}
			}
			if n%4 != 0 {
				t.Errorf("%s: %d lines of four runs", panel.ID, n)
			}
		}
		if !slices.Equal(p.Notes, []string{"Of runs with very many epochs, one in 7 is drawn, and the newest; `collapse export` has all."}) {
			t.Errorf("%q", p.Notes)
		}
	}
	seen := map[string]bool{}
	for _, panel := range slices.Concat(first.Panels, rest.Panels) {
		if seen[panel.ID] {
			t.Errorf("%s is drawn twice", panel.ID)
		}
		seen[panel.ID] = true
	}
	for _, k := range runs[0].Keys() {
		key := k.Measure + "-" + k.Split
		if k.Measure == "loss" || k.Measure == "accuracy" {
			key = k.Measure + "-train-test"
		}
		if !seen[key] {
			t.Errorf("%s is not drawn: %v", key, seen)
		}
	}
	if p, some := FoldedCurves(runs); !some || len(p.Panels) != 0 || p.Title != rest.Title || p.ID != rest.ID {
		t.Errorf("%+v, %v", p.Figure, some)
	}
	few, err := judge.NewRun(store.Run{}, []store.Value{{Key: store.Key{Series: "epoch", Split: "train", Measure: "loss"}, Step: 1, Value: 1}, {Key: store.Key{Series: "epoch", Split: "train", Measure: "cdnv"}, Step: 1, Missing: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, some := FoldedCurves([]judge.Run{few}); some {
		t.Error("there are other measures than the loss")
	}
	all := []judge.SeriesKey{{Split: "train", Measure: "zeta"}, {Split: "test", Measure: measure.KeyCDNV}, {Split: "train", Measure: measure.KeyCDNV}, {Split: "train", Measure: "alpha"}, {Split: "train", Measure: measure.KeyNC1Pinv}}
	sortMeasures(all)
	if got := fmt.Sprint(all); got != "[{train  nc1_pinv} {train  cdnv} {test  cdnv} {train  alpha} {train  zeta}]" {
		t.Error(got)
	}
}

// TestHowMeasuresAreDrawn: accuracies in percent, NC1 on a log axis but not its ranks, sizes beside theory.
func TestHowMeasuresAreDrawn(t *testing.T) {
	for k, want := range map[judge.SeriesKey]tracked{
		{Split: "clean", Measure: "accuracy"}:     {key: "accuracy", title: "accuracy", axis: "accuracy (clean)", splits: []string{"clean"}, unit: 100},
		{Split: "train", Measure: "w_norm_most"}:  {key: "w_norm_most", title: "w_norm_most", axis: "w_norm_most (theory dashed)", splits: []string{"train", "theory"}, unit: 1},
		{Split: "theory", Measure: "w_norm_most"}: {key: "w_norm_most", title: "w_norm_most", axis: "w_norm_most (theory)", splits: []string{"theory"}, unit: 1},
		{Measure: "f1"}: {key: "f1", title: "f1", axis: "f1", splits: []string{""}, unit: 1},
		{Split: "clean", Measure: measure.KeyNC1TraceRatio}:   {key: measure.KeyNC1TraceRatio, axis: measure.KeyNC1TraceRatio + " (clean)", splits: []string{"clean"}, unit: 1, log: true},
		{Split: "train", Measure: measure.KeyRankBetween}:     {key: measure.KeyRankBetween, axis: measure.KeyRankBetween + " (train)", splits: []string{"train"}, unit: 1},
		{Split: "train", Measure: measure.KeyNC2MeansCentred}: {key: measure.KeyNC2MeansCentred, axis: measure.KeyNC2MeansCentred + " (train)", splits: []string{"train"}, unit: 1},
	} {
		if d, known := measure.Lookup(k.Measure); known && want.title == "" {
			want.title = d.Name
		}
		got := trackedOf(k)
		if d, known := measure.Lookup(k.Measure); known {
			want.title = d.Name
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %+v, want %+v", k, got, want)
		}
	}
	for _, m := range properties() {
		if m.limit == (m.key == measure.KeyNC1Pinv) || m.log != (m.key == measure.KeyNC1Pinv) || (m.unit == 100) != (m.key == measure.KeyNC4NCCMismatch) || m.axis == "" || m.title == "" {
			t.Errorf("%+v", m)
		}
	}
	for classes, all := range map[string]bool{"2": false, "3": true, "": true} {
		g := &judge.Experiment{Settings: map[string]string{"data.classes": classes}}
		if has := slices.ContainsFunc(telling(g), func(m tracked) bool { return m.key == measure.KeyNC2MeansCentred }); has != all || len(telling(g)) < len(mainMeasures)-1 {
			t.Errorf("%s classes: the distance of centred means from an ETF is told: %v", classes, has)
		}
	}
}

// TestSettingsInWords says settings as the papers do, and sorts numbers by size.
func TestSettingsInWords(t *testing.T) {
	for of, want := range map[[2]string]string{{"loss.kind", "ls"}: "label smoothing", {"net.feature_dim", "0"}: "the network's own d", {"net.feature_dim", "10"}: "d = 10", {"data.noise", "0.1"}: "η = 0.1", {"head.kind", "etf"}: "fixed ETF",
		{"optim.decay", "peeled"}: "peeled decay", {"a.b", "true"}: "a.b = true", {"a.b", "false"}: "a.b = false", {"a.b", "x"}: "x", {"lr", "0.1"}: "lr = 0.1", {"my.width", "8"}: "my.width = 8", {"optim.lr", "0.5"}: "rate = 0.5"} {
		if got := SettingInWords(of[0], of[1]); got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
	for of, want := range map[[3]string]int{{"loss.kind", "ls", "ce"}: 1, {"loss.kind", "ce", "ls"}: -1, {"a", "9", "10"}: -1, {"a", "10", "9"}: 1, {"a", "x", "9"}: 1, {"a", "x", "y"}: -1, {"a", "1", "1.0"}: 0} {
		if got := CompareSettings(of[0], of[1], of[2]); got != want {
			t.Errorf("%v: %d, want %d", of, got, want)
		}
	}
	for in, want := range map[rune]rune{'a': 'a', 'z': 'z', 'A': 'A', 'Z': 'Z', '0': '0', '9': '9', '`': '-', '{': '-', '@': '-', '[': '-', '/': '-', ':': '-', 'ä': '-'} {
		if got := idRune(in); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// TestMarginsOfADrawing: sorted margins against the share of samples, in percent, from 0 to 100; layers by number with their names.
func TestMarginsOfADrawing(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 46))
	run := judgetest.Common().Run(t, "ce", 0, 1)
	run.SetFeatures(drawFeatures(r, 3, 20, 4), "")
	s := judge.JudgeRun(&run)
	p := Drawing{Panels: []DrawingPanel{{Title: "margins", X: "sample", Y: "train.margin_mean"}}}.Draw("d", []*judge.JudgedRun{s}).Panels[0]
	want := judge.MarginCurve(&run)
	if line := p.Series[0]; !near(line.Y, want) || line.X[0] != 0 || line.X[1] != 1 || line.X[100] != 100 || p.X.Label != "share of the samples, %" || line.Kind != chart.Line {
		t.Errorf("%+v, want %v", line, want)
	}
	value := func(layer string, v float64) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: "train", Layer: layer, Measure: "cdnv"}, Step: 1, Value: v}
	}
	layers, err := judge.NewRun(store.Run{Status: store.Done}, []store.Value{value("fc2", 3), value("fc1", 5), value("conv", 8)})
	if err != nil {
		t.Fatal(err)
	}
	layers.Settings["run.taps"] = "[conv fc1 fc2]"
	p = Drawing{Panels: []DrawingPanel{{Title: "layers", X: "layer", Y: "train@*.cdnv"}}}.Draw("d", []*judge.JudgedRun{judge.JudgeRun(&layers)}).Panels[0]
	if line := p.Series[0]; !near(line.X, chart.Numbers{1, 2, 3}) || !near(line.Y, chart.Numbers{8, 5, 3}) || fmt.Sprint(p.X.Ticks) != "[{1 conv} {2 fc1} {3 fc2}]" {
		t.Errorf("%+v, %v", line, p.X.Ticks)
	}
}
