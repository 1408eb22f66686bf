package results

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"collapse.example/collapse/internal/chart"
)

// The shortened result of md-fig1 at scale standard. TestShippedIsTheResult -update makes it anew.
//
//go:embed shipped.json
var shipped []byte

// Shipped is the result of Nguyen et al. 2023, Fig. 1, at scale standard as the program carries it: short of docs/results/standard.
func Shipped() (r Recipe, err error) {
	if err = json.Unmarshal(shipped, &r); err != nil {
		err = fmt.Errorf("results: the program's own: %w", err)
	}
	return r, err
}

// shorten leaves of a result what a page shows beside other runs: of the first figure the means with their spread, to five digits, and
// of each claim the effect over all cells.
func shorten(r Recipe) Recipe {
	r.Notes = nil
	r.Figures = slices.Clone(r.Figures[:min(1, len(r.Figures))])
	for i, f := range r.Figures {
		f.Panels, f.Notes = slices.Clone(f.Panels), nil
		f.Caption = "Each point is the mean over seeds at one noise level η, with one standard deviation on either side. Degenerate runs are left out."
		for j, p := range f.Panels {
			p.Series = slices.DeleteFunc(slices.Clone(p.Series), func(s chart.Series) bool { return s.Faint })
			for k := range p.Series {
				s := &p.Series[k]
				for _, v := range []*chart.Numbers{&s.X, &s.Y, &s.XLo, &s.XHi, &s.YLo, &s.YHi} {
					*v = fiveDigits(*v)
				}
			}
			f.Panels[j] = p
		}
		r.Figures[i] = f
	}
	r.Claims = slices.Clone(r.Claims)
	for i, c := range r.Claims {
		e := c.Effect
		if e == nil {
			continue
		}
		short := *e
		short.Replicates, short.Cells = nil, slices.Clone(e.Cells)
		if e.Pooled != nil {
			short.Cells = short.Cells[:0]
		}
		for k := range short.Cells {
			short.Cells[k].Each = nil
		}
		r.Claims[i].Effect = &short
	}
	return r
}

func fiveDigits(values chart.Numbers) chart.Numbers {
	if values == nil {
		return nil
	}
	out := make(chart.Numbers, len(values))
	for i, v := range values {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64) // a number that was written is read
	}
	return out
}
