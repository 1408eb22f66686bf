package figure

import (
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"
)

// Geometry draws class means (K×d): their positions on their main axes, and their Gram matrix against a simplex ETF.
func Geometry(means []float64, k, d int) []Picture {
	global := make([]float64, d)
	counts, classes := make([]int, k), make([]int32, k)
	for c := range k {
		counts[c], classes[c] = 1, int32(c)
		for j := range d {
			global[j] += means[c*d+j] / float64(k)
		}
	}
	r := &measure.Report{K: k, D: d, N: k, ClassCounts: counts, ClassMeans: means, GlobalMean: global}
	m := &measurement.Result{Columns: []measurement.Column{{Name: "optimum", Report: r, Sample: means, Classes: classes}}}
	plane := meansPlane(m, &m.Columns[0])
	plane.Title = "Class means"
	plane.Caption = "On their main axes, around their centre. The orientation of the picture is arbitrary: any rotation is an equally good optimum."
	var out []Picture
	for i := range plane.Panels {
		p := &plane.Panels[i]
		p.Series = p.Series[len(p.Series)-1:] // the means; the samples coincide with them
		p.Series = append(spokes(p.Series[0]), p.Series[0])
	}
	for _, p := range []Picture{plane, gram(m, &m.Columns[0])} {
		if len(p.Panels) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// spokes joins points with the centre.
func spokes(to chart.Series) []chart.Series {
	s := chart.Series{ID: "spokes", Kind: chart.Segments, Color: chart.Muted}
	for i := range to.X {
		s.X, s.Y, s.X2, s.Y2 = append(s.X, 0), append(s.Y, 0), append(s.X2, to.X[i]), append(s.Y2, to.Y[i])
	}
	return []chart.Series{s}
}
