package report

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// headline states what the runs show, with its numbers, in words for someone who knows neither
// the paper nor the program.
func headline(gs []*group, claims [][]Claim) (finding, numbers string, facts []string) {
	if len(gs) == 0 {
		return "No run finished: there is nothing to show yet", "", nil
	}
	g := gs[0]
	if len(g.subjects) == 1 && len(gs) == 1 {
		finding, numbers = g.subjects[0].headline()
		return finding, numbers, nil
	}
	if len(claims[0]) == 0 {
		return "How far the classes collapsed in these runs", "", g.collapseFacts()
	}
	growth := claims[0][0]
	switch growth.Verdict {
	case Holds:
		finding = "The more a network memorizes wrong labels, the wider its classes spread on data it has never seen"
	case Fails:
		finding = "In these runs, memorizing wrong labels and spreading on unseen data do not grow together"
	default:
		finding = "These runs cannot tell whether memorizing wrong labels and spreading on unseen data grow together"
		numbers = sentence(growth.Reason) + " "
	}
	numbers += fmt.Sprintf("%s, %s of label noise, %s; dilation is √NC1 of the test features, memorization the %s.",
		sentenceStart(g.title), count(len(g.noises), "level"), count(len(seeds(g.subjects)), "seed"), g.form().name)
	return finding, numbers, g.growthFacts()
}

// growthFacts says how far memorization and dilation went, a line for each loss.
func (g *group) growthFacts() []string {
	form := g.form()
	mem := func(s *subject) (float64, bool) { return s.memory(form.key) }
	var out []string
	for _, curve := range g.curves {
		runs := onCurve(g.pick(func(s *subject) bool { return isRegular(s) && s.Noise > 0 }), curve)
		at := levels(runs)
		if len(at) == 0 {
			continue
		}
		q := func(noise float64, f func(*subject) (float64, bool)) string {
			return digits(meanAt(runs, runs[0].Loss, noise, f))
		}
		lo, hi := at[0], at[len(at)-1]
		if _, dil := pairs(runs, form.key, 1); len(dil) == 0 {
			out = append(out, sentenceStart(curve)+": memorization and dilation were not measured in the same runs")
			continue
		}
		if lo == hi {
			out = append(out, fmt.Sprintf("%s at η = %s: memorization %s, dilation %s, test accuracy %s %%", sentenceStart(curve), decimal(hi),
				q(hi, mem), q(hi, (*subject).dilation), digits(100*meanAt(runs, runs[0].Loss, hi, (*subject).testAccuracy))))
			continue
		}
		out = append(out, fmt.Sprintf("%s: from η = %s to %s, memorization %s → %s and dilation %s → %s (rank correlation over %s %s)",
			sentenceStart(curve), decimal(lo), decimal(hi), q(lo, mem), q(hi, mem), q(lo, (*subject).dilation), q(hi, (*subject).dilation),
			count(len(runs), "run"), digits(spearman(pairs(runs, form.key, 1)))))
	}
	return out
}

func (g *group) collapseFacts() []string {
	var out []string
	kept, note := leaveOut(g.subjects)
	for _, curve := range g.curves {
		runs := onCurve(kept, curve)
		value := func(split, key string, unit float64) string {
			return meanDeviation(runs, unit, func(s *subject) (float64, bool) { return s.final(split, key) })
		}
		out = append(out, fmt.Sprintf("%s: NC1 %s on training features, dilation %s, test accuracy %s %%", sentenceStart(curve),
			value("train", "nc1_pinv", 1), value("test", "dilation", 1), value("test", "accuracy", 100)))
	}
	if note != "" {
		out = append(out, note)
	}
	return out
}

// headline of a page about one run.
func (s *subject) headline() (finding, numbers string) {
	finding = fmt.Sprintf("One run: %s, η = %s, seed %d", s.curve, decimal(s.Noise), s.Seed)
	var parts []string
	add := func(words, split, key string) {
		if v, ok := s.final(split, key); ok {
			parts = append(parts, words+" "+Written(key, v))
		}
	}
	add("training accuracy", "train", "accuracy")
	add("test accuracy", "test", "accuracy")
	add("NC1", "train", "nc1_pinv")
	add("dilation", "test", "dilation")
	add("memorization", "train", "memorization_flipped")
	if len(parts) == 0 {
		return finding, "It saved no values."
	}
	numbers = fmt.Sprintf("After %s: %s.", count(int(s.LastStep()), "epoch"), list(parts))
	if !s.terminal {
		numbers += " The terminal phase (training accuracy ≥ 99.9 %) was not reached: nothing here is evidence about collapse."
	}
	return finding, numbers
}

// sentence gives words a capital and a full stop; sentenceStart the capital alone.
func sentence(s string) string { return sentenceStart(s) + "." }

func sentenceStart(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
