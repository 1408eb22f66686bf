package theoryrun

import (
	"context"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/sphere"
)

// codes are unit features at several widths, compared with arrangements that are known, and as the temperature falls.
type codes struct {
	silent
	*recipe.Recipe
	widths *theoryfig.Widths
	found  []foundCode
	cold   []coldCode
}

// foundCode is what random starts alone end at, and the known code.
type foundCode struct {
	name           string
	K, d           int
	margin, known  float64
	above, duality float64 // τ·log f over that of the code; the largest distance of a feature to its classifier
}

// coldCode is an optimum at one temperature.
type coldCode struct {
	temperature, margin, logF float64
}

func runSphere(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	s := r.Sphere
	out := &codes{Recipe: r}
	var err error
	base := sphere.Config{K: s.K, D: 2, Temperature: s.Temperature}
	if out.widths, err = theoryfig.SweepWidths(ctx, base, s.Starts, opt.Seed, nil); err != nil {
		return nil, err
	}
	for _, size := range s.Codes[1:] {
		c := sphere.Config{K: size[0], D: size[1], Temperature: s.Temperature}
		one, err := c.Random(ctx, s.Starts, opt.Seed)
		if err != nil {
			return nil, err
		}
		code := sphere.Known(c.K, c.D)
		out.found = append(out.found, foundCode{code.Name, c.K, c.D, one.Shape.Margin, code.Margin, one.LogF - c.LogF(code.Vectors), one.Shape.Duality})
		opt.progressf("%s: %d classes in %d dimensions", r.ID, c.K, c.D)
	}
	for _, tau := range s.Temperatures {
		c := sphere.Config{K: s.Codes[0][0], D: s.Codes[0][1], Temperature: tau}
		one, err := c.Solve(ctx, s.Starts, opt.Seed, nil)
		if err != nil {
			return nil, err
		}
		out.cold = append(out.cold, coldCode{tau, one.Shape.Margin, one.LogF})
	}
	return out, nil
}

func (c *codes) claims() []judge.Claim {
	out := []judge.Claim{c.simplexClaim()}
	for i, f := range c.found {
		out = append(out, claim(numbered("code", i), format.Sprintf("K = %d, d = %d: the best arrangement found is the %s", f.K, f.d, f.name),
			math.Abs(f.margin-f.known) < 1e-6 && math.Abs(f.above) < 1e-8, "one-vs-rest margin %.9g, of the code %.9g; τ·log f differs by %.1g", f.margin, f.known, f.above))
	}
	return append(out, c.dualityClaim(), c.coldClaim())
}

// simplexClaim is the case K ≤ d + 1, which is proved.
func (c *codes) simplexClaim() judge.Claim {
	worst, below, n := 0.0, math.Inf(1), 0
	for i, s := range c.widths.Solutions {
		above := s.Objective - s.Bound
		below = min(below, above)
		if c.widths.Problems[i].Attained() {
			worst, n = max(worst, math.Abs(above)), n+1
		}
	}
	return claim("simplex", "for K ≤ d + 1 the optimum is the simplex ETF, and no width goes below its value", n > 0 && worst < 1e-9 && below > -1e-12,
		"%d widths with d ≥ K − 1 end within %.1g of the bound; the least of all widths is %.1g from it", n, worst, below)
}

func (c *codes) dualityClaim() judge.Claim {
	worst := 0.0
	for _, f := range c.found {
		worst = max(worst, f.duality)
	}
	return claim("duality", "features and classifiers coincide at these codes", worst < 1e-5, "largest distance %.1g", worst)
}

// coldClaim is about the limit of temperature 0.
func (c *codes) coldClaim() judge.Claim {
	holds, K := len(c.cold) > 0, float64(c.Sphere.Codes[0][0])
	for _, cold := range c.cold {
		holds = holds && math.Abs(cold.margin+cold.logF) <= cold.temperature*math.Log(K)
	}
	first, last := c.cold[0], c.cold[len(c.cold)-1]
	holds = holds && last.margin >= first.margin-1e-9
	return claim("cold", "as the temperature falls −τ·log f tends to the smallest one-vs-rest margin, which does not shrink", holds,
		"margin %.6g and −τ·log f %.6g at τ = %g; %.6g and %.6g at %g", first.margin, -first.logF, first.temperature, last.margin, -last.logF, last.temperature)
}

func (c *codes) figures() []chart.Figure {
	return []chart.Figure{theoryfig.WidthsFigure(c.widths, c.Sphere.K-1), c.coldFigure()}
}

func (c *codes) coldFigure() chart.Figure {
	margin := chart.Series{ID: "margin", Label: "smallest margin", Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(0)}
	value := chart.Series{ID: "value", Label: "−τ·log f", Kind: chart.LinePoints, Marker: chart.Square, Color: chart.ColorFor(1)}
	for _, cold := range c.cold {
		margin.X, margin.Y = append(margin.X, cold.temperature), append(margin.Y, cold.margin)
		value.X, value.Y = append(value.X, cold.temperature), append(value.Y, -cold.logF)
	}
	size := c.Sphere.Codes[0]
	return chart.Figure{ID: "temperature", Title: format.Sprintf("%d classes in %d dimensions as the temperature falls", size[0], size[1]), Columns: 1,
		Panels: []chart.Panel{{ID: "temperature", X: chart.Axis{Label: "temperature τ", Scale: chart.Log}, Y: chart.Axis{Label: "margin"}, Series: []chart.Series{margin, value}}}}
}
