package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// orthographic is the view of three-dimensional features from infinity, 35° around the third axis
// and 25° above the plane of the first two; nothing is scaled, so parallels stay parallel and
// lengths across the line of sight stay true.
func orthographic() plane {
	sinA, cosA := math.Sincos(35 * math.Pi / 180)
	sinE, cosE := math.Sincos(25 * math.Pi / 180)
	return plane{origin: []float64{0, 0, 0}, e: [2][]float64{{-sinA, cosA, 0}, {-sinE * cosA, -sinE * sinA, cosE}},
		X: "seen orthographically", Y: "", exact: true,
		Words: "The three-dimensional features are seen from far away, 35° around the third axis and 25° above the plane of the first two; arrows are the axes of the feature space."}
}

// addFeatures draws the saved features of the first selected run: orthographically for d = 3,
// otherwise in the plane that planeOf chooses.
func (s DrawingPanel) addFeatures(p *Picture, id string, runs []*judge.JudgedRun) {
	for _, r := range runs {
		f := r.Features()
		if f == nil || !s.takes(r) {
			continue
		}
		v := view{JudgedRun: r, f: f, plane: planeOf(f)}
		if f.D == 3 {
			v.plane = orthographic()
		}
		panel, rows := v.show(s.Show, s.Title)
		panel.ID, panel.Title = id, s.Title
		p.Panels = append(p.Panels, panel)
		p.Table.Columns = []string{"panel", "class", "samples", "‖class mean‖", "mean distance to it"}
		p.Table.Rows = append(p.Table.Rows, rows...)
		if v.plane.Words != "" && !slices.Contains(p.Notes, v.plane.Words) {
			p.Notes = append(p.Notes, v.plane.Words)
		}
		return
	}
	p.Notes = append(p.Notes, s.unseen(runs))
}

// show is the panel that a drawing asks for, with its numbers.
func (v *view) show(what, title string) (chart.Panel, [][]string) {
	f := v.f
	switch what {
	case "train":
		return v.panels()[0], v.spreads(title, f.TrainH, f.True, func(i int) bool { return !f.Corrupted(i) })
	case "test":
		return v.panels()[1], v.spreads(title, f.TestH, f.TestTrue, nil)
	case "scheme":
		return v.schemePanel(), v.spreads(title, f.TestH, f.TestTrue, nil)
	}
	return v.cloudPanel(title)
}

// schemePanel is M-D Fig. 3: the test clouds with their centroids h, and for each label the
// centroid u of the training samples that carry it wrongly.
func (v *view) schemePanel() chart.Panel {
	out := v.clouds(v.f.TestH, v.f.TestTrue, nil, "test samples of class %d", chart.Dot, 2.4)
	m, n := v.f.Means(v.f.TestH, v.f.TestTrue, nil)
	h := v.means("mean", "centroid h of a class's test samples", chart.Ring, m, n)
	letter(h.Labels, "h", n)
	m, n = v.f.Means(v.f.TrainH, v.f.Observed, v.f.Corrupted)
	u := v.means("memorized", "centroid u of the samples that wrongly carry a class's label", chart.Triangle, m, n)
	letter(u.Labels, "u", n)
	out = append(out, h, u)
	return v.panel("scheme", out, span(out, v.plane.exact))
}

// letter names the means of the classes with samples as the paper does, counting from one.
func letter(labels []string, symbol string, n []int) {
	at := 0
	for k := range n {
		if n[k] > 0 {
			labels[at] = symbol + subscript(k+1)
			at++
		}
	}
}

// spreads are, for each class among some samples, their number, the norm of their mean and the mean distance to it.
func (v *view) spreads(title string, h []float64, labels []int, keep func(int) bool) (rows [][]string) {
	means, n := v.f.Means(h, labels, keep)
	for k := range v.f.K {
		rows = append(rows, []string{title, strconv.Itoa(k), strconv.Itoa(n[k]), format.Digits(floats.Norm(means[k], 2)), format.Digits(v.f.Spread(h, labels, k, means[k], keep))})
	}
	return rows
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
	return p, v.spreads(title, v.f.TrainH, v.f.True, clean)
}

// axes are the directions of the feature space, each with the given length.
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
