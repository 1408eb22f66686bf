package theoryrun

import (
	"context"
	"fmt"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/landscape"
)

// namedLoss returns the loss of an entry and its name.
func namedLoss(e recipe.Loss, K int) (theoryfig.Loss, string, error) {
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
		return p.MSE, format.Sprintf("MSE α = %g, M = %g", e.Alpha, e.M), nil
	}
	return nil, "", fmt.Errorf("theoryrun: loss kind is %q, wanted mse or ce", e.Kind)
}

// knownShares are the expected shares at K = 10 (computed independently of this code), by name.
var knownShares = map[string]float64{"CE": .82, "MSE α = 1, M = 1": .13, "MSE α = 5, M = 1": .52, "MSE α = 20, M = 1": .70, "MSE α = 1, M = 5": .89, "MSE α = 1, M = 10": .82}

// turning is how much a loss turns a feature.
type turning struct {
	recipe.Loss // the section
	K           int
	name        string
	loss        theoryfig.Loss
	share       float64 // of the region in which it turns a feature more than it grows it
}

func turningOf(e recipe.Loss, K int) (turning, error) {
	loss, name, err := namedLoss(e, K)
	if err != nil {
		return turning{}, err
	}
	return turning{e, K, name, loss, landscape.AngleShare(loss, 400)}, nil
}

// claim judges the share against the expected one.
func (t turning) claim(i int) judge.Claim {
	statement := fmt.Sprintf("%s: share of s in (1,5], θ in (0,1.5) where |∂L/∂θ| > |∂L/∂s|", t.name)
	want, ok := knownShares[t.name]
	if !ok || t.K != 10 {
		return judge.Claim{ID: numbered("share", i), Statement: statement, Verdict: judge.CannotTell, Reason: format.Sprintf("%.3f", t.share)}
	}
	return claim(numbered("share", i), statement, math.Abs(t.share-want) < .01, "%.3f, expected about %.2f (ours)", t.share, want)
}

// surfaces is ZH Fig. 2: the loss of one feature over (s, θ) around a simplex ETF.
type surfaces struct {
	silent
	*recipe.Recipe
	losses []turning
	plain  float64 // the share for plain MSE
}

func runSurfaces(_ context.Context, r *recipe.Recipe, _ Options) (results, error) {
	K := r.Landscape.K
	out := &surfaces{Recipe: r, plain: landscape.AngleShare(landscape.Params{K: K, Alpha: 1, M: 1}.MSE, 400)}
	for _, entry := range r.Landscape.Losses {
		t, err := turningOf(entry, K)
		if err != nil {
			return nil, err
		}
		out.losses = append(out.losses, t)
	}
	return out, nil
}

// claims judges the shares, and the figure's message: plain MSE turns a feature towards its class least.
func (s *surfaces) claims() []judge.Claim {
	var out []judge.Claim
	least := math.Inf(1)
	for i, t := range s.losses {
		out = append(out, t.claim(i))
		if !(t.Kind == "mse" && t.Alpha == 1 && t.M == 1) {
			least = math.Min(least, t.share)
		}
	}
	return append(out, claim("plain-least", "plain MSE turns a feature least; CE and rescaled MSE turn it more", s.plain < least,
		"share %.3f for plain MSE, at least %.3f for the others", s.plain, least))
}

func (s *surfaces) figures() []chart.Figure {
	f := chart.Figure{ID: s.ID, Title: s.Title, Caption: s.Caption, Columns: 2}
	for i, t := range s.losses {
		f.Panels = append(f.Panels, theoryfig.SurfacePanel(fmt.Sprintf("loss-%d", i), t.name, t.loss, s.Landscape.SMax, s.Landscape.Theta))
	}
	return []chart.Figure{f}
}

// gradients is ZH Fig. 8: the direction of descent over (s, θ), together with (35) as printed, labelled as such.
type gradients struct {
	silent
	*recipe.Recipe
	losses []turning
	limits []limitGradient // of the losses; the zero value for CE
}

// limitGradient is the gradient at θ = π/2, a feature orthogonal to its own row, as K → ∞.
type limitGradient struct {
	params    landscape.Params
	here, far landscape.Value // for the K of the figure and for 2⁴⁰
}

// limitAt is the length s of the feature.
const limitAt = 1.5

func runGradients(_ context.Context, r *recipe.Recipe, _ Options) (results, error) {
	out := &gradients{Recipe: r}
	for _, entry := range r.Landscape.Losses {
		t, err := turningOf(entry, r.Landscape.K)
		if err != nil {
			return nil, err
		}
		limit := limitGradient{}
		if entry.Kind == "mse" {
			near := landscape.Params{K: r.Landscape.K, Alpha: entry.Alpha, M: entry.M}
			many := near
			many.K = 1 << 40
			limit = limitGradient{near, near.MSE(limitAt, math.Pi/2), many.MSE(limitAt, math.Pi/2)}
		}
		out.losses, out.limits = append(out.losses, t), append(out.limits, limit)
	}
	return out, nil
}

func (g *gradients) claims() []judge.Claim {
	var out []judge.Claim
	for i, t := range g.losses {
		out = append(out, t.claim(i))
		if t.Kind == "mse" {
			out = append(out, g.limits[i].claim(i, t.name))
		}
	}
	return out
}

func (l limitGradient) claim(i int, name string) judge.Claim {
	want := l.params.Alpha * limitAt * l.params.M
	return claim(numbered("limit", i), name+": at θ = π/2 the gradient tends to (s, αMs) as K → ∞", math.Abs(l.far.DS-limitAt) < 1e-9 && math.Abs(l.far.DTheta-want) < 1e-9,
		"at s = %g: (%.6g, %.6g) for the K of the figure, (%.6g, %.6g) for K = 2⁴⁰, limit (%g, %g)", limitAt, l.here.DS, l.here.DTheta, l.far.DS, l.far.DTheta, limitAt, want)
}

func (g *gradients) facts() []theoryfig.Fact {
	limit := landscape.CELimit(2, .8)
	return []theoryfig.Fact{
		fact("(35) at s = 2, θ = .8", "(0.010431, 1.428662)", "paper, as printed"),
		fact("limit of ∇CE at s = 2, θ = .8", format.Sprintf("(%.6f, %.6f)", limit.DS, limit.DTheta), "exact"),
	}
}

func (g *gradients) figures() []chart.Figure {
	f := chart.Figure{ID: g.ID, Title: g.Title, Caption: g.Caption, Columns: 2}
	add := func(id, name string, loss theoryfig.Loss) {
		f.Panels = append(f.Panels, theoryfig.ArrowPanel(id, name, loss, g.Landscape.SMax, g.Landscape.Theta))
	}
	for i, t := range g.losses {
		add(fmt.Sprintf("field-%d", i), t.name, t.loss)
	}
	add("ce-limit", "CE, K → ∞", landscape.CELimit)
	add("ce-printed", "ZH (35) as printed: no limit of CE", landscape.CEPrinted)
	return []chart.Figure{f}
}
