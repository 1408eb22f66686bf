// Package search decides which settings to try next: at random, by a Gaussian process with expected
// improvement, on full budgets or with early stopping (Hyperband, ASHA). It trains nothing and
// stores nothing: whoever asks computes the jobs and tells their values.
//
// search.go is the state machine, space.go what is searched, rungs.go who goes on, propose.go and
// gp.go what is tried.
package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Samplers say where new trials come from, schedules how far trials go.
const (
	Random = "random"
	Bayes  = "bayes" // Gaussian process and expected improvement

	Full      = "full"      // every trial gets the whole budget
	Hyperband = "hyperband" // brackets of successive halving, Li et al. 2018
	ASHA      = "asha"      // promotions as soon as possible, Li et al. 2020
)

// Samplers and Schedules list the names.
var (
	Samplers  = []string{Random, Bayes}
	Schedules = []string{Full, Hyperband, ASHA}
)

// mostTrials bounds the trials of a search.
const mostTrials = 100_000

// Config is a search. Equal configurations and equal values of the jobs give equal jobs.
type Config struct {
	Space     Space
	Sampler   string
	Schedule  string
	Trials    int // settings tried
	Budget    int // the largest budget, in units such as epochs
	MinBudget int // the smallest that Hyperband and ASHA stop at
	Eta       int // one trial in Eta goes on from a rung
	Batch     int // jobs open at once where later ones depend on earlier ones
	Initial   int // random trials before the first of Bayes; 0: 4, or one more than there are parameters
	Seed      uint64
}

// Job is a trial to be computed up to a budget.
type Job struct {
	Trial  int
	Budget int
	From   int // budget that the trial has had, 0 if none
	Point  Point
}

// Result is the value of a trial after a budget. Larger is better; NaN is worse than any number.
type Result struct {
	Trial, Budget int
	Value         float64
}

// Search is a search under way. The methods are not safe for concurrent use.
type Search struct {
	cfg     Config
	rungs   schedule
	points  []Point         // of the trials so far
	seen    map[string]bool // those of a space without ranges of numbers
	size    int             // how many different points there are, as far as trials go
	told    map[step]float64
	waiting map[step]bool
	memo    *Memo // nil: none
}

// step is a trial at a budget.
type step struct{ trial, budget int }

// New starts a search. The error lists everything wrong with the configuration.
func New(cfg Config) (*Search, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Initial == 0 {
		cfg.Initial = max(4, len(cfg.Space)+1)
	}
	s := &Search{cfg: cfg, told: map[step]float64{}, seen: map[string]bool{}, size: cfg.Space.Size(cfg.Trials), waiting: map[step]bool{}}
	switch cfg.Schedule {
	case ASHA:
		s.rungs = &asha{budgets: cfg.Ladder(), promoted: map[step]bool{}}
	case Hyperband:
		s.rungs = &brackets{list: cfg.brackets()}
	default:
		s.rungs = &brackets{list: cfg.batches()}
	}
	return s, nil
}

func (c Config) check() error {
	var bad []string
	complain := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	bad = append(bad, c.Space.problems()...)
	complain(slices.Contains(Samplers, c.Sampler), "sampler is %q; wanted %s", c.Sampler, strings.Join(Samplers, " or "))
	complain(slices.Contains(Schedules, c.Schedule), "schedule is %q; wanted %s", c.Schedule, strings.Join(Schedules, ", "))
	complain(c.Trials >= 1 && c.Trials <= mostTrials, "trials is %d; wanted at least 1", c.Trials)
	complain(c.Budget >= 1, "budget is %d; wanted at least 1", c.Budget)
	complain(c.Batch >= 1, "batch is %d; wanted at least 1", c.Batch)
	complain(c.Initial >= 0, "initial is %d; wanted at least 0", c.Initial)
	if c.Schedule != Full {
		complain(c.Eta >= 2, "eta is %d; wanted at least 2", c.Eta)
		complain(c.MinBudget >= 1 && c.MinBudget <= c.Budget, "the smallest budget is %d; wanted 1 to %d", c.MinBudget, c.Budget)
	}
	if len(bad) == 0 && c.Schedule == ASHA {
		need := power(c.Eta, len(c.Ladder())-1)
		complain(c.Trials >= need, "%d trials never fill the %d rungs of ASHA with eta %d; wanted at least %d, or a larger smallest budget",
			c.Trials, len(c.Ladder()), c.Eta, need)
	}
	if len(bad) > 0 {
		return fmt.Errorf("search: %s", strings.Join(bad, "; "))
	}
	return nil
}

