package trials

import (
	"fmt"

	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// Stretch is a run that a search asks for.
type Stretch struct {
	Config train.Config
	From   int // epochs that an earlier run of the same trial has computed
}

// Rounds lists what the search of a study's file computes, round by round, in the order in which Run asks for it: each round waits
// for the one before. It needs neither data nor a lab. The number of runs of each length does not depend on which trials do best,
// except with the schedule asha.
func Rounds(f *study.File) (rounds [][]Stretch, err error) {
	for n, c := range f.Places() {
		own, err := roundsOf(f.Search, c)
		if err != nil {
			return nil, fmt.Errorf("study %s: place %d: %w", f.Name, n+1, err)
		}
		for i, round := range own {
			if i == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[i] = append(rounds[i], round...)
		}
	}
	return rounds, nil
}

// roundsOf plays through the search of a place, assuming that each trial is worse than those before it.
func roundsOf(d *study.Search, c *study.Place) (rounds [][]Stretch, err error) {
	add := func(at int, t study.Trial, from int) error {
		for at >= len(rounds) {
			rounds = append(rounds, nil)
		}
		cfg, err := c.Config(t)
		rounds[at] = append(rounds[at], Stretch{cfg, from})
		return err
	}
	if d.Compare {
		if err := add(0, study.Trial{Role: study.RoleDefault, Epochs: d.Epochs}, 0); err != nil {
			return nil, err
		}
	}
	s, err := c.Search()
	if err != nil {
		return nil, err
	}
	at := 0
	for jobs := s.Ask(); len(jobs) > 0; jobs = s.Ask() {
		for _, j := range jobs {
			if err := add(at, study.Trial{Role: study.RoleTrial, Number: j.Trial, Epochs: j.Budget, Settings: c.Settings(j.Point)}, j.From); err != nil {
				return nil, err
			}
		}
		for _, j := range jobs {
			s.Tell(j.Trial, j.Budget, -float64(j.Trial))
		}
		at++
	}
	_, best, _ := s.Best()
	for _, t := range finalTrials(d, c, c.Settings(best)) {
		if err := add(at, t, 0); err != nil {
			return nil, err
		}
	}
	return rounds, nil
}
