package chart

import (
	"fmt"
	"image"
	"math"
	"strconv"
)

// Sizes in points. A panel is drawn at panelW × panelH; a page scales it to its column: to 314 px on the narrowest phone, inside a
// part that folds open, where the smallest text is still 11 px high.
const (
	panelW, panelH = 320, 260
	gap            = 22
	margin         = 18

	titleLine, nameLine = 17.0, 16.0 // heights of a line of a panel's title and of an axis's name
)

var (
	tickFace  = face{size: 11.5, color: Muted}
	labelFace = face{size: 11.5, color: Muted}
	panelFace = face{size: 13, bold: true, color: Ink}
	pointFace = face{size: 11.5, color: Ink}
)

// frame is a panel with its axes and its place on the drawing.
type frame struct {
	panel  *Panel
	title  []string // lines of the panel's title
	above  []string // lines of the vertical axis's name
	plot   box      // where data is drawn
	x, y   span
	xt, yt []Tick
	heat   *Heat // the first heat map, which gets a colour bar
	labels *labels
	lost   Lost
}

// Lost counts what a panel could not draw.
type Lost struct {
	NotFinite   int // NaN or infinite
	NotPositive int // zero or negative on a log axis
	Outside     int // beyond an explicit axis range
}

// pos maps data to the drawing.
func (f *frame) pos(x, y float64) point {
	return point{f.plot.x + f.x.at(x)*f.plot.w, f.plot.y + (1-f.y.at(y))*f.plot.h}
}

// usable reports whether a point can be drawn, and counts the reason if not.
func (f *frame) usable(x, y float64) bool {
	switch {
	case !finite(x) || !finite(y):
		f.lost.NotFinite++
	case !f.x.drawable(x) || !f.y.drawable(y):
		f.lost.NotPositive++
	default:
		return true
	}
	return false
}

// newFrame decides on axes and margins of p inside b.
func newFrame(p *Panel, b box) *frame {
	f := &frame{panel: p}
	for i := range p.Series {
		if p.Series[i].Heat != nil && f.heat == nil {
			f.heat = p.Series[i].Heat
		}
	}
	f.x, f.y = p.ranges()
	f.title = wrap(p.Title, panelFace, b.w-4)
	if p.Y.Label != "" {
		f.above = wrap("↑ "+p.Y.title(), labelFace, b.w-4)
	}
	top := 8 + titleLine*float64(len(f.title)) + nameLine*float64(len(f.above))
	bottom := 20.0
	if p.X.Label != "" {
		bottom += 18
	}
	f.plot = box{b.x, b.y + top, b.w, b.h - top - bottom}
	right := 10.0
	if f.heat != nil {
		right = 58
		for _, t := range f.heat.ticks(f.plot.h) {
			right = math.Max(right, 26+tickFace.width(t.Label))
		}
	}
	f.yt = p.Y.ticks(f.y, int(f.plot.h/44))
	left := 14.0
	for _, t := range f.yt {
		left = math.Max(left, tickFace.width(t.Label)+9)
	}
	f.plot.x, f.plot.w = b.x+left, b.w-left-right
	if p.Equal {
		f.equalize()
		f.yt = p.Y.ticks(f.y, int(f.plot.h/44))
	}
	f.xt = f.roomyTicks()
	f.labels = &labels{area: f.plot}
	return f
}

// ticks are the caller's ticks within the range, or chosen ones.
func (a Axis) ticks(s span, want int) []Tick {
	if a.Ticks == nil {
		return s.ticks(want)
	}
	var out []Tick
	for _, t := range a.Ticks {
		if s.drawable(t.Value) && t.Value >= s.lo && t.Value <= s.hi {
			out = append(out, t)
		}
	}
	return out
}

