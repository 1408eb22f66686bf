package theoryrun

import (
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// nc2Key is the NC2 that the figure shows.
func (d *descent) nc2Key() (key, name string) {
	if d.Descent.Frame == "etf" {
		return measure.KeyNC2MeansETF, "a simplex ETF"
	}
	return measure.KeyNC2MeansOF, "an orthogonal frame"
}

// figure has the panels of TB's figures: objective, NC1, NC2, NC3.
func (d *descent) figure() chart.Figure {
	nc2, frame := d.nc2Key()
	features := "H"
	if d.cfg.ThreeFactor() {
		features = "H2 = W1·H1"
		if d.cfg.Model == ufm.ReLU3 {
			features = "H2 = relu(W1·H1)"
		}
	}
	f := chart.Figure{ID: d.ID, Title: d.Title, Columns: 2, Caption: d.Caption, Panels: []chart.Panel{d.objectivePanel(features)}}
	for _, panel := range []struct{ id, title, key, label string }{
		{"nc1", "NC1", measure.KeyNC1Pinv, "tr(Σ_W Σ_B⁺)/K"},
		{"nc2", "NC2, distance to " + frame, nc2, "‖U(H̄ᵀH̄) − frame‖"},
		{"nc3", "NC3", measure.KeyNC3Direct, "‖U(W) − U(H̄ᵀ)‖"},
	} {
		q := chart.Panel{ID: panel.id, Title: panel.title, X: iterationAxis(), Y: chart.Axis{Label: panel.label, Scale: chart.Log}}
		q.Series = append(q.Series, traceSeries(d.found, panel.key, features, 0))
		if d.cfg.ThreeFactor() && panel.id != "nc3" {
			q.Series = append(q.Series, traceSeries(d.found, "h1_"+panel.key, "H1", 1))
		}
		if limit, ok := d.exact.Measures.Get(panel.key); ok && limit > 0 {
			q.Series = append(q.Series, chart.Series{ID: panel.id + "-limit", Label: "exact limit", Kind: chart.HLine, Color: chart.Muted, Dashed: true, Y: chart.Numbers{limit}})
		}
		f.Panels = append(f.Panels, q)
	}
	f.Notes = append(f.Notes, d.limitNote())
	return f
}

func (d *descent) objectivePanel(features string) chart.Panel {
	p := chart.Panel{ID: "objective", Title: "Objective", X: iterationAxis(), Y: chart.Axis{Label: "f", Scale: chart.Log}}
	line := chart.Series{ID: "f", Label: features, Kind: chart.Line, Color: chart.ColorFor(0)}
	for _, t := range d.found.Trace {
		line.X, line.Y = append(line.X, float64(t.Iteration)), append(line.Y, float64(t.Objective))
	}
	p.Series = append(p.Series, line)
	if d.exact.Available {
		p.Series = append(p.Series, chart.Series{ID: "f-star", Label: "exact optimum f*", Kind: chart.HLine, Color: chart.Muted, Dashed: true, Y: chart.Numbers{float64(d.exact.Objective)}})
	}
	return p
}

// limitNote says what a logarithmic axis cannot show.
func (d *descent) limitNote() string {
	if !d.exact.Available {
		return "Without penalties there is no exact limit to draw."
	}
	if d.Descent.Expect == "doomed" {
		return "At the exact optimum NC1, NC2 and NC3 are 0; a logarithmic axis cannot show 0."
	}
	return "Dashed: exact. The exact limits of NC1, NC2 and NC3 of the last features are 0, which a logarithmic axis cannot show; curves end in rounding, about 1e-30 for NC1 and 1e-14 for NC2 and NC3."
}

func iterationAxis() chart.Axis { return chart.Axis{Label: "iteration"} }

func traceSeries(found ufm.Found, key, label string, color int) chart.Series {
	s := chart.Series{ID: key, Label: label, Kind: chart.Line, Color: chart.ColorFor(color)}
	for _, t := range found.Trace {
		if v, ok := t.Measures.Get(key); ok {
			s.X, s.Y = append(s.X, float64(t.Iteration)), append(s.Y, v)
		}
	}
	return s
}
