package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Bounds of what ReadCurves takes. Whoever calls it bounds the bytes.
const (
	mostPanels = 100
	mostSeries = 20 // of a panel
	mostTicks  = 200
	mostWords  = 2000 // bytes of one text
)

// drawnCurves are the kinds of series that another program may have drawn.
var drawnCurves = []Kind{Line, Points, LinePoints, HLine, VLine}

// ReadCurves reads a figure that another program has written, in the form of WriteJSON: panels of curves and points. What this package
// takes for a bug of its caller is an error here, and so is a name that no part of a figure has.
func ReadCurves(r io.Reader) (Figure, error) {
	var f Figure
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Figure{}, fmt.Errorf("chart: a figure in JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Figure{}, errors.New("chart: a figure in JSON: something follows it")
	}
	return f, f.readable()
}

// readable is an error for what cannot be drawn, or would take more than a picture is worth.
func (f *Figure) readable() error {
	if wrong := f.wrong(); wrong != "" {
		return errors.New("chart: " + wrong)
	}
	words := append([]string{f.ID, f.Title, f.Caption}, f.Notes...)
	if len(f.Panels) == 0 || len(f.Panels) > mostPanels || f.Columns < 0 || f.Columns > mostPanels || len(f.Notes) > mostTicks {
		return fmt.Errorf("chart: a figure has 1 to %d panels, at most as many columns, and at most %d notes", mostPanels, mostTicks)
	}
	for i := range f.Panels {
		p := &f.Panels[i]
		if len(p.Series) > mostSeries {
			return fmt.Errorf("chart: panel %.60q has %d series; at most %d are drawn", p.ID, len(p.Series), mostSeries)
		}
		if p.Equal {
			return fmt.Errorf("chart: panel %.60q: equal is for pictures of the plane", p.ID)
		}
		words = append(words, p.ID, p.Title)
		for _, a := range []*Axis{&p.X, &p.Y} {
			if err := a.bounded(); err != nil {
				return fmt.Errorf("chart: panel %.60q: %w", p.ID, err)
			}
			words = append(words, a.Label, a.Unit)
			for _, t := range a.Ticks {
				words = append(words, t.Label)
			}
		}
		for j := range p.Series {
			s := &p.Series[j]
			if err := s.bounded(); err != nil {
				return fmt.Errorf("chart: panel %.60q, series %.60q: %w", p.ID, s.ID, err)
			}
			words = append(words, s.ID, s.Label)
		}
	}
	for _, w := range words {
		if len(w) > mostWords {
			return fmt.Errorf("chart: a text has %d bytes; at most %d are drawn: %.60q…", len(w), mostWords, w)
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
	if !slices.Contains(drawnCurves, s.Kind) {
		return fmt.Errorf("the kind %.60q is not drawn from JSON; there are %q", string(s.Kind), drawnCurves)
	}
	for _, v := range []float64{s.Size, s.Width} {
		if v < 0 || v > 100 {
			return fmt.Errorf("a size or width of %g; want 0 to 100 points", v)
		}
	}
	if s.Kind == HLine && len(s.X) > len(s.Y) || s.Kind == VLine && len(s.Y) > len(s.X) {
		return errors.New("a reference line needs a place on its axis")
	}
	if len(s.XLo) != len(s.XHi) || len(s.YLo) != len(s.YHi) {
		return errors.New("an error bar needs both ends")
	}
	if len(s.Labels) > 0 {
		return errors.New("words at points are not drawn from JSON")
	}
	if s.Color < math.MinInt16 || s.Color > math.MaxInt16 {
		return fmt.Errorf("the colour %d; want 1 to %d", s.Color, DataColors)
	}
	return nil
}
