package judge

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"collapse/internal/format"
)

// Number is a value the paper prints, set beside ours.
type Number struct {
	What   string `toml:"what"`
	Paper  string `toml:"paper"`  // with the digits that it prints
	Spread string `toml:"spread"` // behind ±, likewise; empty: none
	Unit   string `toml:"unit"`   // "%": Ours is a share and shown as a percentage
	Ours   string `toml:"ours"`   // an expression (see Statement)
}

// Check reports names that no run can have, and what is no number.
func (n Number) Check() error {
	for _, text := range []string{n.Paper, cmp.Or(n.Spread, "0")} {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("judge: number %q: the paper's value is %q, wanted digits as it prints them, such as \"99.50\"", n.What, text)
		}
	}
	return n.statement().Check()
}

// statement shows the number and claims nothing.
func (n Number) statement() Statement {
	return Statement{ID: n.What, Holds: "true", Show: []string{n.Ours}}
}

// Comparison is a number of the paper beside that of runs, as text.
type Comparison struct{ What, Paper, Ours, Difference string }

// compare asks runs for the number.
func (n Number) compare(done []*JudgedRun) (Comparison, error) {
	c, err := n.statement().compile()
	if err != nil {
		return Comparison{}, err
	}
	ours := ask(c.show[0], done)
	if n.Unit == "%" {
		ours.Value, ours.Lo, ours.Hi = 100*ours.Value, 100*ours.Lo, 100*ours.Hi
	}
	out := Comparison{n.What, n.Paper, "–", "–"}
	if n.Spread != "" {
		out.Paper += " ± " + n.Spread
	}
	paper, err := strconv.ParseFloat(n.Paper, 64)
	if err != nil {
		return out, fmt.Errorf("judge: number %q: %w", n.What, err)
	}
	if !math.IsNaN(ours.Value) {
		out.Ours, out.Difference = ours.Words(), format.Digits(ours.Value-paper)
	}
	return out, nil
}
