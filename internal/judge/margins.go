package judge

import (
	"fmt"
	"sort"

	"collapse.example/collapse/measure"
)

// MarginPoints is the number of quantiles in a margin curve.
const MarginPoints = 101

// MarginCurve is the sorted cosine margins of a run's saved training features (P_CM of Zhou et al.
// 2022), as quantiles from the smallest to the largest; nil if the run saved no features or no
// margin is defined.
func MarginCurve(r *Run) []float64 {
	rep := keptMargins(r)
	if rep == nil {
		return nil
	}
	out := make([]float64, MarginPoints)
	for i := range out {
		out[i], _ = rep.MarginQuantile(float64(i) / (MarginPoints - 1))
	}
	return out
}

// keptMargins measures every cosine margin of a run's saved training features, ascending; nil if there are none.
func keptMargins(r *Run) *measure.Report {
	f := r.Features()
	if f == nil || f.Weight == nil {
		return nil
	}
	engine, err := measure.NewEngine[float64](measure.Options{Measures: []string{measure.KeyMarginMean}, KeepMargins: true})
	if err != nil {
		return nil
	}
	rep, err := engine.Measure(measure.Input[float64]{Classes: f.K, Train: measure.Memory(f.TrainH, f.D, Labels32(f.Observed)), W: f.Weight, B: f.Bias})
	if err != nil || len(rep.Margins) == 0 {
		return nil
	}
	return rep
}

// sortedMargins are a run's cosine margins, ascending, measured once; empty if there are none.
func (s *JudgedRun) sortedMargins() []float64 {
	if s.margins == nil {
		s.margins = []float64{}
		if rep := keptMargins(s.Run); rep != nil {
			s.margins = rep.Margins
		}
	}
	return s.margins
}

// marginShare is the mean over the selected runs of the share of samples whose cosine margin lies below limit.
func (t sample) marginShare(limit float64, where ...selection) (float64, error) {
	runs, err := t.pick(where)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, r := range runs {
		margins := r.sortedMargins()
		if len(margins) == 0 {
			return 0, fmt.Errorf("run %.12s saved no features with margins", r.Hash)
		}
		sum += float64(sort.SearchFloat64s(margins, limit)) / float64(len(margins))
	}
	return sum / float64(len(runs)), nil
}
