package theoryrun

import (
	"context"
	"fmt"
	"math"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// optima are problems solved three ways: in closed form, numerically, and with a certificate.
type optima struct {
	silent
	*recipe.Recipe
	solved []solvedProblem
}

type solvedProblem struct {
	setting
	found ufm.Found
	cert  ufm.Certificate
}

func runOptima(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	out := &optima{Recipe: r}
	for _, row := range r.Cases {
		one, err := solve(ctx, row, ufm.Run{Seed: opt.Seed})
		if err != nil {
			return nil, err
		}
		out.solved = append(out.solved, one)
	}
	return out, nil
}

// solve minimises a problem and certifies the point where it ended.
func solve(ctx context.Context, m recipe.Model, run ufm.Run) (solvedProblem, error) {
	s, err := settingOf(m)
	if err != nil {
		return solvedProblem{}, err
	}
	problem, err := ufm.NewProblem(s.cfg, nil)
	if err != nil {
		return solvedProblem{}, err
	}
	found, end, err := problem.Solve(ctx, nil, s.exact, run)
	if err != nil {
		return solvedProblem{}, err
	}
	return solvedProblem{s, found, problem.Certify(end.X, s.exact)}, nil
}

func (o *optima) claims() []judge.Claim {
	var out []judge.Claim
	for i, s := range o.solved {
		lb := "none"
		if s.cfg.HasBias() {
			lb = fmt.Sprint(s.cfg.LB)
		}
		c, gap := s.cfg, float64(s.found.Gap)
		out = append(out, claim(numbered("gap", i), format.Sprintf("%s, K=%d, n=%d, d=%d, λ_W=%g, λ_H=%g, λ_b=%s: %s", c.Model, c.K, c.N, c.D, c.LW, c.LH, lb, s.exact.Regime),
			s.exact.Available && math.Abs(gap) < 1e-10,
			"f* = %.10g (%s), numerically f − f* = %.1g in %d evaluations; certificate: %s", float64(s.exact.Objective), s.exact.Status, gap, s.found.Evaluations, s.cert.Verdict))
		if s.cert.NonnegReport.Len() > 0 {
			out = append(out, s.configuration(numbered("configuration", i)))
		}
	}
	return out
}

// configuration judges MD Definition 3.1 at the numerical optimum.
func (s solvedProblem) configuration(id string) judge.Claim {
	const near = 1e-5 // a gap of 1e-12 in f leaves about its square root in the geometry
	at := func(key string) float64 {
		if v, ok := s.cert.NonnegReport.Get(key); ok {
			return v
		}
		return math.NaN()
	}
	entry, cosine, overlap := at(measure.KeyConfSmallestEntry), at(measure.KeyConfMaxCos), at(measure.KeyConfOverlap)
	angle, spread := at(measure.KeyConfWeightAngle), at(measure.KeyNC2NormCV)
	return claim(id, fmt.Sprintf("K=%d, d=%d: the minimiser is an NC configuration (Definition 3.1)", s.cfg.K, s.cfg.D),
		entry >= 0 && cosine < near && overlap < near && angle < near && spread < near,
		"smallest entry %.1g, largest cosine of class means %.1g, overlap of supports %.1g, angle of w_k to h_k − h_G %.1g, spread of norms %.1g", entry, cosine, overlap, angle, spread)
}
