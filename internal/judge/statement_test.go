package judge_test

import (
	"strings"
	"testing"

	"collapse/internal/judge"
	"collapse/internal/judge/judgetest"
)

func TestStatementVerdicts(t *testing.T) {
	m := judgetest.Common()
	m.Memory["ls"], m.Memory["ce"] = 200, 400
	runs := m.Runs(t)
	early := judgetest.Common()
	early.Train = func(loss string, noise float64, _ int) float64 {
		if loss == "ls" && noise == 0.2 {
			return 0.9
		}
		return 1
	}
	few := judgetest.Common()
	few.Seeds = 2
	cases := []struct {
		name, holds string
		runs        []judge.Run
		want        judge.Verdict
	}{
		{"true whatever the seeds", `final("train.memorization_flipped", {"loss.kind": "ls", "data.noise": 0.2}) < final("train.memorization_flipped", {"loss.kind": "ce", "data.noise": 0.2})`, runs, judge.Holds},
		{"false whatever the seeds", `final("train.memorization_flipped", {"loss.kind": "ls", "data.noise": 0.2}) > final("train.memorization_flipped", {"loss.kind": "ce", "data.noise": 0.2})`, runs, judge.Fails},
		{"over every level", `all(filter(values("data.noise"), # > 0), final("test.dilation", {"data.noise": #}) > final("test.dilation", {"data.noise": 0}))`, runs, judge.Holds},
		{"a line", `r2("train.memorization_flipped", "test.dilation", {"loss.kind": "ce"}) > 0.9 && slope("train.memorization_flipped", "test.dilation", {"loss.kind": "ce"}) > 0.003`, noisy(runs), judge.Holds},
		{"a trend in a setting", `trend("data.noise", "test.accuracy", {"loss.kind": "ls"}) < -0.9`, runs, judge.Holds},
		{"settled", `abs(at("test.dilation", 0.75, {"data.noise": 0.2}) / final("test.dilation", {"data.noise": 0.2}) - 1) < 0.01`, runs, judge.Fails},
		{"a coin's edge", `final("train.nc1_pinv") < 1.0005e-4 `, runs, judge.CannotTell},
		{"a value that no run has", `final("train.nc1_pinv", {"net.kind": "resnet18"}) < 1`, runs, judge.CannotTell},
		{"too few seeds", `final("train.nc1_pinv") < 1`, few.Runs(t), judge.CannotTell},
		{"no terminal phase", `final("train.nc1_pinv") < 1`, early.Runs(t), judge.CannotTell},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			claim, err := judge.Statement{ID: "x", Says: "so", Holds: c.holds, Show: []string{`final("test.dilation")`}}.Judge(c.runs)
			if err != nil {
				t.Fatal(err)
			}
			if claim.Verdict != c.want {
				t.Errorf("verdict %q (%s), wanted %q", claim.Verdict, claim.Reason, c.want)
			}
			if claim.Reason == "" || !strings.Contains(strings.Join(claim.Statistics, "\n"), `final("test.dilation") = 0.`) {
				t.Errorf("reason %q, statistics %q", claim.Reason, claim.Statistics)
			}
		})
	}
}

// What is missing is said in words, not as the evaluator's own error.
func TestStatementMissing(t *testing.T) {
	claim, err := judge.Statement{ID: "x", Says: "so", Holds: `1 < final("train.loss", {"net.kind": "vgg13", "loss.kind": "ls"})`}.Judge(judgetest.Common().Runs(t))
	if want := "the runs do not give every number it needs: no run has loss.kind = ls, net.kind = vgg13"; err != nil || claim.Reason != want {
		t.Errorf("reason %q, %v, wanted %q", claim.Reason, err, want)
	}
}

// noisy are the runs with label noise.
func noisy(runs []judge.Run) (out []judge.Run) {
	for _, r := range runs {
		if r.Noise > 0 {
			out = append(out, r)
		}
	}
	return out
}

