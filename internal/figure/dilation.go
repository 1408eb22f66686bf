// Package figure defines the figures of pages, which show runs, searches and measurements, for package chart to draw,
// each with a table of its numbers.
//
// select.go chooses the runs of M-D Figs. 1 and 4; drawing.go draws what recipes ask for; serve_figures.go draws runs that
// may be unfinished; film.go draws a run's features epoch by epoch; the measured*.go files draw measurements.
package figure

import (
	"math"
	"slices"
	"strconv"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// Picture is a figure with a table of its numbers.
type Picture struct {
	chart.Figure
	Table format.Table
}

// color gives each curve the colour of its loss, so that all figures of all pages agree. Runs of scripts, whose loss is not known, take
// the first colours, whose lines are solid.
func color(g *judge.Experiment, curve string) chart.Color {
	return chart.ColorFor(curveIndex(g, curve))
}

func curveIndex(g *judge.Experiment, curve string) int {
	used := map[int]bool{}
	for _, c := range g.Curves {
		i := 0
		if s := judge.OnCurve(g.Runs, c); len(s) > 0 && s[0].Loss != "" {
			i = judge.LossRank(s[0].Loss)
		}
		if len(used) == chart.DataColors { // more curves than colours
			clear(used)
		}
		for used[i%chart.DataColors] {
			i++
		}
		used[i%chart.DataColors] = true
		if c == curve {
			return i
		}
	}
	return 0
}

// dilationFigure is M-D Fig. 1: dilation and test accuracy against memorization, a curve per loss,
// a point per noise level, with the spread over seeds.
func dilationFigure(g *judge.Experiment, id string, runs []*judge.JudgedRun, forms []judge.MemoryForm) Picture {
	p := Picture{Figure: chart.Figure{ID: id + g.Suffix, Columns: 2}}
	for _, f := range forms {
		x := chart.Axis{Label: f.Axis, Zero: true}
		dilation := curvesAgainst(g, runs, f, (*judge.JudgedRun).Dilation, 1)
		y := chart.Axis{Label: "√NC1 of the test features", Zero: true}
		if stray(dilation) {
			y = chart.Axis{Label: y.Label, Scale: chart.Log}
		}
		p.Panels = append(p.Panels, chart.Panel{ID: "dilation-" + f.Key, Title: "Dilation", X: x, Y: y, Series: dilation},
			chart.Panel{ID: "accuracy-" + f.Key, Title: "Test accuracy", X: x, Y: chart.Axis{Label: "test accuracy", Unit: "%"},
				Series: curvesAgainst(g, runs, f, (*judge.JudgedRun).TestAccuracy, 100)})
	}
	p.Table = dilationTable(g, runs, forms)
	return p
}

// stray says whether a single run lies more than twice as high as every mean: class means that are nearly dependent make NC1 as large as one
// likes, and on a linear axis such a run would press all curves together.
func stray(series []chart.Series) bool {
	var runs, means float64
	for _, s := range series {
		if s.Faint {
			runs = max(runs, slices.Max(s.Y))
		} else {
			means = max(means, slices.Max(s.Y))
		}
	}
	return runs > 2*means
}

// curvesAgainst draws, for every loss, the single runs, faint, and the means with their spread.
func curvesAgainst(g *judge.Experiment, runs []*judge.JudgedRun, f judge.MemoryForm, q func(*judge.JudgedRun) (float64, bool), unit float64) []chart.Series {
	var single, means []chart.Series
	for i, curve := range g.Curves {
		dots := chart.Series{ID: "runs-" + strconv.Itoa(i), Kind: chart.Points, Color: color(g, curve), Marker: chart.Dot, Size: 3.5, Faint: true}
		line := chart.Series{ID: "mean-" + strconv.Itoa(i), Label: curve, Kind: chart.LinePoints, Color: color(g, curve),
			Marker: chart.MarkerFor(curveIndex(g, curve))}
		for _, noise := range g.Noises {
			var xs, ys []float64
			for _, s := range runs {
				if s.Curve != curve || s.Noise != noise {
					continue
				}
				x, ok := s.Memory(f.Key)
				if noise == 0 && !ok {
					x, ok = 0, true // no corrupted sample: nothing to memorize
				}
				y, okY := q(s)
				if ok && okY {
					xs, ys = append(xs, x), append(ys, unit*y)
				}
			}
			if len(xs) == 0 {
				continue
			}
			dots.X, dots.Y = append(dots.X, xs...), append(dots.Y, ys...)
			label := format.Decimal(noise)
			if noise == g.Noises[len(g.Noises)-1] {
				label = "η = " + label
			}
			addMean(&line, xs, ys, label)
		}
		if len(line.X) > 0 {
			single, means = append(single, dots), append(means, line)
		}
	}
	return append(single, means...)
}

// addMean adds the mean of some runs, with bars of one standard deviation over seeds if there are
// several.
func addMean(s *chart.Series, xs, ys []float64, label string) {
	x, y := judge.Mean(xs), judge.Mean(ys)
	dx, dy := judge.Deviation(xs), judge.Deviation(ys) // NaN for a single run: no bar
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.XLo, s.XHi = append(s.XLo, x-dx), append(s.XHi, x+dx)
	s.YLo, s.YHi = append(s.YLo, y-dy), append(s.YHi, y+dy)
	s.N = append(s.N, len(xs))
	s.Labels = append(s.Labels, label)
}

// dilationTable holds, for each loss and noise level, means and deviations over seeds.
func dilationTable(g *judge.Experiment, runs []*judge.JudgedRun, forms []judge.MemoryForm) format.Table {
	t := format.Table{Columns: []string{"loss", "η", "runs"}}
	for _, f := range forms {
		t.Columns = append(t.Columns, "memorization: "+f.Name)
	}
	t.Columns = append(t.Columns, "dilation √NC1_test", "test accuracy %", "train accuracy %")
	for _, curve := range g.Curves {
		for _, noise := range g.Noises {
			var at []*judge.JudgedRun
			for _, s := range runs {
				if s.Curve == curve && s.Noise == noise {
					at = append(at, s)
				}
			}
			if len(at) == 0 {
				continue
			}
			row := []string{curve, format.Decimal(noise), strconv.Itoa(len(at))}
			for _, f := range forms {
				row = append(row, judge.MeanDeviation(at, 1, func(s *judge.JudgedRun) (float64, bool) { return s.Memory(f.Key) }))
			}
			t.Rows = append(t.Rows, append(row, judge.MeanDeviation(at, 1, (*judge.JudgedRun).Dilation), judge.MeanDeviation(at, 100, (*judge.JudgedRun).TestAccuracy),
				judge.MeanDeviation(at, 100, func(s *judge.JudgedRun) (float64, bool) { return s.TrainAccuracy, !math.IsNaN(s.TrainAccuracy) })))
		}
	}
	return t
}
