package chart

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ink is all that a panel draws, with the axes that it declares.
type ink struct {
	t             *testing.T
	plot          box // from the axes' own lines
	lo, hi        point
	logX, logY    bool
	inAxes        bool
	groups        int
	lines         [][]point
	strokes       []stroke
	areas         [][]point
	at            []point
	sizes         []float64
	faded         []float64
	images        []box
	words         map[string]label
	faces         map[string]face
	below, beside []label
	lost          Lost
}

// drawn draws a panel.
func drawn(t *testing.T, p Panel) *ink {
	t.Helper()
	g := &ink{t: t, words: map[string]label{}, faces: map[string]face{}}
	g.lost = drawPanel(g, &p, box{7, 5, panelW, panelH})
	if g.groups != 0 {
		t.Errorf("%d groups stay open", g.groups)
	}
	return g
}

func (g *ink) begin(class string, attrs ...string) {
	g.groups++
	g.inAxes = class == "axes"
	for i := 0; i+1 < len(attrs); i += 2 {
		v, _ := strconv.ParseFloat(attrs[i+1], 64)
		switch attrs[i] {
		case "data-x-min":
			g.lo.x = v
		case "data-x-max":
			g.hi.x = v
		case "data-y-min":
			g.lo.y = v
		case "data-y-max":
			g.hi.y = v
		case "data-x-scale":
			g.logX = attrs[i+1] == "log"
		case "data-y-scale":
			g.logY = attrs[i+1] == "log"
		}
	}
}

func (g *ink) end() { g.groups--; g.inAxes = false }

func (g *ink) line(s stroke, lines ...[]point) {
	if g.inAxes {
		if last := lines[len(lines)-1]; len(last) == 3 { // down the left side and along the bottom
			g.plot = box{last[0].x, last[0].y, last[2].x - last[1].x, last[1].y - last[0].y}
		}
		return
	}
	for _, l := range lines {
		g.lines, g.strokes = append(g.lines, l), append(g.strokes, s)
	}
}

func (g *ink) area(pts []point, _ Color, _ float64) { g.areas = append(g.areas, pts) }

func (g *ink) marks(at []point, _ Marker, size float64, _ Color, opacity float64, _ []string) {
	g.at, g.sizes, g.faded = append(g.at, at...), append(g.sizes, size), append(g.faded, opacity)
}

func (g *ink) image(at box, _ *image.Paletted) { g.images = append(g.images, at) }

func (g *ink) text(f face, words ...label) {
	for _, w := range words {
		g.words[w.words], g.faces[w.words] = w, f
	}
	switch {
	case g.inAxes && f.anchor == middle:
		g.below = append(g.below, words...)
	case g.inAxes && f.anchor == end && f.size == tickFace.size && len(words) > 1:
		g.beside = append(g.beside, words...)
	}
}

// place is where a value stands by the definition of the axes that the panel declares.
func (g *ink) place(x, y float64) point {
	share := func(v, lo, hi float64, log bool) float64 {
		if log {
			return math.Log(v/lo) / math.Log(hi/lo)
		}
		return (v - lo) / (hi - lo)
	}
	return point{g.plot.x + g.plot.w*share(x, g.lo.x, g.hi.x, g.logX), g.plot.y + g.plot.h - g.plot.h*share(y, g.lo.y, g.hi.y, g.logY)}
}

func close(a, b point) bool { return math.Abs(a.x-b.x) < 1e-3 && math.Abs(a.y-b.y) < 1e-3 }

// has reports whether there is a line from a to b, in either direction.
func (g *ink) has(a, b point) bool {
	return slices.ContainsFunc(g.lines, func(l []point) bool {
		return len(l) == 2 && (close(l[0], a) && close(l[1], b) || close(l[0], b) && close(l[1], a))
	})
}

var scales = []Scale{Linear, Log}

