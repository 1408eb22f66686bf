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

// mostSamples is how many samples per class a panel draws; more would hide each other. Corrupted
// samples are counted separately, so that they are not the ones left out.
const mostSamples = 1500

// featureFigure is M-D Fig. 4: the features of the last epoch, train and test side by side for
// each run, with class means, corrupted samples, the decision line and the classifier's rows.
func featureFigure(g *judge.Experiment, id string, runs []*judge.JudgedRun) Picture {
	p := Picture{Figure: chart.Figure{ID: id + g.Suffix, Columns: 2}}
	p.Table.Columns = []string{"run", "split", "class", "samples", "class mean", "‖class mean‖", "mean distance to it", "corrupted", "mean of corrupted", "smallest ÷ largest norm of clean means"}
	for i, s := range runs {
		v := view{JudgedRun: s, f: s.Features(), plane: planeOf(s.Features()), id: strconv.Itoa(i)}
		p.Panels = append(p.Panels, v.panels()...)
		p.Table.Rows = append(p.Table.Rows, v.rows()...)
		if v.plane.Words != "" {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %s The decision line is exact on that plane.", v.title(), v.plane.Words))
		}
		if v.left > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %s not drawn (at most %d per class are drawn, every k-th).", v.title(), format.Count(v.left, "sample"), mostSamples))
		}
		if f := s.Features(); f.TrainN > len(f.True) || f.TestN > len(f.TestTrue) {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: the run saved the first %d of %d training and %d of %d test samples.", v.title(), len(f.True), f.TrainN, len(f.TestTrue), f.TestN))
		}
		if s.Degenerate {
			p.Notes = append(p.Notes, fmt.Sprintf("%s is in the degenerate configuration of M-D Fig. 4(a): its smallest clean class mean is %s of the largest (limit 0.1, ours).", v.title(), format.Digits(s.NormRatio)))
		}
	}
	return p
}

// view draws one run's features.
type view struct {
	*judge.JudgedRun
	f     *judge.Features
	plane plane
	id    string
	left  int // samples not drawn
}

func (v *view) title() string {
	t := v.Title()
	if v.Degenerate {
		t += " (degenerate)"
	}
	return t
}

// panels are train and test in the same frame: dilation measures how much wider the test samples spread.
func (v *view) panels() []chart.Panel {
	train, test := v.trainSeries(), v.testSeries()
	frame := span(append(slices.Clone(train), test...), v.plane.exact)
	return []chart.Panel{v.panel("train", train, frame), v.panel("test", test, frame)}
}

// panel frames the samples and the origin of the feature space, and adds the classifier, whose
// lines cross the whole panel without widening it.
func (v *view) panel(split string, series []chart.Series, f rectangle) chart.Panel {
	p := chart.Panel{ID: split + "-" + v.id, Title: v.title() + ": " + split, Equal: v.plane.exact,
		X: chart.Axis{Label: v.plane.X}, Y: chart.Axis{Label: v.plane.Y}}
	if !(f.x1 > f.x0 && f.y1 > f.y0) {
		p.Series = series
		return p
	}
	rows := v.rowsOfW(f)
	for i := range rows.X2 { // the tips must be inside the frame too
		f = rectangle{min(f.x0, rows.X2[i]), max(f.x1, rows.X2[i]), min(f.y0, rows.Y2[i]), max(f.y1, rows.Y2[i])}
	}
	w, h := f.x1-f.x0, f.y1-f.y0
	p.X.Range, p.Y.Range = chart.Range(f.x0-0.07*w, f.x1+0.07*w), chart.Range(f.y0-0.07*h, f.y1+0.07*h)
	p.Series = append(series, v.decision(f), rows)
	return p
}

func (v *view) trainSeries() []chart.Series {
	clean := func(i int) bool { return !v.f.Corrupted(i) }
	wrong := func(i int) bool { return v.f.Corrupted(i) }
	out := v.clouds(v.f.TrainH, v.f.True, clean, "class %d", chart.Dot, 2.4)
	out = append(out, v.clouds(v.f.TrainH, v.f.True, wrong, "class %d, trained with a wrong label", chart.Cross, 5)...)
	m, n := v.f.CleanMeans()
	out = append(out, v.means("mean", "mean of clean samples of a class", chart.Ring, m, n))
	if m, n = v.f.Means(v.f.TrainH, v.f.True, wrong); slices.ContainsFunc(n, func(k int) bool { return k > 0 }) {
		out = append(out, v.means("corrupted", "mean of mislabelled samples of a class", chart.Triangle, m, n))
	}
	return out
}

func (v *view) testSeries() []chart.Series {
	out := v.clouds(v.f.TestH, v.f.TestTrue, nil, "class %d", chart.Dot, 2.4)
	m, n := v.f.Means(v.f.TestH, v.f.TestTrue, nil)
	out = append(out, v.means("mean", "mean of clean samples of a class", chart.Ring, m, n))
	return out
}

