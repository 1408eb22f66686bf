package judge_test

import (
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// asks is a claim that one side is below the other.
func asks(left, right string) judge.Statement {
	return judge.Statement{ID: "x", Says: "so", Kind: judge.Less, Left: left, Right: right}
}

// with changes a statement.
func with(s judge.Statement, change func(*judge.Statement)) judge.Statement {
	change(&s)
	return s
}

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
	few.Seeds = 4
	ls, ce := `final("train.memorization_flipped", {"loss.kind": "ls", "data.noise": 0.2})`, `final("train.memorization_flipped", {"loss.kind": "ce", "data.noise": 0.2})`
	equal := func(lo, hi float64, unit string) judge.Statement {
		return with(asks(ls, ce), func(s *judge.Statement) {
			s.Kind, s.Band, s.Because, s.Unit = judge.Equal, &[2]float64{lo, hi}, "a test", unit
		})
	}
	cells := func(s judge.Statement, keys ...string) judge.Statement {
		s.Cells = keys
		return s
	}
	const dilation, memorization = "test.dilation", "train.memorization_flipped"
	slope := func(kind string) string {
		return `slope("` + memorization + `", "` + dilation + `", {"loss.kind": "` + kind + `"})`
	}
	line := judge.Statement{ID: "x", Says: "so", Kind: judge.Linear, X: memorization, Y: dilation, Band: &[2]float64{-.1, .1}, Because: "a test", Where: map[string]any{"loss.kind": "ce"}}
	cases := []struct {
		name string
		s    judge.Statement
		runs []judge.Run
		want judge.Verdict
	}{
		{"less", asks(ls, ce), runs, judge.Holds},
		{"less the other way round", asks(ce, ls), runs, judge.Fails},
		{"more", with(asks(ce, ls), func(s *judge.Statement) { s.Kind = judge.More }), runs, judge.Holds},
		{"less by a ratio", with(asks(ls, ce), func(s *judge.Statement) { s.Unit = "log-ratio" }), runs, judge.Holds},
		{"equal within a half and one", equal(.4, 1.1, "log-ratio"), runs, judge.Holds},
		{"not equal", equal(.8, 1.2, "log-ratio"), runs, judge.Fails},
		{"equal by the quotient of means", equal(.4, 1.1, "quotient"), runs, judge.Holds},
		{"different", with(equal(.8, 1.2, "log-ratio"), func(s *judge.Statement) { s.Kind = judge.Differ }), runs, judge.Holds},
		{"not different", with(equal(.4, 1.1, "log-ratio"), func(s *judge.Statement) { s.Kind = judge.Differ }), runs, judge.Fails},
		{"slopes", with(asks(slope("ls"), slope("ce")), func(s *judge.Statement) {
			s.Kind, s.Unit, s.Band, s.Because = judge.Equal, "quotient", &[2]float64{.8, 1.25}, "a test"
		}), noisy(runs), judge.Holds},
		{"a line", line, noisy(runs), judge.Holds},
		{"in every cell", cells(asks(`final("train.nc1_pinv")`, `start("train.nc1_pinv")`), "loss.kind", "data.noise"), runs, judge.Holds},
		{"against another setting", with(cells(asks(`final("test.dilation", {"data.noise": 0})`, `final("test.dilation")`), "data.noise"), func(s *judge.Statement) {
			s.Where, s.Except = map[string]any{"data.noise": []any{0., .1, .2, .4}}, map[string]any{"data.noise": 0.}
		}), runs, judge.Holds},
		{"against itself, too", with(cells(asks(`final("test.dilation", {"data.noise": 0})`, `final("test.dilation")`), "data.noise"), func(s *judge.Statement) {
			s.Where = map[string]any{"data.noise": []any{0., .1, .2, .4}}
		}), runs, judge.CannotTell},
		{"on average, against itself, too", with(cells(asks(`final("test.dilation", {"data.noise": 0})`, `final("test.dilation")`), "data.noise"), func(s *judge.Statement) {
			s.Where, s.Mean = map[string]any{"data.noise": []any{0., .1, .2, .4}}, true
		}), runs, judge.Holds},
		{"logarithms", with(asks(`log(final("train.nc1_pinv", {"loss.kind": "ls"})) + log(2)`, `log(2 * sqrt(final("train.nc1_pinv", {"loss.kind": "ls"})) * exp(0.5 * log(final("train.nc1_pinv", {"loss.kind": "ls"}))))`),
			func(s *judge.Statement) {
				s.Kind, s.Band, s.Because = judge.Equal, &[2]float64{-1e-12, 1e-12}, "rounding"
			}), runs, judge.Holds},
		{"settled", with(asks(`at("test.dilation", 0.75)`, `final("test.dilation")`), func(s *judge.Statement) {
			s.Kind, s.Unit, s.Band, s.Because = judge.Equal, "log-ratio", &[2]float64{.99, 1.01}, "a test"
		}), runs, judge.Fails},
		{"a coin's edge", asks(`final("train.nc1_pinv")`, "1e-4"), runs, judge.CannotTell},
		{"a value that no finished run has", asks(`final("train.nc1_pinv", {"net.kind": "resnet18"})`, "1"), runs, judge.CannotTell},
		{"too few seeds", asks(`final("train.nc1_pinv")`, "1"), few.Runs(t), judge.CannotTell},
		{"no terminal phase", asks(`final("train.nc1_pinv")`, "1"), early.Runs(t), judge.CannotTell},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.s.Check(judge.Vocabulary{}); err != nil {
				t.Fatal(err)
			}
			claim, err := c.s.Judge(c.runs)
			if err != nil {
				t.Fatal(err)
			}
			if claim.Verdict != c.want {
				t.Errorf("verdict %q (%s), wanted %q", claim.Verdict, claim.Reason, c.want)
			}
			if claim.Reason == "" || claim.Effect == nil || len(claim.Effect.Cells) == 0 || claim.Effect.How == "" {
				t.Errorf("reason %q, effect %+v", claim.Reason, claim.Effect)
			}
		})
	}
}

