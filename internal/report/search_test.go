package report

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func someSearches(best, byDefault []float64) (all []Search) {
	for i := range best {
		trial := func(n, epochs int, lr string, value float64) SearchTrial {
			return SearchTrial{SearchRun{"r", epochs, value}, n, map[string]string{"optim.lr": lr, "optim.schedule.gamma": "0.1"}}
		}
		all = append(all, Search{Group: "loss ce", Metric: "validation.accuracy", Best: 1, Spent: 12, Whole: 27,
			Params:  []SearchParam{{Name: "optim.lr", Log: true, Low: 1e-5, High: 0.5}, {Name: "optim.schedule.gamma", Choices: []string{"0.01", "0.1"}}},
			Trials:  []SearchTrial{trial(1, 3, "0.001", 0.2), trial(2, 9, "0.1", best[i]), trial(3, 3, "0.4", math.NaN())},
			Default: &SearchRun{"d", 9, byDefault[i]}, Final: [2]float64{best[i], byDefault[i]}})
	}
	return all
}

func verdicts(all []Search) map[string]Verdict {
	out := map[string]Verdict{}
	for _, c := range searchClaims(all) {
		out[c.ID] = c.Verdict
	}
	return out
}

func TestVerdictsOnSearches(t *testing.T) {
	better := someSearches([]float64{0.9, 0.92, 0.95}, []float64{0.85, 0.92, 0.9})
	worse := someSearches([]float64{0.8, 0.81, 0.82}, []float64{0.85, 0.92, 0.9})
	mixed := someSearches([]float64{0.9, 0.8, 0.85}, []float64{0.8, 0.9, 0.84})
	for name, c := range map[string]struct {
		all  []Search
		want Verdict
	}{"better": {better, Holds}, "worse": {worse, Fails}, "mixed": {mixed, CannotTell}, "two": {better[:2], CannotTell}} {
		got := verdicts(c.all)
		if got["no-worse-than-default"] != c.want || got["no-worse-on-test"] != c.want || got["spends-less"] != Holds || got["found-in-space"] != Holds {
			t.Errorf("%s: %v", name, got)
		}
	}
	for i := range worse { // of a loss the smaller is the better
		worse[i].Lowest = true
	}
	if got := verdicts(worse); got["no-worse-than-default"] != Holds {
		t.Errorf("lowest: %v", got)
	}
	better[0].Trials[1].Settings["optim.lr"] = "0.6"
	better[1].Spent = 27
	if got := verdicts(better); got["found-in-space"] != Fails || got["spends-less"] != Fails {
		t.Errorf("outside and wasteful: %v", got)
	}
	better[0].Best = -1
	if got := verdicts(better); got["found-in-space"] != CannotTell {
		t.Errorf("nothing found: %v", got)
	}
}

// The line of the best so far ends at the search's best, ignores failed trials and prefers what was trained further.
func TestBestSoFar(t *testing.T) {
	all := someSearches([]float64{0.9, 0.7}, []float64{0.8, 0.6})
	trial := func(n, epochs int, value float64) SearchTrial {
		return SearchTrial{SearchRun{"r", epochs, value}, n, nil}
	}
	s := &all[1]
	s.Trials = []SearchTrial{trial(1, 3, math.NaN()), trial(2, 3, 0.5), trial(3, 3, 0.4), trial(4, 9, 0.3), trial(5, 3, 0.8), trial(6, 9, 0.7), trial(7, 9, 0.7)}
	for lowest, want := range map[bool][]int{false: {-1, 1, 1, 3, 3, 5, 5}, true: {-1, 1, 2, 3, 3, 3, 3}} {
		s.Lowest = lowest
		if got := s.soFar(); !slices.Equal(got, want) {
			t.Errorf("lowest %v: %v, wanted %v", lowest, got, want)
		}
	}
	s.Lowest, s.Best = false, 5
	p := bestPicture("x", all)
	if len(p.Panels) != 1 || len(p.Panels[0].Series) != 5 { // stopped, whole, two lines, default
		t.Fatalf("%+v", p.Panels)
	}
	if rows := p.Table.Rows; len(rows) != 10 || strings.Join(rows[9], "|") != "loss ce|7|9|0.700|0.700|6|r" || strings.Join(rows[3][3:6], "|") != "–|–|–" {
		t.Errorf("%q", rows)
	}
	one := p.Panels[0].Series
	if last := len(one[3].Y) - 1; one[3].Y[last] != 70 || one[3].X[0] != 2 || one[2].Y[len(one[2].Y)-1] != 90 || one[4].Y[0] != 70 || len(one[1].X) != 4 {
		t.Errorf("%+v", one)
	}
}

func TestPageOfASearch(t *testing.T) {
	all := someSearches([]float64{0.9}, []float64{0.8})
	dir := t.TempDir()
	for _, study := range []bool{true, false} {
		res, err := WriteRecipe(dir, Recipe{ID: "find", Title: "What find found", Study: study, Searches: all, Runs: common().runs(t)[:4]})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(res.Index)
		if err != nil {
			t.Fatal(err)
		}
		html := string(b)
		for text, want := range map[string]bool{`data-study="find"`: study, `data-recipe="find"`: !study, "The figure": !study, "the paper claims": !study, "study report": study,
			"What was found": true, "optim.lr 0.1, optim.schedule.gamma 0.1": true, `data-figure="find-best"`: true, `data-figure="find-trials"`: true, `data-claim="spends-less"`: true} {
			if strings.Contains(html, text) != want {
				t.Errorf("study %v: %q is there: %v", study, text, !want)
			}
		}
	}
}

func TestPicturesOfSearches(t *testing.T) {
	all := someSearches([]float64{0.9}, []float64{0.8})
	p := trialsPicture("x", all)
	if len(p.Panels) != 2 || len(p.Table.Rows) != 3 {
		t.Fatalf("%d panels, %d rows", len(p.Panels), len(p.Table.Rows))
	}
	lr := p.Panels[0]
	if len(lr.Series) != 2 || lr.Series[0].X[0] != 0.001 || lr.Series[0].Y[0] != 20 || lr.Series[1].X[0] != 0.1 || lr.Series[1].Y[0] != 90 {
		t.Errorf("over the rate: %+v", lr.Series)
	}
	if gamma := p.Panels[1]; gamma.Series[0].X[0] != 1 || len(gamma.X.Ticks) != 2 {
		t.Errorf("over the factor: %+v", gamma)
	}
	row := strings.Join(bestTable(all).Rows[0], "|")
	if !strings.Contains(row, "optim.lr 0.1") || !strings.Contains(row, "|12|27") {
		t.Error(row)
	}
}
