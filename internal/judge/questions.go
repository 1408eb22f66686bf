package judge

import (
	"slices"
	"strings"

	"collapse/internal/store"
)

// Rules says in words how verdicts come about, for pages.
var Rules = struct{ Claims, Searches, Fig1, Thresholds string }{
	Claims: "Unless it says otherwise, a claim is judged on runs in the terminal phase only: training accuracy at least 99.9 % on the labels trained on. Each seed gives one value of the effect, " +
		"and intervals are Student’s, 95 %, over seeds: at least 5. A claim holds if the interval lies on the claimed side, does not hold if it lies on the other, and these runs cannot tell if it reaches both. " +
		"Over many cells an order is judged by the mean effect, and likeness in each; a claim holds partly if a cell contradicts it (Holm’s correction).",
	Searches:   "Each search of one combination and seed is one value; intervals are Student’s, 95 %, over searches.",
	Fig1:       "Nguyen et al. 2023, Memorization-Dilation, Fig. 1. A claim is judged only on regular runs in the terminal phase, training accuracy at least 99.9 % on the labels trained on; intervals are Student’s, 95 %, over seeds.",
	Thresholds: "A run is degenerate (ours) when the least norm of its clean class means is below a tenth of the largest. Bands within which two things count as equal stand beside each claim, with their reason.",
}

// Questions are all that a recipe asks of its runs.
type Questions struct {
	Claims       []Statement
	Numbers      []Number
	Printed      *Printed // the claim that the numbers are the paper's; nil: none
	PapersScale  bool     // the runs are what the paper ran
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
	done := Finished(runs)
	for _, s := range q.Claims {
		c, err := s.judge(done)
		if err != nil {
			return a, err
		}
		a.Claims = append(a.Claims, c)
	}
	if q.Memorization {
		a.Claims = append(a.Claims, memorizationClaims(runs)...)
	}
	a.Claims = append(a.Claims, searchClaims(q.Searches)...)
	return a, q.compare(done, &a)
}

// compare sets the paper's numbers beside ours, and judges them as one table.
func (q Questions) compare(done []*JudgedRun, a *Answers) error {
	papersRuns := 0
	if q.Printed != nil {
		papersRuns = q.Printed.Runs
	}
	var rows []compared
	for _, n := range q.Numbers {
		c, err := n.compare(done, papersRuns)
		if err != nil {
			return err
		}
		rows, a.Numbers = append(rows, c), append(a.Numbers, c.Comparison)
	}
	if q.Printed != nil {
		a.Claims = append(a.Claims, q.Printed.judge(rows, q.PapersScale))
	}
	return nil
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
