package figure

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
)

// meansPlane projects a sample of the features onto the main axes of the class means.
func meansPlane(m *measurement.Result, c *measurement.Column) Picture {
	p := Picture{Figure: chart.Figure{ID: "plane", Title: "Samples and class means", Columns: 2}}
	if len(c.Sample) == 0 || len(c.ClassMeans) == 0 || c.D < 2 {
		return p
	}
	axes := columnAxes(m, c)
	shown := shownClasses(m, c)
	p.Caption = fmt.Sprintf("Projection of %s, evenly chosen, onto the main axes of the class means around the centre of all samples. Rings are class means.", format.Count(len(c.Classes), "sample"))
	if len(shown) < c.K {
		p.Caption += fmt.Sprintf(" Only %d of %d classes are drawn.", len(shown), c.K)
	}
	for second := 1; second < min(len(axes), 3); second++ {
		p.Panels = append(p.Panels, planePanel(m, c, axes, second, shown))
	}
	p.Table.Columns = []string{"class", "axis 1", "axis 2"}
	for _, k := range shown {
		mean := minus(c.ClassMeans[k*c.D:(k+1)*c.D], c.GlobalMean)
		p.Table.Rows = append(p.Table.Rows, []string{m.Class(c, k), format.Digits(floats.Dot(mean, axes[0])), format.Digits(floats.Dot(mean, axes[1]))})
	}
	return p
}

// columnAxes are orthonormal directions: the main axes of the centred class means (of at most 200 classes),
// completed from the samples if these span less than a plane.
func columnAxes(m *measurement.Result, c *measurement.Column) [][]float64 {
	var rows [][]float64
	step := (c.K + drawnClasses - 1) / drawnClasses
	for k := 0; k < c.K; k += step {
		if c.ClassCounts[k] > 0 {
			rows = append(rows, minus(c.ClassMeans[k*c.D:(k+1)*c.D], c.GlobalMean))
		}
	}
	if axes := mainAxes(rows, c.D); len(axes) >= 2 {
		return axes
	}
	f := judge.Features{TrainH: c.Sample, K: c.K, D: c.D}
	for _, k := range c.Classes {
		f.True = append(f.True, int(k))
	}
	means := make([][]float64, c.K)
	for k := range means {
		means[k] = c.GlobalMean // a class without samples adds no direction
		if c.ClassCounts[k] > 0 {
			means[k] = c.ClassMeans[k*c.D : (k+1)*c.D]
		}
	}
	return principal(&f, means, c.GlobalMean, 2)
}

// shownClasses are the drawn classes, evenly chosen as by features.Set.Sample.
func shownClasses(m *measurement.Result, c *measurement.Column) []int {
	step := (c.K + measurement.SampleClasses - 1) / measurement.SampleClasses
	var out []int
	for k := 0; k < c.K; k += step {
		if c.ClassCounts[k] > 0 {
			out = append(out, k)
		}
	}
	return out
}

func planePanel(m *measurement.Result, c *measurement.Column, axes [][]float64, second int, shown []int) chart.Panel {
	panel := chart.Panel{ID: "axes1-" + strconv.Itoa(second+1), Equal: true, X: chart.Axis{Label: "axis 1"}, Y: chart.Axis{Label: "axis " + strconv.Itoa(second+1)}}
	at := func(h []float64) (x, y float64) {
		r := minus(h, c.GlobalMean)
		return floats.Dot(r, axes[0]), floats.Dot(r, axes[second])
	}
	byClass := map[int][]int{}
	for i, k := range c.Classes {
		byClass[int(k)] = append(byClass[int(k)], i)
	}
	means := chart.Series{ID: "means", Label: "class mean", Kind: chart.Points, Color: chart.Ink, Marker: chart.Ring, Size: 13}
	for n, k := range shown {
		s := chart.Series{ID: "class-" + strconv.Itoa(k), Kind: chart.Points, Color: chart.ColorFor(n), Marker: chart.Dot, Size: 2.6, Faint: true}
		if len(shown) <= chart.DataColors { // otherwise two names would share a colour
			s.Label = "class " + m.Class(c, k)
		}
		for _, i := range byClass[k] {
			x, y := at(c.Sample[i*c.D : (i+1)*c.D])
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
		panel.Series = append(panel.Series, s)
		x, y := at(c.ClassMeans[k*c.D : (k+1)*c.D])
		means.X, means.Y, means.Labels = append(means.X, x), append(means.Y, y), append(means.Labels, m.Class(c, k))
	}
	panel.Series = append(panel.Series, means)
	return panel
}
