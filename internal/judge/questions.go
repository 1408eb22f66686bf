package judge

import (
	"slices"
	"strings"

	"collapse/internal/store"
)

// Rules says in words how verdicts come about, for pages.
var Rules = struct{ Claims, Searches, Fig1, Thresholds string }{
	Claims:     "Unless it says otherwise, a claim is judged on runs in the terminal phase only: training accuracy at least 99.9 % on the labels trained on. Each is asked again for seeds drawn with replacement; intervals are 95 % bootstrap intervals over seeds.",
	Searches:   "Each search of one combination and seed is one answer; intervals are 95 % bootstrap intervals over searches.",
	Fig1:       "Nguyen et al. 2023, Memorization-Dilation, Fig. 1. A claim is judged only on runs in the terminal phase, training accuracy at least 99.9 % on the labels trained on; intervals are 95 % bootstrap intervals over seeds.",
	Thresholds: "Thresholds of ours, not the paper's: a line counts as one from R² ≥ 0.9 through the means; slopes count as equal when the interval of their ratio holds 1 and lies within [0.67, 1.5]; “nothing changes” is a median change of at most 5 %; at least 3 seeds and 3 noise levels; a run is degenerate when the least norm of its clean class means is below a tenth of the largest.",
}

// Questions are all that a recipe asks of its runs.
type Questions struct {
	Claims       []Statement
	Numbers      []Number
	Memorization bool     // judge memorization and dilation as M-D Fig. 1 does
	Searches     []Search // of settings; nil: the runs are a grid
}

// Answers are what runs say: verdicts in the order of the questions, and the paper's numbers beside ours.
type Answers struct {
	Claims  []Claim
	Numbers []Comparison
}

// Judge asks runs, in whichever order they come. Those that have not finished count nowhere.
func (q Questions) Judge(runs []Run) (a Answers, err error) {
	runs = slices.SortedFunc(slices.Values(runs), func(a, b Run) int { return strings.Compare(a.Hash, b.Hash) })
	for _, s := range q.Claims {
		c, err := s.Judge(runs)
		if err != nil {
			return a, err
		}
		a.Claims = append(a.Claims, c)
	}
	if q.Memorization {
		a.Claims = append(a.Claims, memorizationClaims(runs)...)
	}
	a.Claims = append(a.Claims, searchClaims(q.Searches)...)
	done := Finished(runs)
	for _, n := range q.Numbers {
		c, err := n.compare(done)
		if err != nil {
			return a, err
		}
		a.Numbers = append(a.Numbers, c)
	}
	return a, nil
}

// Finished applies the rules to the runs that have finished.
func Finished(runs []Run) (done []*JudgedRun) {
	for i := range runs {
		if runs[i].Status == store.Done {
			done = append(done, JudgeRun(&runs[i]))
		}
	}
	return done
}

// memorizationClaims are those of M-D Fig. 1, for every experiment among the runs.
func memorizationClaims(runs []Run) (claims []Claim) {
	gs, _ := Experiments(runs)
	for _, g := range gs {
		for _, c := range g.Claims() {
			if len(gs) > 1 {
				c.ID, c.Statement = c.ID+g.Suffix, c.Statement+" ("+g.Title+")"
			}
			claims = append(claims, c)
		}
	}
	return claims
}
