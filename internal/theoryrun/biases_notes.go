package theoryrun

import (
	"fmt"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/ufm"
)

// notes say which results are ours.
func (z *biases) notes() []string {
	return []string{
		"The proof of Theorem 3.1 fits W and H with b held and then chooses b; for that it needs to know what b does to the singular values of Y − b1ᵀ. " +
			"(26) is about biases of norm at most 1/√K. Our two bounds hold for any b and are enough for the theorem at every d and λ_b.",
		"The lemma says that the equalities of (26) hold at b = c/√K·1 alone, and so it is. Its proof ends with b = ±c/√K·1; at the minus sign σ_K is √n, the largest it can be.",
		"With a = 1 − 1ᵀb and T = K‖b − b̄1‖², p = σ_1/√n and q = σ_K/√n: pq = |a|, (p+q)² = (1+|a|)² + T, (p−q)² = (1−|a|)² + T, and K‖b‖² = T + (1−a)². " +
			"So p ≥ 1 ≥ q and K‖b‖² ≥ (p−q)² ≥ (1−q)²; what a singular value costs grows with it, which leaves a function of q in [0,1] alone.",
	}
}

// facts show why convexity in b is not enough below d = K: a bias can be better than its own mean.
func (z *biases) facts() []theoryfig.Fact {
	cfg := ufm.Config{Model: ufm.MSE, K: 5, N: 2, D: 3, LW: .001, LH: .002, LB: .1}
	b := []float64{.3, -.3, 0, 0, 0}
	return []theoryfig.Fact{
		theoryfig.Number("objective at b = (.3, −.3, 0, 0, 0), K=5, n=2, d=3, λ_W=.001, λ_H=.002, λ_b=.1", cfg.HeldBias(b), 6, "computed here"),
		theoryfig.Number("objective at its mean b = 0", cfg.HeldBias(make([]float64, cfg.K)), 6, "computed here: higher, so for d < K the bias cannot simply be averaged over the classes"),
	}
}

func (z *biases) figures() []chart.Figure {
	values := chart.Figure{ID: "value", Title: "Least objective over W and H with b held", Columns: 3,
		Caption: "Points: random biases. Line: the bound by q = σ_K/√n alone, which b = (1−q)/K·1 reaches. Its lowest place is f* of Theorem 3.1."}
	for i, c := range z.cases {
		values.Panels = append(values.Panels, c.panel(i))
	}
	return []chart.Figure{spectraFigure(z.cases[0].draws), values}
}

// spectraFigure draws the singular values that biases leave to fit, with the two bounds.
func spectraFigure(draws []drawnBias) chart.Figure {
	series := func(id, label string, color int) chart.Series {
		return chart.Series{ID: id, Label: label, Kind: chart.Points, Marker: chart.Dot, Size: 4, Color: chart.ColorFor(color)}
	}
	first, last := series("first", "σ_1", 0), series("last", "σ_K", 1)
	below, above := series("below", "1ᵀb ≤ 1", 2), series("above", "1ᵀb > 1", 3)
	for _, d := range draws {
		first.X, first.Y = append(first.X, d.norm), append(first.Y, d.p)
		last.X, last.Y = append(last.X, d.norm), append(last.Y, d.q)
		to := &below
		if d.sum > 1 {
			to = &above
		}
		to.X, to.Y = append(to.X, d.norm), append(to.Y, (d.p-d.q)/d.norm)
	}
	bound := func(id string) chart.Series {
		return chart.Series{ID: id, Label: "bound", Kind: chart.HLine, Color: chart.Ink, Dashed: true, Y: chart.Numbers{1}}
	}
	x := chart.Axis{Label: "√K‖b‖", Scale: chart.Log}
	return chart.Figure{ID: "spectrum", Title: "What a bias leaves to fit", Columns: 2, Caption: "Every point is a random bias b, of the first setting. The bounds are ours.", Panels: []chart.Panel{
		{ID: "ends", Title: "Largest and smallest singular value of Y − b1ᵀ", X: x, Y: chart.Axis{Label: "σ/√n", Zero: true}, Series: []chart.Series{first, last, bound("bound")}},
		{ID: "spread", Title: "Their distance", X: x, Y: chart.Axis{Label: "(σ_1 − σ_K)/(√N‖b‖)", Zero: true}, Series: []chart.Series{below, above, bound("bound-spread")}},
	}}
}

// panel draws the objective of the drawn biases against q, with the bound and f*.
func (c biasCase) panel(i int) chart.Panel {
	id := fmt.Sprintf("case-%d", i+1)
	points := chart.Series{ID: id + "-draws", Label: "random b", Kind: chart.Points, Marker: chart.Dot, Size: 4, Color: chart.ColorFor(0)}
	bound := chart.Series{ID: id + "-bound", Label: "bound", Kind: chart.Line, Width: 2, Color: chart.ColorFor(1)}
	star := chart.Series{ID: id + "-star", Label: "f* of Theorem 3.1", Kind: chart.HLine, Dashed: true, Color: chart.Ink, Y: chart.Numbers{float64(c.exact.Objective)}}
	top := 0.0
	for j, v := range c.bound {
		bound.X, bound.Y = append(bound.X, biasPlace(j)), append(bound.Y, v)
		top = math.Max(top, v)
	}
	for _, d := range c.draws {
		if d.value < 1.5*top { // the others are far above
			points.X, points.Y = append(points.X, d.q), append(points.Y, d.value)
		}
	}
	return chart.Panel{ID: id, Title: format.Sprintf("K=%d, d=%d, λ_b=%g: %s", c.cfg.K, c.cfg.D, c.cfg.LB, c.exact.Regime),
		X: chart.Axis{Label: "q = σ_K/√n"}, Y: chart.Axis{Label: "objective"}, Series: []chart.Series{points, bound, star}}
}
