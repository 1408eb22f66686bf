// Package measurement is what one call of `collapse measure` finds in a set of files: the numbers of each layer, as a table
// for people, tidy rows, JSON, and the words of a page.
//
// measure.go measures, result.go holds what was found; finding.go is the headline, reading.go the words beside each number.
package measurement

import (
	"encoding/json"
	"fmt"
	"time"

	"collapse/internal/featurefiles"
	"collapse/internal/format"
	"collapse/measure"
)

// Measured is what one call of `collapse measure` found: a column for each layer, with what the pictures
// need beside the numbers.
type Result struct {
	Columns []Column
	Main    int      // the column that the classifier belongs to, else the last
	Values  []string // label of each class; nil: 0…K−1
	Inputs  []featurefiles.Input
	Notes   []string

	Command   string // how to do it again; "" if unknown
	Generated time.Time
}

// MeasuredColumn is one layer's report.
type Column struct {
	Name string `json:"layer"`
	*measure.Report
	// Quantiles of the cosine margin, by their probability; nil without margins.
	Quantiles map[string]float64 `json:"margin_quantiles,omitempty"`

	// Sample (M×d) are some features with their classes, for the projection.
	Sample  []float64 `json:"-"`
	Classes []int32   `json:"-"`
}

// Quantiles of the cosine margin that JSON and CSV hold.
var Quantiles = []float64{0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1}

// NewMeasuredColumn adds to a report what is derived from it.
func NewColumn(name string, r *measure.Report) Column {
	c := Column{Name: name, Report: r}
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

// MainColumn is the column whose keys stand at the top of the JSON document.
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
		Finding string `json:"finding"`
		Column
		Labels []string             `json:"labels,omitempty"`
		Inputs []featurefiles.Input `json:"inputs"`
		Notes  []string             `json:"notes"`
		Layers []Column             `json:"layers,omitempty"`
	}{Finding: m.finding(), Column: slim(*m.MainColumn()), Labels: m.labels(), Inputs: m.Inputs, Notes: append([]string{}, m.Notes...)}
	if len(m.Columns) > 1 {
		for _, c := range m.Columns {
			doc.Layers = append(doc.Layers, slim(c))
		}
	}
	return json.Marshal(doc)
}
