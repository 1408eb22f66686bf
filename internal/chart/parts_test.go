package chart

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAxesHaveATwentiethOfRoom at each end, a tenth about a single value, and a fiftieth of a decade at least on a log axis.
func TestAxesHaveATwentiethOfRoom(t *testing.T) {
	for name, of := range map[string]struct {
		v      []float64
		log    bool
		lo, hi float64
	}{
		"usual": {[]float64{0, 10}, false, -.5, 10.5}, "below zero": {[]float64{-4, -2}, false, -4.1, -1.9}, "one value": {[]float64{2}, false, 1.8, 2.2}, "one below zero": {[]float64{-2}, false, -2.2, -1.8},
		"zero": {[]float64{0, 0}, false, -.5, .5}, "none": {[]float64{math.NaN(), math.Inf(1)}, false, 0, 1}, "almost one": {[]float64{10, 10.0005}, false, 8.99995, 11.00055}, "hardly two": {[]float64{10, 10.01}, false, 9.9995, 10.0105},
		"the largest": {[]float64{-math.MaxFloat64, math.MaxFloat64}, false, -math.MaxFloat64, math.MaxFloat64},
		"decades":     {[]float64{1, 100, -3, 0}, true, math.Pow(10, -.1), math.Pow(10, 2.1)}, "one decade value": {[]float64{10}, true, math.Pow(10, .98), math.Pow(10, 1.02)}, "no decade": {[]float64{-1, 0}, true, .1, 1},
		"the least decade": {[]float64{1e-300, 1e-290}, true, leastLog / 2, math.Pow(10, -289.5)},
	} {
		e := extent{log: of.log}
		e.add(of.v...)
		s := e.span()
		tolerance := 1e-12 * (math.Abs(of.lo)/2 + math.Abs(of.hi)/2)
		if !(math.Abs(s.lo-of.lo) <= tolerance) || !(math.Abs(s.hi-of.hi) <= tolerance) || s.log != of.log {
			t.Errorf("%s: from %g to %g, want %g to %g", name, s.lo, s.hi, of.lo, of.hi)
		}
	}
	s := span{lo: 1, hi: 2, log: true}
	if s.drawable(0) || s.drawable(1e-301) || !s.drawable(1e-300) || s.drawable(math.NaN()) || s.drawable(math.Inf(1)) || !(span{}).drawable(-1) {
		t.Error("what a log axis can show")
	}
}

// TestWordsBreakWhereTheyMust: lines are as full as they can be.
func TestWordsBreakWhereTheyMust(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 46))
	for range 200 {
		var words []string
		for range r.IntN(12) {
			words = append(words, strings.Repeat("w", 1+r.IntN(9)))
		}
		lines, width := wrap(" "+strings.Join(words, "  ")+" ", tickFace, 60), 60.0
		if !slices.Equal(strings.Fields(strings.Join(lines, " ")), words) {
			t.Fatalf("%q from %q", lines, words)
		}
		for i, line := range lines {
			if tickFace.width(line) > width && strings.Contains(line, " ") || line == "" {
				t.Fatalf("%q is %g wide", line, tickFace.width(line))
			}
			if next := strings.Fields(strings.Join(lines[i:], " "))[len(strings.Fields(line)):]; len(next) > 0 && tickFace.width(line+" "+next[0]) <= width {
				t.Fatalf("%q has room for %q", line, next[0])
			}
		}
	}
}

