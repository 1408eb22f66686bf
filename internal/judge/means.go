package judge

import (
	"fmt"

	"collapse/internal/format"
)

// LeaveOut keeps the regular runs, so that no mean mixes the two configurations of M-D Fig. 4, and
// says what it left out. Where every run is degenerate all are kept, and that is said.
func LeaveOut(runs []*JudgedRun) (kept []*JudgedRun, note string) {
	kept = only(runs, IsRegular)
	switch n := len(runs) - len(kept); {
	case n == 0:
		return kept, ""
	case len(kept) == 0:
		return runs, "Every run here is degenerate (M-D Fig. 4a)."
	default:
		return kept, format.Count(n, "degenerate run") + " (M-D Fig. 4a) left out of the means."
	}
}

// MeanDeviation writes mean ± standard deviation of a quantity over runs.
func MeanDeviation(runs []*JudgedRun, unit float64, q func(*JudgedRun) (float64, bool)) string {
	var v []float64
	for _, s := range runs {
		if x, ok := q(s); ok {
			v = append(v, unit*x)
		}
	}
	if len(v) < 2 {
		return format.Digits(Mean(v))
	}
	return fmt.Sprintf("%s ± %s", format.Digits(Mean(v)), format.Digits(Deviation(v)))
}
