package figure

import (
	"strconv"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"
)

// separation draws how far classes have collapsed in each direction, and the pairs of classes behind cdnv.
func separation(m *measurement.Result, c *measurement.Column) Picture {
	p := Picture{Figure: chart.Figure{ID: "separation", Title: "How tight classes are: by direction, by pair", Columns: 2,
		Caption: "Left: variance within classes over that of the class means, in each direction in which the means differ, loosest first; their mean is K/rank_between · nc1_pinv. " +
			"Right: pairs of classes by the sum of their variances over twice their squared distance; their mean is cdnv."}}
	p.Table.Columns = []string{"direction", "variance ratio"}
	if len(c.Directions) > 0 {
		p.Panels = append(p.Panels, directionsPanel(c))
		for i, v := range c.Directions {
			p.Table.Rows = append(p.Table.Rows, []string{strconv.Itoa(i + 1), format.Digits(v)})
		}
	}
	if h := c.Histograms[measure.KeyCDNV]; len(h.Counts) > 0 {
		p.Panels = append(p.Panels, pairsPanel(c, h))
		if h.Zero > 0 {
			p.Notes = append(p.Notes, format.Count(h.Zero, "pair")+" of classes without spread cannot be drawn on a logarithmic axis.")
		}
	}
	return p
}

func directionsPanel(c *measurement.Column) chart.Panel {
	s := chart.Series{ID: "directions", Kind: chart.LinePoints, Color: chart.ColorFor(0), Marker: chart.Circle, Size: 4}
	for i, v := range c.Directions {
		s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, v)
	}
	return chart.Panel{ID: "directions", Title: "by direction", X: chart.Axis{Label: "direction"}, Y: chart.Axis{Label: "variance ratio", Scale: chart.Log}, Series: []chart.Series{s,
		{ID: "limit", Label: "collapsed if the median is below", Kind: chart.HLine, Color: chart.Ink, Dashed: true, Y: chart.Numbers{measurement.CollapsedRatio}}}}
}

func pairsPanel(c *measurement.Column, h measure.Histogram) chart.Panel {
	s := chart.Series{ID: "pairs", Kind: chart.Line, Color: chart.ColorFor(0)}
	for i, n := range h.Counts {
		s.X, s.Y = append(s.X, h.Edges[i], h.Edges[i+1]), append(s.Y, float64(n), float64(n))
	}
	last := len(h.Edges) - 1 // both ends are on the axis
	s.X, s.Y = append(append(chart.Numbers{h.Edges[0]}, s.X...), h.Edges[last]), append(append(chart.Numbers{0}, s.Y...), 0)
	series := []chart.Series{s}
	if null, known := c.Null[measure.KeyCDNV]; known && null.Median > 0 {
		series = append(series, chart.Series{ID: "shuffled", Label: "mean of shuffled labels", Kind: chart.VLine, Color: chart.Muted, Dashed: true, X: chart.Numbers{null.Median}})
	}
	return chart.Panel{ID: "pairs", Title: "by pair", X: chart.Axis{Label: "variance over distance²", Scale: chart.Log}, Y: chart.Axis{Label: "pairs of classes", Zero: true}, Series: series}
}