// A claim that is open for want of seeds says how many more it takes.
func TestLackingSeeds(t *testing.T) {
	ls, ce := `final("train.memorization_flipped", {"loss.kind": "ls"})`, `final("train.memorization_flipped", {"loss.kind": "ce"})`
	for _, c := range []struct{ seeds, want int }{{3, 2}, {4, 1}, {5, 0}} {
		m := judgetest.Common()
		m.Seeds, m.Noises = c.seeds, []float64{0.1, 0.2}
		m.Memory["ls"], m.Memory["ce"] = 200, 400
		for _, cells := range [][]string{nil, {"data.noise"}} {
			s := with(asks(ls, ce), func(s *judge.Statement) {
				s.Unit, s.Cells, s.Where = "log-ratio", cells, map[string]any{"data.noise": 0.2}
			})
			if cells != nil {
				s.Where = nil
			}
			claim, err := s.Judge(m.Runs(t))
			if err != nil || claim.Lacking != c.want || (claim.Verdict == judge.CannotTell) != (c.want > 0) {
				t.Errorf("%d seeds, cells %v: %s (%s), lacking %d, want %d; %v", c.seeds, cells, claim.Verdict, claim.Reason, claim.Lacking, c.want, err)
			}
		}
	}
}

// A cell that goes the other way makes a claim hold partly, and is named.
func TestStatementPartly(t *testing.T) {
	m := judgetest.Common()
	m.Noises = []float64{0.05, 0.1, 0.2, 0.4}
	runs := m.Runs(t)
	for i := range runs {
		if runs[i].Loss == "ls" && runs[i].Noise == 0.05 {
			rows := runs[i].Rows("train", "", "memorization_flipped")
			rows[len(rows)-1].Value *= 2.4
		}
	}
	s := with(asks(`final("train.memorization_flipped", {"loss.kind": "ls"})`, `final("train.memorization_flipped", {"loss.kind": "ce"})`), func(s *judge.Statement) {
		s.Unit, s.Cells = "log-ratio", []string{"data.noise"}
	})
	claim, err := s.Judge(runs)
	if err != nil || claim.Verdict != judge.Partly || !strings.Contains(claim.Reason, "but not in 1 cell: data.noise = 0.05") {
		t.Fatalf("%q: %s, %v", claim.Verdict, claim.Reason, err)
	}
	for i, cell := range claim.Effect.Cells {
		if cell.Contradicts != (i == 0) || cell.Seeds != m.Seeds || !(cell.Lo < cell.Value && cell.Value < cell.Hi) {
			t.Errorf("cell %+v", cell)
		}
	}
}

