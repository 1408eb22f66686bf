package judge

import (
	"fmt"

	"collapse/internal/format"
)

// Thresholds that the paper does not give (ours; printed on the page).
const (
	enoughSeeds  = 3    // for an interval over seeds to mean something
	enoughNoises = 3    // noise levels above zero for a trend
	goodFit      = 0.9  // R² of a line through the means from which it counts as a line
	slopeBand    = 1.5  // slopes whose ratio is surely within [1/1.5, 1.5] count as equal
	settledLimit = 0.05 // median relative change over the last quarter that counts as none
)

// Claims judges the statements of M-D Fig. 1 on one experiment.
func (g *Experiment) Claims() []Claim {
	out := []Claim{g.claimGrowth(), g.claimLine(), g.claimSlopes()}
	if g.hasLoss("lr") || g.hasLoss("mse") {
		out = append(out, g.claimOtherSlopes())
	}
	return append(out, g.claimLess(), g.claimAccuracy(), g.claimSettled())
}

func (g *Experiment) hasLoss(kind string) bool {
	return g.Count(func(s *JudgedRun) bool { return s.Loss == kind }) > 0
}

// evidence is the runs a claim is judged on: regular ones in the terminal phase.
type evidence struct {
	runs    []*JudgedRun
	blocked string   // why no verdict is possible; "" if one is
	notes   []string // what was left out
}

// noiseCell is a curve at one level of label noise.
type noiseCell struct {
	curve string
	noise float64
}

// evidence gathers the runs with noise above zero that keep accepts. A cell that
// keeps fewer than half of its regular runs, or fewer than two where it had more, blocks a verdict:
// the terminal phase was not reached there (recipes rule 1).
func (g *Experiment) evidence(keep func(*JudgedRun) bool) evidence {
	var e evidence
	all, left, order := map[noiseCell]int{}, map[noiseCell]int{}, []noiseCell(nil)
	degenerate, early := 0, 0
	for _, s := range g.Runs {
		if s.Noise <= 0 || !keep(s) {
			continue
		}
		if s.Degenerate {
			degenerate++
			continue
		}
		c := noiseCell{s.Curve, s.Noise}
		if all[c] == 0 {
			order = append(order, c)
		}
		all[c]++
		if !s.Terminal {
			early++
			continue
		}
		left[c]++
		e.runs = append(e.runs, s)
	}
	if degenerate > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%s left out", format.Count(degenerate, "degenerate run")))
	}
	if early > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%s below 99.9 %% train accuracy left out", format.Count(early, "run")))
	}
	switch {
	case len(order) == 0 && degenerate > 0:
		e.blocked = "every run with label noise is degenerate (M-D Fig. 4a)"
	case len(order) == 0:
		e.blocked = "no run has label noise"
	default:
		e.blocked = notTerminal(order, all, left)
	}
	return e
}

// notTerminal says of the first cell that lacks runs in the terminal phase how many are left.
func notTerminal(order []noiseCell, all, left map[noiseCell]int) string {
	for _, c := range order {
		if left[c]*2 < all[c] || left[c] < min(2, all[c]) {
			return fmt.Sprintf("the terminal phase (train accuracy ≥ 99.9 %% on observed labels) was reached by %d of %s with %s at η = %s",
				left[c], format.Count(all[c], "run"), c.curve, format.Decimal(c.noise))
		}
	}
	return ""
}

// decided is a claim with its verdict, which is that these runs cannot tell where the evidence is blocked.
func (c Claim) decided(e evidence, v Verdict, why string) Claim {
	c.Verdict, c.Reason = v, why
	if e.blocked != "" {
		c.Verdict, c.Reason = CannotTell, e.blocked
	}
	c.Statistics = append(c.Statistics, e.notes...)
	return c
}

// fewSeeds says that runs have too few seeds for an interval; "" if they have enough.
func fewSeeds(runs []*JudgedRun) string {
	if n := len(Seeds(runs)); n < enoughSeeds {
		return fmt.Sprintf("%s in regular runs of the terminal phase; an interval needs %d", format.Count(n, "seed"), enoughSeeds)
	}
	return ""
}

// pairs are memorization and dilation of the runs that have both.
func pairs(runs []*JudgedRun, form string, most float64) (mem, dil []float64) {
	for _, s := range runs {
		m, ok1 := s.Memory(form)
		d, ok2 := s.Dilation()
		if ok1 && ok2 && s.Noise > 0 && s.Noise <= most {
			mem, dil = append(mem, m), append(dil, d)
		}
	}
	return mem, dil
}

// drawn gathers the runs of drawn seeds, repeats included.
func drawn(byS map[uint64][]*JudgedRun, draw []uint64) []*JudgedRun {
	var out []*JudgedRun
	for _, seed := range draw {
		out = append(out, byS[seed]...)
	}
	return out
}

// Form is the form of memorization that the main figure uses: the first that the experiment has.
func (g *Experiment) Form() MemoryForm {
	for _, f := range MemoryForms {
		if g.Count(func(s *JudgedRun) bool { _, ok := s.Memory(f.Key); return ok }) > 0 {
			return f
		}
	}
	return MemoryForms[0]
}

// correlation is Spearman's ρ of memorization and dilation over the runs of one curve.
func correlation(runs []*JudgedRun, form string) Interval {
	byS := bySeed(runs)
	return bootstrap(Seeds(runs), func(draw []uint64) float64 {
		return spearman(pairs(drawn(byS, draw), form, 1))
	})
}

// noiseLevels counts the levels above zero at which runs have both quantities.
func noiseLevels(runs []*JudgedRun, form string) int {
	levels := map[float64]bool{}
	for _, s := range runs {
		_, ok1 := s.Memory(form)
		_, ok2 := s.Dilation()
		if s.Noise > 0 && ok1 && ok2 {
			levels[s.Noise] = true
		}
	}
	return len(levels)
}

