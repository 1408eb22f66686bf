package report

import (
	"strings"
	"testing"

	"collapse/internal/store"
)

// judged gives the claims of a synthetic study by ID.
func judged(t *testing.T, runs []Run) map[string]Claim {
	t.Helper()
	gs, _ := groups(runs)
	if len(gs) != 1 {
		t.Fatalf("%d groups, wanted 1", len(gs))
	}
	out := map[string]Claim{}
	for _, c := range gs[0].claims() {
		out[c.ID] = c
		if c.Reason == "" || len(c.Statistics) == 0 {
			t.Errorf("claim %s has no reason or no numbers", c.ID)
		}
	}
	return out
}

func expect(t *testing.T, claims map[string]Claim, want map[string]Verdict) {
	t.Helper()
	for id, v := range want {
		if c, ok := claims[id]; !ok || c.Verdict != v {
			t.Errorf("%s: %q (%s; %q), wanted %q", id, c.Verdict, c.Reason, c.Statistics, v)
		}
	}
}

func TestAllClaimsHoldWhereTheyAreTrue(t *testing.T) {
	m := common()
	m.losses = []string{"ce", "ls", "lr", "mse"}
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"growth": Holds, "linear": Holds, "slopes": Holds, "other-slopes": Holds,
		"ls-memorizes-less": Holds, "ls-accuracy": Holds, "settled": Holds})
}

func TestClaimsFailWhereTheyAreFalse(t *testing.T) {
	m := common()
	m.slope = map[string]float64{"ce": -0.0002, "ls": 0.004}
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"growth": Fails, "linear": Fails, "slopes": Fails})

	m = common()
	m.slope = map[string]float64{"ce": 0.004, "ls": 0.016}
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"growth": Holds, "linear": Holds, "slopes": Fails})

	m = common()
	m.memory = map[string]float64{"ce": 200, "ls": 400}
	m.accuracy = map[string]float64{"ce": 0.05, "ls": 0.2}
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"ls-memorizes-less": Fails, "ls-accuracy": Fails})

	m = common()
	m.losses = []string{"ce", "lr"}
	m.slope = map[string]float64{"ce": 0.004, "lr": 0.004}
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"other-slopes": Fails, "ls-memorizes-less": CannotTell, "ls-accuracy": CannotTell})
}

// TestScaleEffect: raw sums smaller with LS, the form without scale not: never "holds".
func TestScaleEffect(t *testing.T) {
	m := common()
	runs := m.runs(t)
	for i := range runs {
		k := seriesKey{"train", "", "memorization_normalised"}
		for j := range runs[i].series[k] {
			v := 2.0
			if runs[i].Loss == "ls" {
				v = 2.5
			}
			runs[i].series[k][j].Value = v
		}
	}
	c := judged(t, runs)["ls-memorizes-less"]
	if c.Verdict != Fails || !strings.Contains(c.Reason, "scale effect") {
		t.Errorf("%q: %s", c.Verdict, c.Reason)
	}
}

func TestWithoutTerminalPhaseNobodyCanTell(t *testing.T) {
	m := common()
	m.train = func(loss string, noise float64, seed int) float64 {
		if loss == "ls" && noise == 0.2 && seed > 1 {
			return 0.9985
		}
		return 1
	}
	claims := judged(t, m.runs(t))
	for id, c := range claims {
		if c.Verdict != CannotTell || !strings.Contains(c.Reason, "terminal phase") || !strings.Contains(c.Reason, "1 of 4 runs") {
			t.Errorf("%s: %q because %s", id, c.Verdict, c.Reason)
		}
	}
	// One early run in a cell of four is left out and named; the rest may speak.
	m.train = func(loss string, noise float64, seed int) float64 {
		if loss == "ls" && noise == 0.2 && seed == 3 {
			return 0.9985
		}
		return 0.999
	}
	c := judged(t, m.runs(t))["growth"]
	if c.Verdict != Holds || !strings.Contains(strings.Join(c.Statistics, "\n"), "1 run below 99.9 % train accuracy left out") {
		t.Errorf("%q: %q", c.Verdict, c.Statistics)
	}
	// Unknown accuracy is not terminal.
	runs := m.runs(t)
	for i := range runs {
		delete(runs[i].series, seriesKey{"train", "", "accuracy"})
	}
	expect(t, judged(t, runs), map[string]Verdict{"growth": CannotTell})
}

