package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// written is a text of a sheet with the room that it takes.
type written struct {
	words, class string // of the innermost group with a class
	box
	size float64
	bold bool
	at   point
}

// sheetOf reads a figure's SVG: its texts, its panels' axes, and the paths of its legend.
type sheetOf struct {
	w, h    float64
	texts   []written
	plots   []box
	samples []box
}

func readSheet(t *testing.T, f Figure) (s sheetOf) {
	t.Helper()
	root := parse(t, draw(t, f))
	s.w, s.h = root.number(t, "width"), root.number(t, "height")
	if root.attr("viewBox") != "0 0 "+root.attr("width")+" "+root.attr("height") {
		t.Errorf("viewBox %s of %s × %s", root.attr("viewBox"), root.attr("width"), root.attr("height"))
	}
	s.read(t, root, "", nil)
	return s
}

// read goes through the elements; common are the attributes of a group of texts.
func (s *sheetOf) read(t *testing.T, e *element, class string, common *element) {
	t.Helper()
	if c := e.attr("class"); c != "" && e.XMLName.Local == "g" {
		class = c
	}
	switch e.XMLName.Local {
	case "text":
		s.text(t, e, class, common)
	case "path":
		if points := corners(t, e.attr("d")); class == "legend" {
			s.samples = append(s.samples, around(points))
		} else if class == "axes" && len(points) == 3 && e.attr("stroke-width") == "0.9" {
			s.plots = append(s.plots, around(points))
		}
	}
	for i := range e.Children {
		s.read(t, &e.Children[i], class, e)
	}
}

func (s *sheetOf) text(t *testing.T, e *element, class string, common *element) {
	t.Helper()
	size, err := strconv.ParseFloat(e.attr("font-size")+common.attr("font-size"), 64)
	if err != nil {
		t.Fatalf("a text without size: %q", e.Text)
	}
	f := face{size: size, bold: e.attr("font-weight")+common.attr("font-weight") == "700"}
	at := point{e.number(t, "x"), e.number(t, "y")}
	w := f.width(e.Text)
	x := at.x
	switch e.attr("text-anchor") {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	s.texts = append(s.texts, written{e.Text, class, box{x, at.y - .75*size, w, .95 * size}, size, f.bold, at})
}

// corners are the corners of a path of this package: absolute first, then steps, or absolute throughout.
func corners(t *testing.T, d string) (out []point) {
	t.Helper()
	var numbers []float64
	step := false
	var at point
	flush := func() {
		for ; len(numbers) >= 2; numbers = numbers[2:] {
			p := point{numbers[0], numbers[1]}
			if step {
				p = point{at.x + p.x, at.y + p.y}
			}
			at = p
			out = append(out, p)
		}
		numbers = nil
	}
	for i := 0; i < len(d); {
		switch c := d[i]; {
		case strings.ContainsRune("MLlmhzZ", rune(c)):
			flush()
			step = c == 'l' || c == 'm'
			i++
			if c == 'h' {
				i++ // h0
			}
		case c == ' ':
			i++
		default:
			j := i + 1
			for j < len(d) && (d[j] >= '0' && d[j] <= '9' || d[j] == '.' && !strings.Contains(d[i:j], ".")) {
				j++
			}
			v, err := strconv.ParseFloat(d[i:j], 64)
			if err != nil {
				t.Fatalf("path %q", d)
			}
			numbers = append(numbers, v)
			i = j
		}
	}
	flush()
	return out
}

func around(points []point) box {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, p := range points {
		lo, hi = point{min(lo.x, p.x), min(lo.y, p.y)}, point{max(hi.x, p.x), max(hi.y, p.y)}
	}
	return box{lo.x, lo.y, hi.x - lo.x, hi.y - lo.y}
}

// drawnFigure is a figure of some panels with long and short words.
func drawnFigure(r *rand.Rand) Figure {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("many words ", n)) }
	f := Figure{ID: "f", Title: words(r.IntN(12)), Columns: r.IntN(4)}
	for i := range r.IntN(4) {
		f.Notes = append(f.Notes, strings.TrimSpace(fmt.Sprint("note ", i, " ", words(r.IntN(30)))))
	}
	labelled := 0
	for i := range 1 + r.IntN(6) {
		p := Panel{ID: fmt.Sprint("p", i), Title: words(r.IntN(8)), X: Axis{Label: []string{"", "epoch"}[r.IntN(2)]}, Y: Axis{Label: []string{"", "a measure of " + words(r.IntN(5))}[r.IntN(2)], Scale: scales[r.IntN(2)]}}
		for j := range 1 + r.IntN(3) {
			kind := []Kind{Line, Points, LinePoints, HLine, VLine}[r.IntN(5)]
			labelled++
			p.Series = append(p.Series, Series{ID: fmt.Sprint(j), Label: fmt.Sprint("curve ", labelled, " ", words(r.IntN(4))), Kind: kind, Color: ColorFor(labelled), X: Numbers{1, 2, 3}, Y: Numbers{1, 10 * r.Float64(), 100 * r.Float64()}})
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}

// TestSheetsHaveRoomForEverything: no two words of a figure overlap, none leaves the sheet, and title, legend, panels and notes stand
// below each other, close together.
func TestSheetsHaveRoomForEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 46))
	for range 60 {
		f := drawnFigure(r)
		s := readSheet(t, f)
		for i, a := range s.texts {
			if a.x < -.01 || a.y < 0 || a.x+a.w > s.w+.01 || a.y+a.h > s.h {
				t.Errorf("%q leaves the sheet of %g × %g: %v", a.words, s.w, s.h, a.box)
			}
			for _, b := range s.texts[:i] {
				if a.overlaps(b.box) {
					t.Errorf("%q lies on %q: %v, %v", a.words, b.words, a.box, b.box)
				}
			}
		}
		columns := f.Columns
		if columns == 0 {
			columns = min(3, len(f.Panels))
		}
		if want := 36 + 320*columns + 22*(columns-1); s.w != float64(want) {
			t.Errorf("%g wide, want %d for %d columns", s.w, want, columns)
		}
		s.panels(t, f, columns)
		s.legend(t, f)
		s.inOrder(t, f)
		if t.Failed() {
			t.Fatalf("%+v", f)
		}
	}
}

