package theoryfig

import (
	"fmt"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/landscape"
)

// Loss is a loss of one feature over the (s, θ) plane.
type Loss func(s, theta float64) landscape.Value

// LandscapeFigures are the surfaces and gradient fields of CE and MSE around a simplex-ETF classifier, and of the losses "trained CE"
// and "trained MSE" in a trained classifier's plane, where extra has them; with paths of features.
func LandscapeFigures(params landscape.Params, sMax, thetaMax float64, extra map[string]Loss, path []chart.Series) []chart.Figure {
	surfaces := chart.Figure{ID: "surfaces", Title: "Loss of one feature over length and angle", Columns: 2}
	fields := chart.Figure{ID: "fields", Title: "Direction of descent", Columns: 2, Caption: "Arrows are −∇L; lengths grow with the square root of its norm."}
	add := func(id, name string, loss Loss) {
		s := SurfacePanel(id, name, loss, sMax, thetaMax)
		s.Series = append(s.Series, path...)
		surfaces.Panels = append(surfaces.Panels, s)
		fields.Panels = append(fields.Panels, ArrowPanel(id, name, loss, sMax, thetaMax))
	}
	add("ce", fmt.Sprintf("CE, K = %d", params.K), params.CE)
	add("mse", format.Sprintf("MSE, K = %d, α = %g, M = %g", params.K, params.Alpha, params.M), params.MSE)
	for _, trained := range []struct{ id, name string }{{"trained-ce", "trained CE"}, {"trained-mse", "trained MSE"}} {
		if loss, ok := extra[trained.name]; ok {
			add(trained.id, trained.name, loss)
		}
	}
	return []chart.Figure{surfaces, fields}
}

// SurfacePanel is a heat map of log10(1 + loss) with twelve contours.
func SurfacePanel(id, name string, loss Loss, sMax, thetaMax float64) chart.Panel {
	const columns, rows = 120, 90
	grid := landscape.NewGrid(loss, sMax, columns, thetaMax, rows)
	z := make(chart.Numbers, len(grid.Values))
	for i, v := range grid.Values {
		z[i] = math.Log10(1 + v.Loss)
	}
	return chart.Panel{ID: id, Title: name, X: chart.Axis{Label: "s", Range: chart.Range(0, sMax)}, Y: chart.Axis{Label: "θ", Range: chart.Range(0, thetaMax)},
		Series: []chart.Series{
			{ID: id + "-map", Kind: chart.HeatMap, Heat: &chart.Heat{Columns: columns, Rows: rows, X: [2]float64{0, sMax}, Y: [2]float64{0, thetaMax}, Z: z, Label: "log10(1 + loss)"}},
			contours(id+"-contours", "", grid.S, grid.Theta, z, evenLevels(z, 12)),
		}}
}

// ArrowPanel draws −∇L on a grid; lengths grow with the square root of the norm.
func ArrowPanel(id, name string, loss Loss, sMax, thetaMax float64) chart.Panel {
	const columns, rows = 16, 12
	grid := landscape.NewGrid(loss, sMax, columns, thetaMax, rows)
	longest := 0.0
	for _, v := range grid.Values {
		longest = math.Max(longest, math.Sqrt(math.Hypot(v.DS, v.DTheta)))
	}
	arrows := chart.Series{ID: id + "-arrows", Kind: chart.Arrows, Color: chart.ColorFor(0), Width: 1}
	cell := sMax / columns
	for r, theta := range grid.Theta {
		for c, s := range grid.S {
			v := grid.Values[r*columns+c]
			norm := math.Hypot(v.DS, v.DTheta)
			if norm == 0 {
				continue
			}
			length := cell * math.Sqrt(norm) / longest
			arrows.X, arrows.Y = append(arrows.X, s), append(arrows.Y, theta)
			arrows.X2 = append(arrows.X2, s-length*v.DS/norm)
			arrows.Y2 = append(arrows.Y2, theta-length*v.DTheta/norm)
		}
	}
	return chart.Panel{ID: id, Title: name, X: chart.Axis{Label: "s", Range: chart.Range(0, sMax)}, Y: chart.Axis{Label: "θ", Range: chart.Range(0, thetaMax)}, Series: []chart.Series{arrows}}
}