// TestHalfACellIsNotEnough: three terminal runs of eight are a majority of none.
func TestHalfACellIsNotEnough(t *testing.T) {
	m := common()
	m.seeds = 8
	m.train = func(loss string, noise float64, seed int) float64 {
		if noise == 0.4 && seed > 3 {
			return 0.99
		}
		return 1
	}
	if c := judged(t, m.runs(t))["growth"]; c.Verdict != CannotTell || !strings.Contains(c.Reason, "3 of 8 runs") {
		t.Errorf("%q: %s", c.Verdict, c.Reason)
	}
}

// TestSeedsThatDisagree: three seeds up, one down, and the interval reaches zero.
func TestSeedsThatDisagree(t *testing.T) {
	m := common()
	runs := m.runs(t)
	for i := range runs {
		if runs[i].Seed == 4 {
			setFinal(&runs[i], "test", "dilation", 1-runs[i].Noise)
		}
	}
	if c := judged(t, runs)["growth"]; c.Verdict != CannotTell || !strings.Contains(c.Reason, "reaches zero") {
		t.Errorf("%q: %s", c.Verdict, c.Reason)
	}
}

// TestDegenerateRunsDoNotSpeak: their numbers would turn every verdict, but only their count and
// the correlations with them are shown.
func TestDegenerateRunsDoNotSpeak(t *testing.T) {
	m := common()
	runs := m.runs(t)
	for seed := 41; seed < 47; seed++ {
		for _, noise := range m.noises {
			r := m.run(t, "ce", noise, seed)
			setFinal(&r, "test", "dilation", 2-4*noise)
			for _, split := range []string{"clean", "train"} {
				setFinal(&r, split, "mean_norm_ratio", 0.02)
			}
			runs = append(runs, r)
		}
	}
	c := judged(t, runs)["growth"]
	words := strings.Join(c.Statistics, "\n")
	if c.Verdict != Holds || !strings.Contains(words, "24 degenerate runs left out") || !strings.Contains(words, "cross entropy, degenerate and early runs included: ρ = −") {
		t.Errorf("%q: %q", c.Verdict, c.Statistics)
	}
}

func TestTooLittleToTell(t *testing.T) {
	m := common()
	m.seeds = 2
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"growth": CannotTell, "slopes": CannotTell, "ls-memorizes-less": CannotTell, "ls-accuracy": CannotTell})
	m = common()
	m.noises = []float64{0, 0.1, 0.2}
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"growth": CannotTell, "linear": CannotTell})
	m = common()
	m.noises = []float64{0}
	expect(t, judged(t, m.runs(t)), map[string]Verdict{"growth": CannotTell})
}

func TestDegenerateRuns(t *testing.T) {
	m := common()
	runs := m.runs(t)
	measured := m.run(t, "ce", 0.1, 21)
	setFinal(&measured, "clean", "mean_norm_ratio", 0.099)
	edge := m.run(t, "ce", 0.1, 22)
	setFinal(&edge, "clean", "mean_norm_ratio", 0.1)
	fromFeatures := m.run(t, "ce", 0.1, 23)
	delete(fromFeatures.series, seriesKey{"clean", "", "mean_norm_ratio"})
	// Mislabelled samples lie elsewhere: only clean ones may count.
	fromFeatures.Features = cloud(2, 2, 100, []float64{3, 0.2}, 30)
	unknown := m.run(t, "ce", 0.1, 24)
	delete(unknown.series, seriesKey{"clean", "", "mean_norm_ratio"})
	runs = append(runs, measured, edge, fromFeatures, unknown)
	gs, _ := groups(runs)
	for _, s := range gs[0].subjects {
		wantBad, wantKnown := s.Seed == 21 || s.Seed == 23, s.Seed != 24
		if s.degenerate != wantBad || s.degenerateKnown != wantKnown {
			t.Errorf("seed %d: degenerate %v (known %v), ratio %g", s.Seed, s.degenerate, s.degenerateKnown, s.normRatio)
		}
		if s.Seed == 23 && !near(s.normRatio, 0.2/3, 0.01) {
			t.Errorf("ratio from features is %g, wanted %g", s.normRatio, 0.2/3)
		}
	}
	main, all := gs[0].mainFigures()[0], gs[0].mainFigures()[1]
	without, with := pointsOf(main, "cross entropy"), pointsOf(all, "cross entropy")
	if without != 5*4+2 || with != 5*4+4 {
		t.Errorf("%d runs of CE in the figure without degenerate runs, %d with them", without, with)
	}
	if !strings.Contains(strings.Join(main.Notes, " "), "2 degenerate runs left out") {
		t.Errorf("notes %q do not count them", main.Notes)
	}
	collapsedToZero := cloud(2, 2, 5, []float64{0, 0}, 0)
	for i := range collapsedToZero.TrainH {
		collapsedToZero.TrainH[i] = 0
	}
	zero := m.run(t, "ce", 0, 1)
	zero.series, zero.Features = nil, collapsedToZero
	if !judge(&zero).degenerate {
		t.Error("features that are all zero are not called degenerate")
	}
}

