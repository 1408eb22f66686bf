package theory

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse/etf"
	"collapse/internal/chart"
	"collapse/measure"
	"collapse/ufm"
)

// runAttenuation is TB Theorem 5.1: the factor fitted to noisy features against n.
func runAttenuation(ctx context.Context, r *Recipe, opt Options, p *Page) error {
	f := chart.Figure{ID: r.ID, Title: r.Title, Caption: r.Caption, Columns: 2, Panels: []chart.Panel{
		{ID: "factor", Title: "Fitted factor ⟨W, W*⟩/‖W*‖²", X: chart.Axis{Label: "samples per class n", Scale: chart.Log}, Y: chart.Axis{Label: "factor"}},
		{ID: "residual", Title: "Distance to the limit", X: chart.Axis{Label: "samples per class n", Scale: chart.Log}, Y: chart.Axis{Label: "‖W − limit·W*‖/‖W*‖", Scale: chart.Log}},
	}}
	for i, row := range r.Cases {
		name := fmt.Sprintf("K=%d, d=%d, σ=%g", row.K, row.D, row.Sigma)
		if row.Layers == 2 {
			name += ", two layers"
		}
		factor := chart.Series{ID: fmt.Sprintf("factor-%d", i), Label: name, Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(i)}
		residual := factor
		residual.ID = fmt.Sprintf("residual-%d", i)
		limit := 0.0
		for _, n := range r.Noise.Samples {
			if opt.Quick && n > 20000 {
				continue
			}
			at := row
			at.N, at.LH, at.LH1 = n, row.LH/float64(n), row.LH1/float64(n) // the table gives λ̃ = n·λ
			cfg, err := at.config()
			if err != nil {
				return err
			}
			fit, err := cfg.FitNoisy(rand.New(rand.NewPCG(opt.Seed, uint64(n))))
			if err != nil {
				return err
			}
			exact, err := cfg.Exact()
			if err != nil {
				return err
			}
			limit = float64(exact.Attenuation)
			factor.X, factor.Y = append(factor.X, float64(n)), append(factor.Y, fit.Attenuation)
			residual.X, residual.Y = append(residual.X, float64(n)), append(residual.Y, fit.Residual)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		f.Panels[0].Series = append(f.Panels[0].Series, factor, chart.Series{ID: fmt.Sprintf("limit-%d", i), Label: "exact limit", Kind: chart.HLine, Color: chart.ColorFor(i), Dashed: true, Y: chart.Numbers{limit}})
		f.Panels[1].Series = append(f.Panels[1].Series, residual)
		last := len(factor.Y) - 1
		p.Claims = append(p.Claims, Claim{"the fitted factor tends to the limit as n grows (" + name + ")",
			judge(math.Abs(factor.Y[last]-limit) < .01 && residual.Y[last] < residual.Y[0]),
			fmt.Sprintf("limit %.6g, fitted %.6g at n = %g; residual %.2g", limit, factor.Y[last], factor.X[last], residual.Y[last])})
		p.Facts = append(p.Facts, Fact{"limit, " + name, number(limit), "exact: λ̃_H = n·λ_H; the theorem prints λ_H"})
	}
	p.Figures = append(p.Figures, f)
	return nil
}

// runNC1Map is TB Appendix D: NC1(W1·H1) = NC1(H1) fails for a generic invertible W1 and holds for an
// orthogonal one.
func runNC1Map(_ context.Context, r *Recipe, opt Options, p *Page) error {
	const draws = 20
	f := chart.Figure{ID: r.ID, Title: r.Title, Caption: r.Caption, Columns: 1, Panels: []chart.Panel{{ID: "ratio", Title: "NC1(W1·H1)/NC1(H1)",
		X: chart.Axis{Label: "draw of W1"}, Y: chart.Axis{Label: "ratio", Scale: chart.Log}}}}
	panel := &f.Panels[0]
	for _, row := range r.Reductions {
		rng := rand.New(rand.NewPCG(opt.Seed+row.Seed, 3))
		h := clusters(row, rng)
		before, err := nc1(h, row)
		if err != nil {
			return err
		}
		for i, kind := range []string{"generic invertible W1", "orthogonal W1"} {
			s := chart.Series{ID: fmt.Sprintf("kind-%d", i), Label: kind, Kind: chart.Points, Marker: chart.MarkerFor(i), Color: chart.ColorFor(i)}
			worst := 0.0
			for draw := range draws {
				w := etf.RandomOrthonormal(row.D, row.D, rng)
				if i == 0 {
					w = gaussian(row.D, rng)
				}
				var mapped mat.Dense
				mapped.Mul(mat.NewDense(row.K*row.N, row.D, h), w.T())
				after, err := nc1(mapped.RawMatrix().Data, row)
				if err != nil {
					return err
				}
				s.X, s.Y = append(s.X, float64(draw+1)), append(s.Y, after/before)
				worst = max(worst, math.Abs(after/before-1))
			}
			panel.Series = append(panel.Series, s)
			statement, ok := "NC1(W1·H1) = NC1(H1) is false for a generic invertible W1", worst > .1
			if i == 1 {
				statement, ok = "it holds for an orthogonal W1", worst < 1e-9
			}
			p.Claims = append(p.Claims, Claim{statement, judge(ok), fmt.Sprintf("largest |ratio − 1| of %d draws: %.2g (NC1(H1) = %.4g)", draws, worst, before)})
		}
	}
	panel.Series = append(panel.Series, chart.Series{ID: "one", Label: "TB (77)", Kind: chart.HLine, Dashed: true, Color: chart.Muted, Y: chart.Numbers{1}})
	p.Figures = append(p.Figures, f)
	return nil
}

// clusters draws K·n features of width d around random means.
func clusters(row reductionRow, rng *rand.Rand) []float64 {
	h := make([]float64, 0, row.K*row.N*row.D)
	for range row.K {
		mean := make([]float64, row.D)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for range row.N {
			for _, m := range mean {
				h = append(h, m+.2*rng.NormFloat64())
			}
		}
	}
	return h
}

func gaussian(d int, rng *rand.Rand) *mat.Dense {
	w := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			w.Set(i, j, rng.NormFloat64())
		}
	}
	return w
}