// TestLabelsHideTheLeast: of all places around its point a label takes one that hides no more marks than any other that is free, and none
// if all hide a crowd.
func TestLabelsHideTheLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 46))
	left, placed := 0, 0
	for range 500 {
		l := labels{area: box{0, 0, 120, 90}}
		for range r.IntN(150) {
			l.avoid(point{120 * r.Float64(), 90 * r.Float64()})
		}
		for range r.IntN(3) {
			l.taken = append(l.taken, box{100 * r.Float64(), 70 * r.Float64(), 20, 12})
		}
		w := wantedLabel{at: point{120 * r.Float64(), 90 * r.Float64()}, words: "abc", free: r.IntN(3) == 0}
		got, ok := l.place(w, pointFace)
		width, height := pointFace.width("abc"), pointFace.size+1
		best := math.MaxInt
		for _, d := range places {
			b := box{w.at.x - width/2 + d[0]*(width/2+4.5), w.at.y - height/2 + d[1]*(height/2+3.6), width, height}
			if b.x < 0 || b.y < 0 || b.x+b.w > 120 || b.y+b.h > 90 || slices.ContainsFunc(l.taken, b.overlaps) {
				continue
			}
			if n := hidden(l, b); n < best {
				best = n
			}
		}
		most := map[bool]int{false: 4, true: 0}[w.free]
		switch {
		case ok != (best <= most):
			t.Fatalf("placed %v, the best place hides %d", ok, best)
		case ok && hidden(l, got) != best:
			t.Fatalf("hides %d, the best place %d", hidden(l, got), best)
		case ok:
			placed++
		default:
			left++
		}
	}
	if left < 20 || placed < 20 {
		t.Errorf("%d labels placed, %d left out", placed, left)
	}
}

// hidden counts the marks within two points of a label.
func hidden(l labels, b box) (n int) {
	for _, m := range l.marks {
		if m.x >= b.x-2 && m.x <= b.x+b.w+2 && m.y >= b.y-2 && m.y <= b.y+b.h+2 {
			n++
		}
	}
	return n
}

// TestLinesKeepLabelsOff: a line counts as marks at most five points apart.
func TestLinesKeepLabelsOff(t *testing.T) {
	for _, line := range [][]point{{{0, 0}, {100, 0}}, {{50, 90}, {50, 3}}, {{1, 1}, {34, 78}, {35, 78}}} {
		var l labels
		l.avoidLine(line)
		for k := range 101 {
			a, b := line[0], line[1]
			s := float64(k) / 100
			p := point{a.x + s*(b.x-a.x), a.y + s*(b.y-a.y)}
			if !slices.ContainsFunc(l.marks, func(m point) bool { return max(math.Abs(m.x-p.x), math.Abs(m.y-p.y)) <= 5 }) {
				t.Fatalf("%v is not near a mark of %v: %v", p, line, l.marks)
			}
		}
		if len(l.marks) > 2+30*len(line) {
			t.Errorf("%d marks along %v", len(l.marks), line)
		}
	}
}

// TestTipsTellWhatAMarkIs: its curve, its words, both coordinates with their limits, and how many runs it stands for.
func TestTipsTellWhatAMarkIs(t *testing.T) {
	nan := math.NaN()
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", X: Axis{Label: "epoch"}, Y: Axis{Label: "NC1"}, Series: []Series{{ID: "s", Label: "curve", Kind: Points, X: Numbers{1, 2}, Y: Numbers{.123456, 5}, XLo: Numbers{nan, 1.5},
		XHi: Numbers{2, 2.5}, YLo: Numbers{.1, 4}, YHi: Numbers{.2, nan}, N: []int{3, 4}, Labels: []string{"seed 1"}}}}}}
	var tips []string
	parse(t, draw(t, f)).walk(func(e *element) {
		if e.attr("class") == "mark" && len(e.Children) > 0 { // the legend's has none
			tips = append(tips, e.Children[0].Text)
		}
	})
	if want := []string{"curve · seed 1\nepoch: 1\nNC1: 0.1235 (0.1 to 0.2)\nn = 3", "curve\nepoch: 2 (1.5 to 2.5)\nNC1: 5\nn = 4"}; !slices.Equal(tips, want) {
		t.Errorf("%q, want %q", tips, want)
	}
}

