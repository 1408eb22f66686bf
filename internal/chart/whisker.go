package chart

import "math"

// Whisker is an estimate with its interval, drawn as a mark on a line. Whiskers with the same Min and Max can be compared.
type Whisker struct {
	Lo, Value, Hi float64
	Wanted        [][2]float64 // the values that were claimed, shaded; ends may be infinite
	Min, Max      float64      // of the line
	Log           bool
	Color         Color
}

// Size of a whisker, in points.
const (
	whiskerW = 150
	whiskerH = 18
)

// SVG is the whisker as a part of a page, titled with words: "" if a number is missing.
func (w Whisker) SVG(title string) string {
	at := func(v float64) float64 {
		lo, hi := w.Min, w.Max
		if w.Log {
			v, lo, hi = math.Log(max(v, 0)), math.Log(lo), math.Log(hi)
		}
		return 4 + (whiskerW-8)*min(max((v-lo)/(hi-lo), 0), 1)
	}
	from, value, to := at(w.Lo), at(w.Value), at(w.Hi)
	if math.IsNaN(from + value + to) {
		return ""
	}
	const middle = whiskerH / 2
	g := &svgPainter{}
	g.printf(`<svg class="whisker" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`, whiskerW, whiskerH, escape(title))
	for _, r := range w.Wanted {
		a, b := at(r[0]), at(r[1])
		if math.IsInf(r[0], -1) {
			a = 0
		}
		if math.IsInf(r[1], 1) {
			b = whiskerW
		}
		g.area([]point{{a, 0}, {b, 0}, {b, whiskerH}, {a, whiskerH}}, Muted, 0.18)
	}
	line := stroke{color: w.Color, width: 1.6, opacity: 1}
	g.line(line, []point{{from, middle}, {to, middle}}, []point{{from, middle - 3}, {from, middle + 3}}, []point{{to, middle - 3}, {to, middle + 3}})
	g.marks([]point{{value, middle}}, Circle, 6, w.Color, 1, nil)
	g.b.WriteString("</svg>")
	return g.b.String()
}
