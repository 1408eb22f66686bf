package chart

import (
	"fmt"
	"math"
	"strings"

	"collapse.example/collapse/internal/format"
)

// Telling is the figure as a page draws it: without the panels whose curves show only one number, which a note gives instead. A
// panel is left out if all its curves have one value throughout, or none above format.Least. If the figure has no other panel, they
// are kept. Data files hold the whole figure.
func (f Figure) Telling() Figure {
	var kept []Panel
	var left []string
	for i := range f.Panels {
		p := &f.Panels[i]
		words, flat := p.flat()
		if !flat {
			kept = append(kept, *p)
			continue
		}
		name := p.Title
		if name == "" || !strings.Contains(p.Y.title(), name) {
			name = strings.TrimSpace(name + " (" + p.Y.title() + ")")
		}
		left = append(left, name+" "+words)
	}
	if len(left) == 0 || len(kept) == 0 {
		return f
	}
	f.Panels = kept
	f.Notes = append(append([]string(nil), f.Notes...), "Not drawn, the same throughout: "+strings.Join(left, "; ")+".")
	return f
}

// flat reports whether all curves of the panel have one value, and which.
func (p *Panel) flat() (words string, flat bool) {
	var e extent
	curves, points := 0, 0
	for i := range p.Series {
		switch s := &p.Series[i]; s.Kind {
		case Line, LinePoints:
			curves++
			points = max(points, len(s.X))
			e.add(s.Y...)
		case Band:
			e.add(s.YLo...)
			e.add(s.YHi...)
		case HLine, VLine:
		default:
			return "", false
		}
	}
	if curves == 0 || points < 2 || !e.any {
		return "", false
	}
	size := math.Max(math.Abs(e.lo), math.Abs(e.hi))
	switch unit := strings.TrimSpace(" " + p.Y.Unit); {
	case e.lo == e.hi:
		return strings.TrimSpace(fmt.Sprintf("= %s %s", format.Digits(e.lo), unit)), true
	case size < format.Least:
		return format.Digits(size), true
	}
	return "", false
}
