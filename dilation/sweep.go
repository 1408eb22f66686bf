package dilation

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// SweepPoint is one setting of a sweep with its solution, or why it has none.
type SweepPoint struct {
	Params   Params
	Solution *Solution
	Err      error
}

// Sweep solves all settings on every processor; the order of the result is that of the settings.
// It returns ctx's error if cancelled; unsolved points then have neither solution nor error.
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
