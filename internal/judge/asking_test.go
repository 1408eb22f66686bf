package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

// TestSearchesGoOnFromTheBest follows drawn searches, trial by trial: of those trained furthest the best so far.
func TestSearchesGoOnFromTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 46))
	for range 500 {
		s := judge.Search{Lowest: r.IntN(2) == 0, Metric: []string{"validation.accuracy", "validation.loss", "accuracy"}[r.IntN(3)]}
		budget := 0
		for range r.IntN(8) {
			v := float64(r.IntN(4))
			if r.IntN(4) == 0 {
				v = math.NaN()
			}
			s.Trials = append(s.Trials, judge.SearchTrial{SearchRun: judge.SearchRun{Epochs: 1 + r.IntN(3), Value: v}})
			budget = max(budget, s.Trials[len(s.Trials)-1].Epochs)
		}
		for i, got := range s.SoFar() {
			want := -1
			for j := range i + 1 { // the first that no other up to here is better than
				beaten := math.IsNaN(s.Trials[j].Value)
				for k := range i + 1 {
					a, b := s.Trials[k], s.Trials[j]
					better := a.Value > b.Value
					if s.Lowest {
						better = a.Value < b.Value
					}
					beaten = beaten || !math.IsNaN(a.Value) && (a.Epochs > b.Epochs || a.Epochs == b.Epochs && better)
				}
				if !beaten && want < 0 {
					want = j
				}
			}
			if got != want {
				t.Fatalf("%+v: trial %d after %d, want %d", s, got, i, want)
			}
		}
		factor, unit := s.Unit()
		if percent := s.Metric == "validation.accuracy"; s.Budget() != budget || percent != (unit == "%") || factor != map[bool]float64{true: 100, false: 1}[percent] {
			t.Fatalf("%+v: budget %d, want %d; unit %g %q", s, s.Budget(), budget, factor, unit)
		}
	}
	at := judge.SearchTrial{Settings: map[string]string{"lr": "0.5", "kind": "b", "odd": "x"}}
	for name, of := range map[string]struct {
		p  judge.SearchParam
		x  float64
		ok bool
	}{"number": {judge.SearchParam{Name: "lr"}, .5, true}, "choice": {judge.SearchParam{Name: "kind", Choices: []string{"a", "b"}}, 1, true}, "first choice": {judge.SearchParam{Name: "kind", Choices: []string{"b"}}, 0, true},
		"no such choice": {judge.SearchParam{Name: "kind", Choices: []string{"a"}}, -1, false}, "not there": {judge.SearchParam{Name: "momentum"}, 0, false}, "not a number": {judge.SearchParam{Name: "odd"}, 0, false}} {
		if x, ok := of.p.Place(at); ok != of.ok || ok && x != of.x {
			t.Errorf("%s: %g, %v", name, x, ok)
		}
	}
	if got := judge.SearchGroups([]judge.Search{{Group: "b"}, {Group: "a"}, {Group: "b"}}); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("groups %q", got)
	}
}

// TestSearchesWithoutAnEnd: searches that were not trained again are no evidence, and none at all ask nothing.
func TestSearchesWithoutAnEnd(t *testing.T) {
	all := judgetest.SomeSearches([]float64{.9, .91, .92, .93, .94, .95}, []float64{.9, .9, .9, .9, .9, .9})
	all[2].Final[1] = math.NaN()
	a, err := judge.Questions{Searches: all}.Judge(nil)
	if err != nil || len(a.Claims) != 1 {
		t.Fatal(a, err)
	}
	e := a.Claims[0].Effect
	if !slices.Equal(e.Replicates, []uint64{0, 1, 3, 4, 5}) || len(e.Cells) != 1 || !(math.Abs(float64(e.Cells[0].Left)-92.6) < 1e-9) || !(math.Abs(float64(e.Cells[0].Right)-89) < 1e-9) || !e.Percent || !strings.Contains(a.Claims[0].Reason, " points") {
		t.Errorf("%+v: %s", e, a.Claims[0].Reason)
	}
	if a, _ := (judge.Questions{}).Judge(nil); len(a.Claims) != 0 {
		t.Errorf("without searches: %v", a.Claims)
	}
}

