package figure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

// drawStudy draws a study of some losses and noise levels; of some runs a value is missing, some are degenerate, some run.
func drawStudy(t *testing.T, r *rand.Rand, noises ...float64) []judge.Run {
	t.Helper()
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds, m.Jitter = []string{"ce", "ls", "lr"}[:1+r.IntN(3)], noises, 1+r.IntN(4), .4
	runs := m.Runs(t)
	for i := range runs {
		split := map[bool]string{true: "train", false: "clean"}[runs[i].Noise == 0]
		switch r.IntN(9) {
		case 0:
			judgetest.SetFinal(&runs[i], split, "mean_norm_ratio", .01)
		case 1:
			judgetest.Miss(&runs[i], "test", []string{"dilation", "accuracy"}[r.IntN(2)], "none")
		case 2:
			judgetest.SetFinal(&runs[i], "train", "accuracy", .98)
		}
	}
	r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return runs
}

func one(t *testing.T, runs []judge.Run) *judge.Experiment {
	t.Helper()
	gs, _ := judge.Experiments(runs)
	if len(gs) != 1 {
		t.Fatalf("%d experiments", len(gs))
	}
	return gs[0]
}

// average and deviation by their definitions; NaN for too few.
func average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func deviation(v []float64) float64 {
	sum, mean := 0.0, average(v)
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	if len(v) < 2 {
		return math.NaN()
	}
	return math.Sqrt(sum / float64(len(v)-1))
}

func near(got, want chart.Numbers) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool {
		return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*(1+math.Abs(b))
	})
}

// plusMinus writes a mean with its deviation.
func plusMinus(v []float64) string {
	return format.PlusMinus(average(v), deviation(v))
}

// TestDilationAgainstMemorization restates M-D Fig. 1: a point for each loss and noise level with the deviations on either side, dots for its runs,
// and the numbers in the table.
func TestDilationAgainstMemorization(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 46))
	for range 40 {
		g := one(t, drawStudy(t, r, 0, .1, .4))
		var regular []*judge.JudgedRun
		for _, s := range g.Runs {
			if !s.Degenerate {
				regular = append(regular, s)
			}
		}
		for _, p := range MainFigures(g) {
			runs := regular
			if strings.Contains(p.ID, "all") {
				runs = g.Runs
			}
			key := g.Form().Key
			if len(p.Panels) != 2 || p.Panels[0].ID != "dilation-"+key || p.Panels[1].ID != "accuracy-"+key || p.Panels[1].Y.Unit != "%" || !p.Panels[0].X.Zero {
				t.Fatalf("%+v", p.Panels)
			}
			for i, q := range []struct {
				name string
				unit float64
			}{{"dilation", 1}, {"accuracy", 100}} {
				sameCurves(t, g, runs, p.Panels[i], key, q.name, q.unit)
			}
			sameNumbers(t, g, runs, p.Table, key)
		}
		notesOfMain(t, g, regular)
	}
}

