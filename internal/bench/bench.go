// Package bench measures how fast this machine is and how near to that the program comes. Every
// measurement checks its result before it is timed, and rates are quoted against limits measured in
// the same run.
//
// Open peak.go first: the limits. Then gemm.go: products against them.
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

// giga turns work done in a time into 10⁹ per second.
func giga(work float64, t time.Duration) float64 { return work / t.Seconds() / 1e9 }

// median returns the middle of rates, the lower one of an even number.
func median(rates []float64) float64 {
	sorted := slices.Sorted(slices.Values(rates))
	return sorted[(len(sorted)-1)/2]
}
