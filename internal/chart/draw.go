package chart

import (
	"strconv"

	"collapse.example/collapse/internal/format"
)

// drawSeries draws one series; values without a place on the axes are counted, never drawn.
func (f *frame) drawSeries(g painter, s *Series) {
	switch s.Kind {
	case Line:
		f.drawLine(g, s)
	case Points:
		f.drawPoints(g, s)
	case LinePoints:
		f.drawLine(g, s)
		counted := f.lost
		f.drawPoints(g, s)
		f.lost = counted // the same points drawn a second way are not lost twice
	case Band:
		f.drawBand(g, s)
	case Segments, Arrows:
		f.drawSegments(g, s)
	case HLine, VLine:
		f.drawReference(g, s)
	case Text:
		f.drawText(g, s)
	case HeatMap:
		f.drawHeat(g, s.Heat)
	default:
		panic("chart: unknown kind of series")
	}
}

// undashed is the last colour whose lines are solid; from the fifth on, lines differ by more than their colour.
const undashed Color = 4

func (s *Series) stroke() stroke {
	st := stroke{color: s.Color, width: s.Width, opacity: 1}
	if st.width == 0 {
		st.width = 1.8
	}
	switch many := s.Color.normal() > undashed; {
	case many && s.Dashed:
		st.dash = []float64{2, 3}
	case many:
		st.dash = []float64{9, 3, 2, 3}
	case s.Dashed:
		st.dash = []float64{5, 3.5}
	}
	if s.Faint {
		st.opacity = 0.35
	}
	return st
}

// drawLine connects neighbours; a value without a place breaks the line.
func (f *frame) drawLine(g painter, s *Series) {
	var run []point
	var parts [][]point
	flush := func() {
		for _, part := range f.plot.clipLine(run) {
			parts = append(parts, part)
			f.labels.avoidLine(part)
		}
		run = nil
	}
	single := true
	for i := range s.X {
		if !f.usable(s.X[i], s.Y[i]) {
			flush()
			continue
		}
		p := f.pos(s.X[i], s.Y[i])
		if !f.plot.contains(p) {
			f.lost.Outside++
		}
		single = single && len(run) == 0
		run = append(run, p)
	}
	if single && len(run) == 1 && f.plot.contains(run[0]) && s.Kind == Line {
		g.marks(run, Circle, 4, s.Color, s.stroke().opacity, nil) // a line of one point is drawn as a point
		return
	}
	flush()
	g.line(s.stroke(), parts...)
}

func (f *frame) drawPoints(g painter, s *Series) {
	size, marker := s.Size, s.Marker
	if size == 0 {
		size = 7
		if marker == Dot {
			size = 2.4
		}
	}
	var at []point
	var tips []string
	var named []wantedLabel
	var bars [][]point
	for i := range s.X {
		if !f.usable(s.X[i], s.Y[i]) {
			continue
		}
		p := f.pos(s.X[i], s.Y[i])
		if !f.plot.contains(p) {
			f.lost.Outside++
			continue
		}
		bars = append(bars, f.errorBars(s, i, p)...)
		at = append(at, p)
		if marker != Dot {
			tips = append(tips, f.tip(s, i))
			f.labels.avoid(p)
		}
		if i < len(s.Labels) && s.Labels[i] != "" {
			named = append(named, wantedLabel{at: p, words: s.Labels[i], color: s.Color})
		}
	}
	f.labels.wanted = append(f.labels.wanted, curveEnds(s, named)...)
	g.line(stroke{color: s.Color, width: 1.1, opacity: 0.75}, bars...)
	opacity := 1.0
	if s.Faint {
		opacity = 0.4
	}
	g.marks(at, marker, size, s.Color, opacity, tips)
}

// curveEnds keeps labels only at the two ends of a curve, and there only where there is free room: in between they would hide the
// curve and its neighbours. The tips of the marks and the tables have all of them.
func curveEnds(s *Series, named []wantedLabel) []wantedLabel {
	if s.Kind != LinePoints || len(s.X) < 2 || len(named) == 0 {
		return named
	}
	ends := []wantedLabel{named[len(named)-1], named[0]}[:min(2, len(named))]
	for i := range ends {
		ends[i].free = true
	}
	return ends
}

// tip is the text shown when a reader points at a mark.
func (f *frame) tip(s *Series, i int) string {
	t := s.Label
	if i < len(s.Labels) && s.Labels[i] != "" {
		t += " · " + s.Labels[i]
	}
	t += "\n" + f.panel.X.Label + ": " + f.panel.X.read(s.X[i]) + spread(s.XLo, s.XHi, i) +
		"\n" + f.panel.Y.Label + ": " + f.panel.Y.read(s.Y[i]) + spread(s.YLo, s.YHi, i)
	if len(s.N) > 0 {
		t += "\nn = " + strconv.Itoa(s.N[i])
	}
	return t
}

// read is what a reader sees of a value: the name at its place, if it has one.
func (a Axis) read(v float64) string {
	for _, t := range a.Ticks {
		if t.Value == v && t.Label != "" {
			return t.Label
		}
	}
	return short(v)
}