// TestPanelsOfPages: each has its title, a description and a name; the figure's notes come with those of the drawing.
func TestPanelsOfPages(t *testing.T) {
	f := Figure{ID: "fig", Title: "All", Notes: []string{"own"}, Panels: []Panel{{ID: "a", Title: "First", X: Axis{Label: "x", Unit: "s"}, Y: Axis{Label: "y"}, Series: []Series{
		{ID: "s", Label: "l", Kind: Line, X: Numbers{1, 2}, Y: Numbers{1, math.NaN()}}}}, {ID: "b"}}}
	in := Inline(f)
	for i, want := range [][2]string{{"First — All", "y against x (s)"}, {"All", " against "}} {
		root := parse(t, in.Panels[i])
		id := "fig--" + f.Panels[i].ID
		if root.Children[0].Text != want[0] || root.Children[1].Text != want[1] || root.attr("id") != id || root.attr("aria-labelledby") != id+"-t" || root.Children[0].attr("id") != id+"-t" || root.attr("style") != "max-width:470px" || root.attr("viewBox") != "0 0 320 260" {
			t.Errorf("panel %d: %q, %q, %+v", i, root.Children[0].Text, root.Children[1].Text, root.Attrs)
		}
	}
	if !slices.Equal(in.Notes, []string{"own", "First: 1 value not drawn (not finite)."}) || len(in.Legend) != 1 {
		t.Errorf("%q, %v", in.Notes, in.Legend)
	}
	swatch := parse(t, in.Legend[0].Swatch)
	if line := corners(t, swatch.Children[0].attr("d")); swatch.attr("viewBox") != "0 0 26 14" || !slices.Equal(line, []point{{2, 7}, {24, 7}}) {
		t.Errorf("%v in %s", line, swatch.attr("viewBox"))
	}
}

// TestLegendShowsEachWayOnce: one entry a name, with a sample of each kind, colour, marker and dash, whatever panel it is in.
func TestLegendShowsEachWayOnce(t *testing.T) {
	at := Numbers{1, 2}
	line := Series{Label: "a", Kind: Line, Color: 1, X: at, Y: at}
	other := func(change func(*Series)) Series { s := line; change(&s); return s }
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", Series: []Series{line, line, other(func(s *Series) { s.Dashed = true }), other(func(s *Series) { s.Color = 2 }), other(func(s *Series) { s.Label = "" })}},
		{ID: "q", Series: []Series{other(func(s *Series) { s.Label = "b" }), other(func(s *Series) { s.Kind = Points }), other(func(s *Series) { s.Kind, s.Marker = Points, Square }), other(func(s *Series) { s.Faint = true })}}}}
	got := f.legend()
	if len(got) != 2 || got[0].label != "a" || len(got[0].series) != 5 || got[1].label != "b" || len(got[1].series) != 1 {
		t.Errorf("%+v", got)
	}
	g := &ink{t: t, words: map[string]label{}, faces: map[string]face{}}
	for _, s := range []Series{{Kind: Points, Size: 20}, {Kind: Points, Size: 5}, {Kind: Points, Marker: Dot, Size: 2}, {Kind: LinePoints}, {Kind: Band}, {Kind: Arrows}, {Kind: Points, Size: 9}} {
		entry{series: []*Series{&s}}.draw(g, point{10, 20})
	}
	if !slices.Equal(g.sizes, []float64{7, 5, 4, 7, 9}) || !slices.Equal(g.at, slices.Repeat([]point{{23, 27}}, 5)) || !slices.Equal(g.areas[0], []point{{12, 21}, {34, 21}, {34, 33}, {12, 33}}) || len(g.areas) != 2 {
		t.Errorf("samples %v at %v, areas %v", g.sizes, g.at, g.areas)
	}
	if tip := g.areas[1]; tip[0] != (point{34, 27}) || len(g.lines) != 2 {
		t.Errorf("an arrow's head at %v, lines %v", tip, g.lines)
	}
}

