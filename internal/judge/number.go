package judge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge/inference"
)

// Number is a value the paper prints, compared with ours.
type Number struct {
	What   string `toml:"what"`
	Paper  string `toml:"paper"`  // with the digits it prints
	Spread string `toml:"spread"` // standard deviation after ±, likewise; empty: none
	Place  string `toml:"place"`  // the table or section that prints it
	Unit   string `toml:"unit"`   // "%": Ours is a share and shown as a percentage
	Ours   string `toml:"ours"`   // an expression (see Statement)
}

// Printed is the claim that these runs reproduce all numbers of a recipe. It is judged only at the paper's own scale.
type Printed struct {
	Says string `toml:"says"`
	Provenance
	Band    [2]float64 `toml:"band"`    // of ours − the paper's, in the unit of the numbers
	Because string     `toml:"because"` // why this band
	Runs    int        `toml:"runs"`    // number of runs behind each of the paper's numbers
}

// Check reports what is wrong with a claim about printed numbers.
func (p *Printed) Check() error {
	switch {
	case p.Says == "" || p.Because == "":
		return errors.New("judge: [printed] needs says and because")
	case !(p.Band[0] < 0 && p.Band[1] > 0):
		return fmt.Errorf("judge: [printed]: band is [%g, %g]; wanted two numbers with 0 between them", p.Band[0], p.Band[1])
	case p.Runs < 2:
		return fmt.Errorf("judge: [printed]: runs is %d; wanted the number of runs behind the paper's ±, at least 2", p.Runs)
	}
	return nil
}

// Check reports names that no run can have, and values that are not numbers.
func (n Number) Check() error {
	for _, text := range []string{n.Paper, cmp.Or(n.Spread, "0")} {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("judge: number %q: the paper's value is %q, wanted digits as it prints them, such as \"99.50\"", n.What, text)
		}
	}
	if _, err := compile(n.Ours); err != nil {
		return fmt.Errorf("judge: number %q: %w", n.What, err)
	}
	return nil
}

// Comparison is a number of the paper beside that of runs, as text.
type Comparison struct {
	What, Paper, Ours, Difference string
	Place                         string `json:",omitempty"` // where the paper prints it
}

// Placed names the number with the place where the paper prints it.
func (c Comparison) Placed() string {
	if c.Place == "" {
		return c.What
	}
	return c.What + " (" + c.Place + ")"
}

// compared is a number with our estimate over seeds, in the paper's unit.
type compared struct {
	Comparison
	paper            float64
	ours, difference inference.Estimate
}

// compare computes the number for every seed. papersRuns is the number of runs behind the paper's spread; 0 if
// unknown.
func (n Number) compare(done []*JudgedRun, papersRuns int) (compared, error) {
	missing := inference.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	out := compared{Comparison: Comparison{What: n.What, Paper: n.Paper, Ours: "–", Difference: "–", Place: n.Place}, ours: missing, difference: missing}
	program, err := compile(n.Ours)
	if err != nil {
		return out, fmt.Errorf("judge: number %q: %w", n.What, err)
	}
	unit := 1.0
	if n.Unit == "%" {
		unit = 100
	}
	var values []float64
	runs, all := bySeed(done), ofEverySeed(done)
	for _, seed := range Seeds(done) {
		v, err := evaluate(program, sample{runs: runs[seed], all: all}, difference)
		if err == nil {
			values = append(values, unit*v)
		}
	}
	paper, err := strconv.ParseFloat(n.Paper, 64)
	if err != nil {
		return out, fmt.Errorf("judge: number %q: %w", n.What, err)
	}
	out.paper = paper
	theirs := inference.Estimate{Value: paper, DF: math.Inf(1), N: math.MaxInt} // without ±, treated as exact
	if n.Spread != "" {
		out.Paper += " ± " + n.Spread
		spread, err := strconv.ParseFloat(n.Spread, 64)
		if err != nil {
			return out, fmt.Errorf("judge: number %q: %w", n.What, err)
		}
		if papersRuns > 1 {
			theirs = inference.Printed(paper, spread, papersRuns)
		}
	}
	if len(values) > 0 {
		out.ours = inference.Mean(values)
		out.difference = inference.Apart(out.ours, theirs)
		out.Ours, out.Difference = withDeviation(values), withInterval(out.difference)
	}
	return out, nil
}

func withDeviation(v []float64) string {
	return format.PlusMinus(Mean(v), Deviation(v))
}

// WithHalf writes the mean of values ± half of Student's 95 % interval, as tables do.
func WithHalf(v []float64) string {
	e := inference.Mean(v)
	return format.PlusMinus(e.Value, (e.Hi-e.Lo)/2)
}

func withInterval(e inference.Estimate) string {
	if math.IsNaN(e.Lo) {
		return format.Digits(e.Value)
	}
	return format.Digits(e.Value) + " (95 % interval " + format.Digits(e.Lo) + " to " + format.Digits(e.Hi) + ")"
}

// judge answers the claim about all numbers of a table.
func (p *Printed) judge(rows []compared, papersScale bool) Claim {
	c := Claim{ID: "printed", Statement: p.Says, Provenance: p.Provenance, Verdict: CannotTell, Reason: "shown but not judged: these runs are not at the paper’s scale"}
	e := Effect{Kind: Equal, Unit: difference, Sides: [2]string{"these runs", "the paper"}, Band: &p.Band,
		How: "the difference of each number, with both standard errors (Welch) and Student’s interval; the claim needs all rows inside the band, and one row outside (after Holm’s correction) contradicts it; band: " + p.Because}
	var estimates []inference.Estimate
	var regions []inference.Region
	for _, r := range rows {
		estimates, regions = append(estimates, r.difference), append(regions, inference.Within(p.Band[0], p.Band[1]))

		e.Cells = append(e.Cells, Cell{Name: r.What, Left: Quantity(r.ours.Value), Right: Quantity(r.paper), Value: Quantity(r.difference.Value),
			Lo: Quantity(r.difference.Lo), Hi: Quantity(r.difference.Hi), Seeds: r.ours.N})
	}
	c.Effect = &e
	switch {
	case len(rows) == 0:
		c.Reason = "the recipe has no numbers to compare"
		return c
	case !papersScale:
		return c
	}
	answer, against := inference.Every(estimates, regions)
	for _, i := range against {
		e.Cells[i].Contradicts = true
	}
	c.Verdict, c.Reason = inWords[answer], fmt.Sprintf("the whole interval of %d of %d numbers is outside the band %s to %s", len(against), len(rows), format.Digits(p.Band[0]), format.Digits(p.Band[1]))
	return c
}