func sameCurves(t *testing.T, g *judge.Experiment, runs []*judge.JudgedRun, panel chart.Panel, key, measure string, unit float64) {
	t.Helper()
	for i, curve := range g.Curves {
		var dots, line, single chart.Series
		for _, noise := range g.Noises {
			var xs, ys []float64
			for _, s := range runs {
				x, ok, _ := s.Final("train", key)
				y, okY, _ := s.Final("test", measure)
				if s.Curve == curve && s.Noise == noise && (ok || noise == 0) && okY {
					xs, ys = append(xs, x), append(ys, unit*y)
				}
			}
			if len(xs) == 0 {
				continue
			}
			dots.X, dots.Y = append(dots.X, xs...), append(dots.Y, ys...)
			x, y, dx, dy := average(xs), average(ys), deviation(xs), deviation(ys)
			line.X, line.Y, line.XLo, line.XHi = append(line.X, x), append(line.Y, y), append(line.XLo, x-dx), append(line.XHi, x+dx)
			line.YLo, line.YHi, line.N = append(line.YLo, y-dy), append(line.YHi, y+dy), append(line.N, len(xs))
			label := strconv.FormatFloat(noise, 'f', -1, 64)
			if noise == slices.Max(g.Noises) {
				label = "η = " + label
			}
			line.Labels = append(line.Labels, label)
		}
		found := 0
		for _, s := range panel.Series {
			switch s.ID {
			case "mean-" + strconv.Itoa(i):
				single = s
				if found++; !near(s.X, line.X) || !near(s.Y, line.Y) || !near(s.XLo, line.XLo) || !near(s.XHi, line.XHi) || !near(s.YLo, line.YLo) || !near(s.YHi, line.YHi) || !slices.Equal(s.N, line.N) || !slices.Equal(s.Labels, line.Labels) || s.Label != curve || s.Faint {
					t.Fatalf("%s: %+v\nwant %+v", curve, s, line)
				}
			case "runs-" + strconv.Itoa(i):
				if found++; !near(s.X, dots.X) || !near(s.Y, dots.Y) || !s.Faint || s.Label != "" {
					t.Fatalf("%s: %+v\nwant %+v", curve, s, dots)
				}
			}
		}
		if found != 2 && len(line.X) > 0 || found != 0 && len(line.X) == 0 {
			t.Fatalf("%s: %d series", curve, found)
		}
		if found == 2 && (single.Color != color(g, curve) || single.Kind != chart.LinePoints) {
			t.Fatalf("%s: %+v", curve, single)
		}
	}
}

func sameNumbers(t *testing.T, g *judge.Experiment, runs []*judge.JudgedRun, table format.Table, key string) {
	t.Helper()
	var rows [][]string
	for _, curve := range g.Curves {
		for _, noise := range g.Noises {
			values := map[string][]float64{}
			n := 0
			for _, s := range runs {
				if s.Curve != curve || s.Noise != noise {
					continue
				}
				n++
				for name, of := range map[string][2]string{"m": {"train", key}, "d": {"test", "dilation"}, "a": {"test", "accuracy"}, "t": {"train", "accuracy"}} {
					if v, ok, _ := s.Final(of[0], of[1]); ok {
						if of[1] == "accuracy" {
							v *= 100
						}
						values[name] = append(values[name], v)
					}
				}
			}
			if n > 0 {
				rows = append(rows, []string{curve, format.Decimal(noise), strconv.Itoa(n), plusMinus(values["m"]), plusMinus(values["d"]), plusMinus(values["a"]), plusMinus(values["t"])})
			}
		}
	}
	if !slices.EqualFunc(table.Rows, rows, slices.Equal[[]string]) || len(table.Columns) != 7 {
		t.Fatalf("%q\nwant %q", table.Rows, rows)
	}
}

// notesOfMain counts what the main figure leaves out or draws though it is unfitted.
func notesOfMain(t *testing.T, g *judge.Experiment, regular []*judge.JudgedRun) {
	t.Helper()
	figures := MainFigures(g)
	bad := len(g.Runs) - len(regular)
	if len(regular) == 0 || len(figures) != map[bool]int{true: 2, false: 1}[bad > 0] {
		if len(regular) > 0 || len(figures) != 1 || !strings.Contains(figures[0].Title, "every run is degenerate") {
			t.Fatalf("%d figures of %d regular runs", len(figures), len(regular))
		}
		return
	}
	early := 0
	for _, s := range regular {
		if v, _, _ := s.Final("train", "accuracy"); v < .999 {
			early++
		}
	}
	notes := strings.Join(figures[0].Notes, "\n")
	for text, want := range map[string]bool{format.Count(bad, "degenerate run") + " left out here": bad > 0, "No run is degenerate": bad == 0, "is unknown": false, format.Count(early, "run") + " drawn here did not reach the terminal phase": early > 0} {
		if strings.Contains(notes, text) != want {
			t.Fatalf("%q: says %q %v", notes, text, !want)
		}
	}
	if !strings.Contains(figures[0].Caption, "from "+levels(g.Noises)+";") {
		t.Fatalf("%q", figures[0].Caption)
	}
	other := OtherForms(g)
	for _, panel := range other.Panels {
		if strings.HasSuffix(panel.ID, g.Form().Key) {
			t.Fatalf("the form of the main figure is drawn twice: %s", panel.ID)
		}
	}
	if g.Noisy() && len(other.Panels) < 2 {
		t.Fatalf("%d panels of other forms", len(other.Panels))
	}
}

