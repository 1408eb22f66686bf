package scale

import (
	"slices"
	"strings"

	"collapse/internal/format"
)

// makespan is how long rounds of runs take on so many cores, a run on each: in every round the longest run first, each on the core that is
// free first. A round waits for the one before. Times are of one core.
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

// Span writes a length of time in two digits or whole days.
func Span(hours float64) string {
	switch {
	case hours <= 0:
		return "–"
	case 3600*hours < 1:
		return "< 1 s"
	case 60*hours < 1:
		return format.Short(3600*hours, 2) + " s"
	case hours < 1:
		return format.Short(60*hours, 2) + " min"
	case hours < 48:
		return inUnits(hours, "hour")
	}
	return inUnits(hours/24, "day")
}

func inUnits(n float64, unit string) string {
	text := format.Short(n, 2) + " " + unit
	if strings.HasPrefix(text, "1 ") {
		return text
	}
	return text + "s"
}
