package figure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// The line of the best so far ends at the search's best, ignores failed trials and prefers what was trained further.
func TestBestSoFar(t *testing.T) {
	all := judgetest.SomeSearches([]float64{0.9, 0.7}, []float64{0.8, 0.6})
	trial := func(n, epochs int, value float64) judge.SearchTrial {
		return judge.SearchTrial{SearchRun: judge.SearchRun{Run: "r", Epochs: epochs, Value: value}, Number: n}
	}
	s := &all[1]
	s.Trials = []judge.SearchTrial{trial(1, 3, math.NaN()), trial(2, 3, 0.5), trial(3, 3, 0.4), trial(4, 9, 0.3), trial(5, 3, 0.8), trial(6, 9, 0.7), trial(7, 9, 0.7)}
	for lowest, want := range map[bool][]int{false: {-1, 1, 1, 3, 3, 5, 5}, true: {-1, 1, 2, 3, 3, 3, 3}} {
		s.Lowest = lowest
		if got := s.SoFar(); !slices.Equal(got, want) {
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

func TestPicturesOfSearches(t *testing.T) {
	all := judgetest.SomeSearches([]float64{0.9}, []float64{0.8})
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
	found, _ := FoundInSearches(all)
	row := strings.Join(found.Rows[0], "|")
	if !strings.Contains(row, "optim.lr 0.1") || !strings.Contains(row, "|12|27") {
		t.Error(row)
	}
}

// TestASearchTellsOfFurtherRuns: of one its value, of several mean and interval, of none nothing.
func TestASearchTellsOfFurtherRuns(t *testing.T) {
	s := judgetest.SomeSearches([]float64{0.9}, []float64{0.8})[0]
	for want, again := range map[string][]float64{"": nil, " Computed once more with mode: raise: 0.750.": {0.75}, " Computed again with mode: raise and 2 runs: 0.7 ± 1.3, mean ± half of Student’s 95 % interval.": {0.6, 0.8}} {
		s.Again, s.With = again, []string{"mode: raise"}
		if got := FoundBySearch(s); !strings.HasSuffix(got, want) || want == "" && strings.Contains(got, "Computed") {
			t.Errorf("%q, wanted %q", got, want)
		}
	}
}

// TestTrialsThatWereStopped are counted, and not spoken of where there are none.
func TestTrialsThatWereStopped(t *testing.T) {
	all := judgetest.SomeSearches([]float64{0.5}, []float64{0.4})
	if got := shortOfBudget(all); got != ", 1 of 3 with less than the whole budget" { // another has no value
		t.Errorf("%q", got)
	}
	for i := range all[0].Trials {
		all[0].Trials[i].Epochs = 9
	}
	if got := shortOfBudget(all); got != "" {
		t.Errorf("%q", got)
	}
}