// panels stand in rows, each inside its own part of the sheet.
func (s sheetOf) panels(t *testing.T, f Figure, columns int) {
	t.Helper()
	if len(s.plots) != len(f.Panels) {
		t.Fatalf("%d axes of %d panels", len(s.plots), len(f.Panels))
	}
	top := math.Inf(1)
	for i, p := range s.plots {
		left := 18 + 342*float64(i%columns)
		if p.x < left+14 || p.x+p.w > left+310.1 || p.w < 200 || p.h < 100 {
			t.Errorf("panel %d: %v, its column begins at %g", i, p, left)
		}
		bottom := p.y + p.h + 20
		if f.Panels[i].X.Label != "" {
			bottom += 18
		}
		cell := bottom - panelH
		top = min(top, cell)
		if row := float64(i / columns); math.Abs(cell-top-282*row) > .2 {
			t.Errorf("panel %d begins at %g, the first at %g", i, cell, top)
		}
	}
}

// legend has a sample to the left of each name, in lines that are as full as they can be.
func (s sheetOf) legend(t *testing.T, f Figure) {
	t.Helper()
	var names []written
	for _, w := range s.texts {
		if w.class == "legend" {
			names = append(names, w)
		}
	}
	if want := f.legend(); len(names) != len(want) {
		t.Fatalf("%d names in the legend, want %d", len(names), len(want))
	}
	for i, w := range names {
		start := w.at.x - 31 // of its sample
		n := 0
		for _, b := range s.samples {
			if b.x >= start-.1 && b.x+b.w <= w.x && b.y >= w.at.y-12 && b.y+b.h <= w.at.y+4 {
				n++
				if middle := b.y + b.h/2; math.Abs(middle-(w.y+w.h/2)) > 2.5 {
					t.Errorf("the sample of %q is at %v, its words at %v", w.words, b, w.box)
				}
			}
		}
		if n == 0 {
			t.Errorf("no sample beside %q at %v: %v", w.words, w.box, s.samples)
		}
		if i == 0 {
			if start != 18 {
				t.Errorf("the legend begins at %g", start)
			}
			continue
		}
		before := names[i-1]
		next := before.x + before.w + 16
		switch fits := next+31+w.w <= s.w-18; {
		case fits && (w.at.y != before.at.y || math.Abs(start-next) > .02):
			t.Errorf("%q is at %v, though there is room after %q at %v", w.words, w.at, before.words, before.at)
		case !fits && (math.Abs(w.at.y-before.at.y-18) > .02 || start != 18):
			t.Errorf("%q is at %v, no line after %q at %v", w.words, w.at, before.words, before.at)
		}
	}
}