// Ask returns the jobs that can start now and were not returned before. None while others are
// waited for, and none once the search is done.
func (s *Search) Ask() []Job {
	var jobs []Job
	for {
		next := s.rungs.next(s)
		if len(next) == 0 {
			return jobs
		}
		for _, j := range next {
			s.waiting[step{j.Trial, j.Budget}] = true
		}
		jobs = append(jobs, next...)
	}
}

// Tell gives the value of a job that Ask returned.
func (s *Search) Tell(trial, budget int, value float64) {
	at := step{trial, budget}
	if !s.waiting[at] {
		panic("search: told the result of a job that was not requested, or twice")
	}
	delete(s.waiting, at)
	s.told[at] = value
}

// Done reports whether every job has been asked for and told. Ask must have been called after the last Tell.
func (s *Search) Done() bool { return len(s.waiting) == 0 && s.rungs.done(s) }

// Replay goes through the search with the values that value knows, and returns the jobs of the first
// round for which it does not know all: those that miss, in order. None: the search is done.
// It is how a search that was stopped goes on.
func (s *Search) Replay(value func(Job) (v float64, known bool)) (missing []Job) {
	for {
		round := s.Ask()
		if len(round) == 0 {
			return nil
		}
		values := make([]float64, len(round))
		for i, j := range round {
			v, known := value(j)
			if !known {
				missing = append(missing, j)
			}
			values[i] = v
		}
		if len(missing) > 0 {
			return missing
		}
		for i, j := range round {
			s.Tell(j.Trial, j.Budget, values[i])
		}
	}
}

// Best returns the best result among those of the largest budget that any trial reached, and its
// point; false before the first number.
func (s *Search) Best() (Result, Point, bool) {
	best, found := Result{}, false
	for _, r := range s.Results() {
		if math.IsNaN(r.Value) {
			continue
		}
		if !found || r.Budget > best.Budget || r.Budget == best.Budget && r.Value > best.Value {
			best, found = r, true
		}
	}
	if !found {
		return best, nil, false
	}
	return best, s.points[best.Trial], true
}

// Results lists what was told, by trial, then budget.
func (s *Search) Results() []Result {
	list := make([]Result, 0, len(s.told))
	for at, v := range s.told {
		list = append(list, Result{at.trial, at.budget, v})
	}
	slices.SortFunc(list, func(a, b Result) int {
		if a.Trial != b.Trial {
			return a.Trial - b.Trial
		}
		return a.Budget - b.Budget
	})
	return list
}

// Spent is the budget of all that was told, each trial going on from where it was.
func (s *Search) Spent() int {
	most := map[int]int{}
	for at := range s.told {
		most[at.trial] = max(most[at.trial], at.budget)
	}
	sum := 0
	for _, b := range most {
		sum += b
	}
	return sum
}

// start makes the next trial.
func (s *Search) start(budget int) Job {
	trial := len(s.points)
	p := s.propose(trial)
	s.points = append(s.points, p)
	if s.cfg.Space.countable() {
		s.seen[fmt.Sprint(p)] = true
	}
	return Job{Trial: trial, Budget: budget, Point: p}
}

// goOn makes the job of a trial that leaves the rung of budget from.
func (s *Search) goOn(trial, from, to int) Job {
	return Job{Trial: trial, Budget: to, From: from, Point: s.points[trial]}
}
