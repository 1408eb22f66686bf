// Package theoryfig draws the solutions of the theory's models (ufm, dilation, landscape, imbalance, sphere, deep) and lists their numbers, for the
// recipes of internal/theoryrun, for the commands that solve one setting, and for the page whose reader turns its parameters.
package theoryfig

import (
	"math"
	"strconv"

	"collapse.example/collapse/internal/format"
)

// Fact is a number with where it comes from.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"` // a number as programs read it, or words
	From  string `json:"from"`  // "paper", "exact", "computed here"

	shown string // a number as pages write it; "" is Value
}

// Number is a fact with at most so many significant digits; "–" stands for none.
func Number(name string, v float64, digits int, from string) Fact {
	f := Fact{Name: name, Value: strconv.FormatFloat(v, 'g', digits, 64), From: from, shown: format.Short(v, digits)}
	if v, err := strconv.ParseFloat(f.Value, 64); err == nil {
		f.Value = strconv.FormatFloat(v, 'g', -1, 64) // without trailing zeros
	}
	if math.IsNaN(v) {
		f.Value = f.shown
	}
	return f
}

// Text is the value as pages write it.
func (f Fact) Text() string {
	if f.shown != "" {
		return f.shown
	}
	return f.Value
}
