package judge

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
)

// grows is the finding of runs in which dilation grows with memorization.
const grows = "In these runs, the more a network memorizes wrong labels, the wider its classes spread on unseen data"

// Headline states what the runs show, and its numbers, for readers who know neither the paper nor
// the program.
func Headline(gs []*Experiment, claims [][]Claim) (finding, numbers string, facts []string) {
	if len(gs) == 0 {
		return "No run has finished: there is nothing to show yet", "", nil
	}
	g := gs[0]
	if len(g.Runs) == 1 && len(gs) == 1 {
		finding, numbers = g.Runs[0].headline()
		return finding, numbers, nil
	}
	if len(claims[0]) == 0 {
		facts = collapseFactsOf(gs)
		if slices.ContainsFunc(facts, func(f string) bool { return strings.Contains(f, " ± ") }) {
			numbers = "Mean ± standard deviation over runs."
		}
		if OnlyScripts(gs) {
			if numbers != "" { // as in the tables of such runs
				numbers = "Mean ± half of Student’s 95 % interval over runs."
			}
			return "What these runs reported", numbers, facts
		}
		return "How far the classes collapsed in these runs", numbers, facts
	}
	growth := claims[0][0]
	switch growth.Verdict {
	case Holds:
		finding = grows
	case Partly:
		finding = grows + ", but not under every loss"
	case Fails:
		finding = "In these runs, memorizing wrong labels and spreading on unseen data do not grow together"
	default:
		finding = "These runs cannot tell whether memorizing wrong labels and spreading on unseen data grow together"
		numbers = format.Capital(growth.Reason) + ". "
	}
	numbers += fmt.Sprintf("%s, %s of label noise, %s; dilation is √NC1 of the test features, memorization the %s.",
		format.Capital(g.Title), format.Count(len(g.Noises), "level"), format.Count(len(Seeds(g.Runs)), "seed"), g.Form().Name)
	return finding, numbers, g.growthFacts()
}

// growthFacts says how much memorization and dilation grew, a line per loss.
func (g *Experiment) growthFacts() []string {
	form := g.Form()
	mem := func(s *JudgedRun) (float64, bool) { return s.Memory(form.Key) }
	var out []string
	for _, curve := range g.Curves {
		runs := OnCurve(g.Pick(func(s *JudgedRun) bool { return IsRegular(s) && s.Noise > 0 }), curve)
		at := Levels(runs)
		if len(at) == 0 {
			continue
		}
		q := func(noise float64, f func(*JudgedRun) (float64, bool)) string {
			return format.Digits(meanAt(runs, runs[0].Loss, noise, f))
		}
		lo, hi := at[0], at[len(at)-1]
		if !slices.ContainsFunc(runs, func(s *JudgedRun) bool { _, known := mem(s); _, wide := s.Dilation(); return known && wide }) {
			out = append(out, format.Capital(curve)+": memorization and dilation were not measured in the same runs")
			continue
		}
		if lo == hi {
			out = append(out, fmt.Sprintf("%s at η = %s: memorization %s, dilation %s, test accuracy %s %%", format.Capital(curve), format.Decimal(hi),
				q(hi, mem), q(hi, (*JudgedRun).Dilation), format.Digits(100*meanAt(runs, runs[0].Loss, hi, (*JudgedRun).TestAccuracy))))
			continue
		}
		out = append(out, fmt.Sprintf("%s: from η = %s to %s, memorization %s → %s and dilation %s → %s, means of %s%s",
			format.Capital(curve), format.Decimal(lo), format.Decimal(hi), q(lo, mem), q(hi, mem), q(lo, (*JudgedRun).Dilation), q(hi, (*JudgedRun).Dilation),
			format.Count(len(runs), "run"), notInClaims(runs)))
	}
	return out
}

