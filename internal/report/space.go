package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"collapse/internal/chart"
)

// orthographic is the view of three-dimensional features from a point far away, 35° around the
// third axis and 25° above the plane of the first two; nothing is scaled, so that parallels stay
// parallel and lengths across the line of sight stay true.
func orthographic() plane {
	sinA, cosA := math.Sincos(35 * math.Pi / 180)
	sinE, cosE := math.Sincos(25 * math.Pi / 180)
	return plane{origin: []float64{0, 0, 0}, e: [2][]float64{{-sinA, cosA, 0}, {-sinE * cosA, -sinE * sinA, cosE}},
		X: "seen orthographically", Y: "", exact: true,
		Words: "The three-dimensional features are seen from far away, 35° around the third axis and 25° above the plane of the first two; arrows are the axes of the feature space."}
}

// addFeatures draws the saved training features of the first selected run: d = 3 orthographically,
// another d on the plane that plane chooses.
func (s DrawingPanel) addFeatures(p *picture, id string, subjects []*subject) {
	for _, r := range subjects {
		f := r.Features
		if f == nil || !matches(r, []selection{s.Where}) {
			continue
		}
		v := view{subject: r, f: f, plane: f.plane()}
		if f.D == 3 {
			v.plane = orthographic()
		}
		panel, rows := v.cloudPanel(s.Title)
		panel.ID = id
		p.Panels = append(p.Panels, panel)
		p.Table.Columns = []string{"panel", "class", "samples", "‖class mean‖", "mean distance to it"}
		p.Table.Rows = append(p.Table.Rows, rows...)
		if v.plane.Words != "" && !slices.Contains(p.Notes, v.plane.Words) {
			p.Notes = append(p.Notes, v.plane.Words)
		}
		return
	}
	p.Notes = append(p.Notes, fmt.Sprintf("No run has what the panel “%s” shows.", s.Title))
}

// cloudPanel is the clouds of all classes with their means and, for d = 3, the axes.
func (v *view) cloudPanel(title string) (chart.Panel, [][]string) {
	means, n := v.f.CleanMeans()
	clean := func(i int) bool { return !v.f.Corrupted(i) }
	series := v.clouds(v.f.TrainH, v.f.True, clean, "class %d", chart.Dot, 2.8)
	series = append(series, v.means("mean", "mean of a class", chart.Ring, means, n))
	if v.f.D == 3 {
		series = append(series, v.axes(0.5*span(series, true).longest()))
	}
	r := span(series, v.plane.exact)
	w, h := r.x1-r.x0, r.y1-r.y0
	p := chart.Panel{Title: title, Equal: true, X: chart.Axis{Label: v.plane.X}, Y: chart.Axis{Label: v.plane.Y}, Series: series}
	if w > 0 && h > 0 {
		p.X.Range, p.Y.Range = chart.Range(r.x0-0.07*w, r.x1+0.07*w), chart.Range(r.y0-0.07*h, r.y1+0.07*h)
	}
	var rows [][]string
	for k := range v.f.K {
		rows = append(rows, []string{title, strconv.Itoa(k), strconv.Itoa(n[k]), digits(norm(means[k])), digits(v.f.spread(v.f.TrainH, v.f.True, k, means[k], clean))})
	}
	return p, rows
}

// axes are the directions of the feature space, each of the given length.
func (v *view) axes(length float64) chart.Series {
	s := chart.Series{ID: "axes", Label: "axis of the feature space", Kind: chart.Arrows, Color: chart.Muted, Width: 1.4}
	for j := range v.f.D {
		e := make([]float64, v.f.D)
		e[j] = length
		x, y := v.plane.direction(e)
		s.X, s.Y, s.X2, s.Y2 = append(s.X, 0), append(s.Y, 0), append(s.X2, x), append(s.Y2, y)
		s.Labels = append(s.Labels, fmt.Sprintf("h%s", subscript(j+1)))
	}
	return s
}

// longest is the longer side.
func (r rectangle) longest() float64 { return max(r.x1-r.x0, r.y1-r.y0) }