// TestMeasuresAgainstEpoch restates the curves: at each epoch the mean over the runs of a loss that measured it, from the smallest to the largest.
func TestMeasuresAgainstEpoch(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 46))
	for range 25 {
		noise := []float64{0, .1}[r.IntN(2)]
		g := one(t, drawStudy(t, r, noise))
		first, rest := EpochFigures(g, noise)
		kept := g.Pick(func(s *judge.JudgedRun) bool { return !s.Degenerate })
		bad := len(g.Runs) - len(kept)
		if len(kept) == 0 {
			kept = g.Runs
		}
		for _, p := range []Picture{first, rest} {
			row := 0
			for _, panel := range p.Panels {
				key, _, _ := strings.Cut(panel.ID, "-")
				faint := 0
				lines := map[string]chart.Series{}
				for _, s := range panel.Series {
					if faint += map[bool]int{true: 1}[s.Faint]; s.Kind == chart.Line && !s.Faint {
						lines[s.ID] = s
						split := strings.Split(s.ID, "-")[1]
						sameTrack(t, kept, s, split, key, map[bool]float64{true: 100, false: 1}[panel.Y.Unit == "%"], p.Table.Rows[row])
						row++
					}
				}
				for _, s := range panel.Series {
					if s.Kind != chart.Band {
						continue
					}
					if line := lines[strings.Replace(s.ID, "band", "mean", 1)]; !near(s.YLo, line.YLo) || !near(s.YHi, line.YHi) || !near(s.X, line.X) || s.Color != line.Color || slices.Max(line.N) < 2 {
						t.Fatalf("band %+v of %+v", s, line)
					}
				}
				positive := false
				for _, s := range lines {
					positive = positive || slices.Max(s.Y) > 0
				}
				if panel.Y.Scale == chart.Log && !positive || panel.ID == "accuracy-train-test" && panel.Y.Unit != "%" || faint > 0 && (p.ID != first.ID || bad == 0) {
					t.Fatalf("%s of %s: %+v, %d faint", panel.ID, p.ID, panel.Y, faint)
				}
				if limit := panel.Series[len(panel.Series)-1]; (limit.ID == "limit") != (slices.ContainsFunc(mainMeasures, func(m tracked) bool { return m.limit && m.panelID() == panel.ID })) || limit.ID == "limit" && (limit.Kind != chart.HLine || !near(limit.Y, chart.Numbers{0}) || !panel.Y.Zero) {
					t.Fatalf("%s ends with %+v", panel.ID, limit)
				}
			}
			if row != len(p.Table.Rows) {
				t.Fatalf("%d rows of %d curves", len(p.Table.Rows), row)
			}
		}
		if memory := slices.ContainsFunc(first.Panels, func(p chart.Panel) bool { return p.Title == "Memorization" }); memory != (noise > 0) {
			t.Fatalf("memorization at noise %g: %v", noise, memory)
		}
		if len(first.Notes) != map[bool]int{true: 1, false: 0}[bad > 0] {
			t.Fatalf("%d degenerate, notes %q", bad, first.Notes)
		}
	}
}

func sameTrack(t *testing.T, runs []*judge.JudgedRun, got chart.Series, split, key string, unit float64, row []string) {
	t.Helper()
	at := map[int64][]float64{}
	n := 0
	for _, s := range judge.OnCurve(runs, got.Label) {
		rows := s.Series(split, key)
		if len(rows) > 0 {
			n++
		}
		for _, p := range rows {
			at[p.Step] = append(at[p.Step], unit*p.Value)
		}
	}
	var want chart.Series
	half := 0
	for step := int64(0); step <= 20; step++ {
		if v := at[step]; v != nil {
			want.X, want.Y, want.YLo, want.YHi, want.N = append(want.X, float64(step)), append(want.Y, average(v)), append(want.YLo, slices.Min(v)), append(want.YHi, slices.Max(v)), append(want.N, len(v))
			if step <= 10 {
				half = len(want.X) - 1
			}
		}
	}
	last := len(want.X) - 1
	if !near(got.X, want.X) || !near(got.Y, want.Y) || !near(got.YLo, want.YLo) || !near(got.YHi, want.YHi) || !slices.Equal(got.N, want.N) {
		t.Fatalf("%s %s: %+v\nwant %+v", split, key, got, want)
	}
	numbers := []string{key, split, got.Label, strconv.Itoa(n), format.Digits(got.Y[0]), format.Digits(got.Y[half]), format.Digits(got.Y[last]), format.Digits(got.YLo[last]), format.Digits(got.YHi[last])}
	if !slices.Equal(row, numbers) {
		t.Fatalf("%q, want %q", row, numbers)
	}
}

