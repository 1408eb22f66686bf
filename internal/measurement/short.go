package measurement

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/measure"
)

// NothingOfTwo stands beside a measure whose value is fixed by the class sizes where there are two classes.
const NothingOfTwo = "says nothing of two classes"

const (
	shortLines = 14 // that the short report has at most
	mostLayers = 5
)

// Limits of the marks beside NC2 to NC4; we chose them. That of NC1 is the headline's state.
const (
	dualDistance  = simplexDistance // NC3
	centreDecides = 0.01            // NC4
)

// WriteShort prints what a reader wants first: the headline, NC1 to NC4, accuracy, what is unusual, and what comes next if anything is
// given, in at most shortLines lines of the screen's width.
func (m *Result) WriteShort(w io.Writer, s screen.Screen, next string) error {
	width := s.Columns()
	table := m.propertyLines(s)
	if len(m.Columns) > 1 {
		table = m.layerLines(width)
	}
	if words := m.accuracies(); words != "" {
		table = append(table, cut(words, width))
	}
	var last []string
	if next != "" {
		last = append(last, s.Painted(screen.Quiet, cut(safetext.Line(next), width)))
	}
	words, state := usualHeadline(m.MainColumn().Report)
	left := shortLines - len(table) - len(last) - 2 // what was measured, and an empty line
	var odd []string
	if words := m.unusually(); words != "" {
		odd = screen.Wrap("unusual: "+safetext.Line(words), width)
	}
	first := atMost(left-min(1, len(odd)), width, screen.Wrap(safetext.Line(words)+".", width))
	odd = atMost(left-len(first), width, odd)
	for i := range first {
		first[i] = s.Painted(paintOf[state], first[i])
	}
	lines := append(first, s.Painted(screen.Quiet, cut(m.measured(), width)), "")
	lines = slices.Concat(lines, table, odd, last)
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// paintOf is how the headline of a state looks.
var paintOf = map[state]screen.Paint{noCollapse: screen.Bad, byChance: screen.Bad, collapsed: screen.Good, complete: screen.Good, unknown: screen.Strong,
	maybeOverlap: screen.Strong, onTheWay: screen.Strong, partial: screen.Strong}

// measured says in a line what was measured.
func (m *Result) measured() string {
	words, _, _ := strings.Cut(m.subject(), "\n")
	return words
}

// propertyLines are a head and a line for each of NC1 to NC4: a mark, its value, what it is, and its range by chance.
func (m *Result) propertyLines(s screen.Screen) (lines []string) {
	rows, wide := [][]string{{"", "0 if collapsed", "shuffled labels"}}, 0
	for _, p := range measure.Properties() {
		row := m.propertyRow(p)
		rows, wide = append(rows, row), max(wide, utf8.RuneCountInString(row[0]))
	}
	for i, row := range rows {
		name, mark := "   ", " "
		if i > 0 {
			p := measure.Properties()[i-1]
			name = p.Name
			if good, known := m.met(p.Key); known {
				mark = s.Mark(good)
			}
		}
		line, room := fmt.Sprintf("%s  %s  %-28s  %s", name, padded(row[0], wide), row[1], row[2]), s.Columns()
		if s.Marks {
			room -= 2
			mark += " "
		} else {
			mark = ""
		}
		lines = append(lines, strings.TrimRight(mark+cut(safetext.Line(line), room), " "))
	}
	return lines
}

// propertyRow is the value of one of NC1 to NC4, what it is, and its range by chance or why it is missing.
func (m *Result) propertyRow(p measure.Property) []string {
	c := m.MainColumn()
	switch v, ok := c.Measures.Get(p.Key); {
	case !ok:
		return []string{"–", p.Short, c.Missing[p.Key]}
	case SaysNothing(p.Key, c.Report.K):
		return []string{"–", p.Short, NothingOfTwo}
	default:
		return []string{ShortValue(p.Key, v) + c.shortOpen(p.Key), p.Short, cmp.Or(c.chance(p.Key), "–")}
	}
}

// met reports whether one of NC1 to NC4 is as small as in collapse, whatever its rounding error; false if that is not known.
func (m *Result) met(key string) (good, known bool) {
	r := m.MainColumn().Report
	v, ok := r.Value(key)
	open, _ := r.Open(key)
	if !ok || coincide(r) || SaysNothing(key, r.K) {
		return false, false
	}
	switch key {
	case measure.KeyNC1Pinv:
		state := judgeCollapse(r).state
		return state >= collapsed, state >= collapsed || state == noCollapse || state == byChance
	case measure.KeyNC2MeansCentred:
		return isNear(r, key), r.D >= r.K-1
	case measure.KeyNC3Centred:
		return v+open <= dualDistance, true
	}
	return v+open <= centreDecides, true
}

// layerLines are a table of NC1 to NC4 and the accuracy of the nearest centre, by layer; if there are many, of some.
func (m *Result) layerLines(width int) (lines []string) {
	head := []string{"layer"}
	for _, p := range measure.Properties() {
		head = append(head, p.Name)
	}
	rows := [][]string{append(head, "nearest centre")}
	for _, at := range spaced(len(m.Columns), mostLayers) {
		c := &m.Columns[at]
		row := []string{safetext.Line(c.Name)}
		for _, p := range measure.Properties() {
			row = append(row, valueOr(c, p.Key, "–"))
		}
		rows = append(rows, append(row, valueOr(c, measure.KeyNCCAccuracy, "–")))
	}
	widths := make([]int, len(head)+1)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rest := 0
	for _, n := range widths[1:] {
		rest += n + 2
	}
	widths[0] = min(widths[0], max(8, width-rest))
	for _, row := range rows {
		line := padded(cut(row[0], widths[0]), widths[0])
		for i, cell := range row[1:] {
			line += "  " + padded(cell, widths[i+1])
		}
		lines = append(lines, strings.TrimRight(cut(line, width), " "))
	}
	return lines
}

// spaced are at most so many of n indices, evenly spaced, with the first and the last.
func spaced(n, most int) (out []int) {
	for i := range min(n, most) {
		out = append(out, i*(n-1)/max(1, min(n, most)-1))
	}
	return out
}

// accuracies is the line about how samples are classified; "" if that is not known.
func (m *Result) accuracies() string {
	var words []string
	for _, of := range []struct{ key, words string }{{measure.KeyAccuracy, "%s"}, {measure.KeyTestAccuracy, "%s on test samples"}, {measure.KeyNCCAccuracy, "%s by nearest class centre"}} {
		if text := valueOr(m.MainColumn(), of.key, ""); text != "" {
			words = append(words, fmt.Sprintf(of.words, text))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "accuracy " + strings.Join(words, ", ")
}

// unusually is what a reader would not expect.
func (m *Result) unusually() string {
	c := m.MainColumn()
	words := unusual(c.Report, judgeCollapse(c.Report).state, func(k int) string { return m.Class(c, k) })
	out := slices.Clone(m.Notes)
	if words = strings.TrimPrefix(words, "; "); words != "" {
		out = append([]string{words}, out...)
	}
	return strings.Join(out, "; ")
}

// valueOr writes a value with three significant digits, or what stands for none.
func valueOr(c *Column, key, none string) string {
	v, ok := c.Measures.Get(key)
	if !ok {
		return none
	}
	return ShortValue(key, v)
}

// ShortValue writes a value with three significant digits, a share as a percentage.
func ShortValue(key string, v float64) string {
	if isShare(key) {
		return shortPercent(v)
	}
	return format.Digits(v)
}

func isShare(key string) bool {
	return key == measure.KeyNC4NCCMismatch || strings.HasSuffix(key, "accuracy")
}

// shortOpen is the rounding error of a value if it reaches the digits that the short report shows.
func (c *Column) shortOpen(key string) string {
	if size := c.openSize(key); size > 0 {
		return " ± " + format.Short(size, 2)
	}
	return ""
}

func (c *Column) openSize(key string) float64 {
	v, _ := c.Measures.Get(key)
	size, known := c.Open(key)
	if c.open(key) == "" || !known || size < 5e-4*v {
		return 0
	}
	return size
}

// padded fills text up to a width in characters.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// cut shortens a line to a width.
func cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width-1)]) + "…"
}

// atMost keeps so many lines, and shows that there were more.
func atMost(n, width int, lines []string) []string {
	if len(lines) <= n {
		return lines
	}
	lines = slices.Clone(lines[:n])
	if n > 0 {
		lines[n-1] = cut(lines[n-1], width-2) + " …"
	}
	return lines
}