// TestNamesThatRunsCanHave: of this program's runs and of a script's.
func TestNamesThatRunsCanHave(t *testing.T) {
	own, script := judge.Vocabulary{}, judge.Vocabulary{Script: true, Settings: []string{"lr", "my.depth"}}
	for name, want := range map[string][2]string{ // what is wrong for the program, and for a script
		"loss.kind":           {"", ""},
		"train.nc1_pinv":      {"", ""},
		"train@fc.nc1_pinv":   {"", ""},
		"test.loss":           {"", ""},
		"validation.accuracy": {"", ""},
		"theory.optimum":      {"", ""},
		"kept.degenerate":     {"", ""},
		"kept.odd":            {`no value is called "kept.odd"; there are kept.degenerate, kept.dilation_trace, kept.flipped_scale_free`, `no value is called "kept.odd"`},
		"train.odd":           {`no measure is called "odd"`, ""},
		"f1":                  {`"f1" is neither a setting nor split.measure`, ""},
		"test/f1":             {"no measure is called", ""},
		"train@fc.excess":     {`no measure is called "excess"`, ""},
		"theory@fc.optimum":   {`no value is called "theory@fc.optimum"`, ""},
		"":                    {`"" is neither`, `"" is neither`},
		"validation.loss":     {"", ""},
		"validation.nc1_pinv": {"the validation split has only loss and accuracy", ""},
	} {
		for i, words := range []judge.Vocabulary{own, script} {
			if err := words.Name(name); (err == nil) != (want[i] == "") || err != nil && !strings.Contains(err.Error(), want[i]) {
				t.Errorf("%q, script %v: %v, want %q", name, words.Script, err, want[i])
			}
		}
	}
	for key, want := range map[string][2]bool{"loss.kind": {true, false}, "lr": {false, true}, "my.depth": {false, true}, "run.epochs": {true, true}, "run.seed": {true, true}, "odd": {}} {
		if own.Setting(key) != want[0] || script.Setting(key) != want[1] {
			t.Errorf("%s is a setting: %v of the program, %v of the script", key, own.Setting(key), script.Setting(key))
		}
	}
	wrong := asks(`final("test/f1", {"my.dept": 3})`, "1")
	if err := wrong.Check(script); err == nil || !strings.Contains(err.Error(), `a selection names "my.dept", which is not a setting; did you mean my.depth?`) {
		t.Error(err)
	}
	if err := asks(`final("test/f1", {"my.depth": 3, "run.seed": 1})`, "1").Check(script); err != nil {
		t.Error(err)
	}
}

