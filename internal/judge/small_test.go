package judge_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

// TestNamesWithDots: a script may report values whose names have dots, which expressions and tables find.
func TestNamesWithDots(t *testing.T) {
	var runs []judge.Run
	for seed := range 6 {
		config := []byte(`{"run":{"seed":` + string(rune('1'+seed)) + `}}`)
		r, err := judge.NewRun(store.Run{Hash: string(rune('a' + seed)), Kind: store.Script, Status: store.Done, Config: config},
			[]store.Value{{Key: store.Key{Series: "epoch", Measure: "eval.f1.macro"}, Step: 2, Value: float64(seed)}})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	claim, err := with(asks(`final("eval.f1.macro")`, "10.0"), func(s *judge.Statement) { s.Early = true }).Judge(runs)
	if err != nil || claim.Verdict != judge.Holds || !(math.Abs(float64(claim.Effect.Cells[0].Left)-2.5) < 1e-12) {
		t.Errorf("%+v, %v", claim, err)
	}
	table, err := judge.Table{Title: "T", Rows: []string{"run.epochs"}, Values: []string{"eval.f1.macro"}}.Fill(runs)
	if c := table.Lines[0].Cells[0]; err != nil || c.N != 6 || !(math.Abs(float64(c.Mean)-2.5) < 1e-12) {
		t.Errorf("%+v, %v", table, err)
	}
	for name, want := range map[string][3]string{"test/a.b": {"test", "", "a.b"}, "a/b/c": {"a", "", "b/c"}, "test@l/1.f": {"test", "l/1", "f"}} {
		split, layer, key := judge.SplitName(name)
		if got := [3]string{split, layer, key}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestOwnNamesComeFirst, whatever the alphabet says.
func TestOwnNamesComeFirst(t *testing.T) {
	r := script(t, "a", "", map[string]float64{"zeta": 1, "train/nc1_pinv": 2, "accuracy": 3, "beta": 4})
	var names []string
	for _, k := range r.OwnKeys() {
		names = append(names, judge.NameOf(k))
	}
	if !slices.Equal(names, []string{"beta", "zeta", "accuracy", "train/nc1_pinv"}) {
		t.Errorf("%q", names)
	}
}

// TestPlacesAndQuotes of numbers and claims.
func TestPlacesAndQuotes(t *testing.T) {
	for c, want := range map[judge.Comparison]string{{What: "accuracy"}: "accuracy", {What: "accuracy", Place: "Table 2"}: "accuracy (Table 2)"} {
		if got := c.Placed(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for p, want := range map[judge.Provenance]string{{}: "", {Place: "Fig. 1"}: "Fig. 1", {Quote: "the “mean” falls", Place: "Sec. 2"}: "“the ‘mean’ falls” (Sec. 2)"} {
		if got := p.Cited(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := judge.CannotTell.Class(); got != "cannot-tell" {
		t.Error(got)
	}
	var q judge.Quantity
	if err := json.Unmarshal([]byte(`"a"`), &q); err == nil {
		t.Error("a word is a number")
	}
}

// TestNumbersWithoutSpread: a printed number alone is taken as exact, and one run has no deviation.
func TestNumbersWithoutSpread(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Jitter = []string{"ce"}, []float64{0}, 0
	number := judge.Number{What: "dilation", Paper: "0.02", Ours: `final("test.dilation")`, Place: "Table 1"}
	for seeds, want := range map[int][2]string{1: {"0.05", "0.0300"}, 6: {"0.05 ± 0", "0.0300 (95 % interval 0.0300 to 0.0300)"}} {
		m.Seeds = seeds
		a, err := judge.Questions{Numbers: []judge.Number{number}}.Judge(m.Runs(t))
		if err != nil || a.Numbers[0].Ours != want[0] || a.Numbers[0].Difference != want[1] || a.Numbers[0].Paper != "0.02" || a.Numbers[0].Place != "Table 1" {
			t.Errorf("%d seeds: %+v, %v, want %q", seeds, a.Numbers, err, want)
		}
	}
	number.Spread = "0.01" // of an unknown number of runs
	a, err := judge.Questions{Numbers: []judge.Number{number}}.Judge(m.Runs(t))
	if err != nil || a.Numbers[0].Paper != "0.02 ± 0.01" {
		t.Errorf("%+v, %v", a.Numbers, err)
	}
	for _, paper := range []string{"x", ""} {
		number.Paper = paper
		if _, err := (judge.Questions{Numbers: []judge.Number{number}}).Judge(m.Runs(t)); err == nil || !strings.Contains(err.Error(), `number "dilation"`) {
			t.Errorf("%q: %v", paper, err)
		}
	}
}

// TestClaimsOfFewRuns: which claims of M-D Fig. 1 are asked depends on the losses and noise levels that there are, even of one run each.
func TestClaimsOfFewRuns(t *testing.T) {
	for _, of := range []struct {
		losses []string
		noises []float64
		asked  []string
	}{
		{[]string{"ce"}, []float64{.1}, []string{"growth", "linear-ce"}},
		{[]string{"ls"}, []float64{.1}, []string{"growth", "linear-ls"}},
		{[]string{"lr", "mse"}, []float64{.1}, []string{"growth"}},
		{[]string{"ce", "ls"}, []float64{.1}, []string{"growth", "linear-ce", "linear-ls", "slope-ls", "slope-ls-scale-free", "ls-memorizes-less", "ls-memorizes-less-scale-free", "ls-accuracy"}},
		{[]string{"ce", "lr"}, []float64{.1}, []string{"growth", "linear-ce", "slope-lr", "slope-lr-scale-free"}},
		{[]string{"ce", "mse"}, []float64{0, .1, .4}, []string{"growth", "linear-ce", "slope-mse", "slope-mse-scale-free"}},
	} {
		m := judgetest.Common()
		m.Losses, m.Noises, m.Seeds = of.losses, of.noises, 1
		gs, _ := judge.Experiments(m.Runs(t))
		var asked []string
		for _, c := range gs[0].Claims() {
			asked = append(asked, c.ID)
		}
		if want := append(of.asked, "settled-memorization", "settled-dilation"); !slices.Equal(asked, want) {
			t.Errorf("%v: %q, want %q", of.losses, asked, want)
		}
	}
}

// TestKnownDigestsAreNoNames: runs are named by what differs; equal ones by their hash.
func TestKnownDigestsAreNoNames(t *testing.T) {
	runs := judgetest.Common().Runs(t)[:3]
	runs[1].Settings["data.train_digest"] = "aa"
	if got := judge.Names(runs); !slices.Equal(got, []string{"cross entropy, seed 1", "cross entropy, seed 2", "cross entropy, seed 3"}) {
		t.Errorf("%q", got)
	}
	twice := []judge.Run{runs[0], runs[0], runs[2]}
	if got := judge.Names(twice); !slices.Equal(got, []string{"cross entropy, seed 1 (ce000000)", "cross entropy, seed 1 (ce000000)", "cross entropy, seed 3"}) {
		t.Errorf("%q", got)
	}
	if got := []int{judge.LossRank("ce"), judge.LossRank("odd")}; got[0] != 0 || got[1] < 5 {
		t.Errorf("ranks %v", got)
	}
}
