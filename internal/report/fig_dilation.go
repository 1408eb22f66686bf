package report

import (
	"fmt"
	"math"
	"strconv"

	"collapse/internal/chart"
)

// picture is a figure with the table of the numbers behind it.
type picture struct {
	chart.Figure
	Table table
}

// table is a titled grid of words and numbers.
type table struct {
	Columns []string
	Rows    [][]string
}

// color gives each curve its colour: that of its loss, so that every figure of every page agrees.
func (g *group) color(curve string) chart.Color { return chart.ColorFor(g.curveIndex(curve)) }

func (g *group) curveIndex(curve string) int {
	used := map[int]bool{}
	for _, c := range g.curves {
		i := len(lossOrder)
		for k, kind := range lossOrder {
			if s := onCurve(g.subjects, c); len(s) > 0 && s[0].Loss == kind {
				i = k
			}
		}
		for used[i%8] {
			i++
		}
		used[i%8] = true
		if c == curve {
			return i
		}
	}
	return 0
}

// dilationFigure is M-D Fig. 1: dilation and test accuracy against memorization, a curve per
// loss, the points its noise levels, with the spread over seeds.
func (g *group) dilationFigure(id string, subjects []*subject, forms []memoryForm) picture {
	p := picture{Figure: chart.Figure{ID: id + g.suffix, Columns: 2}}
	for _, f := range forms {
		x := chart.Axis{Label: f.axis, Zero: true}
		p.Panels = append(p.Panels,
			chart.Panel{ID: "dilation-" + f.key, Title: "Dilation", X: x, Y: chart.Axis{Label: "√NC1 of the test features", Zero: true},
				Series: g.curvesAgainst(subjects, f, (*subject).dilation, 1)},
			chart.Panel{ID: "accuracy-" + f.key, Title: "Test accuracy", X: x, Y: chart.Axis{Label: "test accuracy", Unit: "%"},
				Series: g.curvesAgainst(subjects, f, (*subject).testAccuracy, 100)})
	}
	p.Table = g.dilationTable(subjects, forms)
	return p
}

// curvesAgainst gives every loss its single runs, faint, and its means with their spread.
func (g *group) curvesAgainst(subjects []*subject, f memoryForm, q func(*subject) (float64, bool), unit float64) []chart.Series {
	var single, means []chart.Series
	for i, curve := range g.curves {
		dots := chart.Series{ID: "runs-" + strconv.Itoa(i), Kind: chart.Points, Color: g.color(curve), Marker: chart.Dot, Size: 3.5, Faint: true}
		line := chart.Series{ID: "mean-" + strconv.Itoa(i), Label: curve, Kind: chart.LinePoints, Color: g.color(curve),
			Marker: chart.MarkerFor(g.curveIndex(curve))}
		for _, noise := range g.noises {
			var xs, ys []float64
			for _, s := range subjects {
				if s.curve != curve || s.Noise != noise {
					continue
				}
				x, ok := s.memory(f.key)
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
			label := decimal(noise)
			if noise == g.noises[len(g.noises)-1] {
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

// addMean adds the mean of some runs, with bars of one standard deviation over seeds where there
// are several.
func addMean(s *chart.Series, xs, ys []float64, label string) {
	x, y := mean(xs), mean(ys)
	dx, dy := deviation(xs), deviation(ys) // NaN for one run: no bar
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.XLo, s.XHi = append(s.XLo, x-dx), append(s.XHi, x+dx)
	s.YLo, s.YHi = append(s.YLo, y-dy), append(s.YHi, y+dy)
	s.N = append(s.N, len(xs))
	s.Labels = append(s.Labels, label)
}

// dilationTable holds, for each loss and noise level, means and deviations over seeds.
func (g *group) dilationTable(subjects []*subject, forms []memoryForm) table {
	t := table{Columns: []string{"loss", "η", "runs"}}
	for _, f := range forms {
		t.Columns = append(t.Columns, "memorization: "+f.name)
	}
	t.Columns = append(t.Columns, "dilation √NC1_test", "test accuracy %", "train accuracy %")
	for _, curve := range g.curves {
		for _, noise := range g.noises {
			var at []*subject
			for _, s := range subjects {
				if s.curve == curve && s.Noise == noise {
					at = append(at, s)
				}
			}
			if len(at) == 0 {
				continue
			}
			row := []string{curve, decimal(noise), strconv.Itoa(len(at))}
			for _, f := range forms {
				row = append(row, meanDeviation(at, 1, func(s *subject) (float64, bool) { return s.memory(f.key) }))
			}
			t.Rows = append(t.Rows, append(row, meanDeviation(at, 1, (*subject).dilation), meanDeviation(at, 100, (*subject).testAccuracy),
				meanDeviation(at, 100, func(s *subject) (float64, bool) { return s.trainAccuracy, !math.IsNaN(s.trainAccuracy) })))
		}
	}
	return t
}

// meanDeviation writes mean ± standard deviation of a quantity over runs.
func meanDeviation(subjects []*subject, unit float64, q func(*subject) (float64, bool)) string {
	var v []float64
	for _, s := range subjects {
		if x, ok := q(s); ok {
			v = append(v, unit*x)
		}
	}
	if len(v) < 2 {
		return digits(mean(v))
	}
	return fmt.Sprintf("%s ± %s", digits(mean(v)), digits(deviation(v)))
}