func nc1(h []float64, row reductionRow) (float64, error) {
	labels := make([]int32, row.K*row.N)
	for i := range labels {
		labels[i] = int32(i / row.N)
	}
	report, err := measure.Measure(measure.Input[float64]{Classes: row.K, Train: measure.Memory(h, row.D, labels)}, measure.Options{Measures: []string{measure.KeyNC1Pinv}})
	if err != nil {
		return 0, err
	}
	return report.Measures[measure.KeyNC1Pinv], nil
}

// runCurve is ZU Fig. 11: ξ(ρ) with its minimum at the exact ρ*.
func runCurve(_ context.Context, r *Recipe, _ Options, p *Page) error {
	f := chart.Figure{ID: r.ID, Title: r.Title, Caption: r.Caption, Columns: len(r.Curve.Lambda)}
	for j, lambda := range r.Curve.Lambda {
		panel := chart.Panel{ID: fmt.Sprintf("lambda-%d", j), Title: fmt.Sprintf("λ_W = λ_H = %g", lambda), X: chart.Axis{Label: "ρ = ‖W‖²", Scale: chart.Log}, Y: chart.Axis{Label: "ξ(ρ)", Scale: chart.Log}}
		for i, K := range r.Curve.K {
			cfg := ufm.Config{Model: ufm.CE, K: K, N: r.Curve.N, D: K, LW: lambda, LH: lambda, LB: ufm.NoBias}
			exact, err := cfg.Exact()
			if err != nil {
				return err
			}
			rho, value := float64(exact.WNorm2), float64(exact.Objective)
			s := chart.Series{ID: fmt.Sprintf("k-%d", K), Label: fmt.Sprintf("K = %d", K), Kind: chart.Line, Color: chart.ColorFor(i)}
			smallest, at := math.Inf(1), 0.0
			unit := rho
			if rho == 0 {
				unit = float64(K-1) / lambda / 100 // where penalty and loss are of one size
			}
			for step := -200; step <= 100; step++ { // step 0 is ρ* itself
				x := unit * math.Pow(10, float64(step)/150)
				y := ufm.Xi(x, cfg)
				s.X, s.Y = append(s.X, x), append(s.Y, y)
				if y < smallest {
					smallest, at = y, x
				}
			}
			panel.Series = append(panel.Series, s)
			p.Claims = append(p.Claims, curveClaim(K, lambda, rho, value, at, smallest))
			if rho == 0 {
				continue
			}
			panel.Series = append(panel.Series, chart.Series{ID: fmt.Sprintf("star-%d", K), Label: "exact minimum ρ*", Kind: chart.Points, Marker: chart.Star, Size: 9, Color: chart.ColorFor(i), X: chart.Numbers{rho}, Y: chart.Numbers{value}})
		}
		f.Panels = append(f.Panels, panel)
	}
	p.Figures = append(p.Figures, f)
	return nil
}