// TestArrowsEndInTheirHeads: a triangle whose point is the arrow's, as long as wide, turned to where it points; shorter arrows have shorter heads.
func TestArrowsEndInTheirHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 46))
	for range 100 {
		g := &ink{t: t}
		p, q := point{200 * r.Float64(), 200 * r.Float64()}, point{200 * r.Float64(), 200 * r.Float64()}
		if r.IntN(3) == 0 {
			q = point{p.x + 4*r.Float64() + .1, p.y}
		}
		drawHead(g, p, q, 1)
		n := math.Hypot(q.x-p.x, q.y-p.y)
		h := g.areas[0]
		back := point{(h[1].x + h[2].x) / 2, (h[1].y + h[2].y) / 2}
		length, width := math.Hypot(q.x-back.x, q.y-back.y), math.Hypot(h[1].x-h[2].x, h[1].y-h[2].y)
		along := ((q.x-back.x)*(q.x-p.x) + (q.y-back.y)*(q.y-p.y)) / n
		across := (h[1].x-h[2].x)*(q.x-p.x) + (h[1].y-h[2].y)*(q.y-p.y)
		if h[0] != q || !(math.Abs(length-math.Min(7.5, n)) < 1e-9) || !(math.Abs(width-.84*length) < 1e-9) || !(math.Abs(along-length) < 1e-9) || !(math.Abs(across) < 1e-6) {
			t.Fatalf("from %v to %v: %v", p, q, h)
		}
	}
	g := &ink{t: t}
	if drawHead(g, point{1, 1}, point{1, 1}, 1); len(g.areas) != 0 {
		t.Errorf("an arrow without length has a head: %v", g.areas)
	}
	at := Axis{Label: "v", Range: Range(0, 10)}
	d := drawn(t, Panel{ID: "p", X: at, Y: at, Series: []Series{{ID: "s", Kind: Arrows, X: Numbers{1, 1, 20}, Y: Numbers{1, 2, 3}, X2: Numbers{5, 50, 30}, Y2: Numbers{1, 2, 3}, Labels: []string{"inside"}},
		{ID: "t", Kind: Segments, X: Numbers{2, math.NaN()}, Y: Numbers{5, 1}, X2: Numbers{4, 2}, Y2: Numbers{6, 2}}}})
	if len(d.areas) != 1 || !close(d.areas[0][0], d.place(5, 1)) || !d.has(d.place(1, 2), d.place(10, 2)) || !d.has(d.place(2, 5), d.place(4, 6)) || d.lost != (Lost{Outside: 1, NotFinite: 1}) {
		t.Errorf("heads %v, lines %v, lost %+v", d.areas, d.lines, d.lost)
	}
	if w, there := d.words["inside"]; !there || math.Hypot(w.at.x-d.place(5, 1).x, w.at.y-d.place(5, 1).y) > 60 {
		t.Errorf("the arrow's words at %v, its head at %v", w, d.place(5, 1))
	}
}

// painted keeps the pixels of images and where they are.
type painted struct {
	silent
	at    []box
	of    []*image.Paletted
	texts []label
}

func (p *painted) image(at box, of *image.Paletted) { p.at, p.of = append(p.at, at), append(p.of, of) }
func (p *painted) text(_ face, words ...label)      { p.texts = append(p.texts, words...) }

// TestColoursOfMapsAreThoseOfTheirBar: on linear and log axes, the pixel at a cell's centre has the colour that the bar has at the cell's value; numbers
// beside the bar stand at the colour of their value.
func TestColoursOfMapsAreThoseOfTheirBar(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 46))
	for i := range 40 {
		h := &Heat{Columns: 1 + r.IntN(6), Rows: 1 + r.IntN(6), X: [2]float64{1, 9}, Y: [2]float64{8, 2}, Label: "value"}
		for range h.Columns * h.Rows {
			h.Z = append(h.Z, 20*r.Float64()-5)
		}
		if i%3 == 0 {
			h.Range = Range(-2, 8)
		}
		if i%5 == 0 {
			h.Z[0] = math.NaN()
		}
		scale := scales[i%2]
		p := Panel{ID: "p", X: Axis{Scale: scale, Range: Range(.5, 20)}, Y: Axis{Range: Range(0, 10)}, Series: []Series{{ID: "h", Kind: HeatMap, Heat: h}}}
		g := &painted{}
		lost := drawPanel(g, &p, box{0, 0, panelW, panelH})
		f := newFrame(&p, box{0, 0, panelW, panelH})
		lo, hi := h.limits()
		bar := func(v float64) uint8 { // the bar's colour at a value
			share := (v - lo) / (hi - lo)
			row := int(math.Min(math.Max((1-share)*heatLevels, 0), heatLevels-1))
			return g.of[1].Pix[row*g.of[1].Stride]
		}
		missing := 0
		for j, z := range h.Z {
			x, y := h.center(j)
			at := f.pos(x, y)
			px := int((at.x - g.at[0].x) / g.at[0].w * float64(g.of[0].Rect.Dx()))
			py := int((at.y - g.at[0].y) / g.at[0].h * float64(g.of[0].Rect.Dy()))
			got := g.of[0].Pix[py*g.of[0].Stride+px]
			if math.IsNaN(z) {
				if missing++; got != heatLevels {
					t.Errorf("a cell without a value has colour %d", got)
				}
			} else if d := int(got) - int(bar(z)); d < -1 || d > 1 {
				t.Errorf("%g has colour %d, the bar there %d", z, got, bar(z))
			}
		}
		if lost != (Lost{NotFinite: missing}) || g.at[1].x != f.plot.x+f.plot.w+10 || g.at[1].y != f.plot.y || g.at[1].h != f.plot.h || g.at[1].w != 10 {
			t.Errorf("lost %+v, the bar at %v beside %v", lost, g.at[1], f.plot)
		}
		beside := 0
		for _, w := range g.texts {
			if w.at.x > g.at[1].x+10 && w.words != "value" {
				beside++
				v, err := strconv.ParseFloat(strings.ReplaceAll(w.words, "−", "-"), 64)
				if want := g.at[1].y + (hi-v)/(hi-lo)*g.at[1].h; err != nil || !(math.Abs(w.at.y-3.4-want) < .01) || w.at.x+tickFace.width(w.words) > panelW {
					t.Errorf("%q at %v, want %g", w.words, w.at, want)
				}
			}
		}
		if beside < 3 {
			t.Errorf("%d numbers beside the bar", beside)
		}
	}
}