// clouds are the samples that keep selects, one series per class.
func (v *view) clouds(h []float64, labels []int, keep func(int) bool, label string, m chart.Marker, size float64) []chart.Series {
	byClass := make([][]int, v.f.K)
	for i, k := range labels {
		if keep == nil || keep(i) {
			byClass[k] = append(byClass[k], i)
		}
	}
	var out []chart.Series
	for k, samples := range byClass {
		if len(samples) == 0 {
			continue
		}
		step := (len(samples) + mostSamples - 1) / mostSamples
		s := chart.Series{ID: fmt.Sprintf("%s-%d", m, k), Kind: chart.Points, Color: chart.ColorFor(k), Marker: m, Size: size, Faint: m == chart.Dot}
		if v.f.K <= chart.DataColors { // otherwise two names would share a colour
			s.Label = fmt.Sprintf(label, k)
		}
		for i := 0; i < len(samples); i += step {
			at := samples[i]
			x, y := v.plane.at(h[at*v.f.D : (at+1)*v.f.D])
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
		v.left += len(samples) - len(s.X)
		out = append(out, s)
	}
	return out
}

func (v *view) means(id, label string, m chart.Marker, means [][]float64, n []int) chart.Series {
	s := chart.Series{ID: id, Label: label, Kind: chart.Points, Color: chart.Ink, Marker: m, Size: 7}
	if m == chart.Ring {
		s.Size = 13 // large enough to surround a collapsed class
	}
	for k, h := range means {
		if n[k] == 0 {
			continue
		}
		x, y := v.plane.at(h)
		s.X, s.Y, s.N = append(s.X, x), append(s.Y, y), append(s.N, n[k])
		name := ""
		if m == chart.Ring {
			name = "class " + strconv.Itoa(k)
		}
		s.Labels = append(s.Labels, name)
	}
	return s
}

// rectangle is a part of the plane.
type rectangle struct{ x0, x1, y0, y1 float64 }

// decision is the line at which the predicted class changes, extended well beyond the frame.
func (v *view) decision(f rectangle) chart.Series {
	line := chart.Series{ID: "decision", Label: "decision line", Kind: chart.Segments, Color: chart.Ink, Dashed: true, Width: 1.4}
	far := 2 * max(f.x1-f.x0, f.y1-f.y0)
	for _, s := range boundaryOf(v.f, v.plane).segments(f.x0-far, f.x1+far, f.y0-far, f.y1+far) {
		line.X, line.Y = append(line.X, s[0]), append(line.Y, s[1])
		line.X2, line.Y2 = append(line.X2, s[2]), append(line.Y2, s[3])
	}
	return line
}

// rowsOfW are arrows along the rows of W from the origin of the feature space (in a projection,
// from the mean of the class means), scaled by one factor so that the longest is a quarter of the
// frame.
func (v *view) rowsOfW(f rectangle) chart.Series {
	rows := chart.Series{ID: "rows", Label: "row of W, direction", Kind: chart.Arrows, Color: chart.Muted, Width: 1.4}
	b, longest := boundaryOf(v.f, v.plane), 0.0
	for k := range b.A {
		longest = max(longest, math.Hypot(b.A[k], b.B[k]))
	}
	scale := 0.25 * max(f.x1-f.x0, f.y1-f.y0) / longest
	if math.IsNaN(scale) || math.IsInf(scale, 0) {
		return rows
	}
	for k := range b.A {
		rows.X, rows.Y = append(rows.X, 0), append(rows.Y, 0)
		rows.X2, rows.Y2 = append(rows.X2, scale*b.A[k]), append(rows.Y2, scale*b.B[k])
		rows.Labels = append(rows.Labels, "w"+subscript(k))
	}
	return rows
}

// span is the rectangle of all finite points, including the origin if the plane shows it.
func span(series []chart.Series, origin bool) rectangle {
	r := rectangle{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	add := func(x, y float64) {
		if s := x + y; !math.IsNaN(s) && !math.IsInf(s, 0) {
			r = rectangle{min(r.x0, x), max(r.x1, x), min(r.y0, y), max(r.y1, y)}
		}
	}
	if origin {
		add(0, 0)
	}
	for _, s := range series {
		for i := range s.X {
			add(s.X[i], s.Y[i])
		}
	}
	return r
}

func subscript(k int) string {
	var out []rune
	for _, r := range strconv.Itoa(k) {
		out = append(out, '₀'+(r-'0'))
	}
	return string(out)
}

// rows are the numbers behind the two panels of a run.
func (v *view) rows() [][]string {
	var out [][]string
	wrong := func(i int) bool { return v.f.Corrupted(i) }
	clean, n := v.f.CleanMeans()
	bad, m := v.f.Means(v.f.TrainH, v.f.True, wrong)
	test, nt := v.f.Means(v.f.TestH, v.f.TestTrue, nil)
	for k := range v.f.K {
		out = append(out, []string{v.title(), "train", strconv.Itoa(k), strconv.Itoa(n[k]), vector(clean[k], n[k]), format.Digits(floats.Norm(clean[k], 2)),
			format.Digits(v.f.Spread(v.f.TrainH, v.f.True, k, clean[k], func(i int) bool { return !wrong(i) })),
			strconv.Itoa(m[k]), vector(bad[k], m[k]), format.Digits(v.NormRatio)})
	}
	for k := range v.f.K {
		out = append(out, []string{v.title(), "test", strconv.Itoa(k), strconv.Itoa(nt[k]), vector(test[k], nt[k]), format.Digits(floats.Norm(test[k], 2)),
			format.Digits(v.f.Spread(v.f.TestH, v.f.TestTrue, k, test[k], nil)), "0", "–", "–"})
	}
	return out
}

// vector writes all entries of a short vector, and the length of a long one.
func vector(v []float64, n int) string {
	if n == 0 {
		return "–"
	}
	if len(v) > 4 {
		return fmt.Sprintf("%d entries", len(v))
	}
	s := "("
	for i, x := range v {
		if i > 0 {
			s += ", "
		}
		s += format.Digits(x)
	}
	return s + ")"
}