// TestMarksAndBarsStandAtTheirValues: on all four pairs of axes, marks are at their points, error bars reach from limit to limit with a cap of
// five points across each end, and where a log axis has no place for a lower limit they begin at its edge.
func TestMarksAndBarsStandAtTheirValues(t *testing.T) {
	for _, sx := range scales {
		for _, sy := range scales {
			s := Series{ID: "s", Kind: Points, X: Numbers{1, 20, 300}, Y: Numbers{2, 30, 5}, XLo: Numbers{.5, 15, 200}, XHi: Numbers{3, 20, 400}, YLo: Numbers{1, 30, -1}, YHi: Numbers{4, 40, 6}}
			g := drawn(t, Panel{ID: "p", X: Axis{Label: "x", Scale: sx}, Y: Axis{Label: "y", Scale: sy}, Series: []Series{s}})
			for i := range s.X {
				p := g.place(s.X[i], s.Y[i])
				if !close(g.at[i], p) {
					t.Errorf("%q %q: mark %d at %v, want %v", sx, sy, i, g.at[i], p)
				}
				low := g.place(s.X[i], max(s.YLo[i], g.lo.y))
				a, b := point{p.x, low.y}, g.place(s.X[i], s.YHi[i])
				if sy == Linear {
					a = g.place(s.X[i], s.YLo[i])
				}
				c, d := g.place(s.XLo[i], s.Y[i]), g.place(s.XHi[i], s.Y[i])
				if !g.has(a, b) || !g.has(point{b.x - 2.5, b.y}, point{b.x + 2.5, b.y}) || !g.has(point{a.x - 2.5, a.y}, point{a.x + 2.5, a.y}) {
					t.Errorf("%q %q: no upright bar from %v to %v in %v", sx, sy, a, b, g.lines)
				}
				if !g.has(c, d) || !g.has(point{c.x, c.y - 2.5}, point{c.x, c.y + 2.5}) || !g.has(point{d.x, d.y - 2.5}, point{d.x, d.y + 2.5}) {
					t.Errorf("%q %q: no level bar from %v to %v in %v", sx, sy, c, d, g.lines)
				}
			}
			if len(g.lines) != 18 || g.lost != (Lost{}) {
				t.Errorf("%q %q: %d lines, lost %v", sx, sy, len(g.lines), g.lost)
			}
		}
	}
}

// TestBarsThatAreNone: missing, empty and impossible limits draw nothing.
func TestBarsThatAreNone(t *testing.T) {
	nan := math.NaN()
	for name, of := range map[string]struct {
		lo, hi Numbers
		scale  Scale
	}{
		"no limits": {nil, nil, Linear}, "no lower": {nil, Numbers{3}, Linear}, "no upper": {Numbers{1}, nil, Linear}, "lower missing": {Numbers{nan}, Numbers{3}, Linear},
		"upper missing": {Numbers{1}, Numbers{nan}, Linear}, "one value": {Numbers{2}, Numbers{2}, Linear}, "both below a log axis": {Numbers{-2}, Numbers{-1}, Log},
		"lower missing on a log axis": {Numbers{nan}, Numbers{3}, Log},
	} {
		g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y", Scale: of.scale}, Series: []Series{{ID: "s", Kind: Points, X: Numbers{1}, Y: Numbers{2}, YLo: of.lo, YHi: of.hi}}})
		if len(g.lines) != 0 || len(g.at) != 1 {
			t.Errorf("%s: lines %v, marks %v", name, g.lines, g.at)
		}
	}
}

// TestAxesCoverWhatIsDrawn puts one value far out in each place that a series has, and expects it within the axis, with room beyond it.
func TestAxesCoverWhatIsDrawn(t *testing.T) {
	far := Numbers{1, 90}
	near := Numbers{1, 2}
	for name, of := range map[string]struct {
		s    Series
		x, y bool // which axis reaches 90
	}{
		"x": {Series{Kind: Points, X: far, Y: near}, true, false}, "y": {Series{Kind: Points, X: near, Y: far}, false, true},
		"x bars": {Series{Kind: Points, X: near, Y: near, XLo: near, XHi: far}, true, false}, "y bars": {Series{Kind: Points, X: near, Y: near, YLo: near, YHi: far}, false, true},
		"band": {Series{Kind: Band, X: near, Y: Numbers{}, YLo: near, YHi: far}, false, true}, "ends in x": {Series{Kind: Segments, X: near, Y: near, X2: far, Y2: near}, true, false},
		"ends in y": {Series{Kind: Arrows, X: near, Y: near, X2: near, Y2: far}, false, true}, "a level": {Series{Kind: HLine, X: Numbers{}, Y: far}, false, true},
		"an upright": {Series{Kind: VLine, X: far, Y: Numbers{}}, true, false},
		"lower bars": {Series{Kind: Points, X: far, Y: far, XLo: near, XHi: far, YLo: near, YHi: far}, true, true},
		"map in x":   {Series{Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 1, X: [2]float64{1, 90}, Y: [2]float64{1, 2}, Z: Numbers{1}}}, true, false},
		"map in y":   {Series{Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 1, X: [2]float64{1, 2}, Y: [2]float64{1, 90}, Z: Numbers{1}}}, false, true},
	} {
		of.s.ID = "s"
		other := Series{ID: "o", Kind: Points, X: near, Y: near}
		g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{of.s, other}})
		if got := g.hi.x > 90; got != of.x || g.hi.x < 2 || g.lo.x > 1 || !of.x && g.hi.x > 3 {
			t.Errorf("%s: x from %g to %g", name, g.lo.x, g.hi.x)
		}
		if got := g.hi.y > 90; got != of.y || g.hi.y < 2 || g.lo.y > 1 || !of.y && g.hi.y > 3 {
			t.Errorf("%s: y from %g to %g", name, g.lo.y, g.hi.y)
		}
	}
}

