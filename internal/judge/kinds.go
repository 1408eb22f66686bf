package judge

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/judge/inference"
)

// claimKind is what a kind of claim asks of an effect.
type claimKind struct {
	name   string
	banded bool // asks for a band, and the reason for it
	line   bool // is about y in x, not about two sides
	apart  bool // is asked of every cell alone: effects of both signs would cancel in a mean
	// region is where the effect lies if the claim holds; none is the effect of two equal sides.
	region func(none, lo, hi float64) inference.Region
	sides  [2]string // where the interval lies if the claim holds, and if it does not
}

// claimKinds are the kinds of claims. All that is said of them elsewhere follows from this table.
var claimKinds = []claimKind{
	{name: Less, region: func(none, _, _ float64) inference.Region { return inference.Below(none) }, sides: [2]string{"below", "above"}},
	{name: More, region: func(none, _, _ float64) inference.Region { return inference.Above(none) }, sides: [2]string{"above", "below"}},
	{name: Equal, banded: true, region: within, sides: [2]string{"inside", "outside"}},
	{name: Differ, banded: true, apart: true, region: func(_, lo, hi float64) inference.Region { return inference.Beyond(lo, hi) }, sides: [2]string{"outside", "inside"}},
	{name: Linear, banded: true, line: true, region: within, sides: [2]string{"inside", "outside"}},
}

func within(_, lo, hi float64) inference.Region { return inference.Within(lo, hi) }

// kindOf returns a kind of claim; false if there is none of that name.
func kindOf(name string) (claimKind, bool) {
	at := slices.IndexFunc(claimKinds, func(k claimKind) bool { return k.name == name })
	if at < 0 {
		return claimKind{}, false
	}
	return claimKinds[at], true
}

// kind is that of an effect that was checked.
func (e *Effect) kind() claimKind {
	k, _ := kindOf(e.Kind)
	return k
}

// shown is where the claim says that its effect lies, in the unit that is shown.
func (e *Effect) shown() inference.Region {
	none, band := 0.0, [2]float64{}
	if e.Ratio() {
		none = 1
	}
	if e.Band != nil {
		band = *e.Band
	}
	return e.kind().region(none, band[0], band[1])
}

// Alone is what an interval says of the claim, were it the only one.
func (e *Effect) Alone(lo, hi float64) Verdict { return inWords[e.shown().Holds(lo, hi)] }

// Wanted are the ranges of shown effects in which the claim holds.
func (e *Effect) Wanted() [][2]float64 {
	r := e.shown()
	if r.Outside {
		return [][2]float64{{math.Inf(-1), r.Lo}, {r.Hi, math.Inf(1)}}
	}
	return [][2]float64{{r.Lo, r.Hi}}
}
