package theoryrun

import (
	"context"
	"math"

	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
)

// imbalanced is what becomes of small classes as they get smaller, and of all as the penalty vanishes.
type imbalanced struct {
	silent
	*recipe.Recipe
	sweep    *theoryfig.Imbalanced
	near     [2]bool // whether small classes are one just below their predicted number of samples, and just above
	critical float64 // that number, the large classes being as they are
	smallest float64 // least objective of descents in W and H against the optimum, at the middle ratio
	limits   []towardsSELI
}

// towardsSELI is an optimum compared with the limit of vanishing penalties.
type towardsSELI struct {
	lambda             float64
	classifiers, means float64 // distances
	proved             bool    // that the limit has the largest margins
}

// finely multiplies the samples, so that rounding them does not show; penalties shrink with its root.
const finely = 1_000_000

func runImbalance(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	s := r.Imbalance
	base := imbalance.Config{Loss: imbalance.Loss(s.Loss), Smoothing: s.Smoothing, D: s.K, LW: s.LW / math.Sqrt(finely), LH: s.LH / math.Sqrt(finely)}
	counts := func(ratio float64) ([]int, error) { return imbalance.Step(s.K, s.N*finely, s.Minority, ratio) }
	out := &imbalanced{Recipe: r}
	var err error
	if out.sweep, err = theoryfig.SweepRatio(ctx, base, theoryfig.RatiosUpTo(s.Ratio, s.Steps), counts); err != nil {
		return nil, err
	}
	if err := out.aroundThreshold(ctx, base); err != nil {
		return nil, err
	}
	middle := imbalance.Config{Loss: base.Loss, Smoothing: s.Smoothing, D: s.K, LW: s.LW, LH: s.LH}
	if middle.Counts, err = imbalance.Step(s.K, s.N, s.Minority, math.Sqrt(s.Ratio)); err != nil {
		return nil, err
	}
	optimum, err := middle.Solve(ctx)
	if err != nil {
		return nil, err
	}
	found, err := middle.Search(ctx, optimum, 5, opt.Seed, nil)
	if err != nil {
		return nil, err
	}
	out.smallest = found.Best - optimum.Objective
	for _, lambda := range s.Limits {
		at := middle
		at.LW, at.LH = lambda, lambda
		o, err := at.Solve(ctx)
		if err != nil {
			return nil, err
		}
		limit := at.SELI()
		w, h := at.Distance(o.Geometry, limit.Geometry)
		out.limits = append(out.limits, towardsSELI{lambda, w, h, limit.Proved})
	}
	return out, nil
}

// aroundThreshold solves with one percent fewer and more samples in the small classes than they need to be apart.
func (m *imbalanced) aroundThreshold(ctx context.Context, base imbalance.Config) error {
	s := m.Imbalance
	for i, factor := range []float64{0.99, 1.01} {
		at := base
		var err error
		if at.Counts, err = imbalance.Step(s.K, s.N*finely, s.Minority, 2); err != nil {
			return err
		}
		m.critical = at.Critical(1)
		for k := s.K - s.Minority; k < s.K; k++ {
			at.Counts[k] = int(m.critical * factor)
		}
		optimum, err := at.Solve(ctx)
		if err != nil {
			return err
		}
		m.near[i] = optimum.Groups[1].Same
	}
	m.critical /= finely
	return nil
}