// TestZeroIsOnTheAxis if that is asked for: exactly at its end where all values are on one side, and not on a log axis, which has none.
func TestZeroIsOnTheAxis(t *testing.T) {
	for name, of := range map[string]struct {
		v      Numbers
		scale  Scale
		lo, hi func(lo, hi float64) bool
	}{
		"positive":   {Numbers{5, 9}, Linear, func(lo, _ float64) bool { return lo == 0 }, func(_, hi float64) bool { return hi > 9 && hi < 10 }},
		"both sides": {Numbers{-5, 9}, Linear, func(lo, _ float64) bool { return lo < -5 && lo > -6 }, func(_, hi float64) bool { return hi > 9 }},
		"negative":   {Numbers{-9, -5}, Linear, func(lo, _ float64) bool { return lo < -9 }, func(_, hi float64) bool { return hi >= 0 && hi < 1 }},
		"log":        {Numbers{5, 9}, Log, func(lo, _ float64) bool { return lo > 4 && lo < 5 }, func(_, hi float64) bool { return hi > 9 && hi < 10 }},
	} {
		at := Axis{Label: "v", Scale: of.scale, Zero: true}
		g := drawn(t, Panel{ID: "p", X: at, Y: at, Series: []Series{{ID: "s", Kind: Points, X: of.v, Y: of.v}}})
		if !of.lo(g.lo.x, g.hi.x) || !of.hi(g.lo.x, g.hi.x) || g.lo.x != g.lo.y || g.hi.x != g.hi.y {
			t.Errorf("%s: x from %g to %g, y from %g to %g", name, g.lo.x, g.hi.x, g.lo.y, g.hi.y)
		}
	}
}

// TestLinesLeaveAndComeBack: a curve that leaves the box is drawn up to its edge, and again from where it comes back; what is beyond is counted.
func TestLinesLeaveAndComeBack(t *testing.T) {
	s := Series{ID: "s", Kind: Line, X: Numbers{0, 1, 2, 3, 4, 5, 6}, Y: Numbers{5, 5, 15, 5, 5, -5, 5}}
	g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y", Range: Range(0, 10)}, Series: []Series{s}})
	want := [][]point{
		{g.place(0, 5), g.place(1, 5), g.place(1.5, 10)},
		{g.place(2.5, 10), g.place(3, 5), g.place(4, 5), g.place(4.5, 0)},
		{g.place(5.5, 0), g.place(6, 5)},
	}
	if !slices.EqualFunc(g.lines, want, func(a, b []point) bool { return slices.EqualFunc(a, b, close) }) {
		t.Errorf("%v, want %v", g.lines, want)
	}
	if g.lost != (Lost{Outside: 2}) {
		t.Errorf("lost: %+v", g.lost)
	}
	s.Y[3] = math.NaN() // a value without a place breaks the line, and nothing joins its neighbours
	g = drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{s}})
	if len(g.lines) != 2 || len(g.lines[0]) != 3 || len(g.lines[1]) != 3 || g.lost != (Lost{NotFinite: 1}) {
		t.Errorf("%v, lost %+v", g.lines, g.lost)
	}
}

