package judge_test

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
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
		if c.Reason == "" {
			t.Errorf("claim %s has no reason", c.ID)
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
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.Holds, "linear-ce": judge.Holds, "linear-ls": judge.Holds, "slope-ls": judge.Holds,
		"slope-lr": judge.Holds, "slope-mse": judge.Holds, "ls-memorizes-less": judge.Holds, "ls-accuracy": judge.Holds, "settled-memorization": judge.Holds, "settled-dilation": judge.Holds})
}

func TestClaimsFailWhereTheyAreFalse(t *testing.T) {
	m := judgetest.Common()
	m.Slope = map[string]float64{"ce": -0.0002, "ls": -0.0004}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.Fails, "slope-ls": judge.Fails})

	m = judgetest.Common()
	m.Slope = map[string]float64{"ce": 0.004, "ls": 0.016}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"growth": judge.Holds, "linear-ce": judge.Holds, "slope-ls": judge.Fails})

	m = judgetest.Common()
	m.Memory = map[string]float64{"ce": 200, "ls": 400}
	m.Accuracy = map[string]float64{"ce": 0.05, "ls": 0.2}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"ls-memorizes-less": judge.Fails, "ls-accuracy": judge.Fails})

	m = judgetest.Common()
	m.Losses = []string{"ce", "lr"}
	m.Slope = map[string]float64{"ce": 0.004, "lr": 0.004}
	claims := judged(t, m.Runs(t))
	expect(t, claims, map[string]judge.Verdict{"slope-lr": judge.Fails})
	if _, asked := claims["ls-memorizes-less"]; asked {
		t.Error("a claim about label smoothing without a run of it")
	}
}

// The growth of one loss alone is growth partly, and the loss that shrinks is named.
func TestGrowthOfOneLoss(t *testing.T) {
	m := judgetest.Common()
	m.Slope = map[string]float64{"ce": -0.0004, "ls": 0.004}
	if c := judged(t, m.Runs(t))["growth"]; c.Verdict != judge.Partly || !strings.Contains(c.Reason, "loss.kind = ce") {
		t.Errorf("%q: %s", c.Verdict, c.Reason)
	}
}

// The paper's two statements may hold in different units: raw sums are smaller under label smoothing because its features are.
func TestUnitsOfMemorization(t *testing.T) {
	m := judgetest.Common()
	m.Slope = map[string]float64{"ce": 0.004, "ls": 0.008}
	runs := m.Runs(t)
	for i := range runs { // half the sums, half the distance
		each, scaled := runs[i].Rows("train", "", "memorization_mean"), runs[i].Rows("train", "", "memorization_normalised")
		for j := range scaled {
			scaled[j].Value = each[j].Value
			if runs[i].Loss == "ls" {
				scaled[j].Value *= 2
			}
		}
	}
	expect(t, judged(t, runs), map[string]judge.Verdict{"slope-ls": judge.Fails, "slope-ls-scale-free": judge.Holds,
		"ls-memorizes-less": judge.Holds, "ls-memorizes-less-scale-free": judge.CannotTell})
}

func TestWithoutTerminalPhaseNobodyCanTell(t *testing.T) {
	m := judgetest.Common()
	m.Train = func(loss string, noise float64, seed int) float64 {
		if loss == "ls" && noise == 0.2 && seed > 1 {
			return 0.9985
		}
		return 1
	}
	for id, c := range judged(t, m.Runs(t)) {
		if !strings.Contains(id, "-ce") && id != "slope-lr" && (c.Verdict != judge.CannotTell || !strings.Contains(c.Reason, "terminal phase")) {
			t.Errorf("%s: %q because %s", id, c.Verdict, c.Reason)
		}
	}
	// One early run in a cell of six is left out and named; the rest may speak.
	m.Train = func(loss string, noise float64, seed int) float64 {
		if loss == "ls" && noise == 0.2 && seed == 3 {
			return 0.9985
		}
		return 0.999
	}
	c := judged(t, m.Runs(t))["growth"]
	if c.Verdict != judge.Holds || !strings.Contains(strings.Join(c.Statistics, "\n"), "1 run left out, below 99.9 % train accuracy") {
		t.Errorf("%q: %q", c.Verdict, c.Statistics)
	}
	// Unknown accuracy is not terminal.
	runs := m.Runs(t)
	for i := range runs {
		judgetest.Forget(&runs[i], "train", "accuracy")
	}
	expect(t, judged(t, runs), map[string]judge.Verdict{"growth": judge.CannotTell})
}

// Where class means are nearly dependent NC1 by pseudo-inverse explodes; the ratio of traces is judged as well, with more than two classes.
func TestDilationWithoutPseudoInverse(t *testing.T) {
	m := judgetest.Common()
	m.Classes = 10
	runs := m.Runs(t)
	for i := range runs {
		if runs[i].Loss == "ce" && runs[i].Seed == 2 {
			judgetest.SetFinal(&runs[i], "test", "dilation", 40*(1-runs[i].Noise))
		}
	}
	expect(t, judged(t, runs), map[string]judge.Verdict{"slope-ls": judge.CannotTell, "linear-ce": judge.CannotTell,
		"slope-ls-trace": judge.Holds, "linear-ce-trace": judge.Holds, "growth-trace": judge.Holds, "slope-ls-scale-free-trace": judge.Holds})
	m.Slope = map[string]float64{"ce": -0.0002, "ls": -0.0006}
	expect(t, judged(t, m.Runs(t)), map[string]judge.Verdict{"slope-ls-trace": judge.Fails, "growth-trace": judge.Fails})
	m.Classes = 2
	if _, asked := judged(t, m.Runs(t))["slope-ls-trace"]; asked {
		t.Error("two classes: means have one direction, which is never nearly dependent")
	}
}

// Seeds that are degenerate under one loss alone leave too few pairs: the two losses are then samples of their own.
func TestDegenerateUnderOneLoss(t *testing.T) {
	m := judgetest.Common()
	m.Seeds = 12
	runs := m.Runs(t)
	for i := range runs {
		if odd := runs[i].Seed%2 == 1; odd == (runs[i].Loss == "ce") {
			judgetest.SetFinal(&runs[i], "clean", "mean_norm_ratio", 0.01)
		}
	}
	c := judged(t, runs)["slope-ls"]
	if c.Verdict != judge.Holds || c.Effect.Cells[0].Seeds != 6 || !strings.Contains(strings.Join(c.Statistics, " "), "not regular") {
		t.Errorf("%q: %s %+v %q", c.Verdict, c.Reason, c.Effect, c.Statistics)
	}
}
