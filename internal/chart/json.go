package chart

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Numbers is a slice that JSON can represent: non-finite values are written as null, and null is read as NaN.
type Numbers []float64

// MarshalJSON writes the shortest decimal that reads back as the same number.
func (v Numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+12*len(v))
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		if !finite(x) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Numbers) UnmarshalJSON(data []byte) error {
	var in []*float64
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("chart: numbers: %w", err)
	}
	out := make(Numbers, len(in))
	for i, p := range in {
		out[i] = math.NaN()
		if p != nil {
			out[i] = *p
		}
	}
	*v = out
	return nil
}

// WriteJSON writes the figure as one JSON document. Its keys are those of the struct tags and do not change; keys that a reader does
// not know were added later.
func WriteJSON(w io.Writer, f Figure) error {
	f.check()
	if err := json.NewEncoder(w).Encode(f); err != nil {
		return fmt.Errorf("chart: figure %s as JSON: %w", f.ID, err)
	}
	return nil
}
