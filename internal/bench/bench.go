// Package bench measures how fast this machine is and how close the program comes to its limits. Every measurement checks its result
// before it is timed, and rates are compared with limits measured in the same run.
//
// Read peak.go first for the limits, then gemm.go for products compared with them.
package bench

import (
	"slices"
	"time"
)

// timed runs f and returns how long it took.
func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// giga returns work per second in units of 10⁹.
func giga(work float64, t time.Duration) float64 { return work / t.Seconds() / 1e9 }

// median returns the middle of rates, the lower one of an even number.
func median(rates []float64) float64 {
	sorted := slices.Sorted(slices.Values(rates))
	return sorted[(len(sorted)-1)/2]
}
