package chart

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// everyKind is a figure with a series of each kind.
func everyKind() Figure {
	x, y := Numbers{1, 2}, Numbers{3, 4}
	p := Panel{ID: "p", Equal: true}
	for _, k := range kinds {
		s := Series{ID: string(k), Kind: k, Color: 1, X: x, Y: y, Labels: []string{"one"}}
		switch k {
		case Band:
			s.YLo, s.YHi = x, y
		case Points:
			s.XLo, s.XHi, s.N = x, y, []int{1, 2}
		case Segments, Arrows:
			s.X2, s.Y2 = y, x
		case HeatMap:
			s = Series{ID: "heat", Kind: k, X: Numbers{}, Y: Numbers{}, Heat: &Heat{Columns: 2, Rows: 1, X: [2]float64{0, 1}, Y: [2]float64{1, 0}, Z: Numbers{1, 2}}}
		}
		p.Series = append(p.Series, s)
	}
	return Figure{ID: "f", Panels: []Panel{p}}
}

// of is the series of a kind.
func (f *Figure) of(k Kind) *Series {
	for i := range f.Panels[0].Series {
		if s := &f.Panels[0].Series[i]; s.Kind == k {
			return s
		}
	}
	return nil
}

// TestDrawable: a figure of every kind can be drawn, and each that would be a panic is an error.
func TestDrawable(t *testing.T) {
	f := everyKind()
	if err := f.Drawable(); err != nil {
		t.Fatal(err)
	}
	if err := WriteSVG(io.Discard, f, Light); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(f *Figure){
		"figure without ID":                    func(f *Figure) { f.ID = "" },
		"at most as many columns":              func(f *Figure) { f.Columns = -1 },
		"1 to 100 panels":                      func(f *Figure) { f.Panels = make([]Panel, 101); f.nameAll() },
		`panel "p": equal needs linear axes`:   func(f *Figure) { f.Panels[0].Y.Scale = Log },
		`scale "sqrt" is not known`:            func(f *Figure) { f.Panels[0].Equal, f.Panels[0].X.Scale = false, "sqrt" },
		"range from 2 to 1":                    func(f *Figure) { f.Panels[0].X.Range = Range(2, 1) },
		`series "line": the kind "pie" is not`: func(f *Figure) { f.of(Line).Kind = "pie" },
		`series "line": a size or width of -1`: func(f *Figure) { f.of(Line).Width = -1 },
		`series "points": an error bar needs`:  func(f *Figure) { f.of(Points).XHi = nil },
		`series "line": an error bar needs`:    func(f *Figure) { f.of(Line).YLo = Numbers{1, 2} },
		`series "text": the colour 40000`:      func(f *Figure) { f.of(Text).Color = 40000 },
		"differ in length":                     func(f *Figure) { f.of(Segments).Y = nil },
		"segments need both ends":              func(f *Figure) { f.of(Arrows).X2 = nil },
		"a band needs":                         func(f *Figure) { f.of(Band).YLo = nil },
		"grid and values disagree":             func(f *Figure) { f.of(HeatMap).Heat = &Heat{Columns: 1 << 32, Rows: 1 << 32} },
		"a heat map without extent":            func(f *Figure) { f.of(HeatMap).Heat.X[1] = 0 },
		"an empty range of colours":            func(f *Figure) { f.of(HeatMap).Heat.Range = Range(1, 1) },
	} {
		f := everyKind()
		spoil(&f)
		if err := f.Drawable(); err == nil || !strings.HasPrefix(err.Error(), "chart: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func (f *Figure) nameAll() {
	for i := range f.Panels {
		f.Panels[i].ID = "p"
	}
}

// FuzzDrawable: whatever can be drawn by its own account is drawn.
func FuzzDrawable(f *testing.F) {
	for _, figure := range []Figure{everyKind(), curves()} {
		text, err := json.Marshal(figure)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"id":"f","panels":[{"id":"p","x":{"range":[-1e308,1e308]},"series":[{"kind":"heatmap","heat":{"columns":1,"rows":1,"x":[1e-320,0],"y":[1e308,-1e308],"z":[null],"range":[-1e308,1e308]}}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var figure Figure
		if len(text) > 1<<16 || json.Unmarshal(text, &figure) != nil || figure.Drawable() != nil {
			return
		}
		if err := WriteSVG(&bytes.Buffer{}, figure, Light); err != nil {
			t.Error(err)
		}
	})
}