// pointsOf sums the runs behind the mean points of a curve in the first panel.
func pointsOf(p picture, curve string) int {
	n := 0
	for _, s := range p.Panels[0].Series {
		if s.Label == curve {
			for _, k := range s.N {
				n += k
			}
		}
	}
	return n
}

func setFinal(r *Run, split, key string, v float64) {
	pts := r.series[seriesKey{split, "", key}]
	pts[len(pts)-1].Value = v
}

// TestMeansLeaveDegenerateRunsOut: at the last epoch of every panel, and in the table of limits.
func TestMeansLeaveDegenerateRunsOut(t *testing.T) {
	m := common()
	m.losses, m.noises, m.jitter = []string{"ce"}, []float64{0}, 0
	runs := m.runs(t)
	bad := m.run(t, "ce", 0, 9)
	setFinal(&bad, "train", "mean_norm_ratio", 0.01)
	setFinal(&bad, "train", "nc2_w", 5)
	gs, _ := groups(append(runs, bad))
	first, rest := gs[0].epochFigures(0)
	faint := 0
	for _, p := range first.Panels {
		for _, s := range p.Series {
			if p.ID == "nc2_w-train" && s.ID == "mean-train-0" && !near(s.Y[len(s.Y)-1], 0.02, 1e-12) {
				t.Errorf("mean of NC2 is %g, wanted 0.02", s.Y[len(s.Y)-1])
			}
			if s.Label == "degenerate run" {
				faint++
			}
		}
	}
	if faint != len(first.Panels) || !strings.Contains(strings.Join(first.Notes, ""), "1 degenerate run") || len(rest.Notes) != 1 {
		t.Errorf("%d faint lines in %d panels, notes %q", faint, len(first.Panels), first.Notes)
	}
	limits, note := gs[0].limits()
	if limits.Rows[1][2] != "0.0200 ± 0" || !strings.Contains(note, "1 degenerate run") {
		t.Errorf("limits %q, note %q", limits.Rows[1], note)
	}
}

func TestGroupsKeepExperimentsApart(t *testing.T) {
	m := common()
	m.noises, m.seeds = []float64{0.1}, 1
	runs := m.runs(t)
	wide := m.run(t, "ce", 0.1, 5)
	wide.Settings["net.width"] = "64"
	smooth := m.run(t, "ls", 0.1, 6)
	smooth.Settings["loss.smoothing"] = "0.2"
	gone := m.run(t, "ce", 0.1, 7)
	gone.Status = store.Running
	gs, unfinished := groups(append(runs, wide, smooth, gone))
	if len(gs) != 2 || len(gs[0].subjects) != 3 || len(gs[1].subjects) != 1 || len(unfinished) != 1 {
		t.Fatalf("%d groups, %d unfinished", len(gs), len(unfinished))
	}
	if !strings.Contains(gs[1].title, "net.width = 64") || gs[1].suffix != "-2" {
		t.Errorf("second group is %q with suffix %q", gs[1].title, gs[1].suffix)
	}
	if want := "cross entropy|label smoothing|label smoothing (α = 0.2)"; strings.Join(gs[0].curves, "|") != want {
		t.Errorf("curves %q", gs[0].curves)
	}
	if a, b := gs[0].color("label smoothing"), gs[0].color("label smoothing (α = 0.2)"); a == b {
		t.Error("two curves share a colour")
	}
}

