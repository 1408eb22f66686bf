package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Bounds of what ReadCurves takes. Whoever calls it bounds the bytes.
const (
	mostSeries = 20   // of a panel
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
	words := append([]string{f.ID, f.Title, f.Caption}, f.Notes...)
	if len(f.Panels) == 0 || len(f.Notes) > mostTicks {
		return fmt.Errorf("chart: a figure has 1 to %d panels, and at most %d notes", mostPanels, mostTicks)
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
			words = append(words, a.Label, a.Unit)
			for _, t := range a.Ticks {
				words = append(words, t.Label)
			}
		}
		for j := range p.Series {
			s := &p.Series[j]
			if err := s.curve(); err != nil {
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
	return f.Drawable()
}

// curve is an error for a series that another program may not have drawn.
func (s *Series) curve() error {
	if !slices.Contains(drawnCurves, s.Kind) {
		return fmt.Errorf("the kind %.60q is not drawn from JSON; there are %q", string(s.Kind), drawnCurves)
	}
	if s.Kind == HLine && len(s.X) > len(s.Y) || s.Kind == VLine && len(s.Y) > len(s.X) {
		return errors.New("a reference line needs a place on its axis")
	}
	if len(s.Labels) > 0 {
		return errors.New("words at points are not drawn from JSON")
	}
	return nil
}
