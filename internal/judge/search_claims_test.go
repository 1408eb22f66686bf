package judge_test

import (
	"testing"

	"collapse/internal/judge"
	"collapse/internal/judge/judgetest"
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
	better := judgetest.SomeSearches([]float64{0.9, 0.92, 0.95}, []float64{0.85, 0.92, 0.9})
	worse := judgetest.SomeSearches([]float64{0.8, 0.81, 0.82}, []float64{0.85, 0.92, 0.9})
	mixed := judgetest.SomeSearches([]float64{0.9, 0.8, 0.85}, []float64{0.8, 0.9, 0.84})
	for name, c := range map[string]struct {
		all  []judge.Search
		want judge.Verdict
	}{"better": {better, judge.Holds}, "worse": {worse, judge.Fails}, "mixed": {mixed, judge.CannotTell}, "two": {better[:2], judge.CannotTell}} {
		got := verdicts(c.all)
		if got["no-worse-than-default"] != c.want || got["no-worse-on-test"] != c.want || got["spends-less"] != judge.Holds || got["found-in-space"] != judge.Holds {
			t.Errorf("%s: %v", name, got)
		}
	}
	for i := range worse { // of a loss the smaller is the better
		worse[i].Lowest = true
	}
	if got := verdicts(worse); got["no-worse-than-default"] != judge.Holds {
		t.Errorf("lowest: %v", got)
	}
	better[0].Trials[1].Settings["optim.lr"] = "0.6"
	better[1].Spent = 27
	if got := verdicts(better); got["found-in-space"] != judge.Fails || got["spends-less"] != judge.Fails {
		t.Errorf("outside and wasteful: %v", got)
	}
	better[0].Best = -1
	if got := verdicts(better); got["found-in-space"] != judge.CannotTell {
		t.Errorf("nothing found: %v", got)
	}
}
