package measurement

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
)

// Summary is a measurement in words and numbers, for pages.
type Summary struct {
	Name          string // of the model: its files' first; "" if there is none
	Headline      Headline
	Subject       string
	Dials         []ShownDial
	Tiles         []format.Tile // of what has no dial
	Notes         []string
	ColumnNames   []string
	Groups        []Group
	Open, Missing []string
	Weighting     string
	Inputs        format.Table
}

// Summary describes the main column in words, and lists the values of all columns.
func (m *Result) Summary() Summary {
	r := m.MainColumn().Report
	s := Summary{Name: m.name(), Headline: Headline(m.headline()), Notes: m.Notes, ColumnNames: []string{"value"}, Groups: m.rows(), Dials: m.dials(), Tiles: m.tiles(),
		Open: m.opened(), Missing: m.missing(), Weighting: "per " + r.Imbalance, Inputs: m.inputTable()}
	s.Subject = fmt.Sprintf("%s of width %d, %s.", format.Count(r.N, "sample"), r.D, classes(r.ClassCounts))
	s.Subject += m.MainColumn().leftOutWords(" %s left out.")
	if r.Dropped > 0 {
		s.Subject += fmt.Sprintf(" %s with NaN or infinity left out.", format.Count(r.Dropped, "row"))
	}
	if len(m.Columns) > 1 {
		s.ColumnNames = nil
		for _, c := range m.Columns {
			s.ColumnNames = append(s.ColumnNames, c.Name)
		}
	}
	return s
}

// Headline is a headline in two sizes: what stands before the first colon, and what follows it.
type Headline string

// Lead is the part of the sentence in large type, a title of its own.
func (s Headline) Lead() string {
	lead, _, _ := strings.Cut(string(s), ": ")
	return lead
}

// Rest is what follows the lead; "" if nothing does.
func (s Headline) Rest() string {
	_, rest, _ := strings.Cut(string(s), ": ")
	return rest
}

// Group is one group of measures.
type Group struct {
	Name, Title string
	Shuffled    bool // has a column for shuffled labels
	Rows        []Row
}

type Row struct {
	Key                 string
	Values              []string
	Shuffled            string
	Reading, Definition string
}

// headline is the headline of the main column.
func (m *Result) headline() string {
	c := m.MainColumn()
	return headlineNamed(c.Report, func(k int) string { return m.Class(c, k) })
}

// name is that of the first file, as a user has named the model, without what all files of its kind end in.
func (m *Result) name() string {
	if len(m.Inputs) == 0 || len(m.Inputs[0].Files) == 0 || m.Inputs[0].Files[0] == "-" { // standard input
		return ""
	}
	base := filepath.Base(m.Inputs[0].Files[0])
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// dials are those of the main column.
func (m *Result) dials() (out []ShownDial) {
	c := m.MainColumn()
	for _, d := range Dials(c.Report) {
		out = append(out, d.Shown(c.openSize(d.Key)))
	}
	return out
}

func (m *Result) tiles() []format.Tile {
	c := m.MainColumn()
	out := []format.Tile{{Value: strconv.Itoa(c.N), Name: "samples"}, {Value: strconv.Itoa(c.K), Name: "classes"}}
	add := func(key, name string) {
		if _, ok := c.Measures.Get(key); ok {
			out = append(out, format.Tile{Value: valueOr(c, key, ""), Name: name})
		}
	}
	dials := m.dials()
	for _, p := range measure.Properties() {
		if !SaysNothing(p.Key, c.K) && !slices.ContainsFunc(dials, func(d ShownDial) bool { return d.Name == p.Name }) {
			add(p.Key, p.Name)
		}
	}
	add(measure.KeyAccuracy, "accuracy")
	add(measure.KeyTestAccuracy, "test accuracy")
	return out
}

// shortPercent is a percentage in three digits, without a line break; 0 and 100 are exact.
func shortPercent(v float64) string {
	if v == 0 || v == 1 {
		return strconv.Itoa(int(100*v)) + "\u00a0%"
	}
	tenths := math.Round(1000 * v)
	if v < 1 {
		tenths = min(tenths, 999)
	}
	return strconv.FormatFloat(tenths/10, 'f', 1, 64) + "\u00a0%"
}

func (m *Result) rows() []Group {
	var out []Group
	for _, g := range m.groups() {
		rows := Group{Name: g.Name, Title: g.Title, Shuffled: m.shuffled(g)}
		for _, d := range g.Keys {
			row := Row{Key: d.Key, Definition: d.Formula}
			for _, c := range m.Columns {
				row.Values = append(row.Values, c.Value(d.Key))
				if conv, ok := c.Conventions[d.Key]; ok {
					row.Definition = conv.Formula + ". " + format.Capital(conv.Weighting) + ". " + conv.Source + "."
				}
			}
			if v, ok := m.MainColumn().Measures.Get(d.Key); ok {
				row.Reading, row.Shuffled = Reading(d.Key, v, m.MainColumn().Report), m.MainColumn().chance(d.Key)
			}
			rows.Rows = append(rows.Rows, row)
		}
		out = append(out, rows)
	}
	return out
}

func (m *Result) inputTable() format.Table {
	t := format.Table{Columns: []string{"what", "file", "array", "type", "shape"}}
	for _, in := range m.Inputs {
		t.Rows = append(t.Rows, []string{in.Role, inputFiles(in.Files), in.Array, in.DType, times(in.Shape)})
	}
	return t
}