func TestLastQuarter(t *testing.T) {
	r := Run{}
	var values []store.Value
	for step, v := range map[int64]float64{10: 5, 50: 3, 75: 2.2, 80: 2.1, 100: 2} {
		values = append(values, store.Value{Key: store.Key{Series: "epoch", Split: "test", Measure: "dilation"}, Step: step, Value: v})
	}
	r.setValues(values)
	if got, ok := r.lastQuarter("test", "dilation"); !ok || !near(got, 0.1, 1e-12) {
		t.Errorf("change over the last quarter is %g, wanted 0.1", got)
	}
	r.setValues(values[:0])
	if _, ok := r.lastQuarter("test", "dilation"); ok {
		t.Error("no values, but a change")
	}
}

// Between two measurements the newest value is an earlier epoch's; where the newest has none, no older one stands in, nor in a grid's cell.
func TestNewest(t *testing.T) {
	r := Run{}
	key := func(measure string) store.Key { return store.Key{Series: "epoch", Split: "train", Measure: measure} }
	r.setValues([]store.Value{{Key: key("accuracy"), Step: 5, Value: 0.75}, {Key: key("nc1_pinv"), Step: 5, Value: 4}, {Key: key("loss"), Step: 5, Missing: "none"},
		{Key: key("nc1_pinv"), Step: 10, Missing: "class 1 is empty"}, {Key: key("loss"), Step: 10, Missing: "none"}, {Key: key("loss"), Step: 10, Value: 2},
		{Key: key("running_loss"), Step: 12, Value: 1}})
	if p, ok := r.Newest("train", "accuracy"); !ok || p.Step != 5 || p.Value != 0.75 {
		t.Errorf("accuracy %+v (%v), wanted 0.75 of epoch 5", p, ok)
	}
	if p, ok := r.Newest("train", "nc1_pinv"); ok {
		t.Errorf("NC1 %+v, wanted none: epoch 10 has no value", p)
	}
	if p, ok := r.Newest("train", "loss"); !ok || p.Value != 2 {
		t.Errorf("loss %+v (%v), wanted the number of epoch 10", p, ok)
	}
	if p, ok := r.Newest("train", "nc2_w"); ok {
		t.Errorf("a measure that was never taken: %+v", p)
	}
	if v := cell([]Run{r}, r.curveName(), r.Noise, "train", "accuracy"); v != 0.75 {
		t.Errorf("the grid's cell shows %g, wanted 0.75", v)
	}
}

func TestFinalIsNeverAnOlderValue(t *testing.T) {
	r := Run{}
	key := store.Key{Series: "epoch", Split: "train", Measure: "nc1_pinv"}
	r.setValues([]store.Value{{Key: key, Step: 1, Value: 4}, {Key: key, Step: 2, Missing: "class 1 is empty"},
		{Key: store.Key{Series: "epoch", Split: "test", Measure: "dilation"}, Step: 2, Missing: "no test features"},
		{Key: store.Key{Series: "epoch", Split: "test", Measure: "dilation"}, Step: 2, Value: 0.5},
		{Key: store.Key{Series: "iteration", Split: "train", Measure: "loss"}, Step: 900, Value: 1}})
	if v, ok, why := r.Final("train", "nc1_pinv"); ok || why != "class 1 is empty" {
		t.Errorf("final value %g (%v), reason %q", v, ok, why)
	}
	if v, ok, _ := r.Final("test", "dilation"); !ok || v != 0.5 {
		t.Errorf("dilation %g (%v), wanted 0.5", v, ok)
	}
	if _, ok, why := r.Final("clean", "loss"); ok || why != "never measured" {
		t.Errorf("reason %q", why)
	}
	if r.LastStep() != 2 {
		t.Errorf("last epoch %d, wanted 2", r.LastStep())
	}
}
