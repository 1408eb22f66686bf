// Package reporttest reads reports in tests.
package reporttest

import (
	"math"

	"collapse.example/collapse/measure"
)

// Of is the value of a measure, NaN if it is missing: no comparison with that holds.
func Of(values measure.Values, key string) float64 {
	if v, ok := values.Get(key); ok {
		return v
	}
	return math.NaN()
}
