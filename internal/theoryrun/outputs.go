package theoryrun

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/landscape"
)

// outputs is ZH Proposition C.1 (28)–(29): the logits in closed form compared with random ETFs, and the losses and gradients
// computed from them.
type outputs struct {
	silent
	*recipe.Recipe
	differences []float64 // largest for each K
}

func runOutputs(_ context.Context, r *recipe.Recipe, opt Options) (results, error) {
	rng := rand.New(rand.NewPCG(opt.Seed, 5))
	out := &outputs{Recipe: r}
	for _, K := range r.Curve.K {
		here := 0.0
		for range 200 {
			diff, err := outputDifference(landscape.Params{K: K, Alpha: 5, M: 3}, rng)
			if err != nil {
				return nil, err
			}
			here = math.Max(here, diff)
		}
		out.differences = append(out.differences, here)
	}
	return out, nil
}

// outputDifference compares the closed forms with a random ETF at a random (s, θ).
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

func (o *outputs) claims() []judge.Claim {
	worst := 0.0
	for _, d := range o.differences {
		worst = math.Max(worst, d)
	}
	return []judge.Claim{claim("outputs", "(28), (29), (31)–(34) are the logits, losses and gradients on random simplex ETFs", worst < 1e-10, "largest difference %.1g", worst)}
}

func (o *outputs) facts() []theoryfig.Fact {
	own, other, rest := landscape.Params{K: 4, Alpha: 5, M: 3}.Logits(1.7, .6)
	printed := 2.5*(own-3)*(own-3) + (other-1)*(other-1)/2 + (rest-1)*(rest-1)
	return []theoryfig.Fact{
		fact("(30) at s = 1.7, θ = .6, K = 4, α = 5, M = 3", format.Sprintf("%.6f", printed), "paper, as printed: subtracts 1 from the other classes"),
		fact("the loss there", format.Sprintf("%.6f", landscape.Params{K: 4, Alpha: 5, M: 3}.MSE(1.7, .6).Loss), "exact, (31)"),
	}
}

func (o *outputs) figures() []chart.Figure {
	s := chart.Series{ID: "difference", Label: "closed form against random ETFs, 200 places each", Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(0)}
	for i, d := range o.differences {
		s.X, s.Y = append(s.X, float64(o.Curve.K[i])), append(s.Y, math.Max(d, 1e-17))
	}
	return []chart.Figure{{ID: o.ID, Title: o.Title, Caption: o.Caption, Columns: 1, Panels: []chart.Panel{{ID: "error",
		X: chart.Axis{Label: "K", Scale: chart.Log}, Y: chart.Axis{Label: "largest difference", Scale: chart.Log}, Series: []chart.Series{s}}}}}
}
