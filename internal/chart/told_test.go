package chart

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// told is something that a painter was told to draw, or that an SVG draws.
type told struct {
	what, style, words string
	at                 [][]point
}

// teller keeps what it is told.
type teller struct{ all []told }

func (g *teller) begin(string, ...string)         {}
func (g *teller) end()                            {}
func (g *teller) image(at box, _ *image.Paletted) {}

func (g *teller) line(st stroke, lines ...[]point) {
	if len(lines) > 0 {
		g.all = append(g.all, told{what: "line", style: fmt.Sprint(css(st.color), num(st.width), st.dash, num(st.opacity)), at: lines})
	}
}

func (g *teller) area(pts []point, fill Color, opacity float64) {
	g.all = append(g.all, told{what: "area", style: fmt.Sprint(css(fill), num(opacity)), at: [][]point{pts}})
}

func (g *teller) marks(at []point, m Marker, size float64, c Color, opacity float64, tips []string) {
	for i, p := range at {
		tip := ""
		if tips != nil {
			tip = tips[i]
		}
		one := told{what: "mark", style: fmt.Sprint(css(c), num(opacity)), words: tip, at: [][]point{{p, {size, size}}}}
		if last := len(g.all) - 1; tips == nil && i > 0 { // one path
			g.all[last].at = append(g.all[last].at, one.at[0])
			continue
		}
		g.all = append(g.all, one)
	}
}

func (g *teller) text(f face, words ...label) {
	for _, w := range words {
		g.all = append(g.all, told{what: "text", style: fmt.Sprint(css(f.color), num(f.size), f.bold, f.anchor), words: w.words, at: [][]point{{w.at}}})
	}
}

// drawnIn lists what an SVG draws, in order.
func drawnIn(t *testing.T, e, parent *element, out *[]told) {
	t.Helper()
	a := func(name, otherwise string) string {
		if v := e.attr(name) + parent.attr(name); v != "" {
			return v
		}
		return otherwise
	}
	color := strings.TrimPrefix(strings.TrimPrefix(e.attr("style")+map[bool]string{true: parent.attr("style")}[e.attr("style") == ""], "stroke:"), "fill:")
	tip := ""
	if e.attr("class") == "mark" && len(e.Children) > 0 {
		tip = e.Children[0].Text
	}
	var parts [][]point
	for part := range strings.SplitSeq(strings.TrimPrefix(e.attr("d"), "M"), "M") {
		parts = append(parts, corners(t, "M"+part))
	}
	switch {
	case e.XMLName.Local == "circle":
		p, r := point{e.number(t, "cx"), e.number(t, "cy")}, e.number(t, "r")
		*out = append(*out, told{what: "mark", style: color + a("opacity", "1"), words: tip, at: [][]point{{{p.x - r, p.y - r}, {p.x + r, p.y + r}}}})
	case e.attr("class") == "mark":
		*out = append(*out, told{what: "mark", style: color + a("opacity", "1"), words: tip, at: parts})
	case e.XMLName.Local == "path" && strings.HasSuffix(e.attr("d"), "z"):
		*out = append(*out, told{what: "area", style: color + a("opacity", "1"), at: parts})
	case e.XMLName.Local == "path":
		dash := "[" + e.attr("stroke-dasharray") + "]"
		*out = append(*out, told{what: "line", style: color + e.attr("stroke-width") + dash + a("opacity", "1"), at: parts})
	case e.XMLName.Local == "text":
		anchor := map[string]string{"": "0", "middle": "1", "end": "2"}[e.attr("text-anchor")]
		*out = append(*out, told{what: "text", style: fmt.Sprint(color, a("font-size", ""), a("font-weight", "") == "700", " ", anchor), words: e.Text, at: [][]point{{{e.number(t, "x"), e.number(t, "y")}}}})
	}
	for i := range e.Children {
		drawnIn(t, &e.Children[i], e, out)
	}
}

// off is how far a point is from a polyline.
func off(p point, line []point) float64 {
	best := math.Inf(1)
	for i := range line {
		best = math.Min(best, math.Hypot(p.x-line[i].x, p.y-line[i].y))
		if i > 0 {
			a, b := line[i-1], line[i]
			n := math.Hypot(b.x-a.x, b.y-a.y)
			along := ((p.x-a.x)*(b.x-a.x) + (p.y-a.y)*(b.y-a.y)) / n
			if along > 0 && along < n {
				best = math.Min(best, math.Abs((p.x-a.x)*(b.y-a.y)-(p.y-a.y)*(b.x-a.x))/n)
			}
		}
	}
	return best
}