// TestExpressionsAreBounded: no lists are visited, only arithmetic on values, in a few thousand characters; the first unknown name is told.
func TestExpressionsAreBounded(t *testing.T) {
	for source, want := range map[string]string{
		`max(1, min(2, 3)) + abs(-1) + round(1.5) + floor(1.5) + ceil(.5) + mean(1, 2) + median(1, 2)`: "",
		`1.0` + strings.Repeat(" ", 3997):                 "",
		`1.0` + strings.Repeat(" ", 3998):                 "an expression of 4001 characters; at most 4000 are read",
		`sum(1..3)`:                                       "claims have no function sum; they have abs, ceil, floor, max, mean, median, min, round",
		`map(1..3, # * 1.0)[0]`:                           "claims ",
		`final("train.a") + final("train.b")`:             `no measure is called "a"`,
		`final("train.loss", {"loss.kind": "x", "q": 1})`: `a selection names "q"`,
		`slope("train.loss", "train.q")`:                  `no measure is called "q"`,
		`slope("q", "train.loss")`:                        `"q" is neither`,
		`margin_share(0.5, {"q": 1})`:                     `a selection names "q"`,
		`at("train.loss", 0.5, {"loss.kind": "q"})`:       "",
		`at("q", 0.5)`:                                    `"q" is neither`,
		`final.x("train.q")`:                              "x",
		`"a"`:                                             "float64",
	} {
		err := asks(source, "1").Check(judge.Vocabulary{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", source, err, want)
		}
		n := judge.Number{What: "w", Paper: "1", Ours: source}
		if other := n.Check(); (other == nil) != (err == nil) || other != nil && !strings.Contains(other.Error(), want) {
			t.Errorf("a number, %.60s: %v, want %q", source, other, want)
		}
	}
}

// TestStatementsAreChecked changes one thing of good statements at a time.
func TestStatementsAreChecked(t *testing.T) {
	line := judge.Statement{ID: "x", Kind: judge.Linear, X: "data.noise", Y: "test.dilation", Band: &[2]float64{-1, 1}, Because: "so"}
	ratio := judge.Statement{ID: "x", Kind: judge.Differ, Left: "1.0", Right: "2.0", Unit: judge.LogRatio, Band: &[2]float64{.5, 2}, Because: "so", Cells: []string{"data.noise"}}
	plain := judge.Statement{ID: "x", Kind: judge.Equal, Left: "1.0", Right: "2.0", Band: &[2]float64{-.5, 2}, Because: "so"}
	band := func(lo, hi float64) func(*judge.Statement) {
		return func(s *judge.Statement) { s.Band = &[2]float64{lo, hi} }
	}
	for _, of := range []struct {
		s      judge.Statement
		change func(*judge.Statement)
		want   string
	}{
		{line, func(*judge.Statement) {}, ""}, {ratio, func(*judge.Statement) {}, ""}, {plain, func(*judge.Statement) {}, ""},
		{line, func(s *judge.Statement) { s.X = "" }, "a claim of kind linear has x and y"}, {line, func(s *judge.Statement) { s.Y = "" }, "a claim of kind linear has x and y"},
		{line, func(s *judge.Statement) { s.Left, s.Right = "1.0", "1.0" }, "a claim of kind linear"}, {line, func(s *judge.Statement) { s.Unit = "difference" }, "no unit"},
		{line, func(s *judge.Statement) { s.X = "q" }, `"q" is neither`}, {line, func(s *judge.Statement) { s.Y = "test.q" }, `no measure is called "q"`}, {line, band(1, 2), "with 0 between them"},
		{line, func(s *judge.Statement) { s.Cells = []string{"data.noise"} }, "a quotient has only one cell"},
		{plain, func(s *judge.Statement) { s.X, s.Y = "data.noise", "test.loss" }, "other kinds have left and right"}, {plain, func(s *judge.Statement) { s.Right = "" }, "other kinds have"},
		{plain, func(s *judge.Statement) { s.Band = nil }, "needs a band"}, {plain, band(0, 1), "0 between them"}, {plain, band(-1, 0), "0 between them"},
		{plain, func(s *judge.Statement) { s.Kind, s.Because = judge.More, "" }, "takes no band"}, {plain, func(s *judge.Statement) { s.Kind, s.Band = judge.Less, nil }, "takes no band"},
		{plain, func(s *judge.Statement) { s.Kind, s.Band, s.Because = judge.More, nil, "" }, ""},
		{ratio, band(1, 2), "1 between them, above zero"}, {ratio, band(.5, 1), "1 between them"}, {ratio, band(0, 2), "above zero"}, {ratio, band(-1, 2), "above zero"},
		{ratio, func(s *judge.Statement) { s.Mean = true }, "mean belongs to claims of kind less"}, {plain, func(s *judge.Statement) { s.Mean = true }, "mean belongs to claims"},
		{plain, func(s *judge.Statement) { s.Mean, s.Cells = true, []string{"data.noise"} }, ""}, {plain, func(s *judge.Statement) { s.Except = map[string]any{"data.noise": 0} }, "except belongs to claims with cells"},
		{ratio, func(s *judge.Statement) { s.Except = map[string]any{"data.noise": 0} }, ""}, {ratio, func(s *judge.Statement) { s.Except = map[string]any{"q": 0} }, `except names "q"`},
		{ratio, func(s *judge.Statement) { s.Where = map[string]any{"q": 0} }, `where names "q"`}, {ratio, func(s *judge.Statement) { s.Cells = []string{"q"} }, `cells names "q"`},
		{ratio, func(s *judge.Statement) { s.Unit = "quotient" }, "a quotient has only one cell"}, {plain, func(s *judge.Statement) { s.Unit, s.Band = "quotient", &[2]float64{.5, 2} }, ""},
		{plain, func(s *judge.Statement) { s.Left = `final("train.q")` }, `"final(\"train.q\")": no measure`}, {plain, func(s *judge.Statement) { s.Right = `final("train.q")` }, "no measure"},
	} {
		of.change(&of.s)
		if err := of.s.Check(judge.Vocabulary{}); (err == nil) != (of.want == "") || err != nil && (!strings.Contains(err.Error(), of.want) || !strings.Contains(err.Error(), `claim "x"`)) {
			t.Errorf("%+v: %v, want %q", of.s, err, of.want)
		}
	}
	bad := asks("1 +", "1")
	if _, err := bad.Judge(nil); err == nil || !strings.Contains(err.Error(), `claim "x"`) {
		t.Errorf("judged without a check: %v", err)
	}
	if _, err := (judge.Questions{Claims: []judge.Statement{bad}}).Judge(nil); err == nil {
		t.Error("asked without a check")
	}
	if _, err := (judge.Questions{Numbers: []judge.Number{{What: "w", Paper: "1", Ours: "1 +"}}}).Judge(nil); err == nil || !strings.Contains(err.Error(), `number "w"`) {
		t.Errorf("asked without a check: %v", err)
	}
}

// TestHowClaimsAreJudged: each kind, unit and number of cells has its words.
func TestHowClaimsAreJudged(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	for want, change := range map[string]func(*judge.Statement){
		"each seed gives left − right; Student’s interval over seeds":                        func(*judge.Statement) {},
		"each seed gives log(left ÷ right); shown as a ratio; Student’s interval over seeds": func(s *judge.Statement) { s.Unit = judge.LogRatio },
		"the ratio of means over seeds, Fieller’s interval; band: so": func(s *judge.Statement) {
			s.Kind, s.Unit, s.Band, s.Because = judge.Equal, "quotient", &[2]float64{.5, 2}, "so"
		},
		"each seed gives a quadratic: its bend away from its chord in the middle of the range, divided by the chord’s rise; Fieller’s interval; band: so": func(s *judge.Statement) {
			s.Kind, s.X, s.Y, s.Band, s.Because = judge.Linear, "data.noise", "test.dilation", &[2]float64{-1, 1}, "so"
		},
		"each seed gives left − right; Student’s interval over seeds; the claim is about every cell, and a cell contradicts it after Holm’s correction; band: so": func(s *judge.Statement) {
			s.Kind, s.Band, s.Because, s.Cells = judge.Differ, &[2]float64{-1, 1}, "so", []string{"data.noise"}
		},
		"each seed gives left − right; Student’s interval over seeds; the claim is about the mean over cells, and cells contradict it after Holm’s correction":                                  func(s *judge.Statement) { s.Mean, s.Cells = true, []string{"data.noise"} },
		"each seed gives left − right; Student’s interval over seeds; the claim is about every cell and holds if the interval of each supports it; cells contradict it after Holm’s correction": func(s *judge.Statement) { s.Cells = []string{"data.noise"} },
		"each seed gives left − right; Student’s interval over seeds; band: so":                                                                                                                 func(s *judge.Statement) { s.Kind, s.Band, s.Because = judge.Differ, &[2]float64{-1, 1}, "so" },
	} {
		claim, err := with(asks("1.0", "2.0"), change).Judge(runs)
		if err != nil || claim.Effect == nil || claim.Effect.How != want {
			t.Errorf("%+v, %v, want %q", claim.Effect, err, want)
		}
	}
}

// TestExperimentsShareTheirSettings sorts drawn runs: those of one experiment differ by loss, noise and seed alone, the largest comes first.
func TestExperimentsShareTheirSettings(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 46))
	for range 60 {
		all := drawRuns(r)
		var runs []judge.Run
		want := map[float64]int{}
		for _, m := range all {
			if runs = append(runs, m.run(t)); m.status == store.Done {
				want[m.width]++
			}
		}
		gs, unfinished := judge.Experiments(runs)
		n := 0
		for i, g := range gs {
			width := g.Runs[0].Settings["net.width"]
			if len(g.Runs) != want[mustFloat(t, width)] || i > 0 && len(g.Runs) > len(gs[i-1].Runs) || g.Suffix != map[bool]string{true: "", false: fmt.Sprint("-", i+1)}[i == 0] || !slices.IsSorted(g.Noises) {
				t.Fatalf("%+v", g)
			}
			title := "glyphs, " + g.Settings["data.classes"] + " classes"
			if len(gs) > 1 {
				title += ", width " + width
			}
			if g.Title != title {
				t.Errorf("title %q, want %q", g.Title, title)
			}
			for j, s := range g.Runs {
				if s.Settings["net.width"] != width || !slices.Contains(g.Noises, s.Noise) || !slices.Contains(g.Curves, s.Curve) || j > 0 && inOrderOf(g.Runs[j-1]) > inOrderOf(s) {
					t.Fatalf("run %d: %+v after %+v", j, s, g.Runs[max(j-1, 0)])
				}
			}
			n += len(g.Runs)
		}
		if len(gs) != len(want) || n+len(unfinished) != len(runs) {
			t.Fatalf("%d experiments, %d finished, %d unfinished of %d", len(gs), n, len(unfinished), len(runs))
		}
	}
	if gs, _ := judge.Experiments([]judge.Run{{Run: store.Run{Status: store.Done}}}); gs[0].Title != "All runs" {
		t.Errorf("%q", gs[0].Title)
	}
}

// inOrderOf sorts like an experiment: losses in their order, then noise, then seeds.
func inOrderOf(s *judge.JudgedRun) string {
	return fmt.Sprintf("%d %.3f %08d", judge.LossRank(s.Loss), s.Noise, s.Seed)
}

func mustFloat(t *testing.T, text string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
