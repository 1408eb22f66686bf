package theoryfig

import (
	"context"
	"fmt"
	"math"

	"collapse.example/collapse/deep"
	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/sphere"
)

// Beyond are the parameters of the models that go beyond the papers, for a page whose reader turns them.
type Beyond struct {
	Loss        imbalance.Loss
	Smoothing   float64
	K, N, D     int // classes; samples of a large one; width
	LW, LH      float64
	Ratio       float64 // of the samples of half of the classes to those of the others
	Temperature float64
}

// Followed is what becomes of these models as one parameter moves.
type Followed struct {
	Says    []string // a sentence for each figure
	Figures []chart.Figure
}

// Bounds of what a page computes while a reader waits.
const (
	finer          = 1_000_000 // as many times the samples, with penalties smaller by its root: rounding samples does not show
	pageRatios     = 31
	pageStarts     = 2
	pageDeepest    = 6
	pageDeepModels = 10 // classes
)

// Follow solves the three models. It returns ctx's error if cancelled.
func (b Beyond) Follow(ctx context.Context) (*Followed, error) {
	out := &Followed{}
	for _, follow := range []func(context.Context) (string, chart.Figure, error){b.imbalance, b.widths, b.depth} {
		says, f, err := follow(ctx)
		if err != nil {
			return nil, err
		}
		out.Says, out.Figures = append(out.Says, says), append(out.Figures, f)
	}
	return out, nil
}

func (b Beyond) imbalance(ctx context.Context) (string, chart.Figure, error) {
	c := imbalance.Config{Loss: b.Loss, Smoothing: b.Smoothing, D: b.K, LW: b.LW / math.Sqrt(finer), LH: b.LH / math.Sqrt(finer)}
	counts := func(ratio float64) ([]int, error) { return imbalance.Step(b.K, b.N*finer, b.K/2, ratio) }
	found, err := SweepRatio(ctx, c, RatiosUpTo(1000, pageRatios), counts)
	if err != nil {
		return "", chart.Figure{}, err
	}
	here := found.Problems[0]
	if here.Counts, err = counts(b.Ratio); err != nil {
		return "", chart.Figure{}, err
	}
	says := format.Sprintf("Half of the classes have %.4g times fewer samples.", b.Ratio)
	small := here.Groups()[len(here.Groups())-1]
	switch {
	case small.Classes < 2:
	case here.Mu() >= here.Apart(small.Count):
		says += " The small classes are one point: minority collapse."
	case b.Ratio > 1:
		says += format.Sprintf(" The small classes are apart, as long as each has %.4g samples or more.", here.Critical(len(here.Groups())-1)/finer)
	}
	return says, ImbalanceFigure(found, b.Ratio), nil
}

func (b Beyond) widths(ctx context.Context) (string, chart.Figure, error) {
	d := min(max(b.D, 2), b.K)
	found, err := SweepWidths(ctx, sphere.Config{K: b.K, D: d, Temperature: b.Temperature}, pageStarts, 1, nil)
	if err != nil {
		return "", chart.Figure{}, err
	}
	says := ""
	for i, c := range found.Problems {
		if shape := found.Solutions[i].Shape; c.D == d {
			says = format.Sprintf("Unit features of %d classes in %d dimensions: the smallest margin found is %.4g.", b.K, d, shape.Margin)
			if shape.Known != "" {
				says += format.Sprintf(" The %s has %.4g.", shape.Known, shape.KnownMargin)
			}
		}
	}
	return says, WidthsFigure(found, d), nil
}

func (b Beyond) depth(ctx context.Context) (string, chart.Figure, error) {
	collapse := chart.Series{ID: "collapse", Label: "neural collapse", Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(0)}
	known := chart.Series{ID: "known", Label: "best known with ReLUs", Kind: chart.LinePoints, Marker: chart.Square, Color: chart.ColorFor(1), Dashed: true}
	says := fmt.Sprintf("With ReLUs, low rank is looked for up to %d classes.", pageDeepModels)
	if b.K <= pageDeepModels {
		says = "With ReLUs nothing below neural collapse is known here."
	}
	for L := 1; L <= pageDeepest && ctx.Err() == nil; L++ {
		c := deep.Config{K: b.K, N: b.N}
		for range L {
			c.Widths, c.Lambdas = append(c.Widths, b.K), append(c.Lambdas, math.Sqrt(b.LW*b.LH))
		}
		c.Lambdas = append(c.Lambdas, math.Sqrt(b.LW*b.LH))
		e, err := c.Solve()
		if err != nil {
			return "", chart.Figure{}, err
		}
		collapse.X, collapse.Y = append(collapse.X, float64(L)), append(collapse.Y, e.Objective)
		if L == 1 || b.K > pageDeepModels {
			continue
		}
		c.ReLU = true
		best, err := c.Known()
		if err != nil {
			return "", chart.Figure{}, err
		}
		known.X, known.Y = append(known.X, float64(L)), append(known.Y, best.Objective)
		if best.Lower {
			says = format.Sprintf("With ReLUs and %d layers, a point of low rank (%s) lies %.3g %% below neural collapse.", L, best.Name, 100*(1-best.Objective/best.Collapse))
		}
	}
	panel := chart.Panel{ID: "depth", X: chart.Axis{Label: "layers L"}, Y: chart.Axis{Label: "objective", Zero: true}, Series: []chart.Series{collapse}}
	if len(known.X) > 0 {
		panel.Series = append(panel.Series, known)
	}
	return says, chart.Figure{ID: "depth", Title: "Deep models, squared error", Columns: 1, Panels: []chart.Panel{panel},
		Caption: "Every penalty is √(λ_Wλ_H), every layer as wide as there are classes. ½ is the value of zero, the optimum where penalties are too strong."}, ctx.Err()
}