// TestLimitsOfMaps: those given, or of the finite values; of one value or none there are limits, too.
func TestLimitsOfMaps(t *testing.T) {
	nan := math.NaN()
	for name, of := range map[string]struct {
		h      Heat
		lo, hi float64
	}{"given": {Heat{Z: Numbers{5}, Range: Range(1, 2)}, 1, 2}, "values": {Heat{Z: Numbers{3, nan, -1}}, -1, 3}, "one": {Heat{Z: Numbers{4, 4}}, 4, 5}, "none": {Heat{Z: Numbers{nan}}, 0, 1}} {
		if lo, hi := of.h.limits(); lo != of.lo || hi != of.hi {
			t.Errorf("%s: from %g to %g", name, lo, hi)
		}
	}
	h := &Heat{Columns: 4, Rows: 1, X: [2]float64{0, 4}, Y: [2]float64{0, 1}, Z: Numbers{1, 2, 3, 4}}
	g := drawn(t, Panel{ID: "p", X: Axis{Range: Range(1, 2.5)}, Series: []Series{{ID: "h", Kind: HeatMap, Heat: h}}})
	if g.lost != (Lost{Outside: 2}) {
		t.Errorf("of four cells one ends where the axis begins and one begins beyond its end: lost %+v", g.lost)
	}
	for v, want := range map[float64]int{-1: 0, 0: 0, .99: 0, 1: 1, 3.99: 3, 4: 3, 9: 3} {
		if got := cell(v, [2]float64{0, 4}, 4); got != want {
			t.Errorf("%g is in cell %d, want %d", v, got, want)
		}
		if got := cell(4-v, [2]float64{4, 0}, 4); got != want {
			t.Errorf("%g is in cell %d of a map that falls, want %d", 4-v, got, want)
		}
	}
}