// What is missing is said in words, not as the evaluator's own error.
func TestStatementMissing(t *testing.T) {
	claim, err := asks("1", `final("train.loss", {"net.kind": "vgg13", "loss.kind": "ls"})`).Judge(judgetest.Common().Runs(t))
	if want := "no finished run has loss.kind = ls, net.kind = vgg13"; err != nil || !strings.Contains(claim.Reason, want) {
		t.Errorf("reason %q, %v, wanted %q", claim.Reason, err, want)
	}
}

// A seed that lacks a noise level, because its run there is early, gives no mean over noise levels: it would be that of another mixture.
func TestStatementIncompleteSeeds(t *testing.T) {
	m := judgetest.Common()
	m.Seeds = 7
	m.Train = func(_ string, noise float64, seed int) float64 {
		if noise == 0.4 && seed == 3 {
			return 0.9
		}
		return 1
	}
	claim, err := asks(`final("test.dilation", {"loss.kind": "ce"})`, "10").Judge(m.Runs(t))
	if err != nil || claim.Verdict != judge.Holds || claim.Effect.Cells[0].Seeds != 6 {
		t.Errorf("%q (%s), %v", claim.Verdict, claim.Reason, err)
	}
}

// Without epoch 0 a claim about the start is open, and says which setting measures it; a place in the middle is not a place far from it.
func TestStatementWithoutAStart(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	for i := range runs {
		runs[i] = runs[i].After(15)
	}
	for source, want := range map[string]string{`start("train.nc1_pinv")`: "run.measure_start", `at("train.nc1_pinv", 0.25)`: "not measured near epoch 5"} {
		claim, err := asks(`final("train.nc1_pinv")`, source).Judge(runs)
		if err != nil || claim.Verdict != judge.CannotTell || !strings.Contains(claim.Reason, want) {
			t.Errorf("%s: %q (%s), %v", source, claim.Verdict, claim.Reason, err)
		}
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
	claim, err := with(asks(`final("train.accuracy")`, "0.6"), func(s *judge.Statement) { s.Early = true }).Judge(m.Runs(t))
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
		claim, err := with(asks(`final("train.nc1_pinv")`, "1"), func(s *judge.Statement) { s.Where, s.Cells = c.where, []string{"data.noise"} }).Judge(runs)
		if err != nil || claim.Verdict != c.want || c.want == judge.Holds && len(claim.Effect.Cells) != 3 {
			t.Errorf("%v: %q (%s), %v, wanted %q", c.where, claim.Verdict, claim.Reason, err, c.want)
		}
	}
}

// What data.validation holds out can be named; runs without it leave the claim open, and the reason says what is missing.
func TestStatementOnTheValidationSplit(t *testing.T) {
	claim := asks(`final("validation.loss")`, `final("validation.accuracy", {"loss.kind": "ls"}) - 0.4`)
	got, err := claim.Judge(judgetest.Common().Runs(t))
	if err != nil || got.Verdict != judge.CannotTell || !strings.Contains(got.Reason, "has no validation.") {
		t.Errorf("without the split: %q (%s), %v", got.Verdict, got.Reason, err)
	}
	for want, accuracy := range map[judge.Verdict]float64{judge.Holds: 0.9, judge.Fails: 0.5} {
		m := judgetest.Common()
		m.More = map[[2]string]float64{{"validation", "accuracy"}: accuracy, {"validation", "loss"}: 0.2}
		if got, err = claim.Judge(m.Runs(t)); err != nil || got.Verdict != want {
			t.Errorf("accuracy %g: %q (%s), %v, wanted %q", accuracy, got.Verdict, got.Reason, err, want)
		}
	}
}