// TestClippedLinesAreWhatIsInside compares the parts of random polylines with their segments, cut one by one: the same length, in parts that
// do not touch.
func TestClippedLinesAreWhatIsInside(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := box{1, 2, 4, 3}
	length := func(l []point) (sum float64) {
		for i := 1; i < len(l); i++ {
			sum += math.Hypot(l[i].x-l[i-1].x, l[i].y-l[i-1].y)
		}
		return sum
	}
	several := 0
	for range 500 {
		line := make([]point, 2+r.IntN(6))
		for i := range line {
			line[i] = point{6 * r.Float64(), 7 * r.Float64()}
		}
		want, got := 0.0, 0.0
		for i := 1; i < len(line); i++ { // a thousand steps of each segment
			inside := 0
			for k := range 1000 {
				s := (float64(k) + .5) / 1000
				if b.contains(point{line[i-1].x + s*(line[i].x-line[i-1].x), line[i-1].y + s*(line[i].y-line[i-1].y)}) {
					inside++
				}
			}
			want += length(line[i-1:i+1]) * float64(inside) / 1000
		}
		parts := b.clipLine(line)
		for i, part := range parts {
			got += length(part)
			if len(part) < 2 || i > 0 && part[0] == parts[i-1][len(parts[i-1])-1] {
				t.Fatalf("%v becomes %v", line, parts)
			}
		}
		if len(parts) > 1 {
			several++
		}
		if !(math.Abs(got-want) < .05) {
			t.Fatalf("%v: %g points inside, drawn are %g: %v", line, want, got, parts)
		}
	}
	if several < 50 {
		t.Errorf("%d lines of 500 come back", several)
	}
}

// TestReferenceLinesCrossThePanel from side to side and from top to bottom, at their value, with their words at the far end.
func TestReferenceLinesCrossThePanel(t *testing.T) {
	p := Panel{ID: "p", X: Axis{Label: "x", Range: Range(0, 10)}, Y: Axis{Label: "y", Range: Range(0, 10)}, Series: []Series{
		{ID: "h", Kind: HLine, X: Numbers{}, Y: Numbers{4, 11}, Labels: []string{"level"}}, {ID: "v", Kind: VLine, X: Numbers{3, -1}, Y: Numbers{}, Labels: []string{"upright"}},
	}}
	g := drawn(t, p)
	if !g.has(g.place(0, 4), g.place(10, 4)) || !g.has(g.place(3, 0), g.place(3, 10)) || len(g.lines) != 2 || g.lost != (Lost{Outside: 2}) {
		t.Errorf("%v, lost %+v", g.lines, g.lost)
	}
	level, right := g.words["level"], g.place(10, 4)
	if g.faces["level"].anchor != end || math.Abs(level.at.x-right.x) > 4 || level.at.y >= right.y || level.at.y < right.y-5 {
		t.Errorf("the words of the level line end at %v, its end is at %v", level.at, right)
	}
	if up, top := g.words["upright"], g.place(3, 10); math.Abs(up.at.x-top.x) > 60 || up.at.y < top.y || up.at.y > top.y+25 {
		t.Errorf("the words of the upright line are at %v, its end is at %v", up.at, top)
	}
	p.Series = []Series{{ID: "h", Kind: HLine, X: Numbers{}, Y: Numbers{10}, Labels: []string{"top"}}}
	if g = drawn(t, p); g.words["top"].at.y <= g.plot.y+8 { // below the line where there is no room above it
		t.Errorf("the words of a line along the top are at %v, above %v", g.words["top"].at, g.plot)
	}
}