// claimGrowth: memorization and dilation grow together.
func (g *Experiment) claimGrowth() Claim {
	c := Claim{ID: "growth", Statement: "With label noise, memorization and dilation √NC1_test grow together, whatever the loss"}
	e, form := g.evidence(func(*JudgedRun) bool { return true }), g.Form()
	worst, reason := Holds, "in every loss the rank correlation is above zero with its whole 95 % interval"
	for _, curve := range g.Curves {
		runs := OnCurve(e.runs, curve)
		rho := correlation(runs, form.Key)
		c.Statistics = append(c.Statistics, fmt.Sprintf("%s: Spearman's ρ = %s over %s, %s of noise, %s", curve,
			rho.Words(), format.Count(len(runs), "run"), format.Count(noiseLevels(runs, form.Key), "level"), format.Count(len(Seeds(runs)), "seed")))
		switch {
		case noiseLevels(runs, form.Key) < enoughNoises:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("for %s memorization and dilation are known at %s above zero; a trend needs %d", curve, format.Count(noiseLevels(runs, form.Key), "noise level"), enoughNoises))
		case len(Seeds(runs)) < enoughSeeds:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s has %s in regular runs of the terminal phase; an interval needs %d", curve, format.Count(len(Seeds(runs)), "seed"), enoughSeeds))
		case rho.Hi < 0 || rho.Value <= 0:
			worst, reason = weaker(worst, reason, Fails, fmt.Sprintf("%s: they do not grow together (ρ = %s)", curve, rho.Words()))
		case !(rho.Lo > 0):
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s: the interval of ρ reaches zero", curve))
		}
	}
	c.Statistics = append(c.Statistics, g.growthWithDegenerate(form.Key)...)
	return c.decided(e, worst, reason)
}

// growthWithDegenerate gives the rank correlations over all finished runs, where that is not the
// same: the verdict leaves degenerate runs out, as the paper does, and shows what they would say.
func (g *Experiment) growthWithDegenerate(form string) []string {
	if g.Count(IsDegenerate) == 0 {
		return nil
	}
	var out []string
	for _, curve := range g.Curves {
		runs := OnCurve(g.Pick(func(s *JudgedRun) bool { return s.Noise > 0 }), curve)
		out = append(out, fmt.Sprintf("%s, degenerate and early runs included: ρ = %s over %s", curve, correlation(runs, form).Words(), format.Count(len(runs), "run")))
	}
	return out
}

// weaker keeps the less favourable of two verdicts: a failure over a doubt over a success.
func weaker(a Verdict, why string, b Verdict, whyB string) (Verdict, string) {
	order := map[Verdict]int{Holds: 0, CannotTell: 1, Fails: 2}
	if order[b] > order[a] {
		return b, whyB
	}
	return a, why
}

// OnCurve keeps the runs of one curve.
func OnCurve(runs []*JudgedRun, curve string) []*JudgedRun {
	return only(runs, func(s *JudgedRun) bool { return s.Curve == curve })
}

// ofLoss keeps the runs of one loss kind; its curves with unusual parameters count, too.
func ofLoss(runs []*JudgedRun, kind string) []*JudgedRun {
	return only(runs, func(s *JudgedRun) bool { return s.Loss == kind })
}

// meansFit fits a line through the mean point of each noise level up to most.
func meansFit(runs []*JudgedRun, form string, most float64) lineFit {
	var x, y []float64
	for _, level := range Levels(runs) {
		if level <= 0 || level > most {
			continue
		}
		at := only(runs, func(s *JudgedRun) bool { return s.Noise == level })
		if mem, dil := pairs(at, form, most); len(mem) > 0 {
			x, y = append(x, Mean(mem)), append(y, Mean(dil))
		}
	}
	return fit(x, y)
}

// claimLine: the relation is linear for CE and LS while memorization is not large.
func (g *Experiment) claimLine() Claim {
	c := Claim{ID: "linear", Statement: "√NC1_test is linear in memorization for cross entropy and for label smoothing while memorization is not large (η ≤ 0.2)"}
	e, form := g.evidence(func(s *JudgedRun) bool { return s.Loss == "ce" || s.Loss == "ls" }), g.Form()
	worst, reason := Holds, fmt.Sprintf("a line through the means explains at least %d %% of their variance for both", int(goodFit*100))
	for _, kind := range []string{"ce", "ls"} {
		runs := ofLoss(e.runs, kind)
		low, all := meansFit(runs, form.Key, lowNoise), meansFit(runs, form.Key, 1)
		single := fit(pairs(runs, form.Key, lowNoise))
		c.Statistics = append(c.Statistics, fmt.Sprintf("%s: R² = %s through the %s with η ≤ 0.2 (%s through single runs), slope %s; R² = %s over all η",
			lossNames[kind], format.Digits(low.R2), format.Count(low.N, "mean"), format.Digits(single.R2), format.Digits(low.Slope), format.Digits(all.R2)))
		switch {
		case len(runs) == 0 || low.N < enoughNoises:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s has fewer than %d noise levels in 0 < η ≤ 0.2", lossNames[kind], enoughNoises))
		case len(Seeds(runs)) < enoughSeeds:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s has %s in regular runs of the terminal phase; a line needs %d", lossNames[kind], format.Count(len(Seeds(runs)), "seed"), enoughSeeds))
		case !(low.R2 >= goodFit) || low.Slope <= 0:
			worst, reason = weaker(worst, reason, Fails, fmt.Sprintf("%s: the line explains less than %d %%, or falls", lossNames[kind], int(goodFit*100)))
		}
	}
	return c.decided(e, worst, reason)
}
