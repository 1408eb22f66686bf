package judge_test

import (
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

func verdicts(all []judge.Search) map[string]judge.Verdict {
	out := map[string]judge.Verdict{}
	a, err := judge.Questions{Searches: all}.Judge(nil)
	if err != nil {
		panic(err)
	}
	for _, c := range a.Claims {
		out[c.ID] = c.Verdict
	}
	return out
}

func TestVerdictsOnSearches(t *testing.T) {
	usual := []float64{0.85, 0.92, 0.9, 0.88, 0.87}
	plus := func(by ...float64) (out []float64) {
		for i, v := range usual {
			out = append(out, v+by[i])
		}
		return out
	}
	better := judgetest.SomeSearches(plus(.05, .03, .04, .05, .02), usual)
	for name, c := range map[string]struct {
		all  []judge.Search
		want judge.Verdict
	}{
		"better": {better, judge.Holds}, "the same": {judgetest.SomeSearches(usual, usual), judge.Holds},
		"worse": {judgetest.SomeSearches(plus(-.05, -.03, -.04, -.05, -.02), usual), judge.Fails},
		"mixed": {judgetest.SomeSearches(plus(-.05, .03, -.04, .05, -.02), usual), judge.CannotTell}, "four": {better[:4], judge.CannotTell},
	} {
		if got := verdicts(c.all); len(got) != 1 || got["no-worse-on-test"] != c.want {
			t.Errorf("%s: %v, wanted %s", name, got, c.want)
		}
	}
	for i := range better { // a script's search holds nothing out
		better[i].Metric = "test.loss"
	}
	if got := verdicts(better); len(got) != 0 {
		t.Errorf("without held-out samples: %v, wanted no claim", got)
	}
}
