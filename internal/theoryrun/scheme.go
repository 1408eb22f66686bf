package theoryrun

import (
	"context"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/landscape"
)

// scheme is ZH Fig. 1: the plane of w_k and w_k′ in which the feature lies.
type scheme struct {
	silent
	*recipe.Recipe
}

// schemeS and schemeTheta are the length and the angle of the feature.
const schemeS, schemeTheta = 1.6, .7

func runScheme(_ context.Context, r *recipe.Recipe, _ Options) (results, error) {
	return &scheme{Recipe: r}, nil
}

func (c *scheme) facts() []theoryfig.Fact {
	own, other, rest := landscape.Params{K: c.Landscape.K, Alpha: 1, M: 1}.Logits(schemeS, schemeTheta)
	return []theoryfig.Fact{fact("logits of h (own class, k′, each other)", format.Sprintf("%.6f, %.6f, %.6f", own, other, rest), "exact, ZH (28)–(29)")}
}

func (c *scheme) figures() []chart.Figure {
	across := -1 / float64(c.Landscape.K-1) // ⟨w_k, w_k′⟩
	arrow := func(id, label string, x, y float64, color int) chart.Series {
		return chart.Series{ID: id, Label: label, Kind: chart.Arrows, Color: chart.ColorFor(color), Width: 2,
			X: chart.Numbers{0}, Y: chart.Numbers{0}, X2: chart.Numbers{x}, Y2: chart.Numbers{y}}
	}
	arc := chart.Series{ID: "theta", Label: "θ", Kind: chart.Line, Color: chart.Muted}
	for i := range 31 {
		sin, cos := math.Sincos(schemeTheta * float64(i) / 30)
		arc.X, arc.Y = append(arc.X, .5*cos), append(arc.Y, .5*sin)
	}
	s, theta := float64(schemeS), float64(schemeTheta)
	return []chart.Figure{{ID: c.ID, Title: c.Title, Caption: c.Caption, Columns: 1, Panels: []chart.Panel{{ID: "plane", Equal: true,
		X: chart.Axis{Label: "along w_k", Range: chart.Range(-.6, 1.6)}, Y: chart.Axis{Label: "orthogonal, towards w_k′", Range: chart.Range(-.2, 1.3)},
		Series: []chart.Series{arrow("own", "w_k", 1, 0, 0), arrow("other", "w_k′", across, math.Sqrt(1-across*across), 1), arrow("feature", "h = s(cos θ, sin θ)", s*math.Cos(theta), s*math.Sin(theta), 2), arc}}}}}
}