// curveClaim judges the place of the curve's minimum against the closed form.
func curveClaim(K int, lambda, rho, value, at, smallest float64) Claim {
	if rho == 0 {
		return Claim{fmt.Sprintf("ξ has its minimum at ρ* = 0, because c ≥ 1 (K = %d, λ = %g)", K, lambda), judge(smallest >= value),
			fmt.Sprintf("f* = log K = %.8g, smallest of the curve %.8g at %.6g", value, smallest, at)}
	}
	return Claim{fmt.Sprintf("ξ has its minimum at the exact ρ* (K = %d, λ = %g)", K, lambda), judge(math.Abs(at/rho-1) < 1e-9 && math.Abs(smallest-value) < 1e-9),
		fmt.Sprintf("ρ* = %.6g, f* = %.8g, smallest of the curve %.8g at %.6g", rho, value, smallest, at)}
}

// runOptima checks a list of problems three ways: closed form, auto, certificate.
func runOptima(ctx context.Context, r *Recipe, opt Options, p *Page) error {
	for _, row := range r.Cases {
		cfg, err := row.config()
		if err != nil {
			return err
		}
		exact, err := cfg.Exact()
		if err != nil {
			return err
		}
		problem, err := ufm.NewProblem(cfg, nil)
		if err != nil {
			return err
		}
		found, at, err := problem.Solve(ctx, nil, exact, ufm.Run{Seed: opt.Seed})
		if err != nil {
			return err
		}
		cert := problem.Certify(at.X, exact)
		lb := "none"
		if cfg.HasBias() {
			lb = fmt.Sprint(cfg.LB)
		}
		p.Claims = append(p.Claims, Claim{
			fmt.Sprintf("%s, K=%d, n=%d, d=%d, λ_W=%g, λ_H=%g, λ_b=%s: %s", cfg.Model, cfg.K, cfg.N, cfg.D, cfg.LW, cfg.LH, lb, exact.Regime),
			judge(exact.Available && math.Abs(float64(found.Gap)) < 1e-10),
			fmt.Sprintf("f* = %.10g (%s), numerically f − f* = %.1g in %d evaluations; certificate: %s", float64(exact.Objective), exact.Status, float64(found.Gap), found.Evaluations, cert.Verdict)})
		if cert.NonnegReport != nil {
			p.Claims = append(p.Claims, configurationClaim(cfg, cert.NonnegReport))
		}
	}
	return nil
}

// configurationClaim judges MD Definition 3.1 at the numerical optimum.
func configurationClaim(cfg ufm.Config, report map[string]float64) Claim {
	const near = 1e-5 // a gap of 1e-12 in f leaves about its root in the geometry
	at := func(key string) float64 {
		if v, ok := report[key]; ok {
			return v
		}
		return math.NaN()
	}
	entry, cosine, overlap := at(measure.KeyConfSmallestEntry), at(measure.KeyConfMaxCos), at(measure.KeyConfOverlap)
	angle, spread := at(measure.KeyConfWeightAngle), at(measure.KeyNC2NormCV)
	return Claim{fmt.Sprintf("K=%d, d=%d: the minimiser is an NC configuration (Definition 3.1)", cfg.K, cfg.D),
		judge(entry >= 0 && cosine < near && overlap < near && angle < near && spread < near),
		fmt.Sprintf("smallest entry %.1g, largest cosine of class means %.1g, overlap of supports %.1g, angle of w_k to h_k − h_G %.1g, spread of norms %.1g", entry, cosine, overlap, angle, spread)}
}
