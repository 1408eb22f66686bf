package ufm

import (
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

// Measures returns the collapse measures of a point, by the keys of package measure: those of the features that the classifier sees
// (W1·H1 or relu(W1·H1) with three factors, relu(H) for ReLUPlain), and for three factors also those of H1 with the prefix "h1_".
// Undefined measures are left out.
func (p *Problem) Measures(at Point) (measure.Values, error) {
	d, N := p.D, p.K*p.N
	features := make([]float64, d*N)
	transpose(features, p.features(at), d, N)
	out, err := measureOf(p.Config, features, at.W, at.B, p.team)
	if err != nil || at.W1 == nil {
		return out, err
	}
	transpose(features, at.H, d, N)
	first, err := measureOf(p.Config, features, nil, nil, p.team)
	if err != nil {
		return measure.Values{}, err
	}
	for key, value := range first.All() {
		out = out.With("h1_"+key, value)
	}
	return out, nil
}

// measureOf measures features (N×d) with class-major labels.
func measureOf(c Config, features, w, b []float64, team *parallel.Team) (measure.Values, error) {
	labels := make([]int32, c.K*c.N)
	for i := range labels {
		labels[i] = int32(i / c.N)
	}
	in := measure.Input[float64]{Classes: c.K, Train: measure.Memory(features, c.D, labels), W: w, B: b}
	report, err := measure.Measure(in, measure.Options{Team: team})
	if err != nil {
		return measure.Values{}, err
	}
	return report.Measures, nil
}

// transpose writes the transpose of src (rows×cols) to dst (cols×rows).
func transpose(dst, src []float64, rows, cols int) {
	for i := range rows {
		for j, v := range src[i*cols:][:cols] {
			dst[j*rows+i] = v
		}
	}
}
