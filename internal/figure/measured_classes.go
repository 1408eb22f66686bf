package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"
)

// classPanel is one pair of axes with vectors over classes, by key and label.
type classPanel struct {
	id, title, y string
	zero         bool
	series       [][2]string
}

// lengths draws the norms and the spread of every class.
func lengths(m *measurement.Result, c *measurement.Column) Picture {
	return perClass(m, c, Picture{Figure: chart.Figure{ID: "classes", Title: "Every class: length and spread", Columns: 2,
		Caption: "Lengths of class means and of the classifier's rows; variance within the class, (1/n_k) Σ ‖h − μ_k‖², in squared feature units."}},
		classPanel{"norms", "lengths", "norm", true, [][2]string{{"centred_norm", "‖μ_k − h_G‖"}, {"mean_norm", "‖μ_k‖"}, {"weight_norm", "‖w_k‖"}}},
		classPanel{"within", "variance within the class", "variance", true, [][2]string{{"within_trace", "variance, train"}, {"test_within_trace", "variance, test"}}})
}

// decisions draws shares, duality and rank of every class.
func decisions(m *measurement.Result, c *measurement.Column) Picture {
	return perClass(m, c, Picture{Figure: chart.Figure{ID: "decisions", Title: "Every class: decisions, duality and rank", Columns: 3,
		Caption: "Shares of a class's samples; the cosine between its row and its centred mean; how many directions its samples fill."}},
		classPanel{"shares", "shares of samples", "share", false, [][2]string{{"accuracy", "classified as labelled"}, {"ncc_accuracy", "nearest to its own centre"}}},
		classPanel{"duality", "row and class mean", "cosine", false, [][2]string{{"nc3_cosine", "cos(w_k, μ_k − h_G)"}}},
		classPanel{"ranks", "directions a class fills", "rank", true, [][2]string{{"numerical_rank", "numerical rank"}, {"stable_rank", "stable rank"}, {"effective_rank", "effective rank"}}})
}

func perClass(m *measurement.Result, c *measurement.Column, p Picture, panels ...classPanel) Picture {
	sorted := c.K > drawnClasses
	if sorted {
		p.Caption += fmt.Sprintf(" With %d classes, each curve is sorted separately.", c.K)
	}
	p.Table = format.Table{Columns: []string{"class", "samples"}}
	var vectors []measure.Vector
	for _, at := range panels {
		panel := chart.Panel{ID: at.id, Title: at.title, X: classAxis(m, c, sorted), Y: chart.Axis{Label: at.y, Zero: at.zero}}
		for _, key := range at.series {
			v := c.PerClass[key[0]]
			if len(v) == 0 {
				continue
			}
			panel.Series = append(panel.Series, classSeries(m, key[0], key[1], v, len(vectors), sorted))
			vectors = append(vectors, v)
			p.Table.Columns = append(p.Table.Columns, key[1])
		}
		if at.id == "shares" {
			panel.Y.Range = upToOne(panel.Series)
		}
		if len(panel.Series) > 0 {
			p.Panels = append(p.Panels, panel)
		}
	}
	for k := range min(c.K, drawnClasses) {
		row := []string{m.Class(c, k), strconv.Itoa(c.ClassCounts[k])}
		for _, v := range vectors {
			text := "–"
			if k < len(v) {
				text = format.Digits(v[k])
			}
			row = append(row, text)
		}
		p.Table.Rows = append(p.Table.Rows, row)
	}
	return p
}

// upToOne is a range for shares: the data's lower end, and 1.
func upToOne(series []chart.Series) *[2]float64 {
	lo := 0.9 // for a classifier without mistakes
	for _, s := range series {
		for _, v := range s.Y {
			if v < lo {
				lo = v
			}
		}
	}
	pad := 0.05 * (1 - lo)
	return chart.Range(lo-pad, 1+pad)
}

func classAxis(m *measurement.Result, c *measurement.Column, sorted bool) chart.Axis {
	if sorted {
		return chart.Axis{Label: "classes, sorted"}
	}
	k := c.K
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	return chart.Axis{Label: "class", Range: chart.Range(-0.5, float64(k)-0.5), Ticks: classTicks(m, c, all)}
}

func classSeries(m *measurement.Result, id, label string, v measure.Vector, color int, sorted bool) chart.Series {
	s := chart.Series{ID: id, Label: label, Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.MarkerFor(color), Size: 5}
	y := slices.Clone([]float64(v))
	if sorted {
		y = slices.DeleteFunc(y, math.IsNaN)
		slices.Sort(y)
		s.Kind, s.Marker = chart.Line, chart.NoMarker
	} else if len(y) > 40 {
		s.Size = 3
	}
	for _, i := range thinned(len(y)) {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, y[i])
	}
	return s
}