// TestBandsAreBetweenTheirLimits: corner by corner, cut at the box, broken where a limit is missing, and down to the edge of a log axis
// where a spread includes zero.
func TestBandsAreBetweenTheirLimits(t *testing.T) {
	nan := math.NaN()
	s := Series{ID: "s", Kind: Band, X: Numbers{0, 1, 2, 3, 4, 5}, Y: Numbers{}, YLo: Numbers{2, 3, nan, 4, 5, 6}, YHi: Numbers{4, 30, 5, 6, 7, 8}}
	g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y", Range: Range(1, 10)}, Series: []Series{s}})
	want := [][]point{
		{g.place(0, 4), g.place(1, 10), g.place(1, 3), g.place(0, 2)},
		{g.place(3, 6), g.place(4, 7), g.place(5, 8), g.place(5, 6), g.place(4, 5), g.place(3, 4)},
	}
	if !slices.EqualFunc(g.areas, want, func(a, b []point) bool { return slices.EqualFunc(a, b, close) }) {
		t.Errorf("%v, want %v", g.areas, want)
	}
	s = Series{ID: "s", Kind: Band, X: Numbers{0, 1, 2}, Y: Numbers{}, YLo: Numbers{-1, .5, -2}, YHi: Numbers{4, 3, -1}}
	g = drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y", Scale: Log, Range: Range(.1, 10)}, Series: []Series{s}})
	if want := []point{g.place(0, 4), g.place(1, 3), g.place(1, .5), g.place(0, .1)}; len(g.areas) != 1 || !slices.EqualFunc(g.areas[0], want, close) || g.lost != (Lost{NotPositive: 1}) {
		t.Errorf("%v, want %v, lost %+v", g.areas, want, g.lost)
	}
	s = Series{ID: "s", Kind: Band, X: Numbers{0, 5, 6, 9}, Y: Numbers{}, YLo: Numbers{1, 1, 1, 1}, YHi: Numbers{2, 2, 2, 2}}
	g = drawn(t, Panel{ID: "p", X: Axis{Label: "x", Range: Range(4, 7)}, Y: Axis{Label: "y"}, Series: []Series{s}})
	if want := []point{g.place(5, 2), g.place(6, 2), g.place(6, 1), g.place(5, 1)}; len(g.areas) != 1 || !slices.EqualFunc(g.areas[0], want, close) {
		t.Errorf("%v, want %v", g.areas, want)
	}
}

// TestTextsAndMapsStandAtTheirPlaces: words centred on their point in the size that is asked for, a map over its cells and no farther than the axes.
func TestTextsAndMapsStandAtTheirPlaces(t *testing.T) {
	g := drawn(t, Panel{ID: "p", X: Axis{Label: "x", Range: Range(0, 10)}, Y: Axis{Label: "y", Range: Range(0, 10)}, Series: []Series{
		{ID: "t", Kind: Text, Size: 20, X: Numbers{2, 50}, Y: Numbers{3, 3}, Labels: []string{"here", "beyond"}},
		{ID: "h", Kind: HeatMap, Heat: &Heat{Columns: 2, Rows: 2, X: [2]float64{8, 1}, Y: [2]float64{2, 12}, Z: Numbers{1, 2, 3, math.NaN()}}},
	}})
	at := g.place(2, 3)
	if w := g.words["here"]; math.Abs(w.at.x-at.x) > .01 || !(w.at.y > at.y && w.at.y < at.y+10) || g.faces["here"].size != 20 || g.faces["here"].anchor != middle {
		t.Errorf("%v in %v, want about %v", w, g.faces["here"], at)
	}
	if _, there := g.words["beyond"]; there || g.lost != (Lost{Outside: 1, NotFinite: 1}) {
		t.Errorf("what is beyond the axes is drawn, lost %+v", g.lost)
	}
	a, b := g.place(1, 10), g.place(8, 2)
	if len(g.images) != 2 || !close(point{g.images[0].x, g.images[0].y}, a) || !close(point{g.images[0].x + g.images[0].w, g.images[0].y + g.images[0].h}, b) {
		t.Errorf("the map is drawn at %v, want from %v to %v", g.images, a, b)
	}
	if bar := g.images[len(g.images)-1]; bar.x < g.plot.x+g.plot.w || bar.y != g.plot.y || bar.h != g.plot.h {
		t.Errorf("its colours are at %v, beside %v", bar, g.plot)
	}
}

// TestAMapFillsItsPanel if nothing else is drawn there, whichever way round its limits are.
func TestAMapFillsItsPanel(t *testing.T) {
	heat := func() Series {
		return Series{ID: "h", Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 1, X: [2]float64{7, -2}, Y: [2]float64{4, 1}, Z: Numbers{1}}}
	}
	g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{heat()}})
	if g.lo != (point{-2, 1}) || g.hi != (point{7, 4}) || !close(point{g.images[0].x, g.images[0].y}, point{g.plot.x, g.plot.y}) || math.Abs(g.images[0].w-g.plot.w) > .01 || math.Abs(g.images[0].h-g.plot.h) > .01 {
		t.Errorf("from %v to %v, drawn at %v in %v", g.lo, g.hi, g.images[0], g.plot)
	}
	g = drawn(t, Panel{ID: "p", X: Axis{Label: "x", Scale: Log}, Y: Axis{Label: "y"}, Series: []Series{{ID: "h", Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 1, X: [2]float64{1, 100}, Y: [2]float64{4, 1}, Z: Numbers{1}}}}})
	if !(g.lo.x < 1 && g.hi.x > 100) {
		t.Errorf("a map on a log axis has no margin: from %g to %g", g.lo.x, g.hi.x)
	}
}

