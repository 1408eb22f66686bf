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

// turning is how much a loss turns a feature.
type turning struct {
	recipe.Loss // the section
	name        string
	loss        theoryfig.Loss
	share       float64 // of the region in which it turns a feature more than it grows it
}

// turnings are the losses of a recipe.
type turnings struct {
	losses []turning
	plain  float64 // the share for plain MSE
}

func turningsOf(section recipe.Landscape) (turnings, error) {
	out := turnings{plain: landscape.AngleShare(landscape.Params{K: section.K, Alpha: 1, M: 1}.MSE, 400)}
	for _, entry := range section.Losses {
		loss, name, err := namedLoss(entry, section.K)
		if err != nil {
			return out, err
		}
		out.losses = append(out.losses, turning{entry, name, loss, landscape.AngleShare(loss, 400)})
	}
	return out, nil
}

// rescaledClaim judges that every rescaled MSE turns a feature more than plain MSE does.
func (t turnings) rescaledClaim() judge.Claim {
	least := math.Inf(1)
	for _, l := range t.losses {
		if l.Kind == "mse" && (l.Alpha != 1 || l.M != 1) {
			least = min(least, l.share)
		}
	}
	return claim("rescaled", "rescaled MSE turns a feature more than plain MSE: ∂/∂θ outweighs ∂/∂s in more of s in (1,5], θ in (0,1.5)", t.plain < least && !math.IsInf(least, 1),
		"a share of %.3f for plain MSE, at least %.3f for the others", t.plain, least)
}

func (t turnings) facts() []theoryfig.Fact {
	var out []theoryfig.Fact
	for _, l := range t.losses {
		out = append(out, theoryfig.Number(l.name+": share of s in (1,5], θ in (0,1.5) where |∂L/∂θ| > |∂L/∂s|", l.share, 3, "computed here"))
	}
	return out
}

// surfaces is ZH Fig. 2: the loss of one feature over (s, θ) around a simplex ETF.
type surfaces struct {
	silent
	*recipe.Recipe
	turnings
}

func runSurfaces(_ context.Context, r *recipe.Recipe, _ Options) (results, error) {
	t, err := turningsOf(r.Landscape)
	return &surfaces{Recipe: r, turnings: t}, err
}

func (s *surfaces) facts() []theoryfig.Fact { return s.turnings.facts() }

// claims judges the figure's message: plain MSE is flat along θ, CE and rescaled MSE are not.
func (s *surfaces) claims() []judge.Claim {
	out := []judge.Claim{claim("plain", "plain MSE is flat along θ: ∂/∂θ outweighs ∂/∂s in less than half of s in (1,5], θ in (0,1.5)", s.plain < .5, "a share of %.3f", s.plain)}
	for _, t := range s.losses {
		if t.Kind == "ce" {
			out = append(out, claim("ce", "CE is steeper along θ: ∂/∂θ outweighs ∂/∂s in more than half of s in (1,5], θ in (0,1.5)", t.share > .5, "a share of %.3f", t.share))
		}
	}
	return append(out, s.rescaledClaim())
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
	turnings
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
	t, err := turningsOf(r.Landscape)
	out := &gradients{Recipe: r, turnings: t}
	for _, l := range t.losses {
		limit := limitGradient{}
		if l.Kind == "mse" {
			near := landscape.Params{K: r.Landscape.K, Alpha: l.Alpha, M: l.M}
			many := near
			many.K = 1 << 40
			limit = limitGradient{near, near.MSE(limitAt, math.Pi/2), many.MSE(limitAt, math.Pi/2)}
		}
		out.limits = append(out.limits, limit)
	}
	return out, err
}

func (g *gradients) claims() []judge.Claim {
	out := []judge.Claim{g.rescaledClaim()}
	for i, t := range g.losses {
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
	return append(g.turnings.facts(),
		fact("(35) at s = 2, θ = .8", "(0.010431, 1.428662)", "paper, as printed"),
		fact("limit of ∇CE at s = 2, θ = .8", format.Sprintf("(%.6f, %.6f)", limit.DS, limit.DTheta), "exact"))
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
