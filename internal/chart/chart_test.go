package chart

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// sample is a figure with every kind of series, bad numbers and hostile words.
func sample() Figure {
	nan, inf := math.NaN(), math.Inf(1)
	return Figure{ID: "f1", Title: `A <b>title</b> & "quotes"`, Caption: "caption", Notes: []string{"a note"}, Panels: []Panel{
		{ID: "p1", Title: "First", X: Axis{Label: "x"}, Y: Axis{Label: "y", Unit: "%"}, Series: []Series{
			{ID: "line", Label: "curve <script>", Kind: Line, Color: 1, X: Numbers{0, 1, 2, 3}, Y: Numbers{1, nan, 2, inf}},
			{ID: "points", Label: "marks", Kind: Points, Color: 2, Marker: Square, X: Numbers{0, 2}, Y: Numbers{0, 4}, YLo: Numbers{-1, nan}, YHi: Numbers{1, nan}, N: []int{3, 4}, Labels: []string{"η = 0.1", ""}},
			{ID: "both", Label: "both", Kind: LinePoints, Color: 3, X: Numbers{0, 1}, Y: Numbers{1, nan}},
			{ID: "band", Label: "both", Kind: Band, Color: 3, X: Numbers{0, 1, 2}, YLo: Numbers{0, 0, 1}, YHi: Numbers{1, 2, 3}},
			{ID: "ref", Kind: HLine, Dashed: true, Y: Numbers{2.5}, Labels: []string{"limit"}},
			{ID: "vref", Kind: VLine, X: Numbers{1.5}},
			{ID: "words", Kind: Text, X: Numbers{1}, Y: Numbers{1}, Labels: []string{"here"}},
			{ID: "arrow", Kind: Arrows, X: Numbers{0}, Y: Numbers{0}, X2: Numbers{1}, Y2: Numbers{1}},
		}},
		{ID: "p2", Title: "Logarithmic", X: Axis{Label: "n", Scale: Log}, Y: Axis{Label: "NC1", Scale: Log}, Series: []Series{
			{ID: "log", Label: "curve <script>", Kind: LinePoints, Color: 1, X: Numbers{1, 10, 100, 0}, Y: Numbers{1e-3, 0, 10, 1}}}},
		{ID: "p3", Title: "Map", X: Axis{Label: "s"}, Y: Axis{Label: "t"}, Series: []Series{
			{ID: "map", Kind: HeatMap, Heat: &Heat{Columns: 2, Rows: 2, X: [2]float64{0, 2}, Y: [2]float64{0, 1}, Z: Numbers{0, 1, nan, 3}}}}},
		{ID: "p4", X: Axis{Label: "x"}, Y: Axis{Label: "y"}},
		{ID: "p5", Title: "One point", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{{ID: "one", Kind: Line, X: Numbers{5}, Y: Numbers{7}}}},
	}}
}

// element is any XML element, for reading pictures back.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// walk visits every element.
func (e *element) walk(f func(*element)) {
	f(e)
	for i := range e.Children {
		e.Children[i].walk(f)
	}
}

func (e *element) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attr(name), 64)
	if err != nil {
		t.Fatalf("attribute %s of %s: %v", name, e.XMLName.Local, err)
	}
	return v
}

func parse(t *testing.T, svg string) *element {
	t.Helper()
	var root element
	if err := xml.Unmarshal([]byte(svg), &root); err != nil {
		t.Fatalf("SVG is not well-formed XML: %v", err)
	}
	return &root
}

