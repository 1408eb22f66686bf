package theoryfig

import (
	"fmt"
	"math"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
)

// RiskFigure is the risk over the dilation under both losses, with the optimum marked.
func RiskFigure(sol *dilation.Solution) chart.Figure {
	f := chart.Figure{ID: "risk", Title: "Risk against dilation", Columns: 2,
		Caption: "Clean samples spread (F grows with r) so that noisy ones may move to their observed class (g falls). The star is r*."}
	panels := []chart.Panel{
		{ID: "risk", Title: "Risk above its minimum", X: chart.Axis{Label: "r/rₘₐₓ"}, Y: chart.Axis{Label: "R(r) − R(r*)"}},
		{ID: "noisy", Title: "Loss of a noisy sample", X: chart.Axis{Label: "r/rₘₐₓ"}, Y: chart.Axis{Label: "g"}},
	}
	for i, side := range []*dilation.Side{sol.CE, sol.LS} {
		name := []string{"CE", "LS"}[i]
		risk := chart.Series{ID: "risk-" + name, Label: name, Kind: chart.Line, Color: chart.ColorFor(i)}
		noisy := chart.Series{ID: "noisy-" + name, Label: name, Kind: chart.Line, Color: chart.ColorFor(i)}
		for _, c := range side.Curve(201) {
			risk.X, risk.Y = append(risk.X, c.Rho), append(risk.Y, c.Risk-side.Risk)
			noisy.X, noisy.Y = append(noisy.X, c.Rho), append(noisy.Y, c.Noisy)
		}
		panels[0].Series = append(panels[0].Series, risk, chart.Series{ID: "star-" + name, Label: name + " r*", Kind: chart.Points, Marker: chart.Star, Size: 9, Color: chart.ColorFor(i), X: chart.Numbers{side.RhoStar}, Y: chart.Numbers{0}})
		panels[1].Series = append(panels[1].Series, noisy)
	}
	f.Panels = panels
	return f
}

// FeasibleFigure is MD Fig. 10: the set in which u1 may lie at the optimum, and the way of u1 from h2 to
// h1 as r grows.
func FeasibleFigure(sol *dilation.Solution) chart.Figure {
	f := chart.Figure{ID: "feasible", Title: "Where a noisy sample may lie", Columns: 2,
		Caption: "The disc around h₂ with radius C_MD·r*/(η‖h₁−h₂‖), within the non-negative quadrant; the path of u₁ as r goes from 0 to rₘₐₓ."}
	for i, side := range []*dilation.Side{sol.CE, sol.LS} {
		name, a := []string{"CE", "LS"}[i], side.HNorm
		radius := side.RhoStar * side.Dist
		circle := chart.Series{ID: "circle", Label: "edge of the disc at r*", Kind: chart.Line, Color: chart.Muted}
		for k := range 721 {
			x, y := radius*math.Sin(float64(k)*math.Pi/360), a-radius*math.Cos(float64(k)*math.Pi/360)
			if x >= 0 && y >= 0 { // within the quadrant it is one arc
				circle.X, circle.Y = append(circle.X, x), append(circle.Y, y)
			}
		}
		path := chart.Series{ID: "path", Label: "u1 as r grows", Kind: chart.Line, Color: chart.ColorFor(0)}
		for _, c := range side.Curve(101) {
			path.X, path.Y = append(path.X, c.U1[0]), append(path.Y, c.U1[1])
		}
		dots := func(id, label string, x, y float64, m chart.Marker) chart.Series {
			return chart.Series{ID: id, Label: label, Kind: chart.Points, Marker: m, Size: 9, Color: chart.Ink, X: chart.Numbers{x}, Y: chart.Numbers{y}}
		}
		f.Panels = append(f.Panels, chart.Panel{ID: name, Title: name, Equal: true, X: chart.Axis{Label: "along h1", Zero: true}, Y: chart.Axis{Label: "along h2", Zero: true},
			Series: []chart.Series{circle, path, dots("h1", "h1", a, 0, chart.Square), dots("h2", "h2", 0, a, chart.Triangle), dots("u1", "u1*", side.U1[0], side.U1[1], chart.Star)}})
	}
	return f
}