// TestNumbersStandAtTheirValues: each number beside an axis is where that value is, and those that a caller gives are kept within the range.
func TestNumbersStandAtTheirValues(t *testing.T) {
	for _, scale := range scales {
		at := Axis{Label: "v", Scale: scale, Range: Range(1, 400)}
		g := drawn(t, Panel{ID: "p", X: at, Y: at, Series: []Series{{ID: "s", Kind: Points, X: Numbers{1}, Y: Numbers{1}}}})
		if len(g.below) < fewestTicks || len(g.beside) < fewestTicks {
			t.Fatalf("%q: %v below, %v beside", scale, g.below, g.beside)
		}
		for _, w := range g.below {
			v, err := strconv.ParseFloat(w.words, 64)
			if p := g.place(v, 1); err != nil || math.Abs(p.x-w.at.x) > .01 || w.at.y < g.plot.y+g.plot.h {
				t.Errorf("%q: %s is at %v, the value at %v (%v)", scale, w.words, w.at, p, err)
			}
		}
		for _, w := range g.beside {
			v, err := strconv.ParseFloat(w.words, 64)
			if p := g.place(1, v); err != nil || math.Abs(p.y-w.at.y) > 4 || w.at.x >= g.plot.x {
				t.Errorf("%q: %s is at %v, the value at %v (%v)", scale, w.words, w.at, p, err)
			}
		}
	}
	given := Axis{Label: "v", Scale: Log, Range: Range(1, 10), Ticks: []Tick{{-1, "below"}, {.5, "before"}, {1, "first"}, {3, "middle"}, {10, "last"}, {11, "beyond"}}}
	g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: given, Series: []Series{{ID: "s", Kind: Points, X: Numbers{1}, Y: Numbers{2}}}})
	var words []string
	for _, w := range g.beside {
		words = append(words, w.words)
	}
	if !slices.Equal(words, []string{"first", "middle", "last"}) {
		t.Errorf("of the given numbers there are %q", words)
	}
}

// TestLinesAreToldApartWithoutColour: beyond the fifth colour lines are dashed, and dashed ones otherwise; single runs are faint.
func TestLinesAreToldApartWithoutColour(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []Series{{Color: undashed}, {Color: undashed, Dashed: true}, {Color: undashed + 1}, {Color: undashed + 1, Dashed: true}} {
		s.ID, s.Kind, s.X, s.Y = "s", Line, Numbers{1, 2}, Numbers{1, 2}
		for _, faint := range []bool{false, true} {
			s.Faint = faint
			g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{s}})
			st := g.strokes[0]
			seen[fmt.Sprint(st.dash)] = true
			if (len(st.dash) == 0) != (s.Color == undashed && !s.Dashed) || (st.opacity < .5) != faint || st.width != 1.8 {
				t.Errorf("%+v is drawn with %+v", s, st)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d kinds of lines: %v", len(seen), seen)
	}
	s := Series{ID: "s", Kind: LinePoints, Width: 3, Size: 9, Faint: true, X: Numbers{1, 2}, Y: Numbers{1, 2}}
	g := drawn(t, Panel{ID: "p", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{s}})
	if g.strokes[0].width != 3 || g.sizes[0] != 9 || !(g.faded[0] < .5) {
		t.Errorf("%+v, sizes %v, opacity %v", g.strokes, g.sizes, g.faded)
	}
}