// roomyTicks are the ticks of the horizontal axis, few enough to be well separated.
func (f *frame) roomyTicks() []Tick {
	for want := int(f.plot.w / 58); ; want-- {
		ticks := f.panel.X.ticks(f.x, want)
		if f.apart(ticks) || want <= fewestTicks {
			return f.withoutOverlap(ticks)
		}
	}
}

// between is the least distance between two numbers on an axis.
const between = 5.0

func (f *frame) apart(ticks []Tick) bool { return len(f.withoutOverlap(ticks)) == len(ticks) }

// withoutOverlap leaves out every tick whose number would overlap the one before.
func (f *frame) withoutOverlap(ticks []Tick) []Tick {
	var out []Tick
	right := math.Inf(-1)
	for _, t := range ticks {
		half := tickFace.width(t.Label) / 2
		at := f.x.at(t.Value) * f.plot.w
		if at-half < right+between {
			continue
		}
		right = at + half
		out = append(out, t)
	}
	return out
}

// equalize widens one range so that a unit has the same length on both axes. Both must be linear.
func (f *frame) equalize() {
	if f.x.log || f.y.log {
		panic("chart: Equal needs linear axes")
	}
	ux, uy := (f.x.hi-f.x.lo)/f.plot.w, (f.y.hi-f.y.lo)/f.plot.h
	if grow := (uy*f.plot.w - (f.x.hi - f.x.lo)) / 2; ux < uy {
		f.x.lo, f.x.hi = f.x.lo-grow, f.x.hi+grow
		return
	}
	grow := (ux*f.plot.h - (f.y.hi - f.y.lo)) / 2
	f.y.lo, f.y.hi = f.y.lo-grow, f.y.hi+grow
}

// extents collects every drawable value of the panel.
func (p *Panel) extents() (ex, ey extent) {
	ex, ey = extent{log: p.X.Scale == Log}, extent{log: p.Y.Scale == Log}
	for i := range p.Series {
		p.Series[i].extend(&ex, &ey)
	}
	return ex, ey
}

// ranges determines both axes from explicit ranges or from every drawable value.
func (p *Panel) ranges() (x, y span) {
	ex, ey := p.extents()
	if p.X.Zero {
		ex.add(0)
	}
	if p.Y.Zero {
		ey.add(0)
	}
	x, y = ex.span(), ey.span()
	if p.X.Zero && !x.log && ex.lo == 0 {
		x.lo = 0
	}
	if p.Y.Zero && !y.log && ey.lo == 0 {
		y.lo = 0
	}
	if len(p.Series) == 1 && p.Series[0].Heat != nil && !x.log && !y.log { // a single map fills its panel
		h := p.Series[0].Heat
		x, y = span{lo: min(h.X[0], h.X[1]), hi: max(h.X[0], h.X[1])}, span{lo: min(h.Y[0], h.Y[1]), hi: max(h.Y[0], h.Y[1])}
	}
	if p.X.Range != nil {
		x = explicit(p.X)
	}
	if p.Y.Range != nil {
		y = explicit(p.Y)
	}
	return x, y
}

// extend extends the ranges by what the series shows.
func (s *Series) extend(ex, ey *extent) {
	if h := s.Heat; h != nil {
		ex.add(h.X[:]...)
		ey.add(h.Y[:]...)
		return
	}
	if s.Kind != HLine {
		ex.add(s.X...)
	}
	if s.Kind != VLine && s.Kind != Band {
		ey.add(s.Y...)
	}
	ex.add(s.X2...)
	ey.add(s.Y2...)
	ex.add(s.XLo...)
	ex.add(s.XHi...)
	ey.add(s.YLo...)
	ey.add(s.YHi...)
}

