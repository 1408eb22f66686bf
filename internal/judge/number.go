package judge

import (
	"math"

	"collapse/internal/format"
)

// Number is a value the paper prints, set beside ours.
type Number struct {
	What   string  `toml:"what"`
	Paper  float64 `toml:"paper"`
	Spread float64 `toml:"spread"` // as printed; 0: none
	Unit   string  `toml:"unit"`   // "%": Ours is a share and shown as a percentage
	Ours   string  `toml:"ours"`   // an expression (see Statement)
}

// Check reports names that no run can have.
func (n Number) Check() error {
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
	out := Comparison{n.What, format.Digits(n.Paper), "–", "–"}
	if n.Spread != 0 {
		out.Paper += " ± " + format.Digits(n.Spread)
	}
	if !math.IsNaN(ours.Value) {
		out.Ours, out.Difference = ours.Words(), format.Digits(ours.Value-n.Paper)
	}
	return out, nil
}
