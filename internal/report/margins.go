package report

import (
	"collapse/measure"
)

// marginPoints is how many quantiles a margin curve is drawn through.
const marginPoints = 101

// marginCurve is the sorted cosine margins of a run's saved training features (P_CM of Zhou et al.
// 2022), as quantiles from the smallest to the largest; nil where the run saved no features or no
// margin is defined.
func marginCurve(r *Run) []float64 {
	f := r.Features
	if f == nil || f.Weight == nil {
		return nil
	}
	engine, err := measure.NewEngine[float64](measure.Options{Measures: []string{measure.KeyMarginMean}, KeepMargins: true})
	if err != nil {
		return nil
	}
	labels := make([]int32, len(f.Observed))
	for i, c := range f.Observed {
		labels[i] = int32(c)
	}
	rep, err := engine.Measure(measure.Input[float64]{Classes: f.K, Train: measure.Memory(f.TrainH, f.D, labels), W: f.Weight, B: f.Bias})
	if err != nil {
		return nil
	}
	var out []float64
	for i := range marginPoints {
		v, ok := rep.MarginQuantile(float64(i) / (marginPoints - 1))
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}
