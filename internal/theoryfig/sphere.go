package theoryfig

import (
	"context"
	"math"
	"slices"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/sphere"
)

// Widths is a problem of unit features solved at several widths.
type Widths struct {
	Problems  []sphere.Config
	Solutions []*sphere.Solution
}

// widthsDrawn bounds the widths of a picture.
const widthsDrawn = 12

// SweepWidths solves a problem at widths from 2 to K. It calls each after each of them, and returns ctx's error if cancelled.
func SweepWidths(ctx context.Context, c sphere.Config, starts int, seed uint64, each func(ended, all int)) (*Widths, error) {
	out := &Widths{}
	var widths []int
	for i := range widthsDrawn {
		widths = append(widths, int(math.Round(2*math.Pow(float64(max(2, c.K))/2, float64(i)/(widthsDrawn-1)))))
	}
	widths = append(widths, min(max(2, c.K-1), c.K), c.D) // where the simplex begins, and the width asked for
	slices.Sort(widths)
	widths = slices.Compact(widths)
	for i, d := range widths {
		at := c
		at.D = d
		s, err := at.Solve(ctx, starts, seed, nil)
		if err != nil {
			return nil, err
		}
		out.Problems, out.Solutions = append(out.Problems, at), append(out.Solutions, s)
		if each != nil {
			each(i+1, len(widths))
		}
	}
	return out, nil
}

// WidthsFigure draws margins and objective against the width of the features; here is marked.
func WidthsFigure(found *Widths, here int) chart.Figure {
	x := chart.Axis{Label: "width d of the features", Scale: chart.Log}
	margin := chart.Series{ID: "margin", Label: "smallest margin found", Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(0)}
	code := chart.Series{ID: "code", Label: "margin of a known code", Kind: chart.Points, Marker: chart.Star, Size: 10, Color: chart.ColorFor(1)}
	objective := chart.Series{ID: "objective", Label: "τ·log f found", Kind: chart.LinePoints, Marker: chart.Circle, Color: chart.ColorFor(0)}
	bound := chart.Series{ID: "bound", Label: "lower bound, of the simplex ETF", Kind: chart.Line, Dashed: true, Color: chart.ColorFor(2)}
	for i, s := range found.Solutions {
		c := found.Problems[i]
		d := float64(c.D)
		margin.X, margin.Y = append(margin.X, d), append(margin.Y, s.Shape.Margin)
		if s.Shape.Known != "" {
			code.X, code.Y = append(code.X, d), append(code.Y, s.Shape.KnownMargin)
		}
		objective.X, objective.Y = append(objective.X, d), append(objective.Y, s.LogF)
		bound.X, bound.Y = append(bound.X, d), append(bound.Y, c.Temperature*math.Log(s.Bound))
	}
	mark := chart.Series{ID: "here", Label: "here", Kind: chart.VLine, Color: chart.Ink, Dashed: true, X: chart.Numbers{float64(here)}}
	return chart.Figure{ID: "widths", Title: "Collapse against the width of the features", Columns: 2,
		Caption: "The margin is the smallest distance of a classifier to the convex hull of the others. From d = K − 1 on the optimum is the simplex ETF; with fewer dimensions classes share them.",
		Panels: []chart.Panel{
			{ID: "margin", Title: "One-vs-rest margin", X: x, Y: chart.Axis{Label: "margin", Zero: true}, Series: []chart.Series{margin, code, mark}},
			{ID: "objective", Title: "Objective", X: x, Y: chart.Axis{Label: "τ·log f"}, Series: []chart.Series{objective, bound, mark}}}}
}