// drawPanel draws p inside b and returns what could not be drawn.
func drawPanel(g painter, p *Panel, b box) Lost {
	f := newFrame(p, b)
	g.begin("panel", "data-panel", p.ID,
		"data-x-min", number(f.x.lo), "data-x-max", number(f.x.hi), "data-x-scale", scaleName(p.X.Scale),
		"data-y-min", number(f.y.lo), "data-y-max", number(f.y.hi), "data-y-scale", scaleName(p.Y.Scale))
	f.drawAxes(g, b)
	for i := range p.Series {
		s := &p.Series[i]
		g.begin("series", "data-series", s.ID, "data-kind", string(s.Kind), "data-points", strconv.Itoa(s.size()))
		f.drawSeries(g, s)
		g.end()
	}
	if len(p.Series) == 0 {
		at := labelFace
		at.anchor = middle
		g.text(at, label{point{f.plot.x + f.plot.w/2, f.plot.y + f.plot.h/2}, "no data"})
	}
	f.labels.draw(g)
	g.end()
	return f.lost
}

func scaleName(s Scale) string {
	if s == Log {
		return "log"
	}
	return "linear"
}

// size is the number of points or cells of a series.
func (s *Series) size() int {
	if s.Heat != nil {
		return len(s.Heat.Z)
	}
	return s.count()
}

// drawAxes draws title, names, grid and numbers. The name of the vertical axis is written horizontally above it.
func (f *frame) drawAxes(g painter, b box) {
	r := f.plot
	g.begin("axes")
	y := b.y
	for _, line := range f.title {
		g.text(panelFace, label{point{b.x + 2, y + 13}, line})
		y += titleLine
	}
	for _, line := range f.above {
		g.text(labelFace, label{point{b.x + 2, y + 12}, line})
		y += nameLine
	}
	if f.panel.X.Label != "" {
		at := labelFace
		at.anchor = end
		g.text(at, label{point{r.x + r.w, r.y + r.h + 33}, f.panel.X.title() + " →"})
	}
	thin := stroke{color: grid, width: 0.8, opacity: 1}
	var lines [][]point
	var below, beside []label
	for _, t := range f.xt {
		at := r.x + f.x.at(t.Value)*r.w
		lines = append(lines, []point{{at, r.y}, {at, r.y + r.h}})
		below = append(below, label{point{at, r.y + r.h + 15}, t.Label})
	}
	for _, t := range f.yt {
		at := r.y + (1-f.y.at(t.Value))*r.h
		lines = append(lines, []point{{r.x, at}, {r.x + r.w, at}})
		beside = append(beside, label{point{r.x - 6, at + 3.4}, t.Label})
	}
	g.line(thin, lines...)
	at := tickFace
	at.anchor = middle
	g.text(at, below...)
	at.anchor = end
	g.text(at, beside...)
	g.line(stroke{color: Muted, width: 0.9, opacity: 1}, []point{{r.x, r.y}, {r.x, r.y + r.h}, {r.x + r.w, r.y + r.h}})
	g.end()
}

func (a Axis) title() string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

// DrawNotes says, panel by panel, how many values could not be drawn and why.
func (f Figure) DrawNotes() []string {
	f.check()
	f = f.sharing()
	var out []string
	for i := range f.Panels {
		p := &f.Panels[i]
		lost := drawPanel(silent{}, p, box{0, 0, panelW, panelH})
		name := p.Title
		if name == "" {
			name = p.ID
		}
		for _, c := range []struct {
			n   int
			why string
		}{{lost.NotFinite, "not finite"}, {lost.NotPositive, "zero or negative on a log axis"},
			{lost.Outside, "outside the axis range"}} {
			if c.n > 0 {
				out = append(out, fmt.Sprintf("%s: %s not drawn (%s).", name, plural(c.n, "value"), c.why))
			}
		}
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// silent is a painter that draws nothing, for running the layout only for its counts.
type silent struct{}

func (silent) begin(string, ...string)                                  {}
func (silent) end()                                                     {}
func (silent) line(stroke, ...[]point)                                  {}
func (silent) area([]point, Color, float64)                             {}
func (silent) marks([]point, Marker, float64, Color, float64, []string) {}
func (silent) image(box, *image.Paletted)                               {}
func (silent) text(face, ...label)                                      {}
