package report

import (
	"fmt"
)

// Thresholds that the paper does not give (ours; printed on the page).
const (
	enoughSeeds  = 3    // for an interval over seeds to mean something
	enoughNoises = 3    // noise levels above zero for a trend
	goodFit      = 0.9  // R² of a line through the means from which it counts as a line
	slopeBand    = 1.5  // slopes whose ratio is surely within [1/1.5, 1.5] count as equal
	settledLimit = 0.05 // median relative change over the last quarter that counts as none
)

// claims judges the statements of M-D Fig. 1 on one group.
func (g *group) claims() []Claim {
	out := []Claim{g.claimGrowth(), g.claimLine(), g.claimSlopes()}
	if g.hasLoss("lr") || g.hasLoss("mse") {
		out = append(out, g.claimOtherSlopes())
	}
	return append(out, g.claimLess(), g.claimAccuracy(), g.claimSettled())
}

func (g *group) hasLoss(kind string) bool {
	return g.count(func(s *subject) bool { return s.Loss == kind }) > 0
}

// bench is the runs a claim is judged on: regular ones in the terminal phase.
type bench struct {
	subjects []*subject
	blocked  string   // why no verdict is possible; "" if one is
	notes    []string // what was left out
}

// bench gathers the runs with noise above zero that keep accepts. A cell (curve × noise) that
// keeps fewer than half of its regular runs, or fewer than two where it had more, blocks a verdict:
// the terminal phase was not reached there (recipes rule 1).
func (g *group) bench(keep func(*subject) bool) bench {
	type cell struct {
		curve string
		noise float64
	}
	var b bench
	all, left, order := map[cell]int{}, map[cell]int{}, []cell(nil)
	degenerate, early := 0, 0
	for _, s := range g.subjects {
		if s.Noise <= 0 || !keep(s) {
			continue
		}
		if s.degenerate {
			degenerate++
			continue
		}
		c := cell{s.curve, s.Noise}
		if all[c] == 0 {
			order = append(order, c)
		}
		all[c]++
		if !s.terminal {
			early++
			continue
		}
		left[c]++
		b.subjects = append(b.subjects, s)
	}
	if degenerate > 0 {
		b.notes = append(b.notes, fmt.Sprintf("%s left out", count(degenerate, "degenerate run")))
	}
	if early > 0 {
		b.notes = append(b.notes, fmt.Sprintf("%s below 99.9 %% train accuracy left out", count(early, "run")))
	}
	for _, c := range order {
		if left[c]*2 < all[c] || left[c] < min(2, all[c]) {
			b.blocked = fmt.Sprintf("the terminal phase (train accuracy ≥ 99.9 %% on observed labels) was reached by %d of %s with %s at η = %s",
				left[c], count(all[c], "run"), c.curve, decimal(c.noise))
			break
		}
	}
	switch {
	case len(order) == 0 && degenerate > 0:
		b.blocked = "every run with label noise is degenerate (M-D Fig. 4a)"
	case len(order) == 0:
		b.blocked = "no run has label noise"
	}
	return b
}

// undecided is a claim that these runs cannot answer.
func (c Claim) undecided(b bench, why string) Claim {
	c.Verdict, c.Reason = CannotTell, why
	c.Statistics = append(c.Statistics, b.notes...)
	return c
}

func (c Claim) decided(b bench, v Verdict, why string) Claim {
	c.Verdict, c.Reason = v, why
	c.Statistics = append(c.Statistics, b.notes...)
	return c
}

// pairs are memorization and dilation of the subjects that have both.
func pairs(subjects []*subject, form string, most float64) (mem, dil []float64) {
	for _, s := range subjects {
		m, ok1 := s.memory(form)
		d, ok2 := s.dilation()
		if ok1 && ok2 && s.Noise > 0 && s.Noise <= most {
			mem, dil = append(mem, m), append(dil, d)
		}
	}
	return mem, dil
}

// drawn gathers the runs of drawn seeds, repeats included.
func drawn(byS map[uint64][]*subject, draw []uint64) []*subject {
	var out []*subject
	for _, seed := range draw {
		out = append(out, byS[seed]...)
	}
	return out
}

// form is the form of memorization that the main figure uses: the first that the group has.
func (g *group) form() memoryForm {
	for _, f := range memoryForms {
		if g.count(func(s *subject) bool { _, ok := s.memory(f.key); return ok }) > 0 {
			return f
		}
	}
	return memoryForms[0]
}

// correlation is Spearman's ρ of memorization and dilation over the runs of one curve.
func correlation(subjects []*subject, form string) interval {
	byS := bySeed(subjects)
	return bootstrap(seeds(subjects), func(draw []uint64) float64 {
		return spearman(pairs(drawn(byS, draw), form, 1))
	})
}

// noiseLevels counts the levels above zero at which subjects have both quantities.
func noiseLevels(subjects []*subject, form string) int {
	levels := map[float64]bool{}
	for _, s := range subjects {
		_, ok1 := s.memory(form)
		_, ok2 := s.dilation()
		if s.Noise > 0 && ok1 && ok2 {
			levels[s.Noise] = true
		}
	}
	return len(levels)
}

