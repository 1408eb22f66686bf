package theoryrun

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
)

// attenuation is TB Theorem 5.1: the factor fitted to noisy features as a function of n.
type attenuation struct {
	silent
	*recipe.Recipe
	cases []attenuated
}

type attenuated struct {
	name                string
	limit               float64
	n, factor, residual []float64 // ⟨W, W*⟩/‖W*‖² and ‖W − limit·W*‖/‖W*‖ for each n
}

func runAttenuation(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	out := &attenuation{Recipe: r}
	for _, row := range r.Cases {
		c := attenuated{name: format.Sprintf("K=%d, d=%d, σ=%g", row.K, row.D, row.Sigma)}
		if row.Layers == 2 {
			c.name += ", two layers"
		}
		for _, n := range r.Noise.Samples {
			if opt.Quick && n > 20000 {
				continue
			}
			if err := c.fit(row, n, opt.Seed); err != nil {
				return nil, err
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		out.cases = append(out.cases, c)
	}
	return out, nil
}

// fit adds a fit with n samples per class.
func (c *attenuated) fit(row recipe.Model, n int, seed uint64) error {
	row.N, row.LH, row.LH1 = n, row.LH/float64(n), row.LH1/float64(n) // the table gives λ̃ = n·λ
	at, err := settingOf(row)
	if err != nil {
		return err
	}
	fit, err := at.cfg.FitNoisy(rand.New(rand.NewPCG(seed, uint64(n))))
	if err != nil {
		return err
	}
	c.limit = float64(at.exact.Attenuation)
	c.n, c.factor, c.residual = append(c.n, float64(n)), append(c.factor, fit.Attenuation), append(c.residual, fit.Residual)
	return nil
}

func (a *attenuation) claims() []judge.Claim {
	var out []judge.Claim
	for i, c := range a.cases {
		last := len(c.n) - 1
		out = append(out, claim(numbered("factor", i), "the fitted factor tends to the limit as n grows ("+c.name+")",
			math.Abs(c.factor[last]-c.limit) < .01 && c.residual[last] < c.residual[0],
			"limit %.6g, fitted %.6g at n = %g; residual %.2g", c.limit, c.factor[last], c.n[last], c.residual[last]))
	}
	return out
}

func (a *attenuation) facts() []theoryfig.Fact {
	var out []theoryfig.Fact
	for _, c := range a.cases {
		out = append(out, theoryfig.Number("limit, "+c.name, c.limit, 6, "exact: λ̃_H = n·λ_H; the theorem prints λ_H"))
	}
	return out
}

func (a *attenuation) figures() []chart.Figure {
	x := chart.Axis{Label: "samples per class n", Scale: chart.Log}
	factor := chart.Panel{ID: "factor", Title: "Fitted factor ⟨W, W*⟩/‖W*‖²", X: x, Y: chart.Axis{Label: "factor"}}
	residual := chart.Panel{ID: "residual", Title: "Distance to the limit", X: x, Y: chart.Axis{Label: "‖W − limit·W*‖/‖W*‖", Scale: chart.Log}}
	for i, c := range a.cases {
		line := chart.Series{ID: fmt.Sprintf("factor-%d", i), Label: c.name, Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(i), X: c.n, Y: c.factor}
		factor.Series = append(factor.Series, line, chart.Series{ID: fmt.Sprintf("limit-%d", i), Label: "exact limit", Kind: chart.HLine, Color: chart.ColorFor(i), Dashed: true, Y: chart.Numbers{c.limit}})
		line.ID, line.Y = fmt.Sprintf("residual-%d", i), c.residual
		residual.Series = append(residual.Series, line)
	}
	return []chart.Figure{{ID: a.ID, Title: a.Title, Caption: a.Caption, Columns: 2, Panels: []chart.Panel{factor, residual}}}
}
