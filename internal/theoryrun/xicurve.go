package theoryrun

import (
	"context"
	"fmt"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/ufm"
)

// xiCurves is ZU Fig. 11: ξ(ρ) with its minimum at the exact ρ*.
type xiCurves struct {
	silent
	*recipe.Recipe
	curves [][]xiCurve // by λ, then by K
}

type xiCurve struct {
	K              int
	lambda         float64
	rho, objective float64   // exact
	x, y           []float64 // ξ(x) around ρ*
}

func runCurve(_ context.Context, r *recipe.Recipe, _ Options) (results, error) {
	out := &xiCurves{Recipe: r}
	for _, lambda := range r.Curve.Lambda {
		var row []xiCurve
		for _, K := range r.Curve.K {
			cfg := ufm.Config{Model: ufm.CE, K: K, N: r.Curve.N, D: K, LW: lambda, LH: lambda, LB: ufm.NoBias}
			exact, err := cfg.Exact()
			if err != nil {
				return nil, err
			}
			c := xiCurve{K: K, lambda: lambda, rho: float64(exact.WNorm2), objective: float64(exact.Objective)}
			unit := c.rho
			if unit == 0 {
				unit = float64(K-1) / lambda / 100 // where penalty and loss are of similar size
			}
			for step := -200; step <= 100; step++ { // step 0 is ρ* itself
				x := unit * math.Pow(10, float64(step)/150)
				c.x, c.y = append(c.x, x), append(c.y, ufm.Xi(x, cfg))
			}
			row = append(row, c)
		}
		out.curves = append(out.curves, row)
	}
	return out, nil
}

// lowest returns the location and value of the curve's smallest point.
func (c xiCurve) lowest() (at, smallest float64) {
	smallest = math.Inf(1)
	for i, y := range c.y {
		if y < smallest {
			at, smallest = c.x[i], y
		}
	}
	return at, smallest
}

// claims compares the locations of the curves' minima with the closed form.
func (f *xiCurves) claims() []judge.Claim {
	var out []judge.Claim
	for _, row := range f.curves {
		for _, c := range row {
			at, smallest := c.lowest()
			id := numbered("minimum", len(out))
			if c.rho == 0 {
				out = append(out, claim(id, format.Sprintf("ξ has its minimum at ρ* = 0, because c ≥ 1 (K = %d, λ = %g)", c.K, c.lambda), smallest >= c.objective,
					"f* = log K = %.8g, smallest of the curve %.8g at %.6g", c.objective, smallest, at))
				continue
			}
			out = append(out, claim(id, format.Sprintf("ξ has its minimum at the exact ρ* (K = %d, λ = %g)", c.K, c.lambda),
				math.Abs(at/c.rho-1) < 1e-9 && math.Abs(smallest-c.objective) < 1e-9,
				"ρ* = %.6g, f* = %.8g, smallest of the curve %.8g at %.6g", c.rho, c.objective, smallest, at))
		}
	}
	return out
}

func (f *xiCurves) figures() []chart.Figure {
	out := chart.Figure{ID: f.ID, Title: f.Title, Caption: f.Caption, Columns: len(f.curves)}
	for j, row := range f.curves {
		panel := chart.Panel{ID: format.Sprintf("lambda-%d", j), Title: format.Sprintf("λ_W = λ_H = %g", f.Curve.Lambda[j]), X: chart.Axis{Label: "ρ = ‖W‖²", Scale: chart.Log}, Y: chart.Axis{Label: "ξ(ρ)", Scale: chart.Log}}
		for i, c := range row {
			panel.Series = append(panel.Series, chart.Series{ID: fmt.Sprintf("k-%d", c.K), Label: fmt.Sprintf("K = %d", c.K), Kind: chart.Line, Color: chart.ColorFor(i), X: c.x, Y: c.y})
			if c.rho != 0 {
				panel.Series = append(panel.Series, chart.Series{ID: fmt.Sprintf("star-%d", c.K), Label: "exact minimum ρ*", Kind: chart.Points, Marker: chart.Star, Size: 9, Color: chart.ColorFor(i), X: chart.Numbers{c.rho}, Y: chart.Numbers{c.objective}})
			}
		}
		out.Panels = append(out.Panels, panel)
	}
	return []chart.Figure{out}
}
