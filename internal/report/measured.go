package report

import (
	"encoding/json"
	"fmt"
	"time"

	"collapse/internal/features"
	"collapse/measure"
)

// Measured is what one call of `collapse measure` found: a column for each layer, with what the pictures
// need beside the numbers.
type Measured struct {
	Columns []MeasuredColumn
	Main    int      // the column that the classifier belongs to, else the last
	Values  []string // label of each class; nil: 0…K−1
	Inputs  []features.Input
	Notes   []string

	Command   string // how to do it again; "" if unknown
	Generated time.Time
}

// MeasuredColumn is one layer's report.
type MeasuredColumn struct {
	Name string `json:"layer"`
	*measure.Report
	// Quantiles of the cosine margin, by their probability; nil without margins.
	Quantiles map[string]float64 `json:"margin_quantiles,omitempty"`

	// Sample (M×d) are some features with their classes, for the projection.
	Sample  []float64 `json:"-"`
	Classes []int32   `json:"-"`
}

// quantiles of the cosine margin that JSON and CSV hold.
var quantiles = []float64{0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1}

// NewMeasuredColumn adds to a report what is derived from it.
func NewMeasuredColumn(name string, r *measure.Report) MeasuredColumn {
	c := MeasuredColumn{Name: name, Report: r}
	for _, q := range quantiles {
		v, ok := r.MarginQuantile(q)
		if !ok {
			return c
		}
		if c.Quantiles == nil {
			c.Quantiles = map[string]float64{}
		}
		c.Quantiles[decimal(q)] = v
	}
	return c
}

// main is the column whose keys stand at the top of the JSON document.
func (m *Measured) main() *MeasuredColumn { return &m.Columns[m.Main] }

// class names class k of a column as its label.
func (m *Measured) class(c *MeasuredColumn, k int) string {
	k = c.Class(k)
	if k < len(m.Values) {
		return m.Values[k]
	}
	return fmt.Sprint(k)
}

// labels names the classes of the main column; nil if they are 0…K−1.
func (m *Measured) labels() []string {
	c := m.main()
	if m.Values == nil && c.Report.Classes == nil {
		return nil
	}
	out := make([]string, c.K)
	for k := range out {
		out[k] = m.class(c, k)
	}
	return out
}

// MarshalJSON writes the main column's report with its stable keys, then labels, inputs, notes and, if there
// are several, every layer. The whole margin curve is in the CSV file and on the page.
func (m *Measured) MarshalJSON() ([]byte, error) {
	slim := func(c MeasuredColumn) MeasuredColumn {
		r := *c.Report
		r.Margins = nil
		c.Report = &r
		return c
	}
	doc := struct {
		Finding string `json:"finding"`
		MeasuredColumn
		Labels []string         `json:"labels,omitempty"`
		Inputs []features.Input `json:"inputs"`
		Notes  []string         `json:"notes"`
		Layers []MeasuredColumn `json:"layers,omitempty"`
	}{Finding: m.finding(), MeasuredColumn: slim(*m.main()), Labels: m.labels(), Inputs: m.Inputs, Notes: append([]string{}, m.Notes...)}
	if len(m.Columns) > 1 {
		for _, c := range m.Columns {
			doc.Layers = append(doc.Layers, slim(c))
		}
	}
	return json.Marshal(doc)
}
