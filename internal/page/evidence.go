package page

import (
	"fmt"
	"html/template"
	"math"

	"collapse/internal/chart"
	"collapse/internal/judge"
)

// evidenceRow is a row of the table behind a verdict, with its interval drawn.
type evidenceRow struct {
	Cells []string
	Drawn template.HTML
}

// Rows are the rows of the claim's table: one per cell, and the pooled one last.
func (c placedClaim) Rows() []evidenceRow {
	var out []evidenceRow
	cells := estimates(c.Effect)
	for i, row := range c.Evidence().Rows {
		out = append(out, evidenceRow{row, whisker(c.Claim, cells[i])})
	}
	return out
}

// Whisker draws the interval that the verdict rests on; "" if it rests on several.
func (c placedClaim) Whisker() template.HTML {
	cells := estimates(c.Effect)
	if len(cells) == 0 || len(cells) > 1 && c.Effect.Pooled == nil {
		return ""
	}
	return whisker(c.Claim, cells[len(cells)-1])
}

func estimates(e *judge.Effect) []judge.Cell {
	if e == nil {
		return nil
	}
	cells := append([]judge.Cell(nil), e.Cells...)
	if e.Pooled != nil {
		cells = append(cells, *e.Pooled)
	}
	return cells
}

// verdictColors are the colours of whiskers, those of other verdicts are muted.
var verdictColors = map[judge.Verdict]chart.Color{judge.Holds: 3, judge.Fails: 2}

// whisker draws an estimate of a claim on a line that holds all of the claim's.
func whisker(c judge.Claim, cell judge.Cell) template.HTML {
	e := c.Effect
	w := chart.Whisker{Lo: float64(cell.Lo), Value: float64(cell.Value), Hi: float64(cell.Hi), Log: e.Ratio() && e.Unit != "quotient", Color: chart.Muted}
	if color, decided := verdictColors[c.Verdict]; decided {
		w.Color = color
	}
	if cell.Contradicts {
		w.Color = verdictColors[judge.Fails]
	}
	if e.Ratio() {
		w.Band = [2]float64{1, 1}
	}
	if e.Band != nil {
		w.Band = *e.Band
	}
	w.Min, w.Max = w.Band[0], w.Band[1]
	for _, other := range estimates(e) {
		for _, v := range []float64{float64(other.Lo), float64(other.Value), float64(other.Hi)} {
			if !math.IsNaN(v) && !math.IsInf(v, 0) && (!w.Log || v > 0) {
				w.Min, w.Max = min(w.Min, v), max(w.Max, v)
			}
		}
	}
	if !(w.Max > w.Min) {
		return ""
	}
	return template.HTML(w.SVG(fmt.Sprintf("%s of %s, 95 %% interval", e.Name(), cell.Name)))
}

// mostAtFirst is how many verdicts a page begins with, if there are more than a few more.
const mostAtFirst = 8

// placedClaim is a claim with its place on the page.
type placedClaim struct {
	judge.Claim
	Place string
}

// placedClaims are claims of one part of a page.
type placedClaims struct{ All []placedClaim }

// place gives claims their places: part distinguishes them from those of other parts of the page.
func place(part string, claims []judge.Claim) placedClaims {
	var out placedClaims
	for _, c := range claims {
		out.All = append(out.All, placedClaim{c, "claim" + part + "-" + c.ID})
	}
	return out
}

// Front are the claims that a page begins with, Rear those that are folded away below them.
func (p placedClaims) Front() []placedClaim {
	if len(p.All) <= mostAtFirst+2 {
		return p.All
	}
	return p.All[:mostAtFirst]
}

func (p placedClaims) Rear() []placedClaim { return p.All[len(p.Front()):] }
