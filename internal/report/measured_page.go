package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"collapse/internal/chart"
	"collapse/measure"
)

// The projection of a page shows at most SampleSize features, of at most SampleClasses classes.
const (
	SampleSize    = 3000
	SampleClasses = 20
)

//go:embed measured.html
var measuredSource string

var measuredTemplate = template.Must(template.Must(pageTemplate.Clone()).Parse(measuredSource))

// measuredPage is what the template prints.
type measuredPage struct {
	Title, Subject string
	Finding        twoSizes
	Style          template.CSS
	Tiles          []tile
	Notes          []string
	Main           string // the layer that the pictures show; "" if there is one only
	Pictures       []figure
	Others         []epochs // the other layers, folded
	Layers         []figure
	Groups         []measuredRows
	ColumnNames    []string
	Many           bool
	Open           []string
	Missing        []string
	Weighting      string
	Inputs         table
	Command, Made  string
}

// twoSizes is a headline in two sizes: up to its first colon, and what follows.
type twoSizes string

// Lead is the part of the sentence that stands large.
func (s twoSizes) Lead() string {
	if at := strings.Index(string(s), ": "); at >= 0 {
		return string(s[:at+1])
	}
	return string(s)
}

// Rest is what follows the lead; "" if nothing does.
func (s twoSizes) Rest() string { return strings.TrimSpace(string(s[len(s.Lead()):])) }

// measuredRows is one group of measures.
type measuredRows struct {
	Name, Title string
	Shuffled    bool // a column says what shuffled labels give
	Rows        []measuredRow
}

type measuredRow struct {
	Key                 string
	Values              []string
	Shuffled            string
	Reading, Definition string
}

// WritePage writes one self-contained HTML page.
func (m *Measured) WritePage(w io.Writer) error {
	var b bytes.Buffer
	if err := measuredTemplate.ExecuteTemplate(&b, "measured", m.page()); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (m *Measured) page() measuredPage {
	r := m.main().Report
	p := measuredPage{Title: "Collapse measures", Finding: twoSizes(m.finding()), Style: template.CSS(chart.StyleSheet()), Notes: m.Notes,
		Many: len(m.Columns) > 1, Open: m.opened(), Missing: m.missing(), Weighting: "per " + r.Imbalance, Command: m.Command, Tiles: m.tiles()}
	p.Subject = fmt.Sprintf("%s of width %d, %s.", count(r.N, "sample"), r.D, classes(r.ClassCounts))
	p.Subject += m.main().leftOutWords(" %s left out.")
	if r.Dropped > 0 {
		p.Subject += fmt.Sprintf(" %s with NaN or infinity left out.", count(r.Dropped, "row"))
	}
	for at, c := range m.Columns {
		p.ColumnNames = append(p.ColumnNames, c.Name)
		figures := prepareAlone(m.pictures(at))
		if at == m.Main {
			p.Pictures = figures
		} else {
			p.Others = append(p.Others, epochs{Title: c.Name, Figures: figures})
		}
	}
	if p.Many {
		p.Main = m.main().Name
		p.Layers = prepareAlone([]picture{m.layers()})
	} else {
		p.ColumnNames = []string{"value"}
	}
	p.Groups = m.rows()
	p.Inputs = m.inputTable()
	if !m.Generated.IsZero() {
		p.Made = m.Generated.UTC().Format("2 January 2006, 15:04 UTC")
	}
	return p
}

// prepareAlone prepares pictures without files beside the page.
func prepareAlone(pictures []picture) []figure {
	var out []figure
	for _, p := range pictures {
		f := prepare(p)
		f.Alone = true
		out = append(out, f)
	}
	return out
}

// finding is the headline.
func (m *Measured) finding() string { return Finding(m.main().Report) }

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

func (m *Measured) tiles() []tile {
	r := m.main().Report
	out := []tile{{strconv.Itoa(r.N), "samples"}, {strconv.Itoa(r.K), "classes"}}
	for _, t := range []struct {
		key, name string
		text      func(float64) string
	}{
		{measure.KeyNC1Pinv, "NC1 (pinv)", digits}, {measure.KeyNC2MeansCentred, "NC2 (centred means)", digits}, {measure.KeyNC3Gram, "NC3 (Gram)", digits},
		{measure.KeyNC4NCCMismatch, "NC4 mismatch", shortPercent}, {measure.KeyAccuracy, "accuracy", shortPercent}, {measure.KeyTestAccuracy, "test accuracy", shortPercent},
	} {
		if v, ok := r.Measures[t.key]; ok {
			out = append(out, tile{t.text(v), t.name})
		}
	}
	return out
}

// shortPercent is percent for a tile: whole tenths, never broken, and never 100 unless it is.
func shortPercent(v float64) string {
	tenths := math.Round(1000 * v)
	if v < 1 {
		tenths = min(tenths, 999)
	}
	return strconv.FormatFloat(tenths/10, 'f', 1, 64) + "\u00a0%"
}

func (m *Measured) rows() []measuredRows {
	var out []measuredRows
	for _, g := range m.groups() {
		rows := measuredRows{Name: g.Name, Title: g.Title, Shuffled: m.shuffled(g)}
		for _, d := range g.Keys {
			row := measuredRow{Key: d.Key, Definition: d.Formula}
			for _, c := range m.Columns {
				row.Values = append(row.Values, c.value(d.Key))
				if conv, ok := c.Conventions[d.Key]; ok {
					row.Definition = conv.Formula + ". " + capital(conv.Weighting) + ". " + conv.Source + "."
				}
			}
			if v, ok := m.main().Measures[d.Key]; ok {
				row.Reading, row.Shuffled = Reading(d.Key, v, m.main().Report), m.main().chance(d.Key)
			}
			rows.Rows = append(rows.Rows, row)
		}
		out = append(out, rows)
	}
	return out
}

func (m *Measured) inputTable() table {
	t := table{Columns: []string{"what", "file", "array", "type", "shape"}}
	for _, in := range m.Inputs {
		t.Rows = append(t.Rows, []string{in.Role, inputFiles(in.Files), in.Array, in.DType, times(in.Shape)})
	}
	return t
}
