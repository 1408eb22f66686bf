package measurement

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/measure"
)

// groupTitles are the questions that the groups of measures ask.
var groupTitles = map[string]string{
	"NC1": "NC1  Do samples gather at their class mean?", "NC2": "NC2  Are the class means a simplex?",
	"NC3": "NC3  Does the classifier mirror the class means?", "NC4": "NC4  Does it choose the nearest centre?",
	"NC5": "NC5  Are unknown inputs orthogonal to the classes?", "OOD": "Which scores separate unknown inputs from known ones?", "rank": "Rank of the classes and of the layer", "margin": "Cosine margin",
	"accuracy": "Accuracy", "memorization": "Memorization of wrong labels", "configuration": "Configuration (M-D Def. 3.1)",
}

// group is the measures of one question that at least one column has.
type group struct {
	Name, Title string
	Keys        []measure.Definition
}

func (m *Result) groups() []group {
	var out []group
	for _, d := range measure.Definitions() {
		if !slices.ContainsFunc(m.Columns, func(c Column) bool { _, ok := c.Measures.Get(d.Key); return ok }) {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Name != d.Group {
			title := groupTitles[d.Group]
			if title == "" {
				title = d.Group
			}
			out = append(out, group{Name: d.Group, Title: title})
		}
		g := &out[len(out)-1]
		g.Keys = append(g.Keys, d)
	}
	return out
}

// WriteText prints the report for people: what was measured, the numbers by question, each with a
// reading, the digits that rounding leaves uncertain, and what is missing and why.
// Lines are at most as wide as the screen, where that leaves a reading some room.
func (m *Result) WriteText(w io.Writer, s screen.Screen) error {
	var b strings.Builder
	width := s.Columns()
	fmt.Fprintf(&b, "%s\n%s\n", strings.Join(screen.Wrap(safetext.Line(m.headline())+".", width), "\n"), m.subject())
	for _, note := range m.Notes {
		fmt.Fprintf(&b, "note: %s\n", safetext.Line(note))
	}
	for _, g := range m.groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		m.writeGroup(&b, g, width)
	}
	writeLines(&b, width, "Uncertain digits (±)", m.opened())
	writeLines(&b, width, "Not measured", m.missing())
	writeLines(&b, width, fmt.Sprintf("Weighting per %s", m.MainColumn().Imbalance), []string{"definition and source of every number: --json (conventions), docs/measures.md"})
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Column) Value(key string) string {
	if v, ok := c.Measures.Get(key); ok {
		return significant(v) + c.open(key)
	}
	return "–"
}

// open writes the rounding error of a measure if it affects the digits shown.
func (c *Column) open(key string) string {
	if c.Reason[key] == "" || SaysNothing(key, c.Report.K) {
		return ""
	}
	if size, known := c.Open(key); known && size > 0 {
		return " ± " + strconv.FormatFloat(size, 'g', 2, 64)
	}
	return ""
}

