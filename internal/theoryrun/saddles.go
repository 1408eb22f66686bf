package theoryrun

import (
	"context"
	"fmt"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/ufm"
)

// saddles are critical points below the optimum with certificates: every rank subset of MSE, zero and paired
// classes of CE.
type saddles struct {
	silent
	points []criticalPoint
}

type criticalPoint struct {
	setting
	name  string
	value float64
	cert  ufm.Certificate
}

func runSaddles(_ context.Context, r *recipe.Recipe, _ Options) (results, error) {
	out := &saddles{}
	for _, row := range r.Cases {
		s, err := settingOf(row)
		if err != nil {
			return nil, err
		}
		points, err := criticalPoints(s.cfg)
		if err != nil {
			return nil, err
		}
		for _, c := range points {
			one, err := certified(c.name, s, c.at)
			if err != nil {
				return nil, err
			}
			out.points = append(out.points, one)
		}
	}
	return out, nil
}

// certified certifies a point of a problem.
func certified(name string, s setting, at ufm.Point) (criticalPoint, error) {
	problem, err := ufm.NewProblem(s.cfg, nil)
	if err != nil {
		return criticalPoint{}, err
	}
	cert := problem.Certify(at.X, s.exact)
	return criticalPoint{s, name, problem.Eval(at.X, make([]float64, problem.Dim())), cert}, nil
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

func (s *saddles) claims() []judge.Claim {
	var out []judge.Claim
	for i, p := range s.points {
		bias := "no bias"
		if p.cfg.HasBias() {
			bias = format.Sprintf("λ_b=%g", p.cfg.LB)
		}
		beyond := ""
		if p.cfg.Model == ufm.MSE && p.cfg.HasBias() && p.cfg.D <= p.cfg.K || p.cfg.Model == ufm.CE && p.cfg.D <= p.cfg.K {
			beyond = " (d ≤ K: observed, beyond the theorem)"
		}
		negatives := "–"
		if p.cert.Negative != nil {
			negatives = fmt.Sprint(*p.cert.Negative)
		}
		residual, smallest := float64(p.cert.Residual), float64(p.cert.MinHessian)
		out = append(out, claim(numbered("saddle", i),
			fmt.Sprintf("%s, K=%d, n=%d, d=%d, %s: %s is a strict saddle%s", p.cfg.Model, p.cfg.K, p.cfg.N, p.cfg.D, bias, p.name, beyond),
			residual < 1e-12 && smallest < -1e-6,
			"f = %.8g (f* = %.8g), gradient %.1g, ‖∇g‖₂ = %.6g above √(λ_Wλ_H) = %.6g, smallest Hessian eigenvalue %.8g, %s negative; %s",
			p.value, float64(p.exact.Objective), residual, float64(p.cert.DualNorm), float64(p.cert.Threshold), smallest, negatives, p.cert.Verdict))
	}
	return out
}