// TestPanelsOfADrawing restates what a recipe's figure shows: each curve is the runs with one value of its settings, at each place their mean, the
// smallest and the largest.
func TestPanelsOfADrawing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 46))
	for range 40 {
		g := one(t, drawStudy(t, r, 0, .1, .4))
		spec := DrawingPanel{Title: "T", X: []string{"epoch", "data.noise", "test.accuracy"}[r.IntN(3)], Y: "test.dilation", Curves: []string{"loss.kind"}, Log: []string{"", "x", "y", "xy"}[r.IntN(4)],
			Unit: []string{"", "%"}[r.IntN(2)], Complement: r.IntN(2) == 0, Runs: []string{"", "regular"}[r.IntN(2)], Label: []string{"", "own"}[r.IntN(2)]}
		if r.IntN(3) == 0 {
			spec.Where = map[string]any{"data.noise": .1}
		}
		p := Drawing{Panels: []DrawingPanel{spec, {Title: "none", X: "epoch", Y: "validation.loss"}}}.Draw("d", g.Runs)
		if !slices.Contains(p.Notes, "The panel “none” is left out: no run has validation.loss.") {
			t.Fatalf("notes %q", p.Notes)
		}
		var rows [][]string
		curves := 0
		for _, curve := range g.Curves {
			x, y := spec.restated(judge.OnCurve(g.Runs, curve))
			if len(x) == 0 {
				continue
			}
			curves++
			rows = append(rows, spec.compare(t, p, curve, x, y)...)
		}
		if curves > 0 && !slices.EqualFunc(p.Table.Rows, rows, slices.Equal[[]string]) {
			t.Fatalf("%q\nwant %q", p.Table.Rows, rows)
		}
		if len(p.Panels) != min(curves, 1) || p.Columns != len(p.Panels) {
			t.Fatalf("%d panels in %d columns", len(p.Panels), p.Columns)
		}
		if curves > 0 {
			at := p.Panels[0]
			label := map[bool]string{true: spec.Y, false: "own"}[spec.Label == ""]
			if (at.X.Scale == chart.Log) != strings.Contains(spec.Log, "x") || (at.Y.Scale == chart.Log) != strings.Contains(spec.Log, "y") || at.Y.Label != label || at.X.Label != spec.X || at.Y.Unit != spec.Unit || at.Title != "T" {
				t.Fatalf("%+v of %+v", at, spec)
			}
		}
	}
}

// restated are the places of a curve: the mean of x and all y.
func (s DrawingPanel) restated(runs []*judge.JudgedRun) (x []float64, y [][]float64) {
	var names []string
	places := map[string][2][]float64{}
	for _, r := range runs {
		if s.Runs == "regular" && r.Degenerate || s.Where != nil && r.Noise != .1 {
			continue
		}
		add := func(name string, x, y float64) {
			if s.Complement {
				y = 1 - y
			}
			if s.Unit == "%" {
				y *= 100
			}
			at := places[name]
			places[name] = [2][]float64{append(at[0], x), append(at[1], y)}
		}
		if s.X == "epoch" {
			for _, p := range r.Series("test", "dilation") {
				add(fmt.Sprintf("%08d", p.Step), float64(p.Step), p.Value)
			}
			continue
		}
		v, ok, _ := r.Final("test", "dilation")
		at, known := r.Noise, true
		if s.X == "test.accuracy" {
			at, known, _ = r.Final("test", "accuracy")
		}
		if ok && known {
			add(fmt.Sprint(r.Noise), at, v)
		}
	}
	for name := range places {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return int(1e9 * (average(places[a][0]) - average(places[b][0]))) })
	for _, name := range names {
		x, y = append(x, average(places[name][0])), append(y, places[name][1])
	}
	return x, y
}