// inOrder compares the heights of title, legend, panels and notes.
func (s sheetOf) inOrder(t *testing.T, f Figure) {
	t.Helper()
	var title, notes []written
	y := 18.0 // the next free height
	for _, w := range s.texts {
		switch {
		case w.size == titleFace.size:
			title = append(title, w)
		case w.class == "" && !w.bold:
			notes = append(notes, w)
		}
	}
	if words := joined(title); words != f.Title {
		t.Errorf("the title is %q, want %q", words, f.Title)
	}
	if words := joined(notes); words != strings.Join(append(slices.Clone(f.Notes), f.DrawNotes()...), " ") {
		t.Errorf("the notes are %q, want %q", words, f.Notes)
	}
	for _, w := range title {
		if !w.bold || w.at.x != 18 || math.Abs(w.at.y-(y+12)) > .02 {
			t.Errorf("a line of the title at %v, bold %v, want %g", w.at, w.bold, y+12)
		}
		y += 19
	}
	for _, w := range s.texts {
		if w.class == "legend" && w.at.y < y+8 {
			t.Errorf("the legend is at %v, the title ends at %g", w.box, y)
		}
	}
	bottom := 0.0
	for i, p := range s.plots {
		bottom = max(bottom, p.y+p.h+20)
		if legend := s.samples; len(legend) > 0 && i == 0 && p.y < legend[len(legend)-1].y+8 {
			t.Errorf("the first panel begins at %g, the legend ends at %v", p.y, legend[len(legend)-1])
		}
	}
	for i, w := range notes {
		if w.at.x != 18 || w.y < bottom || math.Abs(w.at.y-(s.h-18-15*float64(len(notes)-i)+11)) > .02 {
			t.Errorf("note %d of %d at %v of %g", i, len(notes), w.at, s.h)
		}
	}
	if rest := s.h - bottom - 15*float64(len(notes)); rest < 30 || rest > 80 {
		t.Errorf("%g points are free below the panels, which end at %g of %g", rest, bottom, s.h)
	}
}

func joined(texts []written) string {
	var words []string
	for _, w := range texts {
		words = append(words, w.words)
	}
	return strings.Join(words, " ")
}

// TestPixelsAreWhatSVGDraws reads each mark, line and text of an SVG and finds its colour in the PNG of the same figure: in the middle of a mark, along
// lines, somewhere in a text's room, and only paper beyond all of them.
func TestPixelsAreWhatSVGDraws(t *testing.T) {
	var series []Series
	for i, m := range []Marker{Circle, Square, Triangle, Diamond, Cross, Plus, Star, Dot, NoMarker} {
		series = append(series, Series{ID: string(rune('a' + i)), Kind: Points, Marker: m, Size: 12, Color: ColorFor(i), X: Numbers{float64(i + 1)}, Y: Numbers{2}})
	}
	series = append(series, Series{ID: "l", Kind: Line, Color: 3, Width: 3, X: Numbers{1, 5, 9}, Y: Numbers{4, 8, 4}},
		Series{ID: "r", Kind: Points, Marker: Ring, Size: 14, Color: 2, X: Numbers{9}, Y: Numbers{9}},
		Series{ID: "s", Kind: Arrows, Color: 1, Width: 3, X: Numbers{1}, Y: Numbers{9}, X2: Numbers{4}, Y2: Numbers{9}},
		Series{ID: "w", Kind: Text, Size: 20, Color: 4, X: Numbers{5}, Y: Numbers{5}, Labels: []string{"HHH"}})
	at := Axis{Range: Range(0, 10), Ticks: []Tick{}}
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", X: at, Y: at, Series: series}}}
	for _, scale := range []float64{1, 2, 3.5} {
		for theme, dark := range map[Theme]bool{Light: false, Dark: true} {
			var b bytes.Buffer
			if err := WritePNG(&b, f, theme, scale); err != nil {
				t.Fatal(err)
			}
			im, err := png.Decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			samePixels(t, f, im, dark)
		}
	}
}

// alike allows for the smoothing of edges.
func alike(a, b uint32) bool {
	for shift := 0; shift <= 16; shift += 8 {
		if d := int(a>>shift&255) - int(b>>shift&255); d > 8 || d < -8 {
			return false
		}
	}
	return true
}