// notInClaims says how many runs of a line are left out of the claims; "" if none.
func notInClaims(runs []*JudgedRun) string {
	early := 0
	for _, s := range runs {
		if !s.Terminal {
			early++
		}
	}
	if early == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them below 99.9 %% train accuracy and left out of the claims", early)
}

// mostFacts is how many experiments the headline goes through; each has a section of its own on the page.
const mostFacts = 8

// collapseFactsOf are those of every experiment; with several, each line says of which.
func collapseFactsOf(gs []*Experiment) []string {
	if len(gs) == 1 {
		return gs[0].collapseFacts()
	}
	var out []string
	for _, g := range gs[:min(len(gs), mostFacts)] {
		for _, fact := range g.collapseFacts() {
			out = append(out, g.Title+". "+fact)
		}
	}
	if more := len(gs) - mostFacts; more > 0 {
		out = append(out, "And "+format.Count(more, "other setting"))
	}
	return out
}

func (g *Experiment) collapseFacts() []string {
	var out []string
	kept, note := LeaveOut(g.Runs)
	for _, curve := range g.Curves {
		runs := OnCurve(kept, curve)
		value := func(split, key string, unit float64) string {
			return MeanDeviation(runs, unit, func(s *JudgedRun) (float64, bool) { return s.Last(split, key) })
		}
		if own := ownValues(runs); own != "" {
			out = append(out, format.Capital(curve)+": "+own)
			continue
		}
		out = append(out, fmt.Sprintf("%s: NC1 %s on training features, dilation %s, training accuracy %s %%, test accuracy %s %%%s", format.Capital(curve),
			value("train", "nc1_pinv", 1), value("test", "dilation", 1), value("train", "accuracy", 100), value("test", "accuracy", 100), unfitted(runs)))
	}
	if note != "" {
		out = append(out, note)
	}
	return out
}

// unfitted says how many runs of a line did not fit their labels, which NC1 alone does not show, and how many of those are where theory has
// them; "" if all fitted.
func unfitted(runs []*JudgedRun) (text string) {
	fitted := only(runs, IsTerminal)
	predicted := only(runs, func(s *JudgedRun) bool { return s.Predicted && !IsTerminal(s) })
	if n := len(predicted); n > 0 {
		text = fmt.Sprintf("; %d of %s in a state that theory predicts", n, format.Count(len(runs), "run"))
	}
	if n := len(runs) - len(fitted) - len(predicted); n > 0 {
		text += fmt.Sprintf("; %d of %s unfitted (below 99.9 %% training accuracy)", n, format.Count(len(runs), "run"))
	}
	return text
}

// Title names a run by its loss, its label noise if it has any, and its seed.
func (s *JudgedRun) Title() string {
	noise := ""
	if s.Noise > 0 {
		noise = ", η = " + format.Decimal(s.Noise)
	}
	return fmt.Sprintf("%s%s, seed %d", s.Curve, noise, s.Seed)
}

// headline is that of a page about one run.
func (s *JudgedRun) headline() (finding, numbers string) {
	if s.Kind == store.Script {
		return s.scriptHeadline()
	}
	finding = "One run: " + s.Title()
	var parts []string
	add := func(words, split, key string) {
		if v, ok := s.Last(split, key); ok {
			parts = append(parts, words+" "+format.Measure(key, v))
		}
	}
	add("training accuracy", "train", "accuracy")
	add("test accuracy", "test", "accuracy")
	add("NC1", "train", "nc1_pinv")
	add("dilation", "test", "dilation")
	if s.Noise > 0 {
		add("memorization", "train", "memorization_flipped")
	}
	if len(parts) == 0 {
		return finding, "It saved no values."
	}
	numbers = fmt.Sprintf("After %s: %s.", format.Count(int(s.LastStep()), "epoch"), format.List(parts))
	for _, state := range s.States() {
		numbers += " " + state.Sentence
	}
	if beside := s.Theory(); beside != "" {
		numbers += " " + beside
	}
	return finding, numbers
}
