package judge_test

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// TestHeadlineCountsTheRunsOfTheClaims has two seeds of one loss stop before the terminal phase: the line of that loss counts them and
// says that the claims do not.
func TestHeadlineCountsTheRunsOfTheClaims(t *testing.T) {
	m := judgetest.Common()
	m.Train = func(loss string, noise float64, seed int) float64 {
		if loss == "ls" && noise == 0.2 && seed <= 2 {
			return 0.99
		}
		return 1
	}
	gs, _ := judge.Experiments(m.Runs(t))
	claims := gs[0].Claims()
	_, _, facts := judge.Headline(gs, [][]judge.Claim{claims})
	if len(facts) != 2 || !strings.HasSuffix(facts[0], "means of 24 runs") ||
		!strings.Contains(facts[1], "means of 24 runs, 2 of them below 99.9 % train accuracy and left out of the claims") {
		t.Errorf("%q", facts)
	}
	if evidence := strings.Join(claims[0].Statistics, "; "); !strings.Contains(evidence, "2 runs left out, below 99.9 % train accuracy") {
		t.Errorf("the claim says %s", evidence)
	}
}

// TestHeadlineTellsOfEverySetting: without claims the facts of several experiments stand side by side, those beyond the eighth are counted,
// and ± is explained.
func TestHeadlineTellsOfEverySetting(t *testing.T) {
	gs, _ := judge.Experiments(judgetest.Common().Runs(t))
	lines := len(factsOf(t, gs))
	var many []*judge.Experiment
	for _, title := range strings.Fields("a b c d e f g h i j") {
		one := *gs[0]
		one.Title = title
		many = append(many, &one)
	}
	facts := factsOf(t, many)
	if len(facts) != 8*lines+1 || !strings.HasPrefix(facts[lines], "b. ") || !strings.HasPrefix(facts[8*lines], "And 2 other settings") {
		t.Errorf("%q", facts)
	}
}

// factsOf are those of experiments without claims.
func factsOf(t *testing.T, gs []*judge.Experiment) []string {
	t.Helper()
	_, numbers, facts := judge.Headline(gs, make([][]judge.Claim, len(gs)))
	if !strings.Contains(numbers, "standard deviation") {
		t.Errorf("± is not explained: %q", numbers)
	}
	return facts
}

// TestHeadlineNamesUnfittedRuns: beside the mean NC1 of a line stand its training accuracy and how many runs have not fitted their labels.
func TestHeadlineNamesUnfittedRuns(t *testing.T) {
	m := judgetest.Common()
	m.Noises, m.Seeds = []float64{0}, 4
	m.Train = func(loss string, _ float64, seed int) float64 {
		if loss == "ls" && seed <= 3 {
			return 0.6
		}
		return 1
	}
	gs, _ := judge.Experiments(m.Runs(t))
	facts := factsOf(t, gs)
	if len(facts) != 2 || !strings.Contains(facts[0], ", training accuracy 100") || strings.Contains(facts[0], "unfitted") ||
		!strings.Contains(facts[1], ", training accuracy 70 ± 20 %, test") || !strings.HasSuffix(facts[1], "; 3 of 4 runs unfitted (below 99.9 % training accuracy)") {
		t.Errorf("%q", facts)
	}
}

// TestTitleOfARun: label noise stands in it only where there is some.
func TestTitleOfARun(t *testing.T) {
	for noise, want := range map[float64]string{0: "cross entropy, seed 1", 0.25: "cross entropy, η = 0.25, seed 1"} {
		m := judgetest.Common()
		m.Losses, m.Noises, m.Seeds = m.Losses[:1], []float64{noise}, 1
		runs := m.Runs(t)
		if got := judge.JudgeRun(&runs[0]).Title(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := judge.Names(runs)[0]; got != strings.ReplaceAll(want, "= ", "") {
			t.Errorf("in lists %q, want %q", got, want)
		}
	}
}

// The headline is about these runs, and says of a claim that holds partly that it does.
func TestHeadlineOfMemorizationSaysHowMuchHolds(t *testing.T) {
	m := judgetest.Common()
	gs, _ := judge.Experiments(m.Runs(t))
	const grows = "In these runs, the more a network memorizes wrong labels, the wider its classes spread on unseen data"
	for verdict, want := range map[judge.Verdict]string{
		judge.Holds:      grows,
		judge.Partly:     grows + ", but not under every loss",
		judge.Fails:      "In these runs, memorizing wrong labels and spreading on unseen data do not grow together",
		judge.CannotTell: "These runs cannot tell whether memorizing wrong labels and spreading on unseen data grow together",
	} {
		if finding, _, _ := judge.Headline(gs, [][]judge.Claim{{{ID: "growth", Verdict: verdict}}}); finding != want {
			t.Errorf("%s: %q, wanted %q", verdict, finding, want)
		}
	}
}
