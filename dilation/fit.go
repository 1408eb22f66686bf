package dilation

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Measured is one measured pair in the model's own units, for one class of one run:
//
//	Memorization  η_model·‖h2 − u1‖ = (1/n_clean)·Σ over the corrupted samples of ‖h − h*‖,
//	              η_model the ratio of corrupted to clean samples
//	Dilation      r/‖h1 − h2‖ with r² = tr Σ_W of the test features of that class
//
// The model says Memorization = C_MD·Dilation. (√NC1 at K = 2 is √2·σ_D/‖h1−h2‖ with σ_D the spread
// along h1 − h2 alone, which is another quantity.)
type Measured struct {
	Group        string // the loss
	Memorization float64
	Dilation     float64
}

// Fit is C_MD of one group: the slope through the origin by least squares.
type Fit struct {
	Group  string  `json:"group"`
	Points int     `json:"points"`
	CMD    float64 `json:"c_md"`
	Error  float64 `json:"standard_error"`
	R2     float64 `json:"r2"` // 1 − residual/Σ memorization²: that of a line through the origin
}

// Comparison says whether all groups share one slope.
type Comparison struct {
	Fits   []Fit   `json:"fits"`
	Pooled Fit     `json:"pooled"`
	F      float64 `json:"f"`         // of one slope against one per group
	PValue float64 `json:"p_value"`   // probability of an F at least this large if the slopes are equal
	FreeOf [2]int  `json:"f_degrees"` // degrees of freedom
}

// FitCMD fits C_MD to each group separately and tests equality of the slopes by an F test. It returns an error if a group has fewer
// than two points or no dilation.
func FitCMD(points []Measured) (*Comparison, error) {
	groups := map[string][]Measured{}
	for i, p := range points {
		if !(p.Dilation >= 0) || !(p.Memorization >= 0) || math.IsInf(p.Dilation+p.Memorization, 0) {
			return nil, fmt.Errorf("dilation: pair %d (%s) is (%g, %g), wanted finite numbers of at least 0", i+1, p.Group, p.Memorization, p.Dilation)
		}
		groups[p.Group] = append(groups[p.Group], p)
	}
	if len(groups) == 0 {
		return nil, errors.New("dilation: no measured pairs")
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	c := &Comparison{F: math.NaN(), PValue: math.NaN()}
	apart := 0.0
	for _, name := range names {
		fit, rss, err := fitSlope(name, groups[name])
		if err != nil {
			return nil, err
		}
		c.Fits = append(c.Fits, fit)
		apart += rss
	}
	pooled, together, err := fitSlope("all", points)
	if err != nil {
		return nil, err
	}
	c.Pooled = pooled
	c.FreeOf = [2]int{len(names) - 1, len(points) - len(names)}
	if c.FreeOf[0] > 0 && apart > 0 {
		c.F = (together - apart) / float64(c.FreeOf[0]) / (apart / float64(c.FreeOf[1]))
		c.PValue = upperF(c.F, c.FreeOf[0], c.FreeOf[1])
	}
	return c, nil
}

// fitSlope returns the fit and its residual sum of squares.
func fitSlope(name string, points []Measured) (Fit, float64, error) {
	if len(points) < 2 {
		return Fit{}, 0, fmt.Errorf("dilation: group %q has %d pairs, wanted at least 2", name, len(points))
	}
	xx, xy, yy := 0.0, 0.0, 0.0
	for _, p := range points {
		xx += p.Dilation * p.Dilation
		xy += p.Dilation * p.Memorization
		yy += p.Memorization * p.Memorization
	}
	if xx == 0 || yy == 0 {
		return Fit{}, 0, fmt.Errorf("dilation: group %q has no dilation or no memorization: the slope is undefined", name)
	}
	slope, rss := xy/xx, 0.0
	for _, p := range points {
		miss := p.Memorization - slope*p.Dilation
		rss += miss * miss
	}
	variance := rss / float64(len(points)-1)
	return Fit{Group: name, Points: len(points), CMD: slope, Error: math.Sqrt(variance / xx), R2: 1 - rss/yy}, rss, nil
}

// ReadMeasured reads pairs from CSV with a header that has the columns memorization, dilation and,
// for several groups, loss.
func ReadMeasured(r io.Reader) ([]Measured, error) {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("dilation: reading the header of the pairs: %w", err)
	}
	memorization, dilation, loss := slices.Index(header, "memorization"), slices.Index(header, "dilation"), slices.Index(header, "loss")
	if memorization < 0 || dilation < 0 {
		return nil, fmt.Errorf("dilation: the header is %q, wanted columns memorization and dilation (and loss)", header)
	}
	var out []Measured
	for line := 2; ; line++ {
		row, err := rows.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("dilation: line %d of the pairs: %w", line, err)
		}
		m := Measured{Group: "all"}
		if loss >= 0 {
			m.Group = row[loss]
		}
		var errX, errY error
		m.Memorization, errY = strconv.ParseFloat(row[memorization], 64)
		m.Dilation, errX = strconv.ParseFloat(row[dilation], 64)
		if err := errors.Join(errX, errY); err != nil {
			return nil, fmt.Errorf("dilation: line %d of the pairs: %w", line, err)
		}
		out = append(out, m)
	}
}
