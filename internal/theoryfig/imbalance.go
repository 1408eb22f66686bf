package theoryfig

import (
	"context"
	"math"

	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
)

// Imbalanced is the optimum at each of several ratios of the most to the fewest samples, all else as it is.
type Imbalanced struct {
	Ratios   []float64
	Problems []imbalance.Config
	Optima   []imbalance.Optimum
	Limits   []imbalance.Limit
}

// SweepRatio solves a problem for counts of each ratio. It returns ctx's error if cancelled.
func SweepRatio(ctx context.Context, c imbalance.Config, ratios []float64, counts func(ratio float64) ([]int, error)) (*Imbalanced, error) {
	out := &Imbalanced{}
	for _, ratio := range ratios {
		at, err := c, error(nil)
		if at.Counts, err = counts(ratio); err != nil {
			return nil, err
		}
		optimum, err := at.Solve(ctx)
		if err != nil {
			return nil, err
		}
		out.Ratios, out.Problems = append(out.Ratios, ratio), append(out.Problems, at)
		out.Optima, out.Limits = append(out.Optima, optimum), append(out.Limits, at.SELI())
	}
	return out, nil
}

// RatiosUpTo are ratios from 1 to n, evenly spaced in logarithm.
func RatiosUpTo(n float64, steps int) (out []float64) {
	for i := range steps {
		out = append(out, math.Pow(n, float64(i)/float64(steps-1)))
	}
	return out
}

// ImbalanceFigure draws lengths and angles of the largest and smallest classes against the ratio of these, solid, and the
// limit of vanishing penalties, dashed. ratio is marked, unless it is 0.
func ImbalanceFigure(found *Imbalanced, ratio float64) chart.Figure {
	x := chart.Axis{Label: "samples of the largest class / of the smallest", Scale: chart.Log}
	f := chart.Figure{ID: "imbalance", Title: "The optimum against imbalance", Columns: 3,
		Caption: "Solid: the optimum. Dashed: SELI, the limit of vanishing penalties. Where the cosine of the two smallest classes reaches 1 they have one classifier (minority collapse); where its line ends they are at zero."}
	panels := []struct {
		id, title, y string
		lines        []imbalanceLine
	}{
		{"angles", "Cosine of two classifiers", "cosine", []imbalanceLine{
			{"two largest classes", func(g imbalance.Geometry) float64 { return cosine(g, 0, 1) }},
			{"largest and smallest", func(g imbalance.Geometry) float64 { return cosine(g, 0, classes(g)-1) }},
			{"two smallest classes", func(g imbalance.Geometry) float64 { return cosine(g, classes(g)-2, classes(g)-1) }}}},
		{"classifiers", "Lengths, smallest class over largest", "ratio", []imbalanceLine{
			{"‖w‖", func(g imbalance.Geometry) float64 { return last(g).Classifier / g.Groups[0].Classifier }},
			{"‖h‖", func(g imbalance.Geometry) float64 { return last(g).Mean / g.Groups[0].Mean }}}},
		{"margins", "Margin, smallest over largest", "ratio", []imbalanceLine{
			{"margin", func(g imbalance.Geometry) float64 { return last(g).Margin / g.Groups[0].Margin }}}},
	}
	for _, p := range panels {
		panel := chart.Panel{ID: p.id, Title: p.title, X: x, Y: chart.Axis{Label: p.y}}
		for i, line := range p.lines {
			panel.Series = append(panel.Series, line.series(found, i)...)
		}
		if ratio > 0 {
			panel.Series = append(panel.Series, chart.Series{ID: "here", Label: "here", Kind: chart.VLine, Color: chart.Ink, Dashed: true, X: chart.Numbers{ratio}})
		}
		f.Panels = append(f.Panels, panel)
	}
	return f
}

// imbalanceLine is a number of a solution that a panel shows.
type imbalanceLine struct {
	label string
	of    func(imbalance.Geometry) float64
}

func (l imbalanceLine) series(found *Imbalanced, i int) []chart.Series {
	solid := chart.Series{ID: format.Sprintf("optimum-%d", i), Label: l.label, Kind: chart.Line, Width: 2, Color: chart.ColorFor(i)}
	dashed := chart.Series{ID: format.Sprintf("limit-%d", i), Label: l.label + ", SELI", Kind: chart.Line, Dashed: true, Color: chart.ColorFor(i)}
	for j, ratio := range found.Ratios {
		for _, one := range []struct {
			series *chart.Series
			from   imbalance.Geometry
		}{{&solid, found.Optima[j].Geometry}, {&dashed, found.Limits[j].Geometry}} {
			if v := l.of(one.from); !math.IsNaN(v) && !math.IsInf(v, 0) {
				one.series.X, one.series.Y = append(one.series.X, ratio), append(one.series.Y, v)
			}
		}
	}
	return []chart.Series{solid, dashed}
}

func last(g imbalance.Geometry) imbalance.Shape { return g.Groups[len(g.Groups)-1] }

func classes(g imbalance.Geometry) (n int) {
	for _, s := range g.Groups {
		n += s.Classes
	}
	return n
}

// cosine is that of the classifiers of two classes, counted from the one with most samples; NaN where a classifier is zero.
func cosine(g imbalance.Geometry, a, b int) float64 {
	group := func(k int) int {
		for j, s := range g.Groups {
			if k < s.Classes {
				return j
			}
			k -= s.Classes
		}
		return len(g.Groups) - 1
	}
	if v := g.CosW[group(a)][group(b)]; v != nil {
		return *v
	}
	return math.NaN()
}