func (s DrawingPanel) compare(t *testing.T, p Picture, curve string, x []float64, y [][]float64) (rows [][]string) {
	t.Helper()
	var line, band chart.Series
	for _, one := range p.Panels[0].Series {
		if one.Label == curve {
			line = one
		}
	}
	for _, one := range p.Panels[0].Series {
		if one.Kind == chart.Band && one.Color == line.Color {
			band = one
		}
	}
	var want chart.Series
	several := false
	for i := range x {
		lo, hi := slices.Min(y[i]), slices.Max(y[i])
		want.X, want.Y, want.YLo, want.YHi, want.N = append(want.X, x[i]), append(want.Y, average(y[i])), append(want.YLo, lo), append(want.YHi, hi), append(want.N, len(y[i]))
		several = several || len(y[i]) > 1
		rows = append(rows, []string{"T", curve, format.Digits(x[i]), strconv.Itoa(len(y[i])), format.Digits(average(y[i])), format.Digits(lo), format.Digits(hi)})
	}
	if !near(line.X, want.X) || !near(line.Y, want.Y) || !slices.Equal(line.N, want.N) {
		t.Fatalf("%s: %+v\nwant %+v", curve, line, want)
	}
	if s.X != "epoch" {
		if line.Kind != chart.LinePoints || band.X != nil || !near(line.YLo, want.YLo) || !near(line.YHi, want.YHi) {
			t.Fatalf("%s: %+v\nwant %+v", curve, line, want)
		}
		return rows
	}
	if line.Kind != chart.Line || line.YLo != nil || several != (band.X != nil) || several && (!near(band.YLo, want.YLo) || !near(band.YHi, want.YHi) || !near(band.X, want.X)) {
		t.Fatalf("%s: %+v, band %+v\nwant %+v", curve, line, band, want)
	}
	return rows[len(rows)-1:]
}

// TestMapsOfSettings restates the maps: the mean over seeds of finished runs, of every combination of two settings, small numbers first.
func TestMapsOfSettings(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 46))
	for range 30 {
		var runs []judge.Run
		want := map[string][]float64{}
		widths, rates := []string{"8", "64", "256"}[:2+r.IntN(2)], []string{"0.5", "10", "9"}[:2+r.IntN(2)]
		for _, width := range widths {
			for _, rate := range rates {
				for seed := range 2 {
					status, v := store.Done, r.Float64()
					if r.IntN(5) == 0 {
						status = store.Running
					}
					config := fmt.Sprintf(`{"net":{"width":%s},"x":{"rate":%s},"run":{"seed":%d}}`, width, rate, seed)
					one, err := judge.NewRun(store.Run{Hash: fmt.Sprint(width, rate, seed), Kind: store.Script, Status: status, Config: []byte(config)}, []store.Value{{Key: store.Key{Series: "epoch", Split: "test", Measure: "f1"}, Step: 1, Value: v}})
					if err != nil {
						t.Fatal(err)
					}
					if status == store.Done {
						want[width+" "+rate] = append(want[width+" "+rate], v)
					}
					runs = append(runs, one)
				}
			}
		}
		p := SettingsMap(runs)
		if len(p.Panels) != 1 || p.Panels[0].Title != "test/f1" || p.Panels[0].X.Label != "rate" || p.Panels[0].Y.Label != "width" {
			t.Fatalf("%+v", p.Panels)
		}
		slices.SortFunc(rates, func(a, b string) int { return CompareSettings("x.rate", a, b) })
		h := p.Panels[0].Series[0].Heat
		for i, width := range widths {
			for j, rate := range rates {
				if got, want := h.Z[i*len(rates)+j], average(want[width+" "+rate]); !near(chart.Numbers{got}, chart.Numbers{want}) {
					t.Fatalf("width %s, rate %s: %g, want %g", width, rate, got, want)
				}
			}
		}
		for k, axis := range map[*chart.Axis][]string{&p.Panels[0].X: rates, &p.Panels[0].Y: widths} {
			if len(k.Ticks) != len(axis) || *k.Range != [2]float64{-.5, float64(len(axis)) - .5} {
				t.Fatalf("%+v", k)
			}
			for i, tick := range k.Ticks {
				if tick.Value != float64(i) || tick.Label != axis[i] {
					t.Fatalf("%+v, want %q", k.Ticks, axis)
				}
			}
		}
		if h.Columns != len(rates) || h.Rows != len(widths) || h.X != *p.Panels[0].X.Range || h.Y != *p.Panels[0].Y.Range {
			t.Fatalf("%+v", h)
		}
		if other := SettingsMap(runs[:1]); len(other.Panels) != 0 {
			t.Fatal("a map of one run")
		}
	}
	names := []string{"a name of eighteen", "a name of nineteen!"}
	for range 23 {
		names = append(names, "x")
	}
	p := heatPanel("i", "t", "y", "x", names, names[:12], make(chart.Numbers, 25*12))
	if p.Y.Ticks[0].Label != names[0] || p.X.Ticks[1].Label != "a name of ninetee…" || len(p.Y.Ticks) != 9 || len(p.X.Ticks) != 12 || p.Y.Ticks[1].Value != 3 {
		t.Errorf("%+v\n%+v", p.X.Ticks, p.Y.Ticks)
	}
}

