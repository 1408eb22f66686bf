package chart

import (
	"math"
	"strings"
	"testing"
)

// curveOf is a curve with a word at each point.
func curveOf(id string, words []string, y func(x float64) float64) Series {
	s := Series{ID: id, Label: id, Kind: LinePoints, Labels: words}
	for i := range words {
		x := float64(i) / float64(len(words)-1)
		s.X, s.Y = append(s.X, x), append(s.Y, y(x))
	}
	return s
}

// Labels are only at the ends of curves, and never on another label or on a curve.
func TestWordsStandAtTheEndsOfCurves(t *testing.T) {
	words := []string{"η = 0", "η = 0.1", "η = 0.2", "η = 0.3", "η = 0.4"}
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", Series: []Series{
		curveOf("a", words, func(x float64) float64 { return x }),
		curveOf("b", words, func(x float64) float64 { return x * 1.02 }),
		curveOf("c", words, func(x float64) float64 { return x * x }),
	}}}}
	p := &f.Panels[0]
	g := &recorder{}
	drawPanel(g, p, box{0, 0, panelW, panelH})
	if len(g.words) == 0 || len(g.words) > 6 {
		t.Fatalf("%d words beside curves", len(g.words))
	}
	for i, w := range g.words {
		if text := g.texts[i]; text != "η = 0" && text != "η = 0.4" {
			t.Errorf("%q is on a curve", text)
		}
		for j := range i {
			if w.overlaps(g.words[j]) {
				t.Errorf("%q lies on %q", g.texts[i], g.texts[j])
			}
		}
		for _, line := range g.lines {
			for k := 1; k < len(line); k++ {
				if _, _, hit := w.clipSegment(line[k-1], line[k]); hit {
					t.Errorf("%q is on a curve", g.texts[i])
				}
			}
		}
	}
}

// recorder keeps the words beside points and the lines of curves.
type recorder struct {
	silent
	group []string
	words []box
	texts []string
	lines [][]point
}

func (r *recorder) begin(class string, _ ...string) { r.group = append(r.group, class) }
func (r *recorder) end()                            { r.group = r.group[:len(r.group)-1] }
func (r *recorder) inside(class string) bool        { return r.group[len(r.group)-1] == class }

func (r *recorder) line(_ stroke, lines ...[]point) {
	if r.inside("series") {
		r.lines = append(r.lines, lines...)
	}
}

func (r *recorder) text(f face, words ...label) {
	if !r.inside("labels") {
		return
	}
	for _, w := range words {
		r.texts = append(r.texts, w.words)
		r.words = append(r.words, box{w.at.x, w.at.y - f.size + 1, f.width(w.words), f.size + 1})
	}
}

// Panels of one quantity share a scale unless that squeezes one of them; other panels, and those that the figure sets, keep their own.
func TestPanelsShareScales(t *testing.T) {
	line := func(most float64) []Series {
		return []Series{{ID: "s", Kind: Line, X: Numbers{1, 90 + most}, Y: Numbers{0.1, most}}}
	}
	nc1 := Axis{Label: "NC1", Scale: Log}
	epoch := Axis{Label: "epoch"}
	f := Figure{ID: "f", Panels: []Panel{
		{ID: "a", X: epoch, Y: nc1, Series: line(1)}, {ID: "b", X: epoch, Y: nc1, Series: line(50)},
		{ID: "c", X: epoch, Y: Axis{Label: "NC1"}, Series: line(7)}, {ID: "d", X: epoch, Y: Axis{Label: "loss"}, Series: line(3)},
		{ID: "e", X: epoch, Y: Axis{Label: "NC1", Scale: Log, Range: Range(1e-3, 1)}, Series: line(2)},
		{ID: "low", X: epoch, Y: Axis{Label: "dilation"}, Series: line(1)}, {ID: "high", X: epoch, Y: Axis{Label: "dilation"}, Series: line(8)},
		{ID: "empty", X: epoch, Y: nc1, Series: []Series{{ID: "s", Kind: Line, X: Numbers{1}, Y: Numbers{math.NaN()}}}},
	}}
	at := map[string][4]float64{}
	parse(t, draw(t, f)).walk(func(e *element) {
		if id := e.attr("data-panel"); id != "" {
			at[id] = [4]float64{e.number(t, "data-x-min"), e.number(t, "data-x-max"), e.number(t, "data-y-min"), e.number(t, "data-y-max")}
		}
	})
	if at["a"] != at["b"] || at["a"] != at["empty"] || at["a"][3] < 50 {
		t.Errorf("panels of NC1 on a log axis differ: %v", at)
	}
	if at["c"][3] > 8 || at["d"][3] > 4 || at["e"][2] != 1e-3 || at["e"][3] != 1 {
		t.Errorf("panels of other quantities were changed: %v", at)
	}
	if low, high := at["low"], at["high"]; low[3] > 2 || low[1] != high[1] {
		t.Errorf("a panel is squeezed into an eighth of the axis: %v beside %v", low, high)
	}
	if f.Panels[0].Y.Range != nil {
		t.Error("drawing changed the figure")
	}
	maps := Figure{ID: "f", Panels: []Panel{{ID: "a"}, {ID: "b"}}}
	for i := range maps.Panels {
		maps.Panels[i].Series = []Series{{ID: "s", Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 2, X: [2]float64{0, 1}, Y: [2]float64{0, 1}, Z: Numbers{0, float64(1 + i)}, Label: "loss"}}}
	}
	shared := maps.sharing()
	if r := shared.Panels[0].Series[0].Heat.Range; r == nil || *r != [2]float64{0, 2} || maps.Panels[0].Series[0].Heat.Range != nil {
		t.Errorf("colours of one quantity: %v", r)
	}
}