// TestFlatPanels: all curves and bands of a panel at one number; not what has marks, one point, or numbers of both sizes.
func TestFlatPanels(t *testing.T) {
	line := func(y ...float64) Series { return Series{Kind: Line, X: make(Numbers, len(y)), Y: y} }
	band := Series{Kind: Band, X: Numbers{0, 1}, YLo: Numbers{2, 2}, YHi: Numbers{2, 2}}
	for name, of := range map[string]struct {
		series []Series
		unit   string
		words  string // "" if it is drawn
	}{
		"one number": {[]Series{line(2, 2)}, "%", "= 2.00 %"}, "with its band": {[]Series{band, line(2, 2)}, "", "= 2.00"}, "two curves": {[]Series{line(2, 2), line(2, 2, 2)}, "", "= 2.00"}, "a reference": {[]Series{line(2, 2), {Kind: HLine, Y: Numbers{5}}}, "", "= 2.00"},
		"noise": {[]Series{line(1e-14, -1e-13)}, "%", "< 10⁻¹²"}, "noise below one": {[]Series{line(-1, 1e-15)}, "", ""}, "noise above minus one": {[]Series{line(1, 1e-15)}, "", ""}, "another band": {[]Series{line(2, 2), {Kind: Band, X: Numbers{0, 1}, YLo: Numbers{1, 2}, YHi: Numbers{2, 2}}}, "", ""},
		"a higher band": {[]Series{line(2, 2), {Kind: Band, X: Numbers{0, 1}, YLo: Numbers{2, 2}, YHi: Numbers{2, 3}}}, "", ""}, "one point": {[]Series{line(2)}, "", ""}, "points": {[]Series{line(2, 2), {Kind: Points, X: Numbers{1, 2}, Y: Numbers{2, 2}}}, "", ""},
		"a band alone": {[]Series{band}, "", ""}, "nothing": {nil, "", ""}, "nothing known": {[]Series{line(math.NaN(), math.NaN())}, "", ""}, "two numbers": {[]Series{line(2, 2), line(3, 3)}, "", ""},
	} {
		p := Panel{Series: of.series, Y: Axis{Unit: of.unit}}
		if words, flat := p.flat(); words != of.words || flat != (of.words != "") {
			t.Errorf("%s: %q, %v, want %q", name, words, flat, of.words)
		}
	}
	f := Figure{ID: "f", Panels: []Panel{{ID: "a", Title: "Loss", Y: Axis{Label: "value"}, Series: []Series{line(2, 2)}}, {ID: "b", Y: Axis{Label: "NC1"}, Series: []Series{line(0, 0)}}, {ID: "c", Series: []Series{line(1, 2)}}}}
	if got := f.Telling(); !slices.Equal(got.Notes, []string{"Not drawn, the same throughout: Loss (value) = 2.00; (NC1) = 0."}) || len(got.Panels) != 1 {
		t.Errorf("%q", got.Notes)
	}
}

// TestOnlyNamedQuantitiesShareAxes: both names, units and scales must be the same.
func TestOnlyNamedQuantitiesShareAxes(t *testing.T) {
	of := func(x, y Axis, most float64) Panel {
		return Panel{ID: "p", X: x, Y: y, Series: []Series{{ID: "s", Kind: Line, X: Numbers{1, most}, Y: Numbers{1, most}}}}
	}
	for name, c := range map[string]struct {
		x, y   Axis
		change func(p *Panel)
		same   bool
	}{
		"same": {Axis{Label: "a"}, Axis{Label: "b"}, func(*Panel) {}, true}, "log": {Axis{Label: "a"}, Axis{Label: "b", Scale: Log}, func(*Panel) {}, true},
		"no name of x": {Axis{}, Axis{Label: "b"}, func(*Panel) {}, false}, "no name of y": {Axis{Label: "a"}, Axis{}, func(*Panel) {}, false},
		"other x": {Axis{Label: "a"}, Axis{Label: "b"}, func(p *Panel) { p.X.Label = "c" }, false}, "other unit": {Axis{Label: "a"}, Axis{Label: "b"}, func(p *Panel) { p.Y.Unit = "%" }, false},
		"other scale": {Axis{Label: "a"}, Axis{Label: "b"}, func(p *Panel) { p.Y.Scale = Log }, false},
	} {
		f := Figure{ID: "f", Panels: []Panel{of(c.x, c.y, 10), of(c.x, c.y, 12)}}
		c.change(&f.Panels[1])
		got := f.sharing()
		xa, ya := got.Panels[0].ranges()
		xb, yb := got.Panels[1].ranges()
		if (xa == xb && ya == yb) != c.same || c.same && (ya.hi < 12 || got.Panels[0].X.Range == nil) {
			t.Errorf("%s: %v %v and %v %v", name, xa, ya, xb, yb)
		}
	}
	if got := common([][2]float64{{0, 4}, {0, 1}}, Linear); got == nil || *got != [2]float64{0, 4} {
		t.Errorf("a quarter of the axis is enough: %v", got)
	}
	if got := common([][2]float64{{0, 4}, {0, .99}}, Linear); got != nil {
		t.Errorf("less than a quarter is not: %v", got)
	}
	if got := common([][2]float64{{1, 16}, {1, 2}}, Log); got == nil || *got != [2]float64{1, 16} {
		t.Errorf("a quarter of a log axis is enough: %v", got)
	}
	if common(nil, Linear) != nil {
		t.Error("no range is shared")
	}
}

