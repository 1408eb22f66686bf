package measurement

import (
	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/measure"
)

// Of measures every column of a set of files, and keeps the data for pictures if a page will be made.
func Of(set *featurefiles.Set, opt measure.Options, page bool) (*Result, error) {
	found := &Result{Values: set.Values, Inputs: set.Inputs, Notes: set.Notes, Main: len(set.Columns) - 1}
	opt.KeepMeans = page
	for i := range set.Columns {
		opt.KeepSpectrum = page || set.CheapSpectrum(i)
		r, err := set.Measure(i, opt)
		if err != nil {
			return nil, err
		}
		column := NewColumn(set.Columns[i].Name, r)
		if page {
			if column.Sample, column.Classes, err = set.Sample(i, r, SampleSize, SampleClasses); err != nil {
				return nil, err
			}
		}
		found.Columns = append(found.Columns, column)
	}
	found.NoteLeftOut()
	return found, nil
}

// The projection of a page shows at most SampleSize features, of at most SampleClasses classes.
const (
	SampleSize    = 3000
	SampleClasses = 20
)