// significant writes a measure with six significant digits, in plain notation for copying.
func significant(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// subject says what was measured, in one or a few lines.
func (m *Result) subject() string {
	r := m.MainColumn().Report
	words := fmt.Sprintf("%s, %s, d = %d", format.Count(r.N, "sample"), classes(r.ClassCounts), r.D)
	if len(m.Columns) > 1 {
		words = fmt.Sprintf("%s, %s, %d layers", format.Count(r.N, "sample"), classes(r.ClassCounts), len(m.Columns))
	}
	words += m.MainColumn().leftOutWords("; %s left out")
	if r.Dropped > 0 {
		words += fmt.Sprintf("; %s with NaN or infinity left out", format.Count(r.Dropped, "row"))
	}
	for _, in := range m.Inputs {
		words += fmt.Sprintf("\n%-28s %s", in.Role, safetext.Line(inputFiles(in.Files)))
		if in.Array != "" {
			words += " (" + safetext.Line(in.Array) + ")"
		}
		words += fmt.Sprintf(", %s %s", in.DType, times(in.Shape))
	}
	return words
}

func inputFiles(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return fmt.Sprintf("%s … %s, %d files", files[0], files[len(files)-1], len(files))
}

func times(shape []int) string {
	words := make([]string, len(shape))
	for i, n := range shape {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, "×")
}

func classes(counts []int) string {
	lo, hi := slices.Min(counts), slices.Max(counts)
	switch {
	case len(counts) == 1:
		return fmt.Sprintf("1 class of %d", lo)
	case lo == hi:
		return fmt.Sprintf("%d classes of %d", len(counts), lo)
	}
	return fmt.Sprintf("%d classes of %d to %d", len(counts), lo, hi)
}

// WriteCSV writes tidy rows: layer, class (empty for a measure of all classes), key, value, why it is missing, weighting,
// definition, source; then rounding error, values for shuffled labels, and a reason in words. A cell is empty if unknown.
func (m *Result) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	cells := 0 // in the header, which comes first
	for row := range m.csvRows() {
		cells = max(cells, len(row))
		if err := out.Write(safetext.Cells(append(row, make([]string, cells-len(row))...))); err != nil { // leaves numbers unchanged
			return fmt.Errorf("measurement: writing CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("measurement: writing CSV: %w", err)
	}
	return nil
}

// csvRows are the rows of WriteCSV, generated one at a time: a million classes have several million. Trailing empty cells are left out.
func (m *Result) csvRows() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if !yield([]string{"layer", "class", "key", "value", "missing", "weighting", "definition", "source", "uncertainty", "input_rounding", "null_low", "null_median", "null_high", "reason"}) {
			return
		}
		for i := range m.Columns {
			c := &m.Columns[i]
			for _, rows := range []iter.Seq[[]string]{c.csvMeasures(), m.csvClasses(c), slices.Values(c.leftOutRows()),
				c.csvNumbers("eigenvalue_between_", c.Eigenvalues, "eigenvalue of Σ_B, descending"),
				c.csvNumbers("cosine_margin_sorted_", c.Margins, "cosine margins of samples, ascending")} {
				for row := range rows {
					if !yield(row) {
						return
					}
				}
			}
		}
	}
}

// csvMeasures are the rows of the registry's measures.
func (c *Column) csvMeasures() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for _, d := range measure.Definitions() {
			row := []string{c.Name, "", d.Key, "", c.Missing[d.Key], "", d.Formula, d.Source}
			if v, ok := c.Measures.Get(d.Key); ok {
				row[3], row[5] = exact(v), c.Conventions[d.Key].Weighting
			}
			if !yield(append(row, c.certaintyCells(d.Key)...)) {
				return
			}
		}
	}
}

// csvClasses are the rows of numbers per class.
func (m *Result) csvClasses(c *Column) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for _, key := range slices.Sorted(maps.Keys(c.PerClass)) {
			for k, v := range c.PerClass[key] {
				row := []string{c.Name, m.Class(c, k), key, exact(v), "", "", "", ""}
				if v != v {
					row[3], row[4] = "", "undefined for this class"
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}

// csvNumbers are the rows of a sorted list.
func (c *Column) csvNumbers(key string, numbers []float64, about string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for i, v := range numbers {
			if !yield([]string{c.Name, "", key + strconv.Itoa(i), exact(v), "", "", about, ""}) {
				return
			}
		}
	}
}

// certaintyCells are the cells behind the source: uncertainty, input rounding, null, reason.
func (c *Column) certaintyCells(key string) []string {
	cells := make([]string, 6)
	if v, ok := c.Uncertainty[key]; ok {
		cells[0] = exact(v)
	}
	if v, ok := c.InputRounding[key]; ok {
		cells[1] = exact(v)
	}
	if n, ok := c.Null[key]; ok {
		cells[2], cells[3], cells[4] = exact(n.Low), exact(n.Median), exact(n.High)
	}
	cells[5] = c.Reason[key]
	return cells
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
