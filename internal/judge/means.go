package judge

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
)

// Mean is NaN for no values, and exact for equal ones: six times 0.05 is drawn at 0.05.
func Mean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range v {
		sum += x - v[0]
	}
	return v[0] + sum/float64(len(v))
}

// Deviation is the standard deviation with divisor n−1; NaN below two values.
func Deviation(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	return stat.StdDev(v, nil)
}

// OnCurve returns the runs of one curve.
func OnCurve(runs []*JudgedRun, curve string) []*JudgedRun {
	return only(runs, func(s *JudgedRun) bool { return s.Curve == curve })
}

// Levels lists the noise levels of some runs, ascending.
func Levels(runs []*JudgedRun) []float64 {
	return distinct(runs, func(s *JudgedRun) float64 { return s.Noise })
}

// meanAt is the mean of a quantity over the runs of one loss at one noise level; NaN if there are none.
func meanAt(runs []*JudgedRun, kind string, noise float64, q func(*JudgedRun) (float64, bool)) float64 {
	var v []float64
	for _, s := range runs {
		if s.Loss != kind || s.Noise != noise {
			continue
		}
		if x, ok := q(s); ok {
			v = append(v, x)
		}
	}
	return Mean(v)
}

// LeaveOut keeps the regular runs, so that no mean mixes the two configurations of M-D Fig. 4, and
// says what it left out. If every run is degenerate it keeps all, and says so.
func LeaveOut(runs []*JudgedRun) (kept []*JudgedRun, note string) {
	if len(runs) > 0 && runs[0].Kind == store.Script { // whose values are its own: a mean is over all that it reported
		return runs, ""
	}
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
	return withDeviation(v)
}
