package judge

import (
	"slices"
	"strings"

	"collapse.example/collapse/internal/store"
)

// Rules explains on pages how verdicts are reached.
var Rules = struct{ Claims, Own, Searches, Fig1, Thresholds string }{
	Claims: "Unless it says otherwise, a claim is judged only on runs in the terminal phase: training accuracy of at least 99.9 % on the labels trained on. Each seed gives one value of the effect; " +
		"intervals are Student’s 95 % intervals over at least 5 seeds. A claim holds if the interval lies on the claimed side and does not hold if it lies on the other side; if it reaches both, these runs cannot tell. " +
		"A claim about several cells holds only if the interval of each supports it, unless its sentence is about their mean; it holds partly if a cell contradicts it (after Holm’s correction). " +
		"A claim of the paper asks one of its sentences, which is quoted; limits and bands in it are ours.",
	Own: "Each seed gives one value of the effect; intervals are Student’s 95 % intervals over at least 5 seeds. A claim holds if the interval lies on the claimed side and does not hold if it lies on the other side; " +
		"if it reaches both, these runs cannot tell. A claim about several cells holds only if the interval of each supports it, unless its sentence is about their mean; it holds partly if a cell contradicts it (after Holm’s correction). " +
		"A claim about collapse leaves out runs that report a training accuracy below 99.9 %, unless it counts them.",
	Searches:   "Each search of one combination and seed gives one value; intervals are Student’s 95 % intervals over searches.",
	Fig1:       "Nguyen et al. 2023, Memorization-Dilation, Fig. 1. A claim is judged only on regular runs in the terminal phase, with training accuracy of at least 99.9 % on the labels trained on; intervals are Student’s 95 % intervals over seeds.",
	Thresholds: "A run is degenerate (our definition) if the smallest norm of its clean class means is below a tenth of the largest. A claim that two values are equal states the band within which they count as equal, and why.",
}

// Questions are everything that a recipe asks of its runs.
type Questions struct {
	Claims       []Statement
	Numbers      []Number
	Printed      *Printed // the claim that the numbers equal the paper's; nil: none
	PapersScale  bool     // the runs have the paper's scale
	Memorization bool     // judge memorization and dilation as in M-D Fig. 1
	Searches     []Search // of settings; nil: the runs are a grid
}

// Answers are the results: verdicts in the order of the questions, and the paper's numbers next to ours.
type Answers struct {
	Claims  []Claim
	Numbers []Comparison
}

// Judge answers the questions from runs, in any order. Unfinished runs are ignored.
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

// compare puts the paper's numbers next to ours, and judges them as one table.
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

// failed are the runs that ended in an error.
func failed(runs []Run) (out []*JudgedRun) {
	for i := range runs {
		if runs[i].Status == store.Failed {
			out = append(out, JudgeRun(&runs[i]))
		}
	}
	return out
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
