package theory

import (
	"context"
	"fmt"
	"math"

	"collapse/internal/chart"
	"collapse/landscape"
)

// lossFunc is a loss of the (s, θ) plane.
type lossFunc func(s, theta float64) landscape.Value

// named returns the loss of an entry and its name.
func (e lossEntry) named(K int) (lossFunc, string, error) {
	p := landscape.Params{K: K, Alpha: e.Alpha, M: e.M}
	if e.Kind == "ce" {
		p.Alpha, p.M = 1, 1
	}
	if err := p.Validate(); err != nil {
		return nil, "", err
	}
	switch e.Kind {
	case "ce":
		return p.CE, "CE", nil
	case "mse":
		return p.MSE, fmt.Sprintf("MSE α = %g, M = %g", e.Alpha, e.M), nil
	}
	return nil, "", fmt.Errorf("theory: loss kind is %q, wanted mse or ce", e.Kind)
}

// knownShares are the expected shares at K = 10 (computed apart from this code), by name.
var knownShares = map[string]float64{"CE": .82, "MSE α = 1, M = 1": .13, "MSE α = 5, M = 1": .52, "MSE α = 20, M = 1": .70, "MSE α = 1, M = 5": .89, "MSE α = 1, M = 10": .82}

// runSurfaces is ZH Fig. 2: the loss of one feature over (s, θ) around a simplex ETF.
func runSurfaces(_ context.Context, r *Recipe, _ Options, p *Page) error {
	f := chart.Figure{ID: r.ID, Title: r.Title, Caption: r.Caption, Columns: 2}
	for i, entry := range r.Landscape.Losses {
		loss, name, err := entry.named(r.Landscape.K)
		if err != nil {
			return err
		}
		f.Panels = append(f.Panels, surfacePanel(fmt.Sprintf("loss-%d", i), name, loss, r.Landscape.SMax, r.Landscape.Theta))
		r.share(name, loss, p)
	}
	r.leastTurned(p)
	p.Figures = append(p.Figures, f)
	return nil
}

// leastTurned judges the figure's message: plain MSE turns a feature towards its class least.
func (r *Recipe) leastTurned(p *Page) {
	plain := landscape.AngleShare(landscape.Params{K: r.Landscape.K, Alpha: 1, M: 1}.MSE, 400)
	least := math.Inf(1)
	for _, entry := range r.Landscape.Losses {
		loss, _, err := entry.named(r.Landscape.K)
		if err != nil || entry.Kind == "mse" && entry.Alpha == 1 && entry.M == 1 {
			continue
		}
		least = math.Min(least, landscape.AngleShare(loss, 400))
	}
	p.Claims = append(p.Claims, Claim{"plain MSE turns a feature least; CE and rescaled MSE turn it more", judge(plain < least),
		fmt.Sprintf("share %.3f for plain MSE, at least %.3f for the others", plain, least)})
}

// share judges how much of the region turns a feature more than it grows it.
func (r *Recipe) share(name string, loss lossFunc, p *Page) {
	share := landscape.AngleShare(loss, 400)
	claim := Claim{Statement: fmt.Sprintf("%s: share of s in (1,5], θ in (0,1.5) where |∂L/∂θ| > |∂L/∂s|", name), Verdict: CannotTell, Evidence: fmt.Sprintf("%.3f", share)}
	if want, ok := knownShares[name]; ok && r.Landscape.K == 10 {
		claim.Verdict, claim.Evidence = judge(math.Abs(share-want) < .01), fmt.Sprintf("%.3f, expected about %.2f (ours)", share, want)
	}
	p.Claims = append(p.Claims, claim)
}