// TestNotesSayWhatIsNotDrawn of each panel, by its title or else its name, once for points that are also a line.
func TestNotesSayWhatIsNotDrawn(t *testing.T) {
	values := Numbers{math.NaN(), 0, 3, 20, math.Inf(1)}
	f := Figure{ID: "f", Panels: []Panel{
		{ID: "p", Title: "Loss", X: Axis{Label: "x"}, Y: Axis{Label: "y", Scale: Log, Range: Range(1, 10)}, Series: []Series{{ID: "s", Kind: LinePoints, X: Numbers{1, 2, 3, 4, 5}, Y: values}}},
		{ID: "all", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{{ID: "s", Kind: Points, X: Numbers{1}, Y: Numbers{1}}}},
		{ID: "named", X: Axis{Label: "x", Range: Range(0, 1)}, Y: Axis{Label: "y"}, Series: []Series{{ID: "s", Kind: Points, X: Numbers{1, 2}, Y: Numbers{1, 2}}}},
	}}
	want := []string{"Loss: 2 values not drawn (not finite).", "Loss: 1 value not drawn (zero or negative on a log axis).", "Loss: 1 value not drawn (outside the axis range).", "named: 1 value not drawn (outside the axis range)."}
	if got := f.DrawNotes(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAxesAreInvertible: the value at the place of a value is that value, on both scales.
func TestAxesAreInvertible(t *testing.T) {
	for _, s := range []span{{lo: -3, hi: 7}, {lo: .01, hi: 1e5, log: true}, {lo: -1e308, hi: 1e308}} {
		if s.at(s.lo) != 0 || math.Abs(s.at(s.hi)-1) > 1e-12 {
			t.Errorf("%+v: ends at %g and %g", s, s.at(s.lo), s.at(s.hi))
		}
		for _, share := range []float64{0, .1, .5, .9, 1} {
			if got := s.at(s.value(share)); math.Abs(got-share) > 1e-9 {
				t.Errorf("%+v: the value at %g is at %g", s, share, got)
			}
		}
	}
}

var numbersOf = regexp.MustCompile(`-?[0-9.]+(e-?[0-9]+)?`)

// coordinates are the numbers of a path or a circle of a whisker.
func coordinates(t *testing.T, svg, begin string) []float64 {
	t.Helper()
	_, rest, ok := strings.Cut(svg, begin)
	if !ok {
		t.Fatalf("no %s in %s", begin, svg)
	}
	rest, _, _ = strings.Cut(rest, `"`)
	var out []float64
	for _, n := range numbersOf.FindAllString(rest, -1) {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// TestWhiskers: the estimate and the ends of its interval stand in proportion between the ends of the line, what is beyond them at the end,
// and nothing is drawn of a number that is missing.
func TestWhiskers(t *testing.T) {
	w := Whisker{Lo: 2, Value: 4, Hi: 8, Min: 0, Max: 10}
	at := func(share float64) float64 { return 4 + 142*share }
	mark := func(w Whisker) float64 { return coordinates(t, w.SVG("words"), `class="mark" d="M`)[0] }
	if bar := coordinates(t, w.SVG("words"), `<path d="M`); math.Abs(bar[0]-at(.2)) > .06 || math.Abs(bar[0]+bar[2]-at(.8)) > .06 || bar[1] != 9 || bar[3] != 0 {
		t.Errorf("the interval is drawn as %v, want from %g to %g", bar, at(.2), at(.8))
	}
	for wanted, ends := range map[[2]float64][2]float64{{1, 3}: {at(.1), at(.3)}, {math.Inf(-1), 5}: {0, at(.5)}, {5, math.Inf(1)}: {at(.5), 150}} {
		w := w
		w.Wanted = [][2]float64{wanted}
		area := coordinates(t, w.SVG("words"), `<path d="M`)
		if math.Abs(area[0]-ends[0]) > .06 || math.Abs(area[0]+area[2]-ends[1]) > .06 || area[1] != 0 {
			t.Errorf("wanted are %v, shaded is %v, want from %g to %g", wanted, area, ends[0], ends[1])
		}
	}
	if got := mark(w); math.Abs(got-at(.4)) > .06 {
		t.Errorf("the mark is at %g, want %g", got, at(.4))
	}
	w.Log, w.Min, w.Max = true, 1, 16
	if got := mark(w); math.Abs(got-at(.5)) > .06 {
		t.Errorf("on a log line the mark is at %g, want %g", got, at(.5))
	}
	w.Value, w.Hi = 100, 100
	if got := mark(w); math.Abs(got-at(1)) > .06 {
		t.Errorf("beyond the line the mark is at %g", got)
	}
	w.Value, w.Lo = -1, -2
	if got := mark(w); math.Abs(got-at(0)) > .06 {
		t.Errorf("before the line the mark is at %g", got)
	}
	for _, missing := range []Whisker{{Lo: math.NaN(), Max: 1}, {Value: math.NaN(), Max: 1}, {Hi: math.NaN(), Max: 1}} {
		if got := missing.SVG("words"); got != "" {
			t.Errorf("%+v: %s", missing, got)
		}
	}
}
