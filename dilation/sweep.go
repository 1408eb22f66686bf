package dilation

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// SweepPoint is one setting of a sweep with its solution, or the reason why it has none.
type SweepPoint struct {
	Params   Params
	Solution *Solution
	Err      error
}

// Sweep solves all settings on all processors; results are in the order of the settings. If ctx is cancelled, it returns ctx's
// error; unsolved points then have neither solution nor error.
func Sweep(ctx context.Context, settings []Params) ([]SweepPoint, error) {
	out := make([]SweepPoint, len(settings))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(settings)) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(settings) || ctx.Err() != nil {
					return
				}
				out[i].Params = settings[i]
				out[i].Solution, out[i].Err = Solve(settings[i])
			}
		})
	}
	wait.Wait()
	return out, ctx.Err()
}

// Outcome compares a solution with MD Theorem 4.3: whether r*/D is smaller for LS than for CE, and whether Assumption 4.2 holds.
type Outcome int

// The outcomes. The theorem says that the last one is impossible.
const (
	Predicted     Outcome = iota // inside the assumption, smaller for LS
	Unpredicted                  // outside, smaller for LS nevertheless
	Reversed                     // outside, not smaller
	Contradiction                // inside, not smaller
)

// Outcome returns the outcome of a solution.
func (s *Solution) Outcome() Outcome {
	switch {
	case s.Assumption.Holds && s.Theorem:
		return Predicted
	case s.Assumption.Holds:
		return Contradiction
	case s.Theorem:
		return Unpredicted
	}
	return Reversed
}

// CountOutcomes counts the settings of a sweep by outcome; settings without a solution are not counted.
func CountOutcomes(points []SweepPoint) (counts [Contradiction + 1]int) {
	for _, p := range points {
		if p.Solution != nil {
			counts[p.Solution.Outcome()]++
		}
	}
	return counts
}
