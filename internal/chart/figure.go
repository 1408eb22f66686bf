// Package chart describes figures as data and draws them.
//
// A Figure holds panels, axes, series and texts, and nothing about pixels. Every output is made from that one value: WriteSVG and
// WritePNG (one layout, two painters), Inline (pieces that a page arranges), WriteJSON (stable keys, for pages that draw themselves)
// and WriteCSV (tidy rows). Non-finite values are never drawn; DrawNotes counts what was left out.
//
// Read figure.go first for the vocabulary, then panellayout.go for how a panel becomes a drawing.
package chart

import (
	"math"
	"slices"
)

// Figure is one picture: panels that share a legend. ID names files and page anchors and must be
// unique among the figures of a page; letters, digits, '-', '_' and '.' only.
type Figure struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Caption string   `json:"caption,omitempty"`
	Columns int      `json:"columns,omitempty"` // panels per row in WriteSVG and WritePNG; 0: at most 3
	Panels  []Panel  `json:"panels"`
	Notes   []string `json:"notes,omitempty"`
}

// Panel is one pair of axes and what is drawn in it, in order: later series are on top.
type Panel struct {
	ID     string   `json:"id"`
	Title  string   `json:"title,omitempty"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Equal  bool     `json:"equal,omitempty"` // one unit has the same length on both axes
	Series []Series `json:"series"`
}

// Axis is a coordinate. If Range is nil, it is chosen from the data. If Ticks are given, only those are drawn. Zero makes an
// automatic linear range include 0.
type Axis struct {
	Label string      `json:"label"`
	Unit  string      `json:"unit,omitempty"`
	Scale Scale       `json:"scale,omitempty"`
	Range *[2]float64 `json:"range,omitempty"`
	Ticks []Tick      `json:"ticks,omitempty"`
	Zero  bool        `json:"zero,omitempty"`
}

// Tick is a labelled position on an axis.
type Tick struct {
	Value float64 `json:"value"`
	Label string  `json:"label"`
}

// Scale says how an axis maps values to lengths; the zero value is Linear.
type Scale string

// The scales. Values ≤ 0 cannot be drawn on a Log axis: they are left out and counted.
const (
	Linear Scale = ""
	Log    Scale = "log"
)

// Kind says how a series is drawn.
type Kind string

// The kinds of series, with the fields of Series each one reads besides X and Y.
const (
	Line       Kind = "line"        // broken where a value cannot be drawn
	Points     Kind = "points"      // Labels, XLo…YHi as error bars
	LinePoints Kind = "line+points" // both
	Band       Kind = "band"        // between YLo and YHi over X; Y is not read
	Segments   Kind = "segments"    // from (X,Y) to (X2,Y2)
	Arrows     Kind = "arrows"      // the same with a head at (X2,Y2)
	HLine      Kind = "hline"       // a reference across the panel at each Y; X is not read
	VLine      Kind = "vline"       // a reference down the panel at each X; Y is not read
	Text       Kind = "text"        // Labels written at (X,Y)
	HeatMap    Kind = "heatmap"     // Heat; X and Y are not read
)

// Series is one set of numbers drawn in one way. All coordinate slices that are given have the same length; otherwise drawing
// panics. Series with the same Label (in any panel) share one legend entry; an empty Label has none.
type Series struct {
	ID     string   `json:"id"`
	Label  string   `json:"label,omitempty"`
	Kind   Kind     `json:"kind"`
	Color  Color    `json:"color"`
	Marker Marker   `json:"marker,omitempty"`
	Dashed bool     `json:"dashed,omitempty"`
	Faint  bool     `json:"faint,omitempty"` // drawn light: single runs behind their mean
	Size   float64  `json:"size,omitempty"`  // marker size or text size in points; 0: a default
	Width  float64  `json:"width,omitempty"` // line width in points; 0: a default
	X      Numbers  `json:"x"`               // [] rather than absent, so that pages need not check
	Y      Numbers  `json:"y"`
	Z      Numbers  `json:"z,omitempty"` // Points: a third coordinate, for pages that rotate the picture; flat drawings ignore it
	X2     Numbers  `json:"x2,omitempty"`
	Y2     Numbers  `json:"y2,omitempty"`
	XLo    Numbers  `json:"x_lo,omitempty"`
	XHi    Numbers  `json:"x_hi,omitempty"`
	YLo    Numbers  `json:"y_lo,omitempty"`
	YHi    Numbers  `json:"y_hi,omitempty"`
	N      []int    `json:"n,omitempty"`      // number of runs or samples behind each point
	Labels []string `json:"labels,omitempty"` // texts next to each point
	Heat   *Heat    `json:"heat,omitempty"`
}

// Heat is a grid of values: Z[r*Columns+c] lies between the c-th and (c+1)-th of evenly spaced
// lines from X[0] to X[1], and likewise for rows, the first row at Y[0].
type Heat struct {
	Columns int         `json:"columns"`
	Rows    int         `json:"rows"`
	X       [2]float64  `json:"x"`
	Y       [2]float64  `json:"y"`
	Z       Numbers     `json:"z"`
	Range   *[2]float64 `json:"range,omitempty"` // nil: smallest to largest finite value
	Label   string      `json:"label,omitempty"`
}

// Marker is the shape of a point.
type Marker string

// The markers. Dot is for thousands of samples; the others are for individual points.
const (
	NoMarker Marker = ""
	Dot      Marker = "dot"
	Circle   Marker = "circle"
	Square   Marker = "square"
	Triangle Marker = "triangle"
	Diamond  Marker = "diamond"
	Cross    Marker = "cross"
	Plus     Marker = "plus"
	Ring     Marker = "ring"
	Star     Marker = "star"
)

// MarkerFor returns the i-th marker of those that can be told apart at small size; it repeats after six.
func MarkerFor(i int) Marker {
	return [...]Marker{Circle, Square, Triangle, Diamond, Plus, Star}[((i%6)+6)%6]
}

// Range makes an explicit axis range.
func Range(lo, hi float64) *[2]float64 { return &[2]float64{lo, hi} }

// check panics if a figure is built wrongly, which is a bug in the caller, never in the data.
func (f *Figure) check() {
	if wrong := f.wrong(); wrong != "" {
		panic("chart: " + wrong)
	}
}

// wrong says how a figure is built wrongly, "" if it is not.
func (f *Figure) wrong() string {
	if f.ID == "" {
		return "figure without ID"
	}
	for i := range f.Panels {
		if f.Panels[i].ID == "" {
			return "panel without ID"
		}
		for j := range f.Panels[i].Series {
			if wrong := f.Panels[i].Series[j].wrong(); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

func (s *Series) wrong() string {
	n := s.count()
	for _, v := range []Numbers{s.X, s.Y, s.Z, s.X2, s.Y2, s.XLo, s.XHi, s.YLo, s.YHi} {
		if len(v) != 0 && len(v) != n {
			return "coordinates of one series differ in length"
		}
	}
	if len(s.Labels) > n || (len(s.N) != 0 && len(s.N) != n) {
		return "labels or counts of one series differ in length from its coordinates"
	}
	if h := s.Heat; h != nil && (h.Columns <= 0 || h.Rows <= 0 || h.Rows > len(h.Z) || h.Columns > len(h.Z) || len(h.Z) != h.Rows*h.Columns) {
		return "heat map grid and values disagree"
	}
	if (s.Kind == HeatMap) != (s.Heat != nil) {
		return "a heat map series needs a grid, and only that kind"
	}
	if (s.Kind == Segments || s.Kind == Arrows) && (len(s.X2) != n || len(s.Y2) != n) {
		return "segments need both ends"
	}
	if s.Kind == Band && (len(s.YLo) != n || len(s.YHi) != n) {
		return "a band needs YLo and YHi"
	}
	if slices.Contains(pointed, s.Kind) && len(s.X) != len(s.Y) {
		return "coordinates of one series differ in length"
	}
	return ""
}

// pointed are the kinds whose points have both coordinates.
var pointed = []Kind{Line, Points, LinePoints, Segments, Arrows, Text}

// count is the number of points of a series.
func (s *Series) count() int { return max(len(s.X), len(s.Y)) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