// TestLimitsOfFiguresInJSON: the most that is read, of everything.
func TestLimitsOfFiguresInJSON(t *testing.T) {
	for name, of := range map[string]struct {
		most, more func(f *Figure)
	}{
		"panels":  {func(f *Figure) { f.Panels = slices.Repeat(f.Panels[1:], 100) }, func(f *Figure) { f.Panels = append(f.Panels, f.Panels[0]) }},
		"columns": {func(f *Figure) { f.Columns = 100 }, func(f *Figure) { f.Columns = 101 }},
		"fewest":  {func(f *Figure) { f.Columns = 0 }, func(f *Figure) { f.Columns = -1 }},
		"notes":   {func(f *Figure) { f.Notes = make([]string, 200) }, func(f *Figure) { f.Notes = make([]string, 201) }},
		"series":  {func(f *Figure) { f.Panels[1].Series = slices.Repeat(f.Panels[1].Series, 20) }, func(f *Figure) { f.Panels[1].Series = append(f.Panels[1].Series, f.Panels[1].Series[0]) }},
		"ticks":   {func(f *Figure) { f.Panels[1].Y.Ticks = make([]Tick, 200) }, func(f *Figure) { f.Panels[1].Y.Ticks = make([]Tick, 201) }},
		"size":    {func(f *Figure) { f.Panels[1].Series[0].Size = 100 }, func(f *Figure) { f.Panels[1].Series[0].Size = 100.5 }},
		"width":   {func(f *Figure) { f.Panels[1].Series[0].Width = 100 }, func(f *Figure) { f.Panels[1].Series[0].Width = -1 }},
		"colour":  {func(f *Figure) { f.Panels[1].Series[0].Color = 32767 }, func(f *Figure) { f.Panels[1].Series[0].Color = 32768 }},
		"no ink":  {func(f *Figure) { f.Panels[1].Series[0].Color = -32768 }, func(f *Figure) { f.Panels[1].Series[0].Color = -32769 }},
		"caption": {func(f *Figure) { f.Caption = strings.Repeat("x", 2000) }, func(f *Figure) { f.Caption = strings.Repeat("x", 2001) }},
		"note":    {func(f *Figure) { f.Notes = []string{strings.Repeat("x", 2000)} }, func(f *Figure) { f.Notes[0] = strings.Repeat("x", 2001) }},
		"axis":    {func(f *Figure) { f.Panels[1].X.Unit = strings.Repeat("x", 2000) }, func(f *Figure) { f.Panels[1].X.Unit = strings.Repeat("x", 2001) }},
		"curve":   {func(f *Figure) { f.Panels[1].Series[0].Label = strings.Repeat("x", 2000) }, func(f *Figure) { f.Panels[1].Series[0].Label = strings.Repeat("x", 2001) }},
		"range":   {func(f *Figure) { f.Panels[0].Y.Range = Range(1e-300, 1) }, func(f *Figure) { f.Panels[0].Y.Range = Range(1e-301, 1) }},
		"x bars":  {func(f *Figure) { f.Panels[0].Series[0].XLo, f.Panels[0].Series[0].XHi = Numbers{0, 1}, Numbers{2, 3} }, func(f *Figure) { f.Panels[0].Series[0].XHi = nil }},
		"levels":  {func(f *Figure) { f.Panels[0].Series[1].X = Numbers{2} }, func(f *Figure) { f.Panels[0].Series[1].Y = nil }},
		"upright": {func(f *Figure) { f.Panels[0].Series[2].Y = Numbers{2} }, func(f *Figure) { f.Panels[0].Series[2].X = nil }},
	} {
		f := curves()
		if of.most(&f); f.readable() != nil {
			t.Errorf("%s: %v", name, f.readable())
		}
		if of.more(&f); f.readable() == nil {
			t.Errorf("more %s are read", name)
		}
	}
}