// colourAt is the colour of a pixel at a place in points.
func colourAt(im image.Image, w float64, p point) uint32 {
	scale := float64(im.Bounds().Dx()) / w
	r, g, b, _ := im.At(int(p.x*scale), int(p.y*scale)).RGBA()
	return uint32(r>>8)<<16 | uint32(g>>8)<<8 | uint32(b>>8)
}

func samePixels(t *testing.T, f Figure, im image.Image, dark bool) {
	t.Helper()
	root := parse(t, draw(t, f))
	w, h := root.number(t, "width"), root.number(t, "height")
	if ratio := float64(im.Bounds().Dy()) / float64(im.Bounds().Dx()); math.Abs(ratio-h/w) > .01 {
		t.Errorf("%v pixels of %g × %g points", im.Bounds(), w, h)
	}
	var covered []box
	colour := map[string]uint32{}
	for c := paper; c <= DataColors; c++ {
		colour[c.variable()] = c.in(dark)
	}
	of := func(e *element) uint32 {
		_, name, _ := strings.Cut(e.attr("style"), "var(")
		name, _, _ = strings.Cut(name, ",")
		return colour[name]
	}
	marks, lines, words := 0, 0, 0
	root.walk(func(e *element) {
		points := corners(t, e.attr("d"))
		switch {
		case e.XMLName.Local == "circle":
			x, y, r := e.number(t, "cx"), e.number(t, "cy"), e.number(t, "r")
			if in, on := colourAt(im, w, point{x, y}), colourAt(im, w, point{x + r, y}); in != paper.in(dark) || !alike(on, of(e)) {
				t.Errorf("a ring at %g, %g is #%06x inside and #%06x on it", x, y, in, on)
			}
			covered = append(covered, box{x - r - 2, y - r - 2, 2*r + 4, 2*r + 4})
		case e.XMLName.Local == "text":
			words++
			size := 20.0
			room := box{e.number(t, "x") - 30, e.number(t, "y") - size, 60, 1.3 * size}
			covered = append(covered, room)
			if got := 1 - share(im, w, room, paper.in(dark)); !(got > .1 && got < .6) {
				t.Errorf("%q covers %.2f of its room", e.Text, got)
			}
		case len(points) == 0:
		case e.attr("class") == "mark":
			marks++
			b := around(points)
			grown, _ := strconv.ParseFloat(e.attr("stroke-width"), 64)
			covered = append(covered, box{b.x - grown, b.y - grown, b.w + 2*grown, b.h + 2*grown})
			if c := (point{b.x + b.w/2, b.y + b.h/2}); !alike(colourAt(im, w, c), of(e)) {
				t.Errorf("the mark at %v is #%06x, want #%06x", c, colourAt(im, w, c), of(e))
			}
		case e.attr("stroke-width") != "":
			lines++
			for i := 1; i < len(points); i++ {
				a, b := points[i-1], points[i]
				for _, s := range []float64{.2, .5, .8} {
					p := point{a.x + s*(b.x-a.x), a.y + s*(b.y-a.y)}
					covered = append(covered, box{min(a.x, b.x) - 4, min(a.y, b.y) - 4, math.Abs(b.x-a.x) + 8, math.Abs(b.y-a.y) + 8})
					if e.attr("stroke-width") == "3" && !alike(colourAt(im, w, p), of(e)) {
						t.Errorf("the line from %v to %v is #%06x at %v, want #%06x", a, b, colourAt(im, w, p), p, of(e))
					}
				}
			}
		case of(e) != paper.in(dark):
			covered = append(covered, around(points))
		}
	})
	if marks != 9 || lines < 3 || words != 1 {
		t.Fatalf("%d marks, %d lines, %d texts", marks, lines, words)
	}
	for x := 0.5; x < w; x += 3 {
		for y := 0.5; y < h; y += 3 {
			p := point{x, y}
			if !slices.ContainsFunc(covered, func(b box) bool {
				return box{b.x - 2, b.y - 2, b.w + 4, b.h + 4}.contains(p)
			}) && colourAt(im, w, p) != paper.in(dark) {
				t.Fatalf("there is #%06x at %v, where the SVG draws nothing", colourAt(im, w, p), p)
			}
		}
	}
}

// share is the part of a box in which pixels have a colour.
func share(im image.Image, w float64, b box, c uint32) float64 {
	n, all := 0.0, 0.0
	for x := b.x; x < b.x+b.w; x += .5 {
		for y := b.y; y < b.y+b.h; y += .5 {
			all++
			if colourAt(im, w, point{x, y}) == c {
				n++
			}
		}
	}
	return n / all
}