// TestSVGDrawsWhatItIsTold compares each line, area, mark and text of drawn panels, in order, with what any painter is told.
func TestSVGDrawsWhatItIsTold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 46))
	markers := []Marker{NoMarker, Dot, Circle, Square, Triangle, Diamond, Cross, Plus, Ring, Star}
	for range 60 {
		p := Panel{ID: "p", Title: "A title", X: Axis{Label: "x"}, Y: Axis{Label: "y"}}
		for i := range r.IntN(6) {
			s := Series{ID: strconv.Itoa(i), Label: "l" + strconv.Itoa(i), Kind: []Kind{Line, Points, LinePoints, Band, Segments, Arrows, HLine, VLine, Text}[r.IntN(9)], Color: Color(r.IntN(12) - 1), Marker: markers[r.IntN(len(markers))], Dashed: r.IntN(2) == 0,
				Faint: r.IntN(2) == 0, Size: float64(r.IntN(3) * 5), Width: float64(r.IntN(3))}
			for range 1 + r.IntN(40) {
				s.X, s.Y, s.X2, s.Y2 = append(s.X, r.NormFloat64()), append(s.Y, r.NormFloat64()), append(s.X2, r.NormFloat64()), append(s.Y2, r.NormFloat64())
				s.YLo, s.YHi = append(s.YLo, s.Y[len(s.Y)-1]-r.Float64()), append(s.YHi, s.Y[len(s.Y)-1]+r.Float64())
			}
			if s.Kind == Line || s.Kind == Band {
				slices.Sort(s.X)
			}
			if r.IntN(3) == 0 {
				s.Labels = []string{"first"}
			}
			p.Series = append(p.Series, s)
		}
		want, svg := &teller{}, &svgPainter{}
		drawPanel(want, &p, box{0, 0, panelW, panelH})
		svg.open(panelW, panelH, "", "id", "t", "")
		drawPanel(svg, &p, box{0, 0, panelW, panelH})
		svg.b.WriteString("</svg>")
		var got []told
		root := parse(t, svg.b.String())
		drawnIn(t, root, &element{}, &got)
		if len(got) != len(want.all) {
			t.Fatalf("%d things are drawn, %d were told", len(got), len(want.all))
		}
		for i, w := range want.all {
			sameTold(t, got[i], w)
		}
		if len(p.Series) == 0 {
			nothing := want.all[slices.IndexFunc(want.all, func(w told) bool { return w.words == "no data" })]
			if f := newFrame(&p, box{0, 0, panelW, panelH}); nothing.at[0][0] != (point{f.plot.x + f.plot.w/2, f.plot.y + f.plot.h/2}) {
				t.Fatalf("no data is said at %v of %v", nothing.at, f.plot)
			}
		}
	}
}