func draw(t *testing.T, f Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSVG(&b, f, Auto); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSVGCanBeReadBack(t *testing.T) {
	svg := draw(t, sample())
	root := parse(t, svg)
	panels, series, words := map[string]*element{}, map[string]int{}, []string{}
	root.walk(func(e *element) {
		if p := e.attr("data-panel"); p != "" {
			panels[p] = e
		}
		if s := e.attr("data-series"); s != "" {
			series[s] = int(e.number(t, "data-points"))
		}
		if e.XMLName.Local == "text" {
			words = append(words, e.Text)
		}
	})
	if len(panels) != 5 {
		t.Fatalf("%d panels, wanted 5", len(panels))
	}
	p := panels["p1"]
	if lo, hi := p.number(t, "data-y-min"), p.number(t, "data-y-max"); !(lo < -1 && lo > -1.5 && hi > 4 && hi < 4.5) {
		t.Errorf("y range [%g, %g] does not fit data from -1 to 4", lo, hi)
	}
	if p = panels["p2"]; p.attr("data-y-scale") != "log" || !(p.number(t, "data-y-min") > 0) || !(p.number(t, "data-x-min") > 0) {
		t.Error("log panel has a range that is not positive or is not marked as log")
	}
	if p = panels["p3"]; p.number(t, "data-x-max") != 2 || p.number(t, "data-y-max") != 1 {
		t.Error("a heat map alone must fill its panel")
	}
	for id, n := range map[string]int{"line": 4, "points": 2, "map": 4, "one": 1} {
		if series[id] != n {
			t.Errorf("series %s says %d points, wanted %d", id, series[id], n)
		}
	}
	for _, want := range []string{`A <b>title</b> & "quotes"`, "curve <script>", "η = 0.1", "limit", "here", "no data", "↑ y (%)", "x →", "a note"} {
		if !contains(words, want) {
			t.Errorf("text %q is not in the picture", want)
		}
	}
	if strings.Contains(svg, "<script") || strings.Contains(svg, "<b>") {
		t.Error("hostile words were not escaped")
	}
	if n := strings.Count(svg, "http"); n != 1 {
		t.Errorf("%d URLs in the file, wanted the SVG namespace alone", n)
	}
	for _, bad := range []string{"NaN", "Inf"} {
		root.walk(func(e *element) {
			if strings.Contains(e.attr("d"), bad) {
				t.Errorf("path holds %s", bad)
			}
		})
	}
}

func contains(all []string, want string) bool {
	for _, s := range all {
		if s == want {
			return true
		}
	}
	return false
}

func TestLostValuesAreCounted(t *testing.T) {
	want := []string{
		"First: 3 values not drawn (not finite).", // two of the line, one of both (not counted twice)
		"Logarithmic: 2 values not drawn (zero or negative on a log axis).",
		"Map: 1 value not drawn (not finite).",
	}
	if got := sample().DrawNotes(); !reflect.DeepEqual(got, want) {
		t.Fatalf("notes\n%q\nwanted\n%q", got, want)
	}
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", X: Axis{Range: Range(0, 1)}, Series: []Series{{ID: "s", Kind: Points, X: Numbers{0.5, 2}, Y: Numbers{1, 1}}}}}}
	if got := f.DrawNotes(); len(got) != 1 || !strings.Contains(got[0], "1 value not drawn (outside the axis range)") {
		t.Fatalf("a point outside an explicit range gave %q", got)
	}
	if marks := strings.Count(Inline(f).Panels[0], `class="mark"`); marks != 1 {
		t.Fatalf("%d marks drawn, wanted 1", marks)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var back Figure
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	y := back.Panels[0].Series[0].Y
	if len(y) != 4 || y[0] != 1 || !math.IsNaN(y[1]) || y[2] != 2 || !math.IsNaN(y[3]) {
		t.Fatalf("values came back as %v", y)
	}
	var again bytes.Buffer
	if err := WriteJSON(&again, back); err != nil {
		t.Fatal(err)
	}
	if again.String() != b.String() {
		t.Error("a figure that was read and written again is not the same document")
	}
	var keys struct {
		Panels []struct {
			X struct {
				Label, Scale string
			}
			Series []map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &keys); err != nil {
		t.Fatal(err)
	}
	if keys.Panels[1].X.Scale != "log" || keys.Panels[0].Series[1]["y_lo"] == nil || keys.Panels[0].Series[1]["marker"] != "square" {
		t.Error("keys of the page JSON changed")
	}
}

// A series without points has empty coordinates in a document: if they were absent, a page that maps over them would draw nothing of the whole panel.
func TestJSONOfNoPoints(t *testing.T) {
	var b bytes.Buffer
	empty := Figure{ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{ID: "s", Kind: Points}}}}}
	if err := WriteJSON(&b, empty); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"x":[],"y":[]`) {
		t.Errorf("%s", b.String())
	}
}

// TestALineOfOnePointIsAPoint: as a line, the curve of a run that was measured once would be invisible.
func TestALineOfOnePointIsAPoint(t *testing.T) {
	for points, marks := range map[int]int{1: 1, 2: 0} {
		f := Figure{ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{ID: "s", Kind: Line, X: Numbers{1, 2}[:points], Y: Numbers{3, 4}[:points]}}}}}
		var b bytes.Buffer
		if err := WriteSVG(&b, f, Light); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), `class="mark"`); n != marks {
			t.Errorf("a line of %d points has %d marks, wanted %d: %s", points, n, marks, b.String())
		}
	}
}

func TestCSVHoldsEveryNumber(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, sample()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 4 + 2 + 2 + 3 + 1 + 1 + 1 + 1 + 4 + 4 + 1; len(rows) != want {
		t.Fatalf("%d rows, wanted %d", len(rows), want)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	r := rows[5] // the first of the points
	for name, want := range map[string]string{"figure": "f1", "panel": "p1", "series": "points", "kind": "points", "index": "0", "x": "0", "y": "0", "y_lo": "-1", "y_hi": "1", "n": "3", "point_label": "η = 0.1", "x2": "", "z": ""} {
		if r[column[name]] != want {
			t.Errorf("%s = %q, wanted %q", name, r[column[name]], want)
		}
	}
	if rows[2][column["y"]] != "NaN" || rows[4][column["y"]] != "+Inf" {
		t.Error("numbers that are not finite must stay visible in the data")
	}
}

// TestPaintersAgree finds the mark of one point in the pixels where the SVG puts it.
// TestCSVHasNoFormulas names a series and a point as a spreadsheet's formula.
func TestCSVHasNoFormulas(t *testing.T) {
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{ID: "s", Label: "=1+1", Kind: Points, X: Numbers{-1}, Y: Numbers{-2}, Labels: []string{"@SUM(A1)"}}}}}}
	var b bytes.Buffer
	if err := WriteCSV(&b, f); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if row := rows[1]; row[3] != "'=1+1" || row[6] != "-1" || row[7] != "-2" || row[16] != "'@SUM(A1)" {
		t.Errorf("the row is %q", row)
	}
}

func TestPaintersAgree(t *testing.T) {
	f := Figure{ID: "f", Panels: []Panel{{ID: "p", X: Axis{Label: "x", Range: Range(0, 10)},
		Y: Axis{Label: "y", Range: Range(0, 10), Ticks: []Tick{{8, "8"}}}, Series: []Series{{ID: "s", Kind: Points, Marker: Square, Size: 12, Color: 2, X: Numbers{2}, Y: Numbers{8}}}}}}
	var cx, cy, n float64
	checked := 0
	parse(t, draw(t, f)).walk(func(e *element) {
		if e.attr("class") != "mark" {
			return
		}
		for _, pair := range strings.FieldsFunc(e.attr("d"), func(r rune) bool { return strings.ContainsRune("MLZ", r) }) {
			xy := strings.Fields(pair)
			x, _ := strconv.ParseFloat(xy[0], 64)
			y, _ := strconv.ParseFloat(xy[1], 64)
			cx, cy, n = cx+x, cy+y, n+1
		}
	})
	if n != 4 {
		t.Fatalf("square with %g corners", n)
	}
	cx, cy = cx/n, cy/n
	parse(t, draw(t, f)).walk(func(e *element) { // the numbers on the axes stand where the point is
		at := e.attr("text-anchor")
		if e.Text == "2" && at == "middle" {
			checked++
			if x := e.number(t, "x"); !(math.Abs(x-cx) < 0.1) {
				t.Errorf("x = 2 is written at %g, the point lies at %g", x, cx)
			}
		}
		if e.Text == "8" && at == "end" {
			checked++
			if y := e.number(t, "y") - 3.4; !(math.Abs(y-cy) < 0.1) {
				t.Errorf("y = 8 is written at %g, the point lies at %g", y, cy)
			}
		}
	})
	if checked != 2 {
		t.Fatalf("%d axis numbers found, wanted 2 below and 8 at the left", checked)
	}
	for theme, dark := range map[Theme]bool{Light: false, Dark: true} {
		var b bytes.Buffer
		if err := WritePNG(&b, f, theme, 2); err != nil {
			t.Fatal(err)
		}
		im, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		want := func(x, y float64, c Color) {
			t.Helper()
			r, g, bl, _ := im.At(int(2*x), int(2*y)).RGBA()
			got := uint32(r>>8)<<16 | uint32(g>>8)<<8 | uint32(bl>>8)
			if got != c.in(dark) {
				t.Errorf("theme %d: pixel at (%g, %g) is #%06x, wanted #%06x", theme, x, y, got, c.in(dark))
			}
		}
		want(cx, cy, 2)
		want(cx+14, cy+9, paper)
		want(2, 2, paper)
	}
}

func TestThousandsOfPoints(t *testing.T) {
	const n = 20000
	s := Series{ID: "s", Kind: Points, Marker: Dot}
	for i := range n {
		s.X, s.Y = append(s.X, math.Cos(float64(i))), append(s.Y, math.Sin(2*float64(i)))
	}
	svg := draw(t, Figure{ID: "f", Panels: []Panel{{ID: "p", Series: []Series{s}}}})
	if len(svg) > n*20+20000 {
		t.Errorf("%d bytes for %d points", len(svg), n)
	}
	if got := strings.Count(svg, "h0"); got != n {
		t.Errorf("%d points drawn, wanted %d", got, n)
	}
}

func TestSameFigureSameBytes(t *testing.T) {
	first := draw(t, sample())
	if second := draw(t, sample()); first != second {
		t.Error("the same figure gave two different files")
	}
}

func TestInline(t *testing.T) {
	in := Inline(sample())
	if len(in.Panels) != 5 {
		t.Fatalf("%d panels", len(in.Panels))
	}
	for _, p := range in.Panels {
		root := parse(t, p)
		if root.XMLName.Local != "svg" || strings.Contains(p, "http") || strings.Contains(p, "<style") {
			t.Error("an inline panel must be one svg element without URL or style of its own")
		}
	}
	var labels []string
	for _, e := range in.Legend {
		parse(t, e.Swatch)
		labels = append(labels, e.Label)
	}
	if want := []string{"curve <script>", "marks", "both"}; !reflect.DeepEqual(labels, want) {
		t.Errorf("legend %q, wanted %q", labels, want)
	}
	css := StyleSheet()
	if !strings.Contains(css, "prefers-color-scheme:dark") || strings.Contains(css, "http") {
		t.Error("style sheet lacks the dark theme or names a URL")
	}
}

func TestCallersBugsPanic(t *testing.T) {
	for name, f := range map[string]Figure{
		"no id":          {},
		"lengths":        {ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{Kind: Line, X: Numbers{1, 2}, Y: Numbers{1}}}}}},
		"labels":         {ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{Kind: Points, X: Numbers{1}, Y: Numbers{1}, Labels: []string{"a", "b"}}}}}},
		"grid":           {ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{Kind: HeatMap, Heat: &Heat{Columns: 2, Rows: 2, Z: Numbers{1}}}}}}},
		"half a segment": {ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{Kind: Segments, X: Numbers{1}, Y: Numbers{1}}}}}},
		"empty range":    {ID: "f", Panels: []Panel{{ID: "p", X: Axis{Range: Range(1, 1)}}}},
		"log range":      {ID: "f", Panels: []Panel{{ID: "p", X: Axis{Scale: Log, Range: Range(0, 1)}}}},
		"unknown kind":   {ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{Kind: "pie"}}}}},
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "chart: ") {
					t.Errorf("%s: panic %v, wanted one that starts with the package name", name, r)
				}
			}()
			_ = WriteSVG(io.Discard, f, Light)
		}()
	}
}

// contrast is the ratio of WCAG 2.
func contrast(a, b uint32) float64 {
	light := func(v uint32) float64 {
		sum := 0.0
		for i, w := range [3]float64{0.2126, 0.7152, 0.0722} {
			c := float64(v>>(16-8*i)&255) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += w * c
		}
		return sum + 0.05
	}
	x, y := light(a), light(b)
	return math.Max(x, y) / math.Min(x, y)
}

func TestColoursShowOnBothPapers(t *testing.T) {
	for _, dark := range []bool{false, true} {
		for c := Color(1); c <= DataColors; c++ {
			if r := contrast(c.in(dark), paper.in(dark)); !(r >= 3) {
				t.Errorf("colour %d, dark %v: contrast %.2f below 3", c, dark, r)
			}
		}
		for _, c := range []Color{Ink, Muted} {
			if r := contrast(c.in(dark), paper.in(dark)); !(r >= 4.5) {
				t.Errorf("text colour %d, dark %v: contrast %.2f below 4.5", c, dark, r)
			}
		}
	}
	if Color(11).normal() != 1 || ColorFor(-1) != 10 {
		t.Error("colours do not repeat after ten")
	}
}