// TestTheGridIsMeansOverSeeds of what was measured last, in any state, with the share of runs that have finished.
func TestTheGridIsMeansOverSeeds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 46))
	for range 20 {
		runs := drawStudy(t, r, 0, .1, .4)
		for i := range runs {
			if r.IntN(3) == 0 {
				runs[i].Status = store.Running
			}
		}
		p := Grid(runs)
		losses := map[string]bool{}
		for i := range runs {
			losses[runs[i].CurveName()] = true
		}
		if len(losses) < 2 {
			if len(p.Panels) != 0 {
				t.Fatal("a grid of one row")
			}
			continue
		}
		rows := slices.Sorted(func(yield func(string) bool) {
			for name := range losses {
				if !yield(name) {
					return
				}
			}
		})
		line := 0
		for k, m := range [][2]string{{"train", "nc1_pinv"}, {"test", "dilation"}, {"test", "accuracy"}, {"", ""}} {
			z := p.Panels[k].Series[0].Heat.Z
			for i, name := range rows {
				row := p.Table.Rows[line]
				line++
				for j, noise := range []float64{0, .1, .4} {
					var v []float64
					for n := range runs {
						if runs[n].CurveName() != name || runs[n].Noise != noise {
							continue
						}
						if x, ok, _ := runs[n].Final(m[0], m[1]); ok {
							v = append(v, x)
						} else if m[0] == "" {
							v = append(v, map[bool]float64{true: 1}[runs[n].Status == store.Done])
						}
					}
					if !near(chart.Numbers{z[i*3+j]}, chart.Numbers{average(v)}) || row[2+j] != format.Digits(z[i*3+j]) || row[1] != name {
						t.Fatalf("%v of %s at %g: %g, want %g; %q", m, name, noise, z[i*3+j], average(v), row)
					}
				}
			}
		}
		if !slices.Equal(p.Table.Columns, []string{"measure", "loss", "η = 0", "η = 0.1", "η = 0.4"}) || line != len(p.Table.Rows) || *p.Panels[3].Series[0].Heat.Range != [2]float64{0, 1} || p.Panels[0].Series[0].Heat.Range != nil {
			t.Fatalf("%q, %d rows", p.Table.Columns, len(p.Table.Rows))
		}
		if line := Grid(some(runs, func(r judge.Run) bool { return r.Noise == 0 })); len(line.Panels) != 0 {
			t.Fatal("a grid of one column")
		}
	}
}

func some(runs []judge.Run, keep func(judge.Run) bool) (out []judge.Run) {
	for _, r := range runs {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}
