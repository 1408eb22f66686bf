package report

import (
	"fmt"
	"strconv"

	"collapse/internal/chart"
)

// plane projects a sample of the features on the main axes of the class means.
func (m *Measured) plane(c *MeasuredColumn) picture {
	p := picture{Figure: chart.Figure{ID: "plane", Title: "Samples and class means", Columns: 2}}
	if len(c.Sample) == 0 || len(c.ClassMeans) == 0 || c.D < 2 {
		return p
	}
	axes := m.axes(c)
	shown := m.shownClasses(c)
	p.Caption = fmt.Sprintf("Projection of %s, evenly chosen, on the main axes of the class means around the centre of all samples. Rings are class means.", count(len(c.Classes), "sample"))
	if len(shown) < c.K {
		p.Caption += fmt.Sprintf(" Only %d of %d classes are drawn.", len(shown), c.K)
	}
	for second := 1; second < min(len(axes), 3); second++ {
		p.Panels = append(p.Panels, m.planePanel(c, axes, second, shown))
	}
	p.Table.Columns = []string{"class", "axis 1", "axis 2"}
	for _, k := range shown {
		mean := minusVec(c.ClassMeans[k*c.D:(k+1)*c.D], c.GlobalMean)
		p.Table.Rows = append(p.Table.Rows, []string{m.class(c, k), digits(dot(mean, axes[0])), digits(dot(mean, axes[1]))})
	}
	return p
}

// axes are orthonormal directions: the main axes of the centred class means, at most 200 of them, filled up
// from the samples where these span less than a plane.
func (m *Measured) axes(c *MeasuredColumn) [][]float64 {
	var rows [][]float64
	step := (c.K + drawnClasses - 1) / drawnClasses
	for k := 0; k < c.K; k += step {
		if c.ClassCounts[k] > 0 {
			rows = append(rows, minusVec(c.ClassMeans[k*c.D:(k+1)*c.D], c.GlobalMean))
		}
	}
	if axes := mainAxes(rows, c.D); len(axes) >= 2 {
		return axes
	}
	f := Features{TrainH: c.Sample, K: c.K, D: c.D}
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
	return f.principal(means, c.GlobalMean, 2)
}

// shownClasses are the classes that are drawn, evenly chosen as features.Set.Sample does.
func (m *Measured) shownClasses(c *MeasuredColumn) []int {
	step := (c.K + SampleClasses - 1) / SampleClasses
	var out []int
	for k := 0; k < c.K; k += step {
		if c.ClassCounts[k] > 0 {
			out = append(out, k)
		}
	}
	return out
}

func (m *Measured) planePanel(c *MeasuredColumn, axes [][]float64, second int, shown []int) chart.Panel {
	panel := chart.Panel{ID: "axes1-" + strconv.Itoa(second+1), Equal: true, X: chart.Axis{Label: "axis 1"}, Y: chart.Axis{Label: "axis " + strconv.Itoa(second+1)}}
	at := func(h []float64) (x, y float64) {
		r := minusVec(h, c.GlobalMean)
		return dot(r, axes[0]), dot(r, axes[second])
	}
	byClass := map[int][]int{}
	for i, k := range c.Classes {
		byClass[int(k)] = append(byClass[int(k)], i)
	}
	means := chart.Series{ID: "means", Label: "class mean", Kind: chart.Points, Color: chart.Ink, Marker: chart.Ring, Size: 13}
	for n, k := range shown {
		s := chart.Series{ID: "class-" + strconv.Itoa(k), Kind: chart.Points, Color: chart.ColorFor(n), Marker: chart.Dot, Size: 2.6, Faint: true}
		if len(shown) <= 8 {
			s.Label = "class " + m.class(c, k)
		}
		for _, i := range byClass[k] {
			x, y := at(c.Sample[i*c.D : (i+1)*c.D])
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
		panel.Series = append(panel.Series, s)
		x, y := at(c.ClassMeans[k*c.D : (k+1)*c.D])
		means.X, means.Y, means.Labels = append(means.X, x), append(means.Y, y), append(means.Labels, m.class(c, k))
	}
	panel.Series = append(panel.Series, means)
	return panel
}