// A panel that shows only one number becomes a line of text in a drawing, and stays in the data.
func TestTelling(t *testing.T) {
	line := func(id, title string, y ...float64) Panel {
		s := Series{ID: "s", Kind: Line, Y: y}
		for i := range y {
			s.X = append(s.X, float64(i))
		}
		return Panel{ID: id, Title: title, Y: Axis{Label: title}, Series: []Series{s, {ID: "limit", Kind: HLine, Y: Numbers{0}}}}
	}
	f := Figure{ID: "f", Panels: []Panel{line("a", "rank", 2, 2, 2), line("b", "NC1", 1, 0.5), line("c", "NC4", 0, 1e-17, -1e-14), line("d", "one", 3)}}
	got := f.Telling()
	if len(got.Panels) != 2 || got.Panels[0].ID != "b" || got.Panels[1].ID != "d" || len(f.Panels) != 4 || len(f.Notes) != 0 {
		t.Fatalf("%d panels drawn, %d in the figure", len(got.Panels), len(f.Panels))
	}
	if want := "Not drawn, the same throughout: rank = 2.00; NC4 < 10⁻¹²."; len(got.Notes) != 1 || got.Notes[0] != want {
		t.Errorf("%q, wanted %q", got.Notes, want)
	}
	f.Panels = f.Panels[:1]
	if got = f.Telling(); len(got.Panels) != 1 || len(got.Notes) != 0 {
		t.Error("a figure of one panel lost it")
	}
}

// A line leaves out only points that a reader cannot see.
func TestSimplifiedLines(t *testing.T) {
	var smooth []point
	for i := range 500 {
		x := float64(i) / 2
		smooth = append(smooth, point{x, 100 + 80*math.Sin(x/40)})
	}
	few := simplified(smooth)
	if len(few) > 80 || few[0] != smooth[0] || few[len(few)-1] != smooth[len(smooth)-1] {
		t.Errorf("%d of %d points", len(few), len(smooth))
	}
	for _, p := range smooth {
		near := math.Inf(1)
		for i := 1; i < len(few); i++ {
			near = math.Min(near, distance(p, few[i-1], few[i]))
		}
		if near > unseen {
			t.Errorf("%v is %g off the line", p, near)
		}
	}
	spike := []point{{0, 0}, {1, 0}, {2, 9}, {3, 0}, {4, 0}}
	if got := simplified(spike); len(got) != 5 {
		t.Errorf("%v", got)
	}
	var b strings.Builder
	track(&b, []point{{10.04, 0}, {10, -0.26}, {9.5, 3}, {12, 3}})
	if got := b.String(); got != "M10 0l0-.3-.5 3.3 2.5 0" {
		t.Errorf("path %q", got)
	}
}

// The narrowest column of a page is 314 px wide: a phone of 390 px, minus its margins, inside a part that folds open.
func TestTextIsLegibleOnAPhone(t *testing.T) {
	for name, f := range map[string]face{"tick": tickFace, "axis": labelFace, "title": panelFace, "point": pointFace, "note": noteFace, "legend": legendFace} {
		if px := f.size * 314 / panelW; px < 11 {
			t.Errorf("%s: %.1f px", name, px)
		}
	}
	if px := tickFace.size * widest / panelW; px > 18 {
		t.Errorf("numbers of an axis grow to %.1f px", px)
	}
}

// Long titles and names break into lines inside their panel, and numbers on an axis are well separated.
func TestNothingIsClipped(t *testing.T) {
	long := "cross entropy, η = 0.4, seed 3 (degenerate): features of the training samples"
	p := Panel{ID: "p", Title: long, X: Axis{Label: "x"}, Y: Axis{Label: "distance of the centred class means from an orthogonal frame (train)"},
		Series: []Series{{ID: "s", Kind: Line, X: Numbers{1.25e-7, 9.5e-7}, Y: Numbers{1, 2}}}}
	f := newFrame(&p, box{0, 0, panelW, panelH})
	for _, line := range f.title {
		if w := panelFace.width(line); w > panelW {
			t.Errorf("%q is %g wide", line, w)
		}
	}
	for _, line := range f.above {
		if w := labelFace.width(line); w > panelW {
			t.Errorf("%q is %g wide", line, w)
		}
	}
	if len(f.title) < 2 || strings.Join(f.title, " ") != long {
		t.Errorf("title %q", f.title)
	}
	if len(f.xt) < 2 || !f.apart(f.xt) {
		t.Errorf("numbers %v", f.xt)
	}
}