// surfacePanel is a heat map of log10(1 + loss) with twelve contours.
func surfacePanel(id, name string, loss lossFunc, sMax, thetaMax float64) chart.Panel {
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

// runGradients is ZH Fig. 8: the direction of descent over (s, θ); with it (35) as printed, labelled so.
func runGradients(_ context.Context, r *Recipe, _ Options, p *Page) error {
	f := chart.Figure{ID: r.ID, Title: r.Title, Caption: r.Caption, Columns: 2}
	for i, entry := range r.Landscape.Losses {
		loss, name, err := entry.named(r.Landscape.K)
		if err != nil {
			return err
		}
		f.Panels = append(f.Panels, arrowPanel(fmt.Sprintf("field-%d", i), name, loss, r.Landscape.SMax, r.Landscape.Theta))
		r.share(name, loss, p)
		if entry.Kind == "mse" {
			p.Claims = append(p.Claims, limitGradient(landscape.Params{K: r.Landscape.K, Alpha: entry.Alpha, M: entry.M}, name))
		}
	}
	f.Panels = append(f.Panels,
		arrowPanel("ce-limit", "CE, K → ∞", landscape.CELimit, r.Landscape.SMax, r.Landscape.Theta),
		arrowPanel("ce-printed", "ZH (35) as printed: no limit of CE", landscape.CEPrinted, r.Landscape.SMax, r.Landscape.Theta))
	p.Facts = append(p.Facts,
		Fact{"(35) at s = 2, θ = .8", "(0.010431, 1.428662)", "paper, as printed"},
		Fact{"limit of ∇CE at s = 2, θ = .8", fmt.Sprintf("(%.6f, %.6f)", landscape.CELimit(2, .8).DS, landscape.CELimit(2, .8).DTheta), "exact"})
	p.Figures = append(p.Figures, f)
	return nil
}

// limitGradient checks the gradient at θ = π/2, a feature orthogonal to its own row, as K → ∞.
func limitGradient(params landscape.Params, name string) Claim {
	const s, many = 1.5, 1 << 40
	here := params.MSE(s, math.Pi/2)
	params.K = many
	far := params.MSE(s, math.Pi/2)
	want := params.Alpha * s * params.M
	return Claim{name + ": at θ = π/2 the gradient tends to (s, αMs) as K → ∞", judge(math.Abs(far.DS-s) < 1e-9 && math.Abs(far.DTheta-want) < 1e-9),
		fmt.Sprintf("at s = %g: (%.6g, %.6g) for the K of the figure, (%.6g, %.6g) for K = 2⁴⁰, limit (%g, %g)", s, here.DS, here.DTheta, far.DS, far.DTheta, s, want)}
}

// arrowPanel draws −∇L on a grid; lengths grow with the square root of the norm.
func arrowPanel(id, name string, loss lossFunc, sMax, thetaMax float64) chart.Panel {
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

// runScheme is ZH Fig. 1: the plane of w_k and w_k′ in which the feature lies.
func runScheme(_ context.Context, r *Recipe, _ Options, p *Page) error {
	K := r.Landscape.K
	across := -1 / float64(K-1) // ⟨w_k, w_k′⟩
	s, theta := 1.6, .7
	arrow := func(id, label string, x, y float64, color int) chart.Series {
		return chart.Series{ID: id, Label: label, Kind: chart.Arrows, Color: chart.ColorFor(color), Width: 2,
			X: chart.Numbers{0}, Y: chart.Numbers{0}, X2: chart.Numbers{x}, Y2: chart.Numbers{y}}
	}
	arc := chart.Series{ID: "theta", Label: "θ", Kind: chart.Line, Color: chart.Muted}
	for i := range 31 {
		sin, cos := math.Sincos(theta * float64(i) / 30)
		arc.X, arc.Y = append(arc.X, .5*cos), append(arc.Y, .5*sin)
	}
	p.Figures = append(p.Figures, chart.Figure{ID: r.ID, Title: r.Title, Caption: r.Caption, Columns: 1, Panels: []chart.Panel{{ID: "plane", Equal: true,
		X: chart.Axis{Label: "along w_k", Range: chart.Range(-.6, 1.6)}, Y: chart.Axis{Label: "orthogonal, towards w_k′", Range: chart.Range(-.2, 1.3)},
		Series: []chart.Series{arrow("own", "w_k", 1, 0, 0), arrow("other", "w_k′", across, math.Sqrt(1-across*across), 1), arrow("feature", "h = s(cos θ, sin θ)", s*math.Cos(theta), s*math.Sin(theta), 2), arc}}}})
	own, other, rest := landscape.Params{K: K, Alpha: 1, M: 1}.Logits(s, theta)
	p.Facts = append(p.Facts, Fact{"logits of h (own class, k′, each other)", fmt.Sprintf("%.6f, %.6f, %.6f", own, other, rest), "exact, ZH (28)–(29)"})
	return nil
}

// LandscapePage is the page of collapse landscape: surfaces and gradient fields of CE and MSE, with
// extra losses (a trained classifier's plane) and paths of features.
func LandscapePage(params landscape.Params, sMax, thetaMax float64, extra map[string]func(s, theta float64) landscape.Value, path []chart.Series) *Page {
	surfaces := chart.Figure{ID: "surfaces", Title: "Loss of one feature over length and angle", Columns: 2}
	fields := chart.Figure{ID: "fields", Title: "Direction of descent", Columns: 2, Caption: "Arrows are −∇L; lengths grow with the square root of its norm."}
	add := func(id, name string, loss lossFunc) {
		s := surfacePanel(id, name, loss, sMax, thetaMax)
		s.Series = append(s.Series, path...)
		surfaces.Panels = append(surfaces.Panels, s)
		fields.Panels = append(fields.Panels, arrowPanel(id, name, loss, sMax, thetaMax))
	}
	add("ce", fmt.Sprintf("CE, K = %d", params.K), params.CE)
	add("mse", fmt.Sprintf("MSE, K = %d, α = %g, M = %g", params.K, params.Alpha, params.M), params.MSE)
	for _, name := range []string{"trained CE", "trained MSE"} {
		if loss, ok := extra[name]; ok {
			add(map[string]string{"trained CE": "trained-ce", "trained MSE": "trained-mse"}[name], name, loss)
		}
	}
	return &Page{ID: "landscape", Title: "The loss around a simplex-ETF classifier", Caption: "Zhou et al. 2022, Proposition C.1, with the errata applied.", Figures: []chart.Figure{surfaces, fields}}
}
