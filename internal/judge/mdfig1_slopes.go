package judge

import (
	"fmt"
	"math"
)

// slopeRatio is slope(kind)/slope(ce) up to η = 0.2 with its interval over seeds.
func slopeRatio(runs []*JudgedRun, kind, form string) Interval {
	byS := bySeed(runs)
	return bootstrap(Seeds(runs), func(draw []uint64) float64 {
		runs := drawn(byS, draw)
		a := fit(pairs(ofLoss(runs, kind), form, lowNoise))
		b := fit(pairs(ofLoss(runs, "ce"), form, lowNoise))
		return a.Slope / b.Slope
	})
}

// judgeSlope reads a ratio's interval: equal, different, or too wide to say.
func judgeSlope(r Interval) (equal, different bool) {
	inBand := r.Lo >= 1/slopeBand && r.Hi <= slopeBand
	holdsOne := r.Lo <= 1 && 1 <= r.Hi
	return inBand && holdsOne, r.Lo > 1 || r.Hi < 1
}

// claimSlopes: CE and LS share one slope.
func (g *Experiment) claimSlopes() Claim {
	c := Claim{ID: "slopes", Statement: "Cross entropy and label smoothing share one slope of √NC1_test against memorization (η ≤ 0.2)"}
	e, form := g.evidence(func(s *JudgedRun) bool { return s.Loss == "ce" || s.Loss == "ls" }), g.Form()
	r := slopeRatio(e.runs, "ls", form.Key)
	c.Statistics = append(c.Statistics, fmt.Sprintf("slope of LS ÷ slope of CE = %s", r.Words()))
	return g.slopeVerdict(c, e, []Interval{r}, true)
}

// claimOtherSlopes: LR's and MSE's slopes differ from CE's.
func (g *Experiment) claimOtherSlopes() Claim {
	c := Claim{ID: "other-slopes", Statement: "The slopes of label relaxation and of squared error differ from that of cross entropy (η ≤ 0.2)"}
	e, form := g.evidence(func(s *JudgedRun) bool { return s.Loss == "ce" || s.Loss == "lr" || s.Loss == "mse" }), g.Form()
	var ratios []Interval
	for _, kind := range []string{"lr", "mse"} {
		if !g.hasLoss(kind) {
			continue
		}
		r := slopeRatio(e.runs, kind, form.Key)
		ratios = append(ratios, r)
		c.Statistics = append(c.Statistics, fmt.Sprintf("slope of %s ÷ slope of cross entropy = %s", lossNames[kind], r.Words()))
	}
	return g.slopeVerdict(c, e, ratios, false)
}

func (g *Experiment) slopeVerdict(c Claim, e evidence, ratios []Interval, wantEqual bool) Claim {
	if few := fewSeeds(e.runs); few != "" {
		return c.decided(e, CannotTell, few)
	}
	verdict, reason := Holds, "the intervals exclude 1"
	if wantEqual {
		reason = "the interval holds 1 and lies within [0.67, 1.5]"
	}
	for _, r := range ratios {
		equal, different := judgeSlope(r)
		switch {
		case math.IsNaN(r.Lo):
			verdict, reason = weaker(verdict, reason, CannotTell, "a slope is not determined by these runs")
		case equal == wantEqual && different != wantEqual:
		case equal || different:
			verdict, reason = weaker(verdict, reason, Fails, "the interval "+map[bool]string{true: "excludes", false: "holds"}[wantEqual]+" 1")
		default:
			verdict, reason = weaker(verdict, reason, CannotTell, "the interval holds 1 but is wider than [0.67, 1.5]")
		}
	}
	return c.decided(e, verdict, reason)
}
