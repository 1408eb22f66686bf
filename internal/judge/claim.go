// Package judge reads runs of the lab and says what they show: numbers with intervals over seeds, and verdicts on the
// papers' claims. It knows no HTML and draws nothing.
//
// load.go reads runs (run.go, features.go, frame.go); judgedrun.go says which runs count, and experiment.go sorts them
// into experiments; derived.go and margins.go compute values from the features that a run saved. questions.go is what a
// page asks, and the rules in words; statement.go and number.go are what recipes ask, expressions.go the language of
// their questions, eligible.go which runs may answer, effect.go what each seed answers, claim.go the verdicts.
// inference/ turns the seeds' answers into intervals and verdicts. memorization.go and headline.go judge M-D Fig. 1,
// search_claims.go judges searches of settings.
package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge/inference"
)

// Verdict is the answer to a claim.
type Verdict string

// The verdicts, as pages print them.
const (
	Holds      Verdict = "holds"
	Partly     Verdict = "partly" // holds overall, but some cells contradict
	Fails      Verdict = "does not hold"
	CannotTell Verdict = "cannot tell"
)

// Verdicts lists the verdicts in the order of pages.
var Verdicts = []Verdict{Holds, Partly, Fails, CannotTell}

// inWords maps answers to verdicts.
var inWords = map[inference.Answer]Verdict{inference.Yes: Holds, inference.Partly: Partly, inference.No: Fails, inference.CannotTell: CannotTell}

// Claim is one statement, judged on these runs.
type Claim struct {
	ID        string `json:"id"`
	Statement string `json:"statement"`
	Provenance
	Verdict    Verdict  `json:"verdict"`
	Reason     string   `json:"reason"`               // why this verdict, in a sentence
	Effect     *Effect  `json:"effect,omitempty"`     // the effect behind the verdict; nil: not judged over seeds
	Statistics []string `json:"statistics,omitempty"` // other numbers, and what was left out
	Lacking    int      `json:"-"`                    // seeds that a verdict needs beyond those judged; 0: more would not help, or there is a verdict
}

// Withhold makes a claim open, whatever its numbers say.
func (c *Claim) Withhold(why string) {
	c.Verdict, c.Reason, c.Lacking = CannotTell, why, 0
	if c.Effect != nil {
		blocked := *c.Effect
		blocked.Blocked = why
		c.Effect = &blocked
	}
}

// Effect is what the verdict on a claim about runs rests on: what varies, the two sides, and how they differ.
type Effect struct {
	Kind       string      `json:"kind"` // the statement's kind
	Unit       string      `json:"unit"`
	Sides      [2]string   `json:"sides"`                // what is compared, as expressions
	Band       *[2]float64 `json:"band,omitempty"`       // within it values count as equal
	Mean       bool        `json:"mean,omitempty"`       // of several cells, their mean is judged, not each
	Percent    bool        `json:"percent,omitempty"`    // both sides are percentages
	Early      bool        `json:"early,omitempty"`      // judged also on runs that have not fitted their labels
	Blocked    string      `json:"blocked,omitempty"`    // why there is no verdict, whatever the numbers
	Replicates []uint64    `json:"replicates,omitempty"` // the seeds, in the order of each cell's answers
	Cells      []Cell      `json:"cells"`                // one per combination of what varies
	Pooled     *Cell       `json:"pooled,omitempty"`     // over all cells, if there are several
	How        string      `json:"how"`                  // how it was judged, in one line
	Needed     int         `json:"needed,omitempty"`     // for an open claim: about how many seeds of this spread would decide it, in every cell that has to be; 0: none would, or unknown
}

// Cell is an effect among the runs with one combination of settings: the mean of each side over seeds, and the estimate of
// their difference, or ratio, with its 95 % interval.
type Cell struct {
	Name        string   `json:"name"` // what distinguishes it; "" if there is only one
	Left        Quantity `json:"left"`
	Right       Quantity `json:"right"`
	Value       Quantity `json:"value"`
	Lo          Quantity `json:"lo"`
	Hi          Quantity `json:"hi"`
	Seeds       int      `json:"seeds"`
	Contradicts bool     `json:"contradicts,omitempty"` // after Holm's correction over the cells
	Each        *BySeed  `json:"each,omitempty"`        // what each seed gives; nil: not kept
}

// BySeed are the two sides in each seed, in the unit of the cell's sides; NaN where a seed gives none. A line has its bend and its rise.
type BySeed struct {
	Left  []Quantity `json:"left"`
	Right []Quantity `json:"right"`
}

// Quantity is a number that may be missing, which is NaN here and null in JSON.
type Quantity float64

// MarshalJSON implements json.Marshaler.
func (q Quantity) MarshalJSON() ([]byte, error) {
	if v := float64(q); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(q))
}

// UnmarshalJSON implements json.Unmarshaler.
func (q *Quantity) UnmarshalJSON(text []byte) error {
	v := new(float64)
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*q = Quantity(math.NaN())
	if v != nil {
		*q = Quantity(*v)
	}
	return nil
}

// Class is the verdict as one word, for style sheets.
func (v Verdict) Class() string { return strings.ReplaceAll(string(v), " ", "-") }

// Contradicts ends the name of a cell that contradicts its claim.
const Contradicts = " (contradicts)"

// Evidence is the table behind a verdict: a row per cell with the two sides, under their names, and how they differ. It has no rows
// if the reason already says everything.
func (c Claim) Evidence(sides [2]string) format.Table {
	e := c.Effect
	if e == nil {
		return format.Table{}
	}
	value := e.Name()
	t := format.Table{Columns: []string{"", sides[0], sides[1], value, "95 % interval", "seeds"}}
	row := func(cell Cell) {
		name := cell.Name
		if cell.Contradicts {
			name += Contradicts
		}
		text := func(q Quantity) string { return format.Digits(float64(q)) }
		interval := "–"
		if !math.IsNaN(float64(cell.Lo)) {
			interval = text(cell.Lo) + " to " + text(cell.Hi)
		}
		t.Rows = append(t.Rows, []string{name, text(cell.Left), text(cell.Right), text(cell.Value), interval, strconv.Itoa(cell.Seeds)})
	}
	for _, cell := range e.Cells {
		row(cell)
	}
	if e.Pooled != nil {
		row(*e.Pooled)
	}
	return t
}

// Judged says how the claim was judged, in one line: what is compared, in which unit, against which band.
func (e *Effect) Judged() string {
	if e.Kind == Linear {
		return fmt.Sprintf("x = %s, y = %s: %s.", e.Sides[0], e.Sides[1], e.How)
	}
	return fmt.Sprintf("left = %s; right = %s: %s.", e.Sides[0], e.Sides[1], e.How)
}

// Name is the effect in a word.
func (e *Effect) Name() string {
	switch {
	case e.Kind == Linear:
		return "bend ÷ rise"
	case e.Ratio():
		return "ratio"
	}
	return "difference"
}

// Ratio says that 1, not 0, is no effect.
func (e *Effect) Ratio() bool { return e.Kind != Linear && e.Unit != difference }
