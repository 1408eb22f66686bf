package theory

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse/etf"
	"collapse/internal/chart"
	"collapse/landscape"
	"collapse/ufm"
)

// runSaddles certifies critical points below the optimum: every rank subset of MSE, zero and paired
// classes of CE.
func runSaddles(_ context.Context, r *Recipe, _ Options, p *Page) error {
	for _, row := range r.Cases {
		cfg, err := row.config()
		if err != nil {
			return err
		}
		points, err := criticalPoints(cfg)
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
		for _, c := range points {
			cert := problem.Certify(c.at.X, exact)
			value := problem.Eval(c.at.X, make([]float64, problem.Dim()))
			bias := "no bias"
			if cfg.HasBias() {
				bias = fmt.Sprintf("λ_b=%g", cfg.LB)
			}
			beyond := ""
			if cfg.Model == ufm.MSE && cfg.HasBias() && cfg.D <= cfg.K || cfg.Model == ufm.CE && cfg.D <= cfg.K {
				beyond = " (d ≤ K: observed, beyond the theorem)"
			}
			negatives := "–"
			if cert.Negative != nil {
				negatives = fmt.Sprint(*cert.Negative)
			}
			p.Claims = append(p.Claims, Claim{
				fmt.Sprintf("%s, K=%d, n=%d, d=%d, %s: %s is a strict saddle%s", cfg.Model, cfg.K, cfg.N, cfg.D, bias, c.name, beyond),
				judge(float64(cert.Residual) < 1e-12 && float64(cert.MinHessian) < -1e-6),
				fmt.Sprintf("f = %.8g (f* = %.8g), gradient %.1g, ‖∇g‖₂ = %.6g above √(λ_Wλ_H) = %.6g, smallest Hessian eigenvalue %.8g, %s negative; %s",
					value, float64(exact.Objective), float64(cert.Residual), float64(cert.DualNorm), float64(cert.Threshold), float64(cert.MinHessian), negatives, cert.Verdict)})
		}
	}
	return nil
}

type namedPoint struct {
	name string
	at   ufm.Point
}

func criticalPoints(cfg ufm.Config) ([]namedPoint, error) {
	if cfg.Model == ufm.CE {
		paired, err := cfg.PairedPoint()
		return []namedPoint{{"zero", cfg.NewPoint()}, {"classes merged in two halves", paired}}, err
	}
	most := min(cfg.K, cfg.D)
	if cfg.HasBias() {
		most = min(cfg.K-1, cfg.D)
	}
	var out []namedPoint
	for r := range most {
		at, err := cfg.SubsetPoint(r)
		if err != nil {
			return nil, err
		}
		out = append(out, namedPoint{fmt.Sprintf("rank %d of %d", r, most), at})
	}
	return out, nil
}

// runOutputs is ZH Proposition C.1 (28)–(29): the logits in closed form against random ETFs, and the
// losses and gradients with them.
func runOutputs(_ context.Context, r *Recipe, opt Options, p *Page) error {
	rng := rand.New(rand.NewPCG(opt.Seed, 5))
	f := chart.Figure{ID: r.ID, Title: r.Title, Caption: r.Caption, Columns: 1, Panels: []chart.Panel{{ID: "error", X: chart.Axis{Label: "K", Scale: chart.Log}, Y: chart.Axis{Label: "largest difference", Scale: chart.Log}}}}
	s := chart.Series{ID: "difference", Label: "closed form against random ETFs, 200 places each", Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(0)}
	worst := 0.0
	for _, K := range r.Curve.K {
		here := 0.0
		for range 200 {
			diff, err := outputDifference(landscape.Params{K: K, Alpha: 5, M: 3}, rng)
			if err != nil {
				return err
			}
			here = math.Max(here, diff)
		}
		s.X, s.Y = append(s.X, float64(K)), append(s.Y, math.Max(here, 1e-17))
		worst = math.Max(worst, here)
	}
	f.Panels[0].Series = []chart.Series{s}
	p.Figures = append(p.Figures, f)
	p.Claims = append(p.Claims, Claim{"(28), (29), (31)–(34) are the logits, losses and gradients on random simplex ETFs", judge(worst < 1e-10), fmt.Sprintf("largest difference %.1g", worst)})
	own, other, rest := landscape.Params{K: 4, Alpha: 5, M: 3}.Logits(1.7, .6)
	printed := 2.5*(own-3)*(own-3) + (other-1)*(other-1)/2 + (rest-1)*(rest-1)
	p.Facts = append(p.Facts,
		Fact{"(30) at s = 1.7, θ = .6, K = 4, α = 5, M = 3", fmt.Sprintf("%.6f", printed), "paper, as printed: subtracts 1 from the other classes"},
		Fact{"the loss there", fmt.Sprintf("%.6f", landscape.Params{K: 4, Alpha: 5, M: 3}.MSE(1.7, .6).Loss), "exact, (31)"})
	return nil
}

// outputDifference compares closed forms with a random ETF at a random place.
func outputDifference(params landscape.Params, rng *rand.Rand) (float64, error) {
	frame, err := etf.Simplex(params.K, params.K)
	if err != nil {
		return 0, err
	}
	w := mat.DenseCopyOf(etf.Rotate(frame, params.K, rng).T()).RawMatrix().Data
	plane, err := landscape.NewPlane(w, nil, params.K, params.K, 0, 1)
	if err != nil {
		return 0, err
	}
	s, theta := 5*rng.Float64(), math.Pi*rng.Float64()
	worst := 0.0
	for _, pair := range [][2]landscape.Value{{params.CE(s, theta), plane.CE(s, theta)}, {params.MSE(s, theta), plane.MSE(s, theta, params.Alpha, params.M)}} {
		for _, d := range []float64{pair[0].Loss - pair[1].Loss, pair[0].DS - pair[1].DS, pair[0].DTheta - pair[1].DTheta} {
			worst = math.Max(worst, math.Abs(d)/(1+pair[0].Loss))
		}
	}
	return worst, nil
}