// SolutionFacts lists the numbers of a solution.
func SolutionFacts(sol *dilation.Solution) []Fact {
	const closed, minimised = "exact (closed form)", "computed here (minimum over r)"
	var out []Fact
	for i, s := range []*dilation.Side{sol.CE, sol.LS} {
		name := []string{"CE", "LS"}[i]
		for _, v := range []struct {
			what  string
			value float64
			from  string
		}{{"margin x", s.Margin, closed}, {"‖h₁−h₂‖", s.Dist, closed}, {"rₘₐₓ", s.RMax, closed}, {"r*", s.RStar, minimised}, {"r*/rₘₐₓ", s.RhoStar, minimised},
			{"r*/‖h₁−h₂‖", s.Normalised, minimised}, {"memorization η‖h₂−u₁‖", s.Memorization, minimised}, {"risk", s.Risk, minimised}} {
			out = append(out, Number(name+": "+v.what, v.value, 6, v.from))
		}
	}
	return out
}

// SweepFigure maps where Assumption 4.2 and Theorem 4.3 hold over η and C_MD.
func SweepFigure(points []dilation.SweepPoint) chart.Figure {
	f := chart.Figure{ID: "sweep", Title: "Where Theorem 4.3 holds", Columns: 1, Caption: "One mark per setting; inside the assumption the theorem must hold."}
	panel := chart.Panel{ID: "map", X: chart.Axis{Label: "η", Scale: chart.Log}, Y: chart.Axis{Label: "C_MD", Scale: chart.Log}}
	kinds := [...]chart.Series{
		dilation.Predicted:     {ID: "inside", Label: "assumption and theorem hold", Kind: chart.Points, Marker: chart.Circle, Color: chart.ColorFor(2)},
		dilation.Unpredicted:   {ID: "outside", Label: "assumption fails, theorem holds", Kind: chart.Points, Marker: chart.Ring, Color: chart.ColorFor(0)},
		dilation.Reversed:      {ID: "reversed", Label: "assumption fails, theorem fails", Kind: chart.Points, Marker: chart.Cross, Size: 9, Color: chart.ColorFor(1)},
		dilation.Contradiction: {ID: "contradiction", Label: "assumption holds, theorem fails", Kind: chart.Points, Marker: chart.Star, Size: 11, Color: chart.ColorFor(3)},
	}
	for _, pt := range points {
		if pt.Solution != nil {
			s := &kinds[pt.Solution.Outcome()]
			s.X, s.Y = append(s.X, pt.Params.Eta), append(s.Y, pt.Params.CMD)
		}
	}
	for _, s := range kinds {
		if len(s.X) > 0 {
			panel.Series = append(panel.Series, s)
		}
	}
	f.Panels = []chart.Panel{panel}
	return f
}

// FitFigure draws measured pairs with the fitted line of every group.
func FitFigure(points []dilation.Measured, c *dilation.Comparison) chart.Figure {
	panel := chart.Panel{ID: "fit", X: chart.Axis{Label: "dilation r/‖h₁−h₂‖", Zero: true}, Y: chart.Axis{Label: "memorization η‖h₂−u₁‖", Zero: true}}
	for i, fit := range c.Fits {
		s := chart.Series{ID: fmt.Sprintf("pairs-%d", i), Label: fit.Group, Kind: chart.Points, Marker: chart.MarkerFor(i), Color: chart.ColorFor(i)}
		largest := 0.0
		for _, p := range points {
			if p.Group == fit.Group {
				s.X, s.Y = append(s.X, p.Dilation), append(s.Y, p.Memorization)
				largest = math.Max(largest, p.Dilation)
			}
		}
		panel.Series = append(panel.Series, s, chart.Series{ID: fmt.Sprintf("line-%d", i), Label: format.Sprintf("%s: C_MD = %.4g", fit.Group, fit.CMD), Kind: chart.Line, Color: chart.ColorFor(i),
			X: chart.Numbers{0, largest}, Y: chart.Numbers{0, fit.CMD * largest}})
	}
	return chart.Figure{ID: "fit", Title: "Prediction over measurement", Columns: 1, Panels: []chart.Panel{panel}}
}