func TestStatementNamesThatDoNotExist(t *testing.T) {
	for source, want := range map[string]string{
		`final("train.nc9")`:                                 `no measure is called "nc9"`,
		`final("vali.nc1_pinv")`:                             "train, clean, test, validation",
		`final("validation.nc1_pinv")`:                       "loss and accuracy",
		`final("validation@layer1.accuracy")`:                "loss and accuracy",
		`final("train.nc1_pinv", {"loss.kin": "ce"})`:        `names "loss.kin", which is not a setting; did you mean loss.kind?`,
		`slope("net.widht", "train.nc1_pinv")`:               `"net.widht" is neither`,
		`start("train.nc1")`:                                 `no measure is called "nc1"`,
		`final("train.nc1_pinv") < 1`:                        "float64",
		`last("train.nc1_pinv")`:                             "last",
		`final("train.nc1_pinv"`:                             "unexpected",
		`final(7)`:                                           "string",
		`final("train@layer2.0.nc1_pinv") + final("a") + ""`: "",
	} {
		for _, s := range []judge.Statement{asks(source, "1"), asks("1", source)} {
			if err := s.Check(judge.Vocabulary{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `claim "x"`) {
				t.Errorf("%s: error %v, wanted one with %q", source, err, want)
			}
		}
	}
	if err := asks(`final("train@layer2.0.nc1_pinv")`, `final("train.loss")`).Check(judge.Vocabulary{}); err != nil {
		t.Errorf("a layer's measure: %v", err)
	}
}

// What a recipe's author can get wrong is an error that names the claim, says what is wanted and guesses what was meant.
func TestStatementsThatCannotBeJudged(t *testing.T) {
	band := &[2]float64{-1, 1}
	for want, change := range map[string]func(*judge.Statement){
		"did you mean less?":                          func(s *judge.Statement) { s.Kind = "les" },
		"did you mean log-ratio?":                     func(s *judge.Statement) { s.Unit = "log_ratio" },
		"needs a band":                                func(s *judge.Statement) { s.Kind = judge.Equal },
		"because, which gives the reason for it":      func(s *judge.Statement) { s.Kind, s.Band = judge.Equal, band },
		"takes no band":                               func(s *judge.Statement) { s.Band = band },
		"wanted two numbers with 1 between them":      func(s *judge.Statement) { s.Kind, s.Band, s.Because, s.Unit = judge.Equal, band, "so", "log-ratio" },
		"wanted two numbers with 0 between them":      func(s *judge.Statement) { s.Kind, s.Band, s.Because = judge.Equal, &[2]float64{1, 2}, "so" },
		"did you mean loss.kind?":                     func(s *judge.Statement) { s.Where = map[string]any{"loss.kin": "ce"} },
		"did you mean data.noise?":                    func(s *judge.Statement) { s.Cells = []string{"data.nois"} },
		"write a claim for each":                      func(s *judge.Statement) { s.Cells, s.Unit = []string{"data.noise"}, "quotient" },
		"other kinds have left and right":             func(s *judge.Statement) { s.Left = "" },
		"a claim of kind linear has x and y":          func(s *judge.Statement) { s.Kind, s.Band, s.Because = judge.Linear, band, "so" },
		`runs is "odd", wanted regular or degenerate`: func(s *judge.Statement) { s.Runs = "odd" },
	} {
		if err := with(asks("1", "2"), change).Check(judge.Vocabulary{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `claim "x"`) {
			t.Errorf("error %v, wanted one with %q", err, want)
		}
	}
}

// Likeness is a claim about the mean over cells that cells can contradict: of effects of both signs the mean is nothing.
func TestLikenessOverCells(t *testing.T) {
	m := judgetest.Common()
	m.Noises = []float64{0.05, 0.1}
	runs := m.Runs(t)
	for i := range runs {
		rows := runs[i].Rows("train", "", "memorization_flipped")
		value := &rows[len(rows)-1].Value
		*value = 100 * (1 + .01*float64(runs[i].Seed))
		if runs[i].Loss == "ls" {
			*value *= map[float64]float64{0.05: 3, 0.1: 1. / 3}[runs[i].Noise]
		}
	}
	claim := func(lo, hi float64) judge.Claim {
		c, err := with(asks(`final("train.memorization_flipped", {"loss.kind": "ls"})`, `final("train.memorization_flipped", {"loss.kind": "ce"})`), func(s *judge.Statement) {
			s.Kind, s.Unit, s.Cells, s.Band, s.Because = judge.Equal, "log-ratio", []string{"data.noise"}, &[2]float64{lo, hi}, "a test"
		}).Judge(runs)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		lo, hi float64
		want   judge.Verdict
		text   string
	}{{.5, 2, judge.Fails, "the mean is inside the band 0.500 to 2.00, but every cell is outside"}, {.2, 5, judge.Holds, "entirely inside the band 0.200 to 5.00"}, {.5, 5, judge.Partly, "but not in 1 cell: data.noise = 0.1"}} {
		if got := claim(c.lo, c.hi); got.Verdict != c.want || !strings.Contains(got.Reason, c.text) || got.Effect.Pooled == nil {
			t.Errorf("band %g to %g: %q (%s), wanted %q", c.lo, c.hi, got.Verdict, got.Reason, c.want)
		}
	}
}

// TestAReasonNamesTheUnfitted: which configurations are missing, and, of a claim of one's own, what to write.
func TestAReasonNamesTheUnfitted(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	for i := range runs {
		if runs[i].Noise == 0.2 && runs[i].Loss == "ls" {
			judgetest.SetFinal(&runs[i], "train", "accuracy", 0.9)
		}
	}
	for source, remedy := range map[judge.Source]bool{judge.Ours: true, judge.FromPaper: false} {
		claim, err := with(asks(`final("train.nc1_pinv", {"loss.kind": "ce"})`, "1"), func(s *judge.Statement) { s.Source = source }).Judge(runs)
		if err != nil || claim.Verdict != judge.CannotTell || !strings.Contains(claim.Reason, "was not reached in 1 of ") ||
			!strings.Contains(claim.Reason, "(data.noise = 0.2, loss.kind = ls)") || strings.Contains(claim.Reason, "early = true") != remedy || strings.Contains(claim.Reason, "besides") {
			t.Errorf("%s: %s, %q; %v", source, claim.Verdict, claim.Reason, err)
		}
		few := slices.DeleteFunc(slices.Clone(runs), func(r judge.Run) bool { return r.Seed > 3 })
		claim, err = with(asks(`final("train.nc1_pinv", {"loss.kind": "ce"})`, "1"), func(s *judge.Statement) { s.Source = source }).Judge(few)
		if err != nil || !strings.Contains(claim.Reason, "was not reached in 1 of ") || !strings.Contains(claim.Reason, "; a verdict needs 5 seeds besides, and there are at most 3") {
			t.Errorf("%s: %q; %v", source, claim.Reason, err)
		}
	}
}

// A value that no finished run has is answered with the nearest that some have.
func TestStatementWithAMisspeltValue(t *testing.T) {
	for value, want := range map[string]string{"lss": `no finished run has loss.kind = lss; did you mean ls?`, "hinge": "no finished run has loss.kind = hinge"} {
		claim, err := asks(`final("train.nc1_pinv", {"loss.kind": "`+value+`"})`, "1").Judge(judgetest.Common().Runs(t))
		if err != nil || claim.Verdict != judge.CannotTell || !strings.Contains(claim.Reason, want) || value == "hinge" && strings.Contains(claim.Reason, "did you mean") {
			t.Errorf("%s: %q, %v", value, claim.Reason, err)
		}
	}
}

// TestCellsThatBothSidesSelectAreTold: they are one cell, counted several times.
func TestCellsThatBothSidesSelectAreTold(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	for right, want := range map[string]bool{`final("test.dilation", {"data.noise": 0.2})`: true, `final("test.dilation")`: false} {
		s := asks(`final("test.dilation", {"data.noise": 0.1})`, right)
		s.Cells, s.Where = []string{"data.noise"}, map[string]any{"data.noise": []any{0.1, 0.2}}
		claim, err := s.Judge(runs)
		told := slices.ContainsFunc(claim.Statistics, func(note string) bool {
			return note == `all 2 cells have the same numbers: both sides select what cells = ["data.noise"] names, or it changes nothing`
		})
		if err != nil || told != want || len(claim.Effect.Cells) != 2 {
			t.Errorf("%s: %q, %v", right, claim.Statistics, err)
		}
	}
}