func (m *imbalanced) claims() []judge.Claim {
	s := m.Imbalance
	first, last := m.sweep.Optima[0].Groups, m.sweep.Optima[len(m.sweep.Optima)-1].Groups
	out := []judge.Claim{
		claim("gap", "every optimum is proved by its duality gap, and descents in W and H end nowhere lower", m.largestGap() < 1e-9 && math.Abs(m.smallest) < 1e-8,
			"%d ratios, largest gap %.1g; five random starts at the middle ratio end %.1g from the optimum at best", len(m.sweep.Ratios), m.largestGap(), m.smallest),
		claim("threshold", "the small classes become one point exactly where (1 − α)·√n = N·√(λ_W·λ_H)", m.near[0] && !m.near[1],
			"at %.6g samples; with 1 %% fewer they are one: %t, with 1 %% more: %t", m.critical, m.near[0], m.near[1]),
		claim("margin", "small classes have the smaller margin, and none at the largest ratio", m.marginsFall() && last[len(last)-1].Margin < 1e-6,
			"from %.6g at ratio 1 to %.2g at ratio %g", first[0].Margin, last[len(last)-1].Margin, s.Ratio),
	}
	if s.Loss == "mse" {
		worst := m.largestCosine()
		return append(out, claim("orthogonal", "class means are orthogonal at every ratio", worst < 1e-9, "largest cosine %.1g", worst))
	}
	out = append(out, claim("turn", "the classifiers of two small classes turn towards each other as the ratio grows", m.turns(), "cosine from %.4g, the simplex ETF's, to %.4g", m.cosine(0), m.largestAngle()))
	if len(m.limits) > 0 {
		out = append(out, m.limitClaim())
	}
	return out
}

func (m *imbalanced) largestGap() (gap float64) {
	for _, o := range m.sweep.Optima {
		gap = max(gap, o.Gap)
	}
	return gap
}

// marginsFall reports whether the margin of small classes over that of large ones never grows with the ratio.
func (m *imbalanced) marginsFall() bool {
	before := math.Inf(1)
	for _, o := range m.sweep.Optima {
		share := o.Groups[len(o.Groups)-1].Margin / o.Groups[0].Margin
		if share > before+1e-6 {
			return false
		}
		before = share
	}
	return true
}

func (m *imbalanced) largestCosine() (worst float64) {
	for _, o := range m.sweep.Optima {
		for _, row := range o.CosMeans {
			for _, v := range row {
				if v != nil {
					worst = max(worst, math.Abs(*v))
				}
			}
		}
	}
	return worst
}

// cosine of the classifiers of two small classes at ratio i; NaN where they are at zero.
func (m *imbalanced) cosine(i int) float64 {
	cos := m.sweep.Optima[i].CosW
	if v := cos[len(cos)-1][len(cos)-1]; v != nil {
		return *v
	}
	return math.NaN()
}

func (m *imbalanced) largestAngle() float64 {
	most := m.cosine(0)
	for i := range m.sweep.Optima {
		if v := m.cosine(i); v > most {
			most = v
		}
	}
	return most
}

// turns reports whether that cosine begins at −1/(K−1), never falls and reaches 1.
func (m *imbalanced) turns() bool {
	before := math.Inf(-1)
	for i := range m.sweep.Optima {
		v := m.cosine(i)
		if v < before-1e-6 {
			return false
		}
		if !math.IsNaN(v) {
			before = v
		}
	}
	return math.Abs(m.cosine(0)+1/float64(m.Imbalance.K-1)) < 1e-6 && before > 1-1e-6
}

func (m *imbalanced) limitClaim() judge.Claim {
	falls, proved := true, true
	for i, l := range m.limits {
		proved = proved && l.proved
		if i > 0 && !(l.classifiers < m.limits[i-1].classifiers && l.means < m.limits[i-1].means) {
			falls = false
		}
	}
	first, last := m.limits[0], m.limits[len(m.limits)-1]
	return claim("seli", "as the penalty vanishes the optimum tends to SELI, whose margins are proved to be the largest", falls && proved && last.classifiers < 0.1 && last.means < 0.1,
		"distance of the classifiers %.3g and of the means %.3g at λ = %g, %.3g and %.3g at %g; largest margins proved: %t", first.classifiers, first.means, first.lambda, last.classifiers, last.means, last.lambda, proved)
}

func (m *imbalanced) figures() []chart.Figure {
	f := theoryfig.ImbalanceFigure(m.sweep, float64(m.Imbalance.N)/m.critical)
	f.Caption += " The vertical line is where theory puts minority collapse."
	return []chart.Figure{f}
}

func (m *imbalanced) facts() []theoryfig.Fact {
	const from = "exact; derived here, after Hong & Ling 2023"
	return []theoryfig.Fact{theoryfig.Number("samples that a small class needs to be apart", m.critical, 6, from),
		fact("ratio at which the small classes become one", format.Sprintf("%.5g", float64(m.Imbalance.N)/m.critical), from)}
}
