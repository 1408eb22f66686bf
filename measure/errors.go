package measure

import (
	"fmt"
	"strings"

	"collapse.example/collapse/internal/spelling"
)

// NonFiniteError says that features or weights hold NaN or infinity.
type NonFiniteError struct {
	Where string // "train", "test", "ood", "weight", "bias"
	Row   int    // of the first such value, from 0
	Col   int
	Count int // number of such values
	Rows  int // rows that contain one
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("measure: %s: %d values in %d rows are NaN or infinite, the first in row %d, column %d; remove these rows or drop them (--drop-nonfinite)",
		e.Where, e.Count, e.Rows, e.Row, e.Col)
}

// RangeError says that finite values are too large: their sums or squares overflow float64.
type RangeError struct {
	Where string
	Class int
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("measure: %s: the features of class %d are so large that their sums overflow; scale the features down (the normalised measures do not change)", e.Where, e.Class)
}

// LabelError says that a label is outside [0,K).
type LabelError struct {
	Where string // "train", "test", "true"
	Row   int
	Label int32
	K     int
}

func (e *LabelError) Error() string {
	return fmt.Sprintf("measure: %s: sample %d has label %d, want 0 to %d", e.Where, e.Row, e.Label, e.K-1)
}

// ShapeError says that two inputs disagree in size.
type ShapeError struct {
	What        string // what was checked
	Found, Want int
	Hint        string // what to try; may be empty
}

func (e *ShapeError) Error() string {
	s := fmt.Sprintf("measure: %s: found %d, want %d", e.What, e.Found, e.Want)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// noneLeft is the error that no sample is left to measure.
func noneLeft(what string, left []LeftOut) error {
	e := &ShapeError{What: what, Found: 0, Want: 1}
	var words []string
	for _, l := range left {
		if l.Samples > 0 {
			words = append(words, fmt.Sprintf("%d samples are left out (%s)", l.Samples, l.Reason))
		}
	}
	if words != nil {
		e.Hint = strings.Join(words, ", ") + ": lower the minimum count or ignore fewer labels"
	}
	return e
}

// UnknownMeasureError lists requested keys that are not in the registry.
type UnknownMeasureError struct{ Keys []string }

func (e *UnknownMeasureError) Error() string {
	known := []string{"default", "all"}
	for _, d := range definitions {
		known = append(known, d.Key)
	}
	var near []string
	for _, key := range e.Keys {
		if name := spelling.Nearest(key, known); name != "" {
			near = append(near, name)
		}
	}
	hint := "wanted `default`, `all` or keys of the registry (docs/measures.md)"
	if near != nil {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return fmt.Sprintf("measure: no measure is called %s; %s", strings.Join(e.Keys, ", "), hint)
}

// shiftRow counts the row of a *LabelError or *NonFiniteError from the start of the source.
func shiftRow(err error, by int) error {
	switch e := err.(type) {
	case *LabelError:
		e.Row += by
	case *NonFiniteError:
		e.Row += by
	}
	return err
}
