// Package measurement holds what one call of `collapse measure` finds in a set of files: the numbers of each layer, as a
// readable table, tidy rows, JSON, and the text of a page.
//
// measure.go measures, result.go holds the results; headline.go is the headline, reading.go the words next to each number.
package measurement

import (
	"encoding/json"
	"fmt"
	"time"

	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
)

// Result is the result of one call of `collapse measure`: a column per layer, with the numbers and the
// data for pictures.
type Result struct {
	Columns []Column
	Main    int      // the column with the classifier, else the last
	Values  []string // label of each class; nil: 0…K−1
	Inputs  []featurefiles.Input
	Notes   []string

	Command   string // the command that repeats it; "" if unknown
	Generated time.Time
}

// Column is one layer's report.
type Column struct {
	Name string `json:"layer"`
	*measure.Report
	// Quantiles of the cosine margin, by their probability; nil without margins.
	Quantiles map[string]float64 `json:"margin_quantiles,omitempty"`
	// Readings say in plain words what each measure means here.
	Readings map[string]string `json:"readings"`

	// Sample (M×d) holds some features with their classes, for the projection.
	Sample  []float64 `json:"-"`
	Classes []int32   `json:"-"`
}

// Quantiles of the cosine margin that JSON and CSV hold.
var Quantiles = []float64{0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1}

// NewColumn makes a column from a report and adds derived values.
func NewColumn(name string, r *measure.Report) Column {
	c := Column{Name: name, Report: r, Readings: make(map[string]string, r.Measures.Len())}
	for key, v := range r.Measures.All() {
		c.Readings[key] = Reading(key, v, r)
	}
	for _, q := range Quantiles {
		v, ok := r.MarginQuantile(q)
		if !ok {
			return c
		}
		if c.Quantiles == nil {
			c.Quantiles = map[string]float64{}
		}
		c.Quantiles[format.Decimal(q)] = v
	}
	return c
}

// MainColumn is the column whose keys are at the top of the JSON document.
func (m *Result) MainColumn() *Column { return &m.Columns[m.Main] }

// Class names class k of a column as its label.
func (m *Result) Class(c *Column, k int) string {
	k = c.Class(k)
	if k < len(m.Values) {
		return m.Values[k]
	}
	return fmt.Sprint(k)
}

// labels names the classes of the main column; nil if they are 0…K−1.
func (m *Result) labels() []string {
	c := m.MainColumn()
	if m.Values == nil && c.Report.Classes == nil {
		return nil
	}
	out := make([]string, c.K)
	for k := range out {
		out[k] = m.Class(c, k)
	}
	return out
}

// MarshalJSON writes the main column's report with its stable keys, then labels, inputs, notes and, if there
// are several, every layer. The whole margin curve is in the CSV file and on the page.
func (m *Result) MarshalJSON() ([]byte, error) {
	slim := func(c Column) Column {
		r := *c.Report
		r.Margins = nil
		c.Report = &r
		return c
	}
	doc := struct {
		Headline string `json:"finding"`
		Column
		Labels []string             `json:"labels,omitempty"`
		Inputs []featurefiles.Input `json:"inputs"`
		Notes  []string             `json:"notes"`
		Layers []Column             `json:"layers,omitempty"`
	}{Headline: m.headline(), Column: slim(*m.MainColumn()), Labels: m.labels(), Inputs: m.Inputs, Notes: append([]string{}, m.Notes...)}
	if len(m.Columns) > 1 {
		for _, c := range m.Columns {
			doc.Layers = append(doc.Layers, slim(c))
		}
	}
	return json.Marshal(doc)
}