func TestStatementEarly(t *testing.T) {
	m := judgetest.Common()
	m.Train = func(string, float64, int) float64 { return 0.5 }
	claim, err := judge.Statement{ID: "x", Says: "so", Holds: `final("train.accuracy") < 0.6`, Early: true}.Judge(m.Runs(t))
	if err != nil || claim.Verdict != judge.Holds {
		t.Errorf("%v %v, wanted that it holds", claim, err)
	}
}

// Runs that a claim does not speak of neither block it nor count.
func TestStatementWhere(t *testing.T) {
	m := judgetest.Common()
	m.Train = func(loss string, noise float64, _ int) float64 {
		if loss == "ls" || noise == 0.4 {
			return 0.5
		}
		return 1
	}
	runs := m.Runs(t)
	for _, c := range []struct {
		where map[string]any
		want  judge.Verdict
	}{
		{nil, judge.CannotTell},
		{map[string]any{"loss.kind": "ce"}, judge.CannotTell},
		{map[string]any{"loss.kind": "ce", "data.noise": []any{0.05, 0.1, int64(0)}}, judge.Holds},
		{map[string]any{"loss.kind": []any{"ce", "ls"}, "data.noise": 0.1}, judge.CannotTell},
	} {
		claim, err := judge.Statement{ID: "x", Says: "so", Holds: `len(values("data.noise")) == 3`, Where: c.where}.Judge(runs)
		if err != nil || claim.Verdict != c.want {
			t.Errorf("%v: %q (%s), %v, wanted %q", c.where, claim.Verdict, claim.Reason, err, c.want)
		}
	}
	if err := (judge.Statement{ID: "x", Holds: "true", Where: map[string]any{"loss.kin": "ce"}}).Check(); err == nil || !strings.Contains(err.Error(), "loss.kin") {
		t.Errorf("a setting that does not exist: %v", err)
	}
}

// What data.validation holds out can be named; runs without it leave the claim open, and the reason says what is missing.
func TestStatementOnTheValidationSplit(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	claim := judge.Statement{ID: "x", Says: "so", Holds: `final("validation.accuracy", {"loss.kind": "ls"}) > 0.8 && final("validation.loss") < 0.3`}
	got, err := claim.Judge(runs)
	if err != nil || got.Verdict != judge.CannotTell || !strings.Contains(got.Reason, "has no validation.accuracy") {
		t.Errorf("without the split: %q (%s), %v", got.Verdict, got.Reason, err)
	}
	for want, accuracy := range map[judge.Verdict]float64{judge.Holds: 0.9, judge.Fails: 0.7} {
		m := judgetest.Common()
		m.More = map[[2]string]float64{{"validation", "accuracy"}: accuracy, {"validation", "loss"}: 0.2}
		if got, err = claim.Judge(m.Runs(t)); err != nil || got.Verdict != want {
			t.Errorf("accuracy %g: %q (%s), %v, wanted %q", accuracy, got.Verdict, got.Reason, err, want)
		}
	}
}

func TestStatementNamesThatDoNotExist(t *testing.T) {
	for source, want := range map[string]string{
		`final("train.nc9") < 1`:                             `no measure is called "nc9"`,
		`final("vali.nc1_pinv") < 1`:                         "train, clean, test, validation",
		`final("validation.nc1_pinv") < 1`:                   "loss and accuracy",
		`final("validation@layer1.accuracy") < 1`:            "loss and accuracy",
		`final("train.nc1_pinv", {"loss.kin": "ce"}) < 1`:    `no setting is called "loss.kin"`,
		`trend("net.widht", "train.nc1_pinv") < 0`:           `"net.widht" is neither`,
		`final("train.nc1_pinv")`:                            "bool",
		`last("train.nc1_pinv") < 1`:                         "last",
		`final("train.nc1_pinv" < 1`:                         "unexpected",
		`final(7) < 1`:                                       "string",
		`final("train@layer2.0.nc1_pinv") < final("a") + ""`: "",
	} {
		err := judge.Statement{ID: "x", Holds: source}.Check()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, wanted one with %q", source, err, want)
		}
	}
	if err := (judge.Statement{ID: "x", Holds: `final("train@layer2.0.nc1_pinv") < final("train.loss")`}).Check(); err != nil {
		t.Errorf("a layer's measure: %v", err)
	}
}
