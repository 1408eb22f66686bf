package figure

import (
	"fmt"
	"strconv"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"
)

// spectrum draws the eigenvalues of Σ_B, and how many are kept.
func spectrum(m *measurement.Result, c *measurement.Column) Picture {
	p := Picture{Figure: chart.Figure{ID: "spectrum", Title: "Spectrum of the class means", Columns: 2,
		Caption: "Eigenvalues of Σ_B, the covariance of class means. A simplex ETF has K−1 equal ones; those to the right of the line are zero up to rounding and are left out of NC1."}}
	if len(c.Eigenvalues) == 0 {
		return p
	}
	s := chart.Series{ID: "eigenvalues", Label: "eigenvalue of Σ_B", Kind: chart.LinePoints, Color: chart.ColorFor(0), Marker: chart.Circle, Size: 4}
	p.Table.Columns = []string{"number", "eigenvalue", "share of the trace"}
	total := 0.0
	for _, v := range c.Eigenvalues {
		total += max(v, 0)
	}
	if len(c.Eigenvalues) > 60 {
		s.Kind, s.Marker = chart.Line, chart.NoMarker
	}
	for _, i := range thinned(len(c.Eigenvalues)) {
		s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, c.Eigenvalues[i])
		if i < drawnClasses {
			p.Table.Rows = append(p.Table.Rows, []string{strconv.Itoa(i + 1), format.Digits(c.Eigenvalues[i]), format.Digits(c.Eigenvalues[i] / total)})
		}
	}
	series := []chart.Series{s}
	if rank, ok := c.Measures.Get(measure.KeyRankBetween); ok {
		series = append(series, chart.Series{ID: "rank", Label: "kept for NC1", Kind: chart.VLine, Color: chart.Ink, Dashed: true, X: chart.Numbers{rank + 0.5}})
	}
	p.Panels = []chart.Panel{
		{ID: "eigenvalues", Title: "eigenvalues", X: chart.Axis{Label: "number"}, Y: chart.Axis{Label: "eigenvalue", Zero: true}, Series: series},
		{ID: "logarithm", Title: "the same on a logarithmic scale", X: chart.Axis{Label: "number"}, Y: chart.Axis{Label: "eigenvalue", Scale: chart.Log}, Series: series},
	}
	return p
}

// margins is the curve of sorted cosine margins (ZHOU's P_CM).
func margins(m *measurement.Result, c *measurement.Column) Picture {
	p := Picture{Figure: chart.Figure{ID: "margins", Title: "Cosine margins of all samples", Columns: 2,
		Caption: "How much closer a sample points to its class's row than to the next best row, both around their centres. Below 0 it points to another class; K/(K−1) is the value of complete collapse."}}
	n := len(c.Margins)
	if n == 0 {
		return p
	}
	curve := chart.Series{ID: "margin", Label: "cosine margin", Kind: chart.Line, Color: chart.ColorFor(0), Width: 2}
	for _, i := range thinned(n) {
		curve.X, curve.Y = append(curve.X, float64(i+1)/float64(n)), append(curve.Y, c.Margins[i])
	}
	const collapse = "complete collapse, K/(K−1)"
	collapsed := float64(c.K) / float64(c.K-1)
	p.Panels = []chart.Panel{{ID: "margins", Title: "sorted", X: chart.Axis{Label: "share of samples"}, Y: chart.Axis{Label: "cosine margin"}, Series: []chart.Series{
		curve,
		{ID: "zero", Label: "boundary", Kind: chart.HLine, Color: chart.Muted, Y: chart.Numbers{0}},
		{ID: "collapse", Label: collapse, Kind: chart.HLine, Color: chart.Ink, Dashed: true, Y: chart.Numbers{collapsed}},
	}}, histogram("distribution", "samples", "cosine margin", c.Margins, collapsed, collapse)}
	p.Panels[1].Title = "distribution"
	p.Table.Columns = []string{"share of samples below", "cosine margin"}
	for _, q := range measurement.Quantiles {
		p.Table.Rows = append(p.Table.Rows, []string{format.Percent(q), format.Digits(c.Quantiles[format.Decimal(q)])})
	}
	return p
}

// layerKeys are the measures of the curves over layers, with a logarithmic axis where true.
var layerKeys = []struct {
	key string
	log bool
}{
	{measure.KeyNC1Pinv, true}, {measure.KeyNC1TraceRatio, true}, {measure.KeyCDNV, true},
	{measure.KeyNC2MeansCentred, false}, {measure.KeyNC2CosDeviation, false}, {measure.KeyNC2NormCV, false},
	{measure.KeyNCCAccuracy, false}, {measure.KeyNumericalRank, false}, {measure.KeyRankBetween, false},
}

// OverLayers draws every measure against depth.
func OverLayers(m *measurement.Result) Picture {
	p := Picture{Figure: chart.Figure{ID: "layers", Title: "Every measure against depth", Columns: 3,
		Caption: "The same measures on every given layer, in order. Collapse deepens where NC1 falls."}}
	var ticks []chart.Tick
	p.Table.Columns = []string{"measure"}
	for i, c := range m.Columns {
		ticks = append(ticks, chart.Tick{Value: float64(i), Label: strconv.Itoa(i + 1)})
		p.Table.Columns = append(p.Table.Columns, c.Name)
		p.Notes = append(p.Notes, fmt.Sprintf("%d: %s, d = %d", i+1, c.Name, c.D))
	}
	for _, k := range layerKeys {
		d, _ := measure.Lookup(k.key)
		s := chart.Series{ID: k.key, Kind: chart.LinePoints, Color: chart.ColorFor(0), Marker: chart.Circle}
		row := []string{k.key}
		for i, c := range m.Columns {
			v, ok := c.Measures.Get(k.key)
			row = append(row, c.Value(k.key))
			if ok {
				s.X, s.Y = append(s.X, float64(i)), append(s.Y, v)
			}
		}
		p.Table.Rows = append(p.Table.Rows, row)
		if len(s.X) == 0 {
			continue
		}
		y := chart.Axis{Label: k.key}
		if k.log {
			y.Scale = chart.Log
		}
		p.Panels = append(p.Panels, chart.Panel{ID: k.key, Title: d.Name, X: chart.Axis{Label: "layer", Ticks: ticks, Range: chart.Range(-0.3, float64(len(m.Columns))-0.7)}, Y: y, Series: []chart.Series{s}})
	}
	return p
}