func short(v float64) string { return format.Short(v, 4) }

func spread(lo, hi Numbers, i int) string {
	if len(lo) == 0 || len(hi) == 0 || !finite(lo[i]) || !finite(hi[i]) {
		return ""
	}
	return " (" + short(lo[i]) + " to " + short(hi[i]) + ")"
}

// errorBars returns the lines of a point's bars and of the caps at their ends.
func (f *frame) errorBars(s *Series, i int, p point) (lines [][]point) {
	bar := func(a, b point, cap point) {
		if p, q, ok := f.plot.clipSegment(a, b); ok {
			lines = append(lines, []point{p, q})
			f.labels.avoidLine([]point{p, q})
		}
		for _, e := range []point{a, b} {
			if f.plot.contains(e) {
				lines = append(lines, []point{{e.x - cap.x, e.y - cap.y}, {e.x + cap.x, e.y + cap.y}})
			}
		}
	}
	if lo, hi, ok := f.ends(s.XLo, s.XHi, i, f.x); ok {
		bar(point{f.pos(lo, s.Y[i]).x, p.y}, point{f.pos(hi, s.Y[i]).x, p.y}, point{0, 2.5})
	}
	if lo, hi, ok := f.ends(s.YLo, s.YHi, i, f.y); ok {
		bar(point{p.x, f.pos(s.X[i], lo).y}, point{p.x, f.pos(s.X[i], hi).y}, point{2.5, 0})
	}
	return lines
}

// ends gives the limits of an error bar, cut at the axis where a log axis has no place for them.
func (f *frame) ends(lo, hi Numbers, i int, s span) (float64, float64, bool) {
	if len(lo) == 0 || len(hi) == 0 || !finite(lo[i]) || !finite(hi[i]) || !s.drawable(hi[i]) {
		return 0, 0, false
	}
	if !s.drawable(lo[i]) {
		return s.lo, hi[i], true
	}
	return lo[i], hi[i], hi[i] > lo[i]
}

// drawBand fills between YLo and YHi wherever both can be drawn.
func (f *frame) drawBand(g painter, s *Series) {
	var upper, lower []point
	flush := func() {
		if len(upper) > 1 {
			for i := len(lower) - 1; i >= 0; i-- {
				upper = append(upper, lower[i])
			}
			g.area(upper, s.Color, 0.16)
		}
		upper, lower = nil, nil
	}
	for i := range s.X {
		lo, hi := s.YLo[i], s.YHi[i]
		if f.y.log && finite(lo) && lo < leastLog && hi >= leastLog {
			lo = f.y.lo // a spread that includes zero extends to the edge of a log axis
		}
		if !f.usable(s.X[i], lo) || !f.usable(s.X[i], hi) {
			flush()
			continue
		}
		a, b := f.plot.clampY(f.pos(s.X[i], hi)), f.plot.clampY(f.pos(s.X[i], lo))
		if !f.plot.contains(a) { // beyond the horizontal range
			flush()
			continue
		}
		upper, lower = append(upper, a), append(lower, b)
	}
	flush()
}

// drawReference draws lines across the panel, each with its label at the far end.
func (f *frame) drawReference(g painter, s *Series) {
	st := s.stroke()
	if s.Width == 0 {
		st.width = 1.1
	}
	values := s.Y
	if s.Kind == VLine {
		values = s.X
	}
	for i, v := range values {
		x, y := f.x.lo, v
		if s.Kind == VLine {
			x, y = v, f.y.lo
		}
		if !f.usable(x, y) {
			continue
		}
		p := f.pos(x, y)
		if !f.plot.contains(p) {
			f.lost.Outside++
			continue
		}
		q := point{f.plot.x + f.plot.w, p.y}
		if s.Kind == VLine {
			q = point{p.x, f.plot.y}
		}
		g.line(st, []point{p, q})
		f.labels.avoidLine([]point{p, q})
		if i < len(s.Labels) {
			f.referenceLabel(g, s.Labels[i], q, s.Kind == VLine)
		}
	}
}

func (f *frame) referenceLabel(g painter, words string, q point, upright bool) {
	at := pointFace
	at.color = Muted
	if upright {
		f.labels.want(point{q.x, q.y + 8}, words, Muted)
		return
	}
	at.anchor = end
	y := q.y - 3.5
	if y-at.size < f.plot.y {
		y = q.y + at.size + 1.5
	}
	g.text(at, label{point{q.x - 3, y}, words})
	w := at.width(words)
	f.labels.taken = append(f.labels.taken, box{q.x - 3 - w, y - at.size, w, at.size + 2})
}

func (f *frame) drawText(g painter, s *Series) {
	at := pointFace
	at.color, at.anchor = s.Color, middle
	if s.Size > 0 {
		at.size = s.Size
	}
	for i, words := range s.Labels {
		if words == "" || !f.usable(s.X[i], s.Y[i]) {
			continue
		}
		p := f.pos(s.X[i], s.Y[i])
		if !f.plot.contains(p) {
			f.lost.Outside++
			continue
		}
		g.text(at, label{point{p.x, p.y + at.size*0.35}, words})
	}
}
