// Package theoryfig draws the solutions of the theory's models (ufm, dilation, landscape) and lists their numbers, for the
// recipes of internal/theoryrun, for the commands that solve one setting, and for the page whose reader turns its parameters.
package theoryfig

import (
	"fmt"
	"math"
)

// Fact is a number with where it comes from.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"` // "paper", "exact", "computed here"
}

// Number writes a value of a fact; "–" if there is none.
func Number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.6g", x)
}
