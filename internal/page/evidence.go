package page

import (
	"html/template"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
)

// evidenceRow is a row of the table behind a verdict, with its interval drawn.
type evidenceRow struct {
	Cells []string
	Drawn template.HTML
}

// Columns are the heads of the claim's table.
func (c placedClaim) Columns() []string { return c.Evidence(sideNames(c.Effect)).Columns }

// Rows are the rows of the claim's table: one per cell, and the pooled one last.
func (c placedClaim) Rows() []evidenceRow {
	if c.Effect == nil {
		return nil
	}
	var out []evidenceRow
	cells := estimates(c.Effect)
	for i, row := range c.Evidence(sideNames(c.Effect)).Rows {
		row[0] = cellName(row[0])
		out = append(out, evidenceRow{row, whisker(c.Claim, cells[i], c.Effect.Blocked == "")})
	}
	return out
}

// Whisker draws the interval that the verdict rests on, grey if it decides nothing; "" if the verdict rests on several.
func (c placedClaim) Whisker() template.HTML {
	cells := estimates(c.Effect)
	if len(cells) == 0 || len(cells) > 1 && c.Effect.Pooled == nil {
		return ""
	}
	return whisker(c.Claim, cells[len(cells)-1], c.Verdict != judge.CannotTell)
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

// colours are those of intervals inside what was claimed, and outside; others are muted.
var colours = map[judge.Verdict]chart.Color{judge.Holds: 3, judge.Fails: 2, judge.CannotTell: chart.Muted}

// whisker draws an estimate of a claim on a line that holds all of the claim's. What was claimed is shaded. An interval that was not judged,
// such as one of networks that were not trained to the end, is grey wherever it lies.
func whisker(c judge.Claim, cell judge.Cell, judged bool) template.HTML {
	e := c.Effect
	lo, hi := float64(cell.Lo), float64(cell.Hi)
	w := chart.Whisker{Lo: lo, Value: float64(cell.Value), Hi: hi, Wanted: e.Wanted(), Log: e.Ratio() && e.Unit != "quotient"}
	if w.Color = chart.Muted; judged {
		w.Color = colours[e.Alone(lo, hi)]
	}
	w.Min, w.Max = math.Inf(1), math.Inf(-1)
	include := func(v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && (!w.Log || v > 0) {
			w.Min, w.Max = min(w.Min, v), max(w.Max, v)
		}
	}
	for _, r := range w.Wanted {
		include(r[0])
		include(r[1])
	}
	for _, other := range estimates(e) {
		include(float64(other.Lo))
		include(float64(other.Hi))
	}
	if !(w.Max > w.Min) {
		return ""
	}
	if room := 0.06 * (w.Max - w.Min); w.Log {
		factor := math.Pow(w.Max/w.Min, 0.06)
		w.Min, w.Max = w.Min/factor, w.Max*factor
	} else {
		w.Min, w.Max = w.Min-room, w.Max+room
	}
	return template.HTML(w.SVG(strings.TrimSpace(e.Name()+" "+cell.Name) + ", 95 % interval"))
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

// Drawn says that an interval is drawn.
func (p placedClaims) Drawn() bool {
	return slices.ContainsFunc(p.All, func(c placedClaim) bool { return c.Whisker() != "" })
}
