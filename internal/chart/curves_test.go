package chart

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func curves() Figure {
	return Figure{ID: "f", Title: "t", Columns: 2, Notes: []string{"n"}, Panels: []Panel{
		{ID: "p", Title: "nc1", X: Axis{Label: "epoch", Ticks: []Tick{{1, "one"}}}, Y: Axis{Scale: Log, Range: Range(0.1, 10)}, Series: []Series{
			{ID: "a", Label: "a", Kind: LinePoints, Color: 1, X: Numbers{1, 2}, Y: Numbers{1, 2}, YLo: Numbers{0.5, 1}, YHi: Numbers{2, 3}},
			{ID: "h", Kind: HLine, X: Numbers{}, Y: Numbers{1}}, {ID: "v", Kind: VLine, X: Numbers{1}, Y: Numbers{}}}},
		{ID: "q", Series: []Series{{ID: "b", Kind: Points, X: Numbers{}, Y: Numbers{}}}},
	}}
}

// TestCurvesFromElsewhere reads what WriteJSON wrote.
func TestCurvesFromElsewhere(t *testing.T) {
	var text bytes.Buffer
	if err := WriteJSON(&text, curves()); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCurves(&text)
	if err != nil || !reflect.DeepEqual(got, curves()) {
		t.Errorf("%v\n%+v\n%+v", err, got, curves())
	}
}

// TestCurvesThatCannotBeDrawn: what would be a panic, or take for ever, is an error.
func TestCurvesThatCannotBeDrawn(t *testing.T) {
	for want, spoil := range map[string]func(f *Figure){
		"figure without ID":         func(f *Figure) { f.ID = "" },
		"panel without ID":          func(f *Figure) { f.Panels[0].ID = "" },
		"differ in length":          func(f *Figure) { f.Panels[0].Series[0].Y = Numbers{1} },
		"1 to 100 panels":           func(f *Figure) { f.Columns = 101 },
		"21 series":                 func(f *Figure) { f.Panels[0].Series = slices.Repeat(f.Panels[0].Series[:1], 21) },
		"equal is for":              func(f *Figure) { f.Panels[1].Equal = true },
		`scale "sqrt" is not known`: func(f *Figure) { f.Panels[0].X.Scale = "sqrt" },
		"range from 0 to 10":        func(f *Figure) { f.Panels[0].Y.Range = Range(0, 10) },
		"range from 2 to 2":         func(f *Figure) { f.Panels[0].X.Range = Range(2, 2) },
		"201 ticks":                 func(f *Figure) { f.Panels[0].X.Ticks = make([]Tick, 201) },
		`kind "heatmap" is not drawn`: func(f *Figure) {
			f.Panels[0].Series[0] = Series{Kind: HeatMap, Heat: &Heat{Columns: 1, Rows: 1, X: [2]float64{0, 1}, Y: [2]float64{0, 1}, Z: Numbers{1}}}
		},
		"a size or width of 1e+09":       func(f *Figure) { f.Panels[0].Series[0].Size = 1e9 },
		"a reference line needs a place": func(f *Figure) { f.Panels[0].Series[1].X, f.Panels[0].Series[1].Y = Numbers{1}, nil },
		"an error bar needs both ends":   func(f *Figure) { f.Panels[0].Series[0].YHi = nil },
		"words at points":                func(f *Figure) { f.Panels[0].Series[0].Labels = []string{"a"} },
		"the colour -1000000":            func(f *Figure) { f.Panels[0].Series[0].Color = -1000000 },
		"a text has 2001 bytes":          func(f *Figure) { f.Panels[0].X.Ticks[0].Label = strings.Repeat("x", 2001) },
	} {
		f := curves()
		spoil(&f)
		if err := f.readable(); err == nil || !strings.HasPrefix(err.Error(), "chart: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for _, text := range []string{"", "[]", `{"id": "f"`, `{"id": "f", "panels": [{"id": "p"}]} {}`, `{"id": "f", "panels": [{"id": "p", "name": "x"}]}`} {
		if _, err := ReadCurves(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// FuzzReadCurves: whatever is read can be drawn.
func FuzzReadCurves(f *testing.F) {
	var text bytes.Buffer
	if err := WriteJSON(&text, curves()); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte(`{"id": "f", "panels": [{"id": "p", "x": {"range": [-1e308, 1e308]}, "y": {"range": [0, 5e-324], "zero": true}, "series": [{"kind": "line+points", "x": [null, 1e308, -1e308], "y": [0, 1e-308, null]}]}]}`))
	f.Add([]byte(`{"id": "f", "panels": [{"id": "p", "y": {"scale": "log"}, "series": [{"kind": "line", "x": [0, 1], "y": [1e-300, 1.7e308]}]}, {"id": "q", "series": [{"kind": "hline", "y": [3]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		figure, err := ReadCurves(bytes.NewReader(text))
		if err != nil {
			return
		}
		if err := WriteSVG(io.Discard, figure, Auto); err != nil {
			t.Error(err)
		}
	})
}
