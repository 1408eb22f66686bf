package search

import (
	"cmp"
	"math"
	"slices"
)

// schedule says what starts and what goes on.
type schedule interface {
	next(s *Search) []Job // what can start now; called again until it returns none
	done(s *Search) bool  // nothing will ever start again
}

// bracket is successive halving: n trials start at the first budget, and from each rung the best
// 1/η of those that are there go on to the next, once all of them are told.
type bracket struct {
	n       int
	budgets []int
	eta     int

	rung  int   // asked for so far, budgets[rung-1] being the newest
	there []int // trials of the newest rung
}

// brackets run side by side with random trials, and one after the other where later trials learn
// from earlier ones. Nothing here depends on the order in which values are told.
type brackets struct{ list []bracket }

func (b *brackets) next(s *Search) []Job {
	for i := range b.list {
		k := &b.list[i]
		if jobs := k.next(s); len(jobs) > 0 {
			return jobs
		}
		if s.cfg.Sampler != Random && !k.over(s) {
			return nil
		}
	}
	return nil
}

func (b *brackets) done(s *Search) bool {
	for i := range b.list {
		if !b.list[i].over(s) {
			return false
		}
	}
	return true
}

// told reports whether the newest rung is complete.
func (k *bracket) told(s *Search) bool {
	for _, t := range k.there {
		if _, ok := s.told[step{t, k.budgets[k.rung-1]}]; !ok {
			return false
		}
	}
	return true
}

func (k *bracket) over(s *Search) bool {
	return k.rung > 0 && !k.filling() && k.told(s) && (k.rung == len(k.budgets) || len(k.there)/k.eta == 0)
}

// filling reports whether trials have still to start.
func (k *bracket) filling() bool { return k.rung <= 1 && len(k.there) < k.n }

// fill starts trials: all of them at random, else a batch that learns from those before.
func (k *bracket) fill(s *Search) []Job {
	n := k.n - len(k.there)
	if s.cfg.Sampler != Random {
		if !k.told(s) {
			return nil
		}
		n = min(n, s.cfg.Batch)
	}
	k.rung = 1
	var jobs []Job
	for range n {
		j := s.start(k.budgets[0])
		k.there = append(k.there, j.Trial)
		jobs = append(jobs, j)
	}
	return jobs
}

func (k *bracket) next(s *Search) []Job {
	if k.filling() {
		return k.fill(s)
	}
	if !k.told(s) || k.over(s) {
		return nil
	}
	from, to := k.budgets[k.rung-1], k.budgets[k.rung]
	k.there = slices.DeleteFunc(s.ranked(k.there, from)[:len(k.there)/k.eta], func(t int) bool { return math.IsNaN(s.told[step{t, from}]) })
	slices.Sort(k.there)
	k.rung++
	var jobs []Job
	for _, t := range k.there {
		jobs = append(jobs, s.goOn(t, from, to))
	}
	return jobs
}

// ranked sorts trials by their value after budget, the best first, equal ones by number.
func (s *Search) ranked(trials []int, budget int) []int {
	list := slices.Clone(trials)
	slices.SortFunc(list, func(a, b int) int {
		x, y := s.told[step{a, budget}], s.told[step{b, budget}]
		switch {
		case math.IsNaN(x) != math.IsNaN(y):
			if math.IsNaN(x) {
				return 1
			}
			return -1
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return cmp.Compare(a, b)
	})
	return list
}

func power(base, exponent int) int {
	p := 1
	for range exponent {
		p *= base
	}
	return p
}

// Ladder is the budgets of the rungs, ascending: Budget/η^k, none below MinBudget.
func (c Config) Ladder() []int {
	list := []int{c.Budget}
	for p := c.Eta; c.Budget/p >= c.MinBudget; p *= c.Eta {
		list = append([]int{c.Budget / p}, list...)
	}
	return list
}

// brackets are those of Hyperband (Li et al. 2018, Algorithm 1), the most eager first and from the
// start again, until all trials have their place. The last one is cut such that its best still gets
// the whole budget.
func (c Config) brackets() []bracket {
	ladder := c.Ladder()
	most := len(ladder) - 1
	var list []bracket
	s := most
	for left := c.Trials; left > 0; {
		for power(c.Eta, s) > left {
			s--
		}
		n := min(left, (power(c.Eta, s)*(most+1)+s)/(s+1)) // ⌈(most+1)/(s+1)·η^s⌉
		list = append(list, bracket{n: n, budgets: ladder[most-s:], eta: c.Eta})
		left -= n
		if s--; s < 0 {
			s = most
		}
	}
	return list
}

// batches give every trial the whole budget, Batch at a time.
func (c Config) batches() []bracket {
	var list []bracket
	for left := c.Trials; left > 0; left -= c.Batch {
		list = append(list, bracket{n: min(left, c.Batch), budgets: []int{c.Budget}, eta: 2})
	}
	return list
}

// asha promotes a trial as soon as it is among the best 1/η of those told at its rung so far, and
// starts a new one where none can go on (Li et al. 2020, Algorithm 2; there more than 1/η may leave a
// rung, if better ones are told later, and here not). At most Batch jobs are open.
// What it asks depends on the order in which values are told.
type asha struct {
	budgets  []int
	promoted map[step]bool // away from this budget
}

func (a *asha) next(s *Search) []Job {
	if len(s.waiting) >= s.cfg.Batch {
		return nil
	}
	for r := len(a.budgets) - 2; r >= 0; r-- {
		if t, ok := a.best(s, a.budgets[r]); ok {
			a.promoted[step{t, a.budgets[r]}] = true
			return []Job{s.goOn(t, a.budgets[r], a.budgets[r+1])}
		}
	}
	if len(s.points) < s.cfg.Trials {
		return []Job{s.start(a.budgets[0])}
	}
	return nil
}

// best is the best trial that may leave the rung of budget.
func (a *asha) best(s *Search, budget int) (trial int, ok bool) {
	var there []int
	for t := range s.points {
		if _, told := s.told[step{t, budget}]; told {
			there = append(there, t)
		}
	}
	away := 0
	for _, t := range there {
		if a.promoted[step{t, budget}] {
			away++
		}
	}
	share := len(there) / s.cfg.Eta
	if away >= share { // what is told later may rank below what went on: never more than 1/η leave
		return 0, false
	}
	for _, t := range s.ranked(there, budget)[:share] {
		if !a.promoted[step{t, budget}] && !math.IsNaN(s.told[step{t, budget}]) {
			return t, true
		}
	}
	return 0, false
}

func (a *asha) done(s *Search) bool {
	for _, b := range a.budgets[:len(a.budgets)-1] {
		if _, ok := a.best(s, b); ok {
			return false
		}
	}
	return len(s.points) == s.cfg.Trials
}
