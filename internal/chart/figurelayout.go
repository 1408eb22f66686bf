package chart

import (
	"math"
	"strings"
)

var (
	titleFace = face{size: 15, bold: true, color: Ink}
	noteFace  = face{size: 11.5, color: Muted}
)

// sheet is a figure laid out on one drawing: title, legend, panels in rows, notes.
type sheet struct {
	figure  *Figure
	w, h    float64
	legend  []entry
	columns int
	title   []string // wrapped
	notes   []string // wrapped
	top     float64  // where the panels begin
}

func newSheet(f *Figure) *sheet {
	f.check()
	shared := f.sharing()
	f = &shared
	s := &sheet{figure: f, legend: f.legend(), columns: f.Columns}
	if s.columns <= 0 {
		s.columns = min(max(len(f.Panels), 1), 3)
	}
	s.w = 2*margin + float64(s.columns)*panelW + float64(s.columns-1)*gap
	inner := s.w - 2*margin
	s.title = wrap(f.Title, titleFace, inner)
	for _, n := range append(append([]string(nil), f.Notes...), f.DrawNotes()...) {
		s.notes = append(s.notes, wrap(n, noteFace, inner)...)
	}
	s.top = margin + 19*float64(len(s.title)) + drawLegend(silent{}, s.legend, point{}, inner) + 8
	rows := math.Ceil(float64(len(f.Panels)) / float64(s.columns))
	s.h = s.top + rows*(panelH+gap) + 15*float64(len(s.notes)) + margin
	return s
}

func (s *sheet) draw(g painter) {
	g.area([]point{{0, 0}, {s.w, 0}, {s.w, s.h}, {0, s.h}}, paper, 1)
	y := float64(margin)
	for _, line := range s.title {
		g.text(titleFace, label{point{margin, y + 12}, line})
		y += 19
	}
	drawLegend(g, s.legend, point{margin, y}, s.w-2*margin)
	for i := range s.figure.Panels {
		c, r := i%s.columns, i/s.columns
		at := box{margin + float64(c)*(panelW+gap), s.top + float64(r)*(panelH+gap), panelW, panelH}
		drawPanel(g, &s.figure.Panels[i], at)
	}
	y = s.h - margin - 15*float64(len(s.notes)) + 11
	for _, line := range s.notes {
		g.text(noteFace, label{point{margin, y}, line})
		y += 15
	}
}

// wrap breaks text into lines no wider than width; a single longer word stays whole.
func wrap(text string, f face, width float64) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case f.width(line+" "+word) <= width:
			line += " " + word
		default:
			out = append(out, line)
			line = word
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
