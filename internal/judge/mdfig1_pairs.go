package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse/internal/format"
)

// Levels lists the noise levels of some runs, ascending.
func Levels(runs []*JudgedRun) []float64 {
	return distinct(runs, func(s *JudgedRun) float64 { return s.Noise })
}

// meanAt is the mean of a quantity over the runs of one loss at one noise level; NaN without any.
func meanAt(runs []*JudgedRun, kind string, noise float64, q func(*JudgedRun) (float64, bool)) float64 {
	var v []float64
	for _, s := range runs {
		if s.Loss != kind || s.Noise != noise {
			continue
		}
		if x, ok := q(s); ok {
			v = append(v, x)
		}
	}
	return Mean(v)
}

// contrast compares LS with CE at equal noise: the mean over the levels that both have of
// difference(ce, ls), with its interval over seeds. Seeds are drawn for both losses together, for
// a seed fixes the noise and the first weights of both.
func contrast(runs []*JudgedRun, q func(*JudgedRun) (float64, bool), difference func(ce, ls float64) float64) (Interval, int) {
	byS := bySeed(runs)
	used := 0
	at := func(runs []*JudgedRun) (out []float64) {
		for _, noise := range Levels(runs) {
			d := difference(meanAt(runs, "ce", noise, q), meanAt(runs, "ls", noise, q))
			if noise > 0 && !math.IsNaN(d) {
				out = append(out, d)
			}
		}
		return out
	}
	used = len(at(runs))
	return bootstrap(Seeds(runs), func(draw []uint64) float64 { return Mean(at(drawn(byS, draw))) }), used
}

// claimLess: at equal noise LS memorizes less than CE, in all four forms of memorization.
func (g *Experiment) claimLess() Claim {
	c := Claim{ID: "ls-memorizes-less", Statement: "At equal label noise, label smoothing memorizes less than cross entropy"}
	e := g.evidence(func(s *JudgedRun) bool { return s.Loss == "ce" || s.Loss == "ls" })
	relative := func(ce, ls float64) float64 { return (ce - ls) / ce }
	var less, more, unsure []string
	for _, f := range MemoryForms {
		r, used := contrast(e.runs, func(s *JudgedRun) (float64, bool) { return s.Memory(f.Key) }, relative)
		c.Statistics = append(c.Statistics, fmt.Sprintf("%s: %s %% less than CE on average over %s", f.Name,
			Interval{100 * r.Value, 100 * r.Lo, 100 * r.Hi}.Words(), format.Count(used, "noise level")))
		switch {
		case r.Lo > 0:
			less = append(less, f.Name)
		case r.Hi <= 0:
			more = append(more, f.Name)
		default:
			unsure = append(unsure, f.Name)
		}
	}
	if len(ofLoss(e.runs, "ce")) == 0 || len(ofLoss(e.runs, "ls")) == 0 {
		return c.decided(e, CannotTell, "it needs runs of both losses")
	}
	if few := fewSeeds(e.runs); few != "" {
		return c.decided(e, CannotTell, few)
	}
	scale := ""
	if slices.Contains(less, MemoryForms[0].Name) && !slices.Contains(less, MemoryForms[3].Name) {
		scale = "; that the raw sum is smaller is a scale effect: LS features are smaller"
	}
	switch {
	case len(less) == len(MemoryForms):
		return c.decided(e, Holds, "it does in all four forms, with the whole 95 % interval")
	case len(more) > 0:
		return c.decided(e, Fails, "it does not in: "+strings.Join(more, "; ")+scale)
	}
	return c.decided(e, CannotTell, "the interval holds zero in: "+strings.Join(unsure, "; ")+scale)
}

// claimAccuracy: LS is at least as accurate as CE on clean test labels.
func (g *Experiment) claimAccuracy() Claim {
	c := Claim{ID: "ls-accuracy", Statement: "With label noise, label smoothing is at least as accurate on test data as cross entropy"}
	e := g.evidence(func(s *JudgedRun) bool { return s.Loss == "ce" || s.Loss == "ls" })
	r, used := contrast(e.runs, (*JudgedRun).TestAccuracy, func(ce, ls float64) float64 { return 100 * (ls - ce) })
	c.Statistics = append(c.Statistics, fmt.Sprintf("accuracy of LS − accuracy of CE = %s percentage points on average over %s",
		r.Words(), format.Count(used, "noise level")))
	switch few := fewSeeds(e.runs); {
	case used == 0:
		return c.decided(e, CannotTell, "it needs runs of both losses at one noise level")
	case few != "":
		return c.decided(e, CannotTell, few)
	case r.Lo >= 0:
		return c.decided(e, Holds, "the whole 95 % interval is at or above zero")
	case r.Hi < 0:
		return c.decided(e, Fails, "the whole 95 % interval is below zero")
	}
	return c.decided(e, CannotTell, "the 95 % interval holds zero")
}

// claimSettled: nothing significant changes in the last quarter of training.
func (g *Experiment) claimSettled() Claim {
	c := Claim{ID: "settled", Statement: "Nothing significant changes in the last quarter of training"}
	e, form := g.evidence(func(*JudgedRun) bool { return true }), g.Form()
	verdict, reason := Holds, "the median run changes by at most 5 % in both"
	for _, q := range []struct{ name, split, key string }{{"memorization", "train", form.Key}, {"dilation", "test", "dilation"}} {
		var changes []float64
		for _, s := range e.runs {
			if v, ok := s.lastQuarter(q.split, q.key); ok {
				changes = append(changes, v)
			}
		}
		slices.Sort(changes)
		if len(changes) == 0 {
			c.Statistics = append(c.Statistics, q.name+": no run was measured at both ends of its last quarter")
			verdict, reason = weaker(verdict, reason, CannotTell, q.name+" was not measured at both ends of the last quarter")
			continue
		}
		m := quantile(changes, 0.5)
		c.Statistics = append(c.Statistics, fmt.Sprintf("%s: median relative change %s %% (largest %s %%) over %s", q.name,
			format.Digits(100*m), format.Digits(100*changes[len(changes)-1]), format.Count(len(changes), "run")))
		if m > settledLimit {
			verdict, reason = weaker(verdict, reason, Fails, fmt.Sprintf("%s still changes by %s %% in the median run", q.name, format.Digits(100*m)))
		}
	}
	return c.decided(e, verdict, reason)
}

// lastQuarter is |last − then|/|last|, then being the first measurement after three quarters of
// the epochs (the last one before, if only the last epoch lies beyond).
func (r *Run) lastQuarter(split, key string) (float64, bool) {
	pts := r.Series(split, key)
	last := r.LastStep()
	if len(pts) < 2 || pts[len(pts)-1].Step != last || pts[len(pts)-1].Value == 0 {
		return 0, false
	}
	end, then := pts[len(pts)-1].Value, pts[len(pts)-2]
	for _, p := range pts[:len(pts)-1] {
		if 4*p.Step >= 3*last {
			then = p
			break
		}
	}
	if 4*then.Step < 2*last {
		return 0, false // too far back to speak of the last quarter
	}
	return math.Abs(end-then.Value) / math.Abs(end), true
}