func sameTold(t *testing.T, got, want told) {
	t.Helper()
	if got.what != want.what || got.words != want.words || strings.ReplaceAll(got.style, " ", "") != strings.ReplaceAll(want.style, " ", "") {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
	switch got.what {
	case "text":
		if math.Hypot(got.at[0][0].x-want.at[0][0].x, got.at[0][0].y-want.at[0][0].y) > .01 {
			t.Fatalf("%+v, want %+v", got, want)
		}
	case "mark":
		per := len(got.at) / len(want.at)
		if len(got.at) == 1 && len(want.at) > 1 { // discs of one path
			for i, w := range want.at {
				if p := got.at[0][i]; math.Abs(p.x-w[0].x) > .051 || math.Abs(p.y-w[0].y) > .051 {
					t.Fatalf("disc %d at %v, want %v", i, p, w[0])
				}
			}
			return
		}
		for i, w := range want.at {
			b := around(slices.Concat(got.at[i*per : (i+1)*per]...))
			if middle := (point{b.x + b.w/2, b.y + b.h/2}); math.Abs(middle.x-w[0].x) > .11 || math.Abs(middle.y-w[0].y) > .16*w[1].x+.11 || b.w > 1.21*w[1].x+.2 || b.h > 1.21*w[1].x+.2 || b.w > 0 && b.w < .7*w[1].x {
				t.Fatalf("a mark of size %g at %v is drawn in %v", w[1].x, w[0], b)
			}
		}
	default:
		for i, line := range want.at {
			drawn := got.at[i]
			for _, p := range line {
				if d := off(p, drawn); d > unseen+.08 {
					t.Fatalf("%v is %g off what is drawn: %v", p, d, drawn)
				}
			}
			for _, p := range drawn {
				if d := off(p, line); d > .08 {
					t.Fatalf("%v is drawn %g off %v", p, d, line)
				}
			}
			if len(drawn) > len(line) || math.Hypot(drawn[0].x-line[0].x, drawn[0].y-line[0].y) > .08 {
				t.Fatalf("%v is drawn as %v", line, drawn)
			}
		}
	}
}

// TestMarkersAreInTheirMiddle: shapes are symmetric about an upright line, about as wide as their size, and of two kinds.
func TestMarkersAreInTheirMiddle(t *testing.T) {
	for m, filled := range map[Marker]bool{Circle: true, Dot: true, Ring: true, NoMarker: true, Square: true, Triangle: true, Diamond: true, Cross: false, Plus: false, Star: false} {
		got, shape := m.outline(10)
		if got != filled || (shape == nil) != slices.Contains([]Marker{Circle, Dot, Ring, NoMarker}, m) {
			t.Errorf("%s: filled %v, %v", m, got, shape)
		}
		var all []point
		for _, part := range shape {
			all = append(all, part...)
		}
		for _, p := range all {
			if !slices.ContainsFunc(all, func(q point) bool { return math.Abs(q.x+p.x) < 1e-9 && math.Abs(q.y-p.y) < 1e-9 }) {
				t.Errorf("%s: %v has no mirror image in %v", m, p, all)
			}
			if m != Triangle && !slices.ContainsFunc(all, func(q point) bool { return math.Abs(q.x-p.x) < 1e-9 && math.Abs(q.y+p.y) < 1e-9 }) {
				t.Errorf("%s: %v has no image below in %v", m, p, all)
			}
		}
		if b := around(all); shape != nil && (b.w < 8 || b.w > 12.1 || b.h < 7.9 || b.h > 12.1) {
			t.Errorf("%s of size 10 is %g × %g", m, b.w, b.h)
		}
	}
}

// TestRoomBesideThePlot: left of it for the longest number and no more than that, right of it for the numbers of a map.
func TestRoomBesideThePlot(t *testing.T) {
	for _, most := range []float64{1, 1e3, 1e6, -5} {
		p := Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{{ID: "s", Kind: Line, X: Numbers{0, 1}, Y: Numbers{0, most}}}}
		f := newFrame(&p, box{100, 50, panelW, panelH})
		longest := 5.0
		for _, k := range f.yt {
			longest = max(longest, tickFace.width(k.Label))
		}
		if f.plot.x != 100+longest+9 || math.Abs(f.plot.x+f.plot.w-(100+panelW-10)) > 1e-9 || f.plot.y != 50+8+16 || math.Abs(f.plot.y+f.plot.h-(50+panelH-38)) > 1e-9 {
			t.Errorf("most %g: %v beside numbers %g wide", most, f.plot, longest)
		}
		h := &Heat{Columns: 2, Rows: 1, X: [2]float64{0, 2}, Y: [2]float64{0, 1}, Z: Numbers{0, most}}
		q := Panel{ID: "p", Series: []Series{{ID: "h", Kind: HeatMap, Heat: h}, {ID: "i", Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 1, Z: Numbers{1e9}}}}}
		f = newFrame(&q, box{0, 0, panelW, panelH})
		room := 58.0
		for _, k := range h.ticks(f.plot.h) {
			room = max(room, 26+tickFace.width(k.Label))
		}
		if f.heat != h || math.Abs(f.plot.x+f.plot.w-(panelW-room)) > 1e-9 {
			t.Errorf("most %g: %v beside a bar of %g", most, f.plot, room)
		}
	}
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	f := newFrame(&Panel{ID: "p", Title: long, Y: Axis{Label: long}}, box{0, 0, panelW, panelH})
	if !slices.Equal(f.title, wrap(long, panelFace, panelW-4)) || !slices.Equal(f.above, wrap("↑ "+long, labelFace, panelW-4)) || f.plot.y != 8+17*float64(len(f.title))+16*float64(len(f.above)) {
		t.Errorf("%q, %q, %v", f.title, f.above, f.plot)
	}
}

// TestWhiskersHaveEnds three points above and below their line; and ReadCurves refuses what cannot be drawn.
func TestWhiskersHaveEnds(t *testing.T) {
	root := parse(t, Whisker{Lo: 2, Value: 4, Hi: 8, Max: 10}.SVG("words"))
	var got []told
	drawnIn(t, root, &element{}, &got)
	line := got[0].at
	if len(line) != 3 || line[1][0].y != 6 || line[1][1].y != 12 || line[2][0].y != 6 || line[2][1].y != 12 || line[1][0].x != line[0][0].x || line[2][0].x != line[0][1].x {
		t.Errorf("%v", line)
	}
	if _, err := ReadCurves(strings.NewReader(`{"id": "f", "panels": []}`)); err == nil {
		t.Error("a figure without panels is read")
	}
	if got := widen(widen(widen(nil, 2, 3), 1, 2), 5, 6); *got != [2]float64{1, 6} {
		t.Errorf("%v", *got)
	}
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", X: Axis{Range: Range(5, 9)}, Series: []Series{{ID: "h", Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 1, X: [2]float64{0, 5}, Y: [2]float64{0, 1}, Z: Numbers{1}}}}}}}
	if n := strings.Count(draw(t, f), "<image "); n != 1 { // the bar alone: nothing of the map is inside
		t.Errorf("%d images", n)
	}
	edge := box{1, 1, 2, 2}
	for p, want := range map[point]bool{{1, 1}: true, {3, 3}: true, {1 - 2e-6, 2}: false, {2, 3 + 2e-6}: false, {1 - 5e-7, 2}: true} {
		if edge.contains(p) != want {
			t.Errorf("%v in %v: %v", p, edge, !want)
		}
	}
}
