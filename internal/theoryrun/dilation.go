package theoryrun

import (
	"context"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
)

func dilationParams(d recipe.Dilation) (dilation.Params, error) {
	law, err := dilation.NamedLaw(d.Law)
	if err != nil {
		return dilation.Params{}, err
	}
	p := dilation.Params{LW: d.LW, LH: d.LH, Alpha: d.Alpha, CMD: d.CMD, Eta: d.Eta, Law: law}
	return p, p.Validate()
}

// dilated is the memorization–dilation model, solved at one setting.
type dilated struct {
	silent
	*recipe.Recipe
	solution *dilation.Solution
}

func solveDilation(r *recipe.Recipe) (dilated, dilation.Params, error) {
	params, err := dilationParams(r.Dilation)
	if err != nil {
		return dilated{}, params, err
	}
	sol, err := dilation.Solve(params)
	return dilated{Recipe: r, solution: sol}, params, err
}

func (d *dilated) claims() []judge.Claim {
	sol := d.solution
	a := sol.Assumption
	scope := "inside Assumption 4.2, so the theorem says so"
	if !a.Holds {
		scope = "outside Assumption 4.2, so the theorem does not say so"
	}
	out := []judge.Claim{claim("theorem", "the inequality of Theorem 4.3: r*/‖h1−h2‖ is smaller for LS than for CE", sol.Theorem,
		"CE %.6g, LS %.6g; %s (√η = %.4g, the assumption's bound %.4g)", sol.CE.Normalised, sol.LS.Normalised, scope, a.SqrtEta, a.NoiseMost)}
	for _, side := range []struct {
		id, name string
		*dilation.Side
	}{{"ce", "CE", sol.CE}, {"ls", "LS", sol.LS}} {
		for i, c := range side.Lemmas() {
			out = append(out, claim(numbered(side.id+"-lemma", i), side.name+", "+c.Name, c.Holds, "%s", bracket(c)))
		}
	}
	return out
}

// bracket writes the inequality of a lemma.
func bracket(c dilation.Check) string {
	if c.High == nil {
		return format.Sprintf("%.6g ≤ %.6g", c.Low, c.Value)
	}
	return format.Sprintf("%.6g ≤ %.6g ≤ %.6g", c.Low, c.Value, *c.High)
}

func (d *dilated) facts() []theoryfig.Fact { return theoryfig.SolutionFacts(d.solution) }

// feasible is MD Fig. 10: where a memorized sample can be.
type feasible struct{ dilated }

func runFeasible(_ context.Context, r *recipe.Recipe, _ Options) (results, error) {
	d, _, err := solveDilation(r)
	return &feasible{d}, err
}

func (f *feasible) figures() []chart.Figure {
	out := theoryfig.FeasibleFigure(f.solution)
	out.ID = f.ID
	return []chart.Figure{out}
}

// swept is MD Theorem 4.3: one setting and a sweep of η and C_MD around it.
type swept struct {
	dilated
	points []dilation.SweepPoint
}

func runDilation(ctx context.Context, r *recipe.Recipe, _ Options) (results, error) {
	d, params, err := solveDilation(r)
	if err != nil {
		return nil, err
	}
	var settings []dilation.Params
	for _, eta := range r.Dilation.Etas {
		for _, cmd := range r.Dilation.CMDs {
			at := params
			at.Eta, at.CMD = eta, cmd
			settings = append(settings, at)
		}
	}
	points, err := dilation.Sweep(ctx, settings)
	if err != nil {
		return nil, err
	}
	for _, pt := range points {
		if pt.Err != nil {
			return nil, pt.Err
		}
	}
	return &swept{d, points}, nil
}

func (s *swept) claims() []judge.Claim {
	n := dilation.CountOutcomes(s.points)
	inside, broken, reversed := n[dilation.Predicted]+n[dilation.Contradiction], n[dilation.Contradiction], n[dilation.Reversed]
	return append(s.dilated.claims(),
		claim("inside", "inside Assumption 4.2 the theorem holds at every setting of the sweep", broken == 0 && inside > 0,
			"%d settings, %d inside, of which it fails in %d", len(s.points), inside, broken),
		claim("outside", "outside the assumption it can be reversed: there are settings where CE dilates less", reversed > 0,
			"reversed in %d of %d settings outside", reversed, len(s.points)-inside))
}

func (s *swept) figures() []chart.Figure {
	return []chart.Figure{theoryfig.RiskFigure(s.solution), theoryfig.SweepFigure(s.points)}
}