// claimGrowth: memorization and dilation grow together.
func (g *group) claimGrowth() Claim {
	c := Claim{ID: "growth", Statement: "With label noise, memorization and dilation √NC1_test grow together, whatever the loss"}
	b, form := g.bench(func(*subject) bool { return true }), g.form()
	worst, reason := Holds, "in every loss the rank correlation is above zero with its whole 95 % interval"
	for _, curve := range g.curves {
		runs := onCurve(b.subjects, curve)
		rho := correlation(runs, form.key)
		c.Statistics = append(c.Statistics, fmt.Sprintf("%s: Spearman's ρ = %s over %s, %s of noise, %s", curve,
			withInterval(rho), count(len(runs), "run"), count(noiseLevels(runs, form.key), "level"), count(len(seeds(runs)), "seed")))
		switch {
		case noiseLevels(runs, form.key) < enoughNoises:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("for %s memorization and dilation are known at %s above zero; a trend needs %d", curve, count(noiseLevels(runs, form.key), "noise level"), enoughNoises))
		case len(seeds(runs)) < enoughSeeds:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s has %s in regular runs of the terminal phase; an interval needs %d", curve, count(len(seeds(runs)), "seed"), enoughSeeds))
		case rho.Hi < 0 || rho.Value <= 0:
			worst, reason = weaker(worst, reason, Fails, fmt.Sprintf("%s: they do not grow together (ρ = %s)", curve, withInterval(rho)))
		case !(rho.Lo > 0):
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s: the interval of ρ reaches zero", curve))
		}
	}
	c.Statistics = append(c.Statistics, g.growthWithDegenerate(form.key)...)
	if b.blocked != "" {
		return c.undecided(b, b.blocked)
	}
	return c.decided(b, worst, reason)
}

// growthWithDegenerate gives the rank correlations over all finished runs, where that is not the
// same: the verdict leaves degenerate runs out, as the paper does, and shows what they would say.
func (g *group) growthWithDegenerate(form string) []string {
	if g.count(isDegenerate) == 0 {
		return nil
	}
	var out []string
	for _, curve := range g.curves {
		runs := onCurve(g.pick(func(s *subject) bool { return s.Noise > 0 }), curve)
		out = append(out, fmt.Sprintf("%s, degenerate and early runs included: ρ = %s over %s", curve, withInterval(correlation(runs, form)), count(len(runs), "run")))
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

func onCurve(subjects []*subject, curve string) []*subject {
	var out []*subject
	for _, s := range subjects {
		if s.curve == curve {
			out = append(out, s)
		}
	}
	return out
}

// ofLoss keeps the runs of one loss kind; its curves with unusual parameters count, too.
func ofLoss(subjects []*subject, kind string) []*subject {
	var out []*subject
	for _, s := range subjects {
		if s.Loss == kind {
			out = append(out, s)
		}
	}
	return out
}

// meansFit fits a line through the mean point of each noise level up to most.
func meansFit(subjects []*subject, form string, most float64) lineFit {
	var x, y []float64
	for _, level := range levels(subjects) {
		if level <= 0 || level > most {
			continue
		}
		var at []*subject
		for _, s := range subjects {
			if s.Noise == level {
				at = append(at, s)
			}
		}
		if mem, dil := pairs(at, form, most); len(mem) > 0 {
			x, y = append(x, mean(mem)), append(y, mean(dil))
		}
	}
	return fit(x, y)
}

// claimLine: the relation is linear for CE and LS while memorization is not large.
func (g *group) claimLine() Claim {
	c := Claim{ID: "linear", Statement: "√NC1_test is linear in memorization for cross entropy and for label smoothing while memorization is not large (η ≤ 0.2)"}
	b, form := g.bench(func(s *subject) bool { return s.Loss == "ce" || s.Loss == "ls" }), g.form()
	worst, reason := Holds, fmt.Sprintf("a line through the means explains at least %d %% of their variance for both", int(goodFit*100))
	for _, kind := range []string{"ce", "ls"} {
		runs := ofLoss(b.subjects, kind)
		low, all := meansFit(runs, form.key, lowNoise), meansFit(runs, form.key, 1)
		single := fit(pairs(runs, form.key, lowNoise))
		c.Statistics = append(c.Statistics, fmt.Sprintf("%s: R² = %s through the %s with η ≤ 0.2 (%s through single runs), slope %s; R² = %s over all η",
			lossNames[kind], digits(low.R2), count(low.N, "mean"), digits(single.R2), digits(low.Slope), digits(all.R2)))
		switch {
		case len(runs) == 0 || low.N < enoughNoises:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s has fewer than %d noise levels in 0 < η ≤ 0.2", lossNames[kind], enoughNoises))
		case len(seeds(runs)) < enoughSeeds:
			worst, reason = weaker(worst, reason, CannotTell, fmt.Sprintf("%s has %s in regular runs of the terminal phase; a line needs %d", lossNames[kind], count(len(seeds(runs)), "seed"), enoughSeeds))
		case !(low.R2 >= goodFit) || low.Slope <= 0:
			worst, reason = weaker(worst, reason, Fails, fmt.Sprintf("%s: the line explains less than %d %%, or falls", lossNames[kind], int(goodFit*100)))
		}
	}
	if b.blocked != "" {
		return c.undecided(b, b.blocked)
	}
	return c.decided(b, worst, reason)
}
