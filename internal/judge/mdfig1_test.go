package judge_test

import (
	"strings"
	"testing"

	"collapse/internal/judge"
	"collapse/internal/judge/judgetest"
	"collapse/internal/store"
)

// judged gives the claims of a synthetic study by ID.
func judged(t *testing.T, runs []judge.Run) map[string]judge.Claim {
	t.Helper()
	gs, _ := judge.Experiments(runs)
	if len(gs) != 1 {
		t.Fatalf("%d groups, wanted 1", len(gs))
	}
	out := map[string]judge.Claim{}
	for _, c := range gs[0].Claims() {
		out[c.ID] = c
		if c.Reason == "" || len(c.Statistics) == 0 {
			t.Errorf("claim %s has no reason or no numbers", c.ID)
		}
	}
	return out
}

func expect(t *testing.T, claims map[string]judge.Claim, want map[string]judge.Verdict) {
	t.Helper()
	for id, v := range want {
		if c, ok := claims[id]; !ok || c.Verdict != v {
			t.Errorf("%s: %q (%s; %q), wanted %q", id, c.Verdict, c.Reason, c.Statistics, v)
		}
	}
}

func TestAllClaimsHoldWhereTheyAreTrue(t *testing.T) {
	m := judgetest.Common()
	m.Losses = []string{"ce", "ls", "lr", "mse"}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.Holds, "linear": judge.Holds, "slopes": judge.Holds, "other-slopes": judge.Holds,
		"ls-memorizes-less": judge.Holds, "ls-accuracy": judge.Holds, "settled": judge.Holds})
}

func TestClaimsFailWhereTheyAreFalse(t *testing.T) {
	m := judgetest.Common()
	m.Slope = map[string]float64{"ce": -0.0002, "ls": 0.004}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.Fails, "linear": judge.Fails, "slopes": judge.Fails})

	m = judgetest.Common()
	m.Slope = map[string]float64{"ce": 0.004, "ls": 0.016}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.Holds, "linear": judge.Holds, "slopes": judge.Fails})

	m = judgetest.Common()
	m.Memory = map[string]float64{"ce": 200, "ls": 400}
	m.Accuracy = map[string]float64{"ce": 0.05, "ls": 0.2}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"ls-memorizes-less": judge.Fails, "ls-accuracy": judge.Fails})

	m = judgetest.Common()
	m.Losses = []string{"ce", "lr"}
	m.Slope = map[string]float64{"ce": 0.004, "lr": 0.004}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"other-slopes": judge.Fails, "ls-memorizes-less": judge.CannotTell, "ls-accuracy": judge.CannotTell})
}

// TestScaleEffect: raw sums smaller with LS, the form without scale not: never "holds".
func TestScaleEffect(t *testing.T) {
	m := judgetest.Common()
	runs := m.Runs(t)
	for i := range runs {
		rows := runs[i].Rows("train", "", "memorization_normalised")
		for j := range rows {
			v := 2.0
			if runs[i].Loss == "ls" {
				v = 2.5
			}
			rows[j].Value = v
		}
	}
	c := judged(t, runs)["ls-memorizes-less"]
	if c.Verdict != judge.Fails || !strings.Contains(c.Reason, "scale effect") {
		t.Errorf("%q: %s", c.Verdict, c.Reason)
	}
}

func TestWithoutTerminalPhaseNobodyCanTell(t *testing.T) {
	m := judgetest.Common()
	m.Train = func(loss string, noise float64, seed int) float64 {
		if loss == "ls" && noise == 0.2 && seed > 1 {
			return 0.9985
		}
		return 1
	}
	claims := judged(t, m.Runs(t))
	for id, c := range claims {
		if c.Verdict != judge.CannotTell || !strings.Contains(c.Reason, "terminal phase") || !strings.Contains(c.Reason, "1 of 4 runs") {
			t.Errorf("%s: %q because %s", id, c.Verdict, c.Reason)
		}
	}
	// One early run in a cell of four is left out and named; the rest may speak.
	m.Train = func(loss string, noise float64, seed int) float64 {
		if loss == "ls" && noise == 0.2 && seed == 3 {
			return 0.9985
		}
		return 0.999
	}
	c := judged(t, m.Runs(t))["growth"]
	if c.Verdict != judge.Holds || !strings.Contains(strings.Join(c.Statistics, "\n"), "1 run below 99.9 % train accuracy left out") {
		t.Errorf("%q: %q", c.Verdict, c.Statistics)
	}
	// Unknown accuracy is not terminal.
	runs := m.Runs(t)
	for i := range runs {
		judgetest.Forget(&runs[i], "train", "accuracy")
	}
	expect(t, judged(t, runs), map[string]judge.Verdict{"growth": judge.CannotTell})
}

// TestHalfACellIsNotEnough: three terminal runs of eight are a majority of none.
func TestHalfACellIsNotEnough(t *testing.T) {
	m := judgetest.Common()
	m.Seeds = 8
	m.Train = func(loss string, noise float64, seed int) float64 {
		if noise == 0.4 && seed > 3 {
			return 0.99
		}
		return 1
	}
	if c := judged(t, m.Runs(t))["growth"]; c.Verdict != judge.CannotTell || !strings.Contains(c.Reason, "3 of 8 runs") {
		t.Errorf("%q: %s", c.Verdict, c.Reason)
	}
}

