package report

import (
	"collapse/internal/features"
	"collapse/measure"
)

// MeasureSet measures every column of a set of files with everything a page shows.
func MeasureSet(set *features.Set, opt measure.Options) (*Measured, error) {
	found := &Measured{Values: set.Values, Inputs: set.Inputs, Notes: set.Notes, Main: len(set.Columns) - 1}
	opt.KeepSpectrum = true
	for i := range set.Columns {
		r, err := set.Measure(i, opt)
		if err != nil {
			return nil, err
		}
		column := NewMeasuredColumn(set.Columns[i].Name, r)
		if column.Sample, column.Classes, err = set.Sample(i, r, SampleSize, SampleClasses); err != nil {
			return nil, err
		}
		found.Columns = append(found.Columns, column)
	}
	found.NoteLeftOut()
	return found, nil
}

// MeasuredSummary is a measurement in words and numbers, for pages that other packages lay out.
type MeasuredSummary struct {
	Finding       twoSizes
	Subject       string
	Summary       []tile
	Remarks       []string
	Groups        []measuredRows
	Open, Missing []string
	Weighting     string
	Inputs        table
}

// Summary puts the main column into words.
func (m *Measured) Summary() MeasuredSummary {
	p := m.page()
	return MeasuredSummary{Finding: p.Finding, Subject: p.Subject, Summary: p.Tiles, Remarks: p.Notes, Groups: p.Groups,
		Open: p.Open, Missing: p.Missing, Weighting: p.Weighting, Inputs: p.Inputs}
}

// Pictures draws the main column and, where there are several, every measure against depth.
func (m *Measured) Pictures() []Picture {
	out := m.pictures(m.Main)
	if len(m.Columns) > 1 {
		out = append([]Picture{m.layers()}, out...)
	}
	return out
}
