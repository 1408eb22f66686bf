package page

import (
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
)

// TestColoursOfIntervals: green inside what was claimed, orange outside, grey across its end or without an interval.
func TestColoursOfIntervals(t *testing.T) {
	band := [2]float64{0.8, 1.25}
	effect := func(kind, unit string, band *[2]float64) *judge.Effect {
		return &judge.Effect{Kind: kind, Unit: unit, Band: band}
	}
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		effect *judge.Effect
		lo, hi float64
		want   chart.Color
	}{
		{"more, above", effect(judge.More, "difference", nil), 0.1, 0.2, 3},
		{"more, below", effect(judge.More, "difference", nil), -0.2, -0.1, 2},
		{"more, across", effect(judge.More, "difference", nil), -0.2, 0.1, chart.Muted},
		{"less, a ratio", effect(judge.Less, "log-ratio", nil), 0.5, 0.9, 3},
		{"equal, inside", effect(judge.Equal, "log-ratio", &band), 0.9, 1.1, 3},
		{"equal, outside", effect(judge.Equal, "log-ratio", &band), 1.3, 1.4, 2},
		{"equal, across", effect(judge.Equal, "log-ratio", &band), 1.1, 1.4, chart.Muted},
		{"differ, outside the band", effect(judge.Differ, "quotient", &band), 1.3, 1.4, 3},
		{"differ, inside the band", effect(judge.Differ, "quotient", &band), 0.9, 1.1, 2},
		{"nothing", effect(judge.More, "difference", nil), nan, nan, chart.Muted},
	} {
		if got := colours[c.effect.Alone(c.lo, c.hi)]; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhisker(t *testing.T) {
	q := func(v float64) judge.Quantity { return judge.Quantity(v) }
	c := placedClaim{Claim: judge.Claim{Effect: &judge.Effect{Kind: judge.More, Unit: "difference", Cells: []judge.Cell{{Name: "<b>", Value: q(2), Lo: q(1), Hi: q(3)}}}}}
	if svg := string(c.Whisker()); !strings.HasPrefix(svg, "<svg") || strings.Contains(svg, "<b>") || strings.Contains(svg, "NaN") {
		t.Errorf("%s", svg)
	}
	c.Effect.Cells[0].Lo = q(math.NaN())
	if svg := c.Whisker(); svg != "" {
		t.Errorf("without an interval: %s", svg)
	}
	c.Effect.Cells = append(c.Effect.Cells, judge.Cell{Value: q(1), Lo: q(0), Hi: q(2)})
	if svg := c.Whisker(); svg != "" {
		t.Errorf("several intervals and none for all: %s", svg)
	}
}

// An interval that was not judged is grey even where it lies wholly inside what was claimed; the same one is coloured once it was judged.
func TestIntervalsThatDecideNothingAreGrey(t *testing.T) {
	cell := judge.Cell{Value: 2, Lo: 1, Hi: 3}
	drawn := func(judged bool) string {
		return string(whisker(judge.Claim{Effect: &judge.Effect{Kind: judge.More, Unit: "difference", Cells: []judge.Cell{cell}}}, cell, judged))
	}
	green, grey := drawn(true), drawn(false)
	if green == grey || !strings.HasPrefix(green, "<svg") || !strings.HasPrefix(grey, "<svg") {
		t.Fatalf("judged and not judged look alike: %s", green)
	}
	for _, c := range []struct {
		verdict      judge.Verdict
		blocked      string
		first, lines string
	}{{judge.Holds, "", green, green}, {judge.CannotTell, "the terminal phase was not reached", grey, grey}, {judge.CannotTell, "", grey, green}} {
		claim := placedClaim{Claim: judge.Claim{Verdict: c.verdict, Effect: &judge.Effect{Kind: judge.More, Unit: "difference", Blocked: c.blocked, Cells: []judge.Cell{cell}}}}
		if got := string(claim.Whisker()); got != c.first {
			t.Errorf("%s, blocked %q: %s, want %s", c.verdict, c.blocked, got, c.first)
		}
		if got := string(claim.Rows()[0].Drawn); got != c.lines {
			t.Errorf("%s, blocked %q, in the table: %s, want %s", c.verdict, c.blocked, got, c.lines)
		}
	}
}
