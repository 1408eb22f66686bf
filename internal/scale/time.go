package scale

import "slices"

// makespan is how long rounds of runs take on the given number of cores, with one core per run: in every round the longest run comes
// first, and each starts on the core that is free first. A round waits for the one before. Times are for one core.
func makespan(rounds [][]float64, cores int) (sum float64) {
	for _, round := range rounds {
		ends := make([]float64, max(1, min(cores, len(round))))
		sorted := slices.Clone(round)
		slices.Sort(sorted)
		for _, length := range slices.Backward(sorted) {
			first := 0
			for i, end := range ends {
				if end < ends[first] {
					first = i
				}
			}
			ends[first] += length
		}
		sum += slices.Max(ends)
	}
	return sum
}
