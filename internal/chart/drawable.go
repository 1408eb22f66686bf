package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Bounds of a figure that is read from a file. Whoever reads it bounds the bytes.
const (
	mostPanels = 100
	mostTicks  = 200 // of an axis, and notes
)

// kinds are all kinds of series.
var kinds = []Kind{Line, Points, LinePoints, Band, Segments, Arrows, HLine, VLine, Text, HeatMap}

// Drawable is an error for a figure, read from a file, that cannot be drawn: all that this package otherwise takes for a bug of its caller.
func (f *Figure) Drawable() error {
	if wrong := f.wrong(); wrong != "" {
		return errors.New("chart: " + wrong)
	}
	if len(f.Panels) > mostPanels || f.Columns < 0 || f.Columns > mostPanels {
		return fmt.Errorf("chart: a figure has 1 to %d panels, and at most as many columns", mostPanels)
	}
	for i := range f.Panels {
		if err := f.Panels[i].drawable(); err != nil {
			return fmt.Errorf("chart: panel %.60q: %w", f.Panels[i].ID, err)
		}
	}
	return nil
}

func (p *Panel) drawable() error {
	if p.Equal && (p.X.Scale != Linear || p.Y.Scale != Linear) {
		return errors.New("equal needs linear axes")
	}
	for _, a := range []*Axis{&p.X, &p.Y} {
		if err := a.bounded(); err != nil {
			return err
		}
	}
	for j := range p.Series {
		if err := p.Series[j].bounded(); err != nil {
			return fmt.Errorf("series %.60q: %w", p.Series[j].ID, err)
		}
	}
	return nil
}

func (a *Axis) bounded() error {
	if a.Scale != Linear && a.Scale != Log {
		return fmt.Errorf("the scale %.60q is not known; want %q or nothing", string(a.Scale), string(Log))
	}
	if r := a.Range; r != nil && (!(r[0] < r[1]) || a.Scale == Log && r[0] < leastLog) {
		return fmt.Errorf("the range from %g to %g is empty, or not positive on a log axis", r[0], r[1])
	}
	if len(a.Ticks) > mostTicks {
		return fmt.Errorf("an axis has %d ticks; at most %d are drawn", len(a.Ticks), mostTicks)
	}
	return nil
}

func (s *Series) bounded() error {
	if !slices.Contains(kinds, s.Kind) {
		return fmt.Errorf("the kind %.60q is not known; there are %q", string(s.Kind), kinds)
	}
	for _, v := range []float64{s.Size, s.Width} {
		if v < 0 || v > 100 {
			return fmt.Errorf("a size or width of %g; want 0 to 100 points", v)
		}
	}
	if len(s.XLo) != len(s.XHi) || s.Kind != Band && len(s.YLo) != len(s.YHi) {
		return errors.New("an error bar needs both ends")
	}
	if s.Color < math.MinInt16 || s.Color > math.MaxInt16 {
		return fmt.Errorf("the colour %d; want 1 to %d", s.Color, DataColors)
	}
	if h := s.Heat; h != nil && (h.X[0] == h.X[1] || h.Y[0] == h.Y[1] || h.Range != nil && !(h.Range[0] < h.Range[1])) {
		return errors.New("a heat map without extent, or with an empty range of colours")
	}
	return nil
}