// TestSeedsThatDisagree: three seeds up, one down, and the interval reaches zero.
func TestSeedsThatDisagree(t *testing.T) {
	m := judgetest.Common()
	runs := m.Runs(t)
	for i := range runs {
		if runs[i].Seed == 4 {
			judgetest.SetFinal(&runs[i], "test", "dilation", 1-runs[i].Noise)
		}
	}
	if c := judged(t, runs)["growth"]; c.Verdict != judge.CannotTell || !strings.Contains(c.Reason, "reaches zero") {
		t.Errorf("%q: %s", c.Verdict, c.Reason)
	}
}

// TestDegenerateRunsDoNotSpeak: their numbers would turn every verdict, but only their count and
// the correlations with them are shown.
func TestDegenerateRunsDoNotSpeak(t *testing.T) {
	m := judgetest.Common()
	runs := m.Runs(t)
	for seed := 41; seed < 47; seed++ {
		for _, noise := range m.Noises {
			r := m.Run(t, "ce", noise, seed)
			judgetest.SetFinal(&r, "test", "dilation", 2-4*noise)
			for _, split := range []string{"clean", "train"} {
				judgetest.SetFinal(&r, split, "mean_norm_ratio", 0.02)
			}
			runs = append(runs, r)
		}
	}
	c := judged(t, runs)["growth"]
	words := strings.Join(c.Statistics, "\n")
	if c.Verdict != judge.Holds || !strings.Contains(words, "24 degenerate runs left out") || !strings.Contains(words, "cross entropy, degenerate and early runs included: ρ = −") {
		t.Errorf("%q: %q", c.Verdict, c.Statistics)
	}
}

func TestTooLittleToTell(t *testing.T) {
	m := judgetest.Common()
	m.Seeds = 2
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.CannotTell, "slopes": judge.CannotTell, "ls-memorizes-less": judge.CannotTell, "ls-accuracy": judge.CannotTell})
	m = judgetest.Common()
	m.Noises = []float64{0, 0.1, 0.2}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.CannotTell, "linear": judge.CannotTell})
	m = judgetest.Common()
	m.Noises = []float64{0}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.CannotTell})
}

func TestDegenerateRuns(t *testing.T) {
	m := judgetest.Common()
	runs := m.Runs(t)
	measured := m.Run(t, "ce", 0.1, 21)
	judgetest.SetFinal(&measured, "clean", "mean_norm_ratio", 0.099)
	edge := m.Run(t, "ce", 0.1, 22)
	judgetest.SetFinal(&edge, "clean", "mean_norm_ratio", 0.1)
	fromFeatures := m.Run(t, "ce", 0.1, 23)
	judgetest.Forget(&fromFeatures, "clean", "mean_norm_ratio")
	// Mislabelled samples lie elsewhere: only clean ones may count.
	fromFeatures.SetFeatures(judgetest.Cloud(2, 2, 100, []float64{3, 0.2}, 30), "")
	unknown := m.Run(t, "ce", 0.1, 24)
	judgetest.Forget(&unknown, "clean", "mean_norm_ratio")
	runs = append(runs, measured, edge, fromFeatures, unknown)
	gs, _ := judge.Experiments(runs)
	for _, s := range gs[0].Runs {
		wantBad, wantKnown := s.Seed == 21 || s.Seed == 23, s.Seed != 24
		if s.Degenerate != wantBad || s.DegenerateKnown != wantKnown {
			t.Errorf("seed %d: degenerate %v (known %v), ratio %g", s.Seed, s.Degenerate, s.DegenerateKnown, s.NormRatio)
		}
		if s.Seed == 23 && !judgetest.Near(s.NormRatio, 0.2/3, 0.01) {
			t.Errorf("ratio from features is %g, wanted %g", s.NormRatio, 0.2/3)
		}
	}
	collapsedToZero := judgetest.Cloud(2, 2, 5, []float64{0, 0}, 0)
	for i := range collapsedToZero.TrainH {
		collapsedToZero.TrainH[i] = 0
	}
	var zero judge.Run
	zero.SetFeatures(collapsedToZero, "")
	if !judge.JudgeRun(&zero).Degenerate {
		t.Error("features that are all zero are not called degenerate")
	}
}

func TestGroupsKeepExperimentsApart(t *testing.T) {
	m := judgetest.Common()
	m.Noises, m.Seeds = []float64{0.1}, 1
	runs := m.Runs(t)
	wide := m.Run(t, "ce", 0.1, 5)
	wide.Settings["net.width"] = "64"
	smooth := m.Run(t, "ls", 0.1, 6)
	smooth.Settings["loss.smoothing"] = "0.2"
	gone := m.Run(t, "ce", 0.1, 7)
	gone.Status = store.Running
	gs, unfinished := judge.Experiments(append(runs, wide, smooth, gone))
	if len(gs) != 2 || len(gs[0].Runs) != 3 || len(gs[1].Runs) != 1 || len(unfinished) != 1 {
		t.Fatalf("%d groups, %d unfinished", len(gs), len(unfinished))
	}
	if !strings.Contains(gs[1].Title, "net.width = 64") || gs[1].Suffix != "-2" {
		t.Errorf("second group is %q with suffix %q", gs[1].Title, gs[1].Suffix)
	}
	if want := "cross entropy|label smoothing|label smoothing (α = 0.2)"; strings.Join(gs[0].Curves, "|") != want {
		t.Errorf("curves %q", gs[0].Curves)
	}
}
