package chart

// entry is one legend line: its text and every series drawn under it, as a small sample.
type entry struct {
	label  string
	series []*Series
}

// legend collects labels in order of first use. A label shows each way of drawing it once, so a line, its band and its points share
// one entry.
func (f *Figure) legend() []entry {
	var out []entry
	index := map[string]int{}
	for i := range f.Panels {
		for j := range f.Panels[i].Series {
			s := &f.Panels[i].Series[j]
			if s.Label == "" || s.Heat != nil {
				continue
			}
			k, seen := index[s.Label]
			if !seen {
				k = len(out)
				index[s.Label] = k
				out = append(out, entry{label: s.Label})
			}
			out[k].add(s)
		}
	}
	return out
}

func (e *entry) add(s *Series) {
	for _, t := range e.series {
		if t.Kind == s.Kind && t.Color == s.Color && t.Marker == s.Marker && t.Dashed == s.Dashed {
			return
		}
	}
	e.series = append(e.series, s)
}

// swatchW and swatchH are the size of a legend sample.
const swatchW, swatchH = 26.0, 14.0

// draw paints the sample with its top left corner at p.
func (e entry) draw(g painter, p point) {
	mid := point{p.x + swatchW/2, p.y + swatchH/2}
	left, right := point{p.x + 2, mid.y}, point{p.x + swatchW - 2, mid.y}
	for _, s := range e.series {
		switch s.Kind {
		case Line, LinePoints, HLine, VLine, Segments:
			g.line(s.stroke(), []point{left, right})
		case Band:
			g.area([]point{{left.x, p.y + 1}, {right.x, p.y + 1}, {right.x, p.y + swatchH - 1}, {left.x, p.y + swatchH - 1}}, s.Color, 0.16)
		case Arrows:
			g.line(s.stroke(), []point{left, right})
			drawHead(g, left, right, s.Color)
		}
		if s.Kind == Points || s.Kind == LinePoints {
			size := s.Size
			if size == 0 || size > 9 {
				size = 7
			}
			if s.Marker == Dot {
				size = 4
			}
			g.marks([]point{mid}, s.Marker, size, s.Color, 1, nil)
		}
	}
}

var legendFace = face{size: 11.5, color: Ink}

// drawLegend arranges the entries in lines of the given width and returns the height used.
func drawLegend(g painter, entries []entry, at point, width float64) float64 {
	if len(entries) == 0 {
		return 0
	}
	const line, between = 18.0, 16.0 // heights and gaps of entries
	x, y := at.x, at.y
	g.begin("legend")
	for _, e := range entries {
		w := swatchW + 5 + legendFace.width(e.label)
		if x > at.x && x+w > at.x+width {
			x, y = at.x, y+line
		}
		e.draw(g, point{x, y})
		g.text(legendFace, label{point{x + swatchW + 5, y + swatchH - 3.2}, e.label})
		x += w + between
	}
	g.end()
	return y + line - at.y
}
