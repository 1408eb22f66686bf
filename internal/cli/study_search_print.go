package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

func printSearches(a *app, rows []searchRow) {
	for _, s := range rows {
		title := "search"
		if s.Where != "" {
			title += ", " + s.Where
		}
		begun := len(slices.DeleteFunc(slices.Clone(s.Trials), func(t trialRow) bool { return t.Number > s.Wanted }))
		before := ""
		if n := len(s.Trials) - begun; n > 0 {
			before = fmt.Sprintf(", %d kept of an earlier version", n)
		}
		a.printf("\n%s: %d of %d trials begun%s, %d of at most %d epochs of trials spent\n", title, begun, s.Wanted, before, s.Spent, s.Whole)
		s.printTrials(a)
		if best, ok := s.best(); ok {
			s.printBest(a, best)
		} else if why := s.noBest(); why != "" {
			a.printf("  %s\n", why)
		}
	}
}

// printTrials prints the table of all runs.
func (s searchRow) printTrials(a *app) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	tests, head := s.tested(), ""
	if tests {
		head = "TEST ACC.\t"
	}
	safetext.Fprintf(w, "  TRIAL\tEPOCHS\t%s\t"+head+"STATUS\tSETTINGS\n", s.head)
	line := func(name string, t trialRow) {
		epochs, value := fmt.Sprint(t.Epochs), orDash(t.Value)
		if t.Status != store.Done {
			epochs = fmt.Sprintf("%d/%d", t.Reached, t.Epochs)
		}
		if t.Newest != nil {
			value = "now " + orDash(t.Newest)
		}
		safetext.Fprintf(w, "  %s\t%s\t%s\t", name, epochs, value)
		if tests {
			fmt.Fprint(w, orDash(t.Test)+"\t")
		}
		safetext.Fprintf(w, "%s\t%s\n", s.state(t), strings.Join(study.InWords(t.Settings), ", "))
	}
	for _, t := range s.Trials {
		name := fmt.Sprint(t.Number)
		if t.Number > s.Wanted {
			name = "earlier"
		}
		if t.Number == s.Best {
			name += " best"
		}
		line(name, t)
	}
	if s.Default != nil {
		line("default", *s.Default)
	}
	for _, t := range s.Final {
		line(s.finalName(t), t)
	}
	w.Flush()
}

// finalName is what a run after the search is called: a script's has the same data as the trials.
func (s searchRow) finalName(t trialRow) string {
	name := map[string]string{study.RoleBest: "best", study.RoleDefaultFinal: "default"}[t.Role]
	if s.script {
		return name + " again"
	}
	return name + ", all data"
}

// printBest says where the best trial is, and how it was made.
func (s searchRow) printBest(a *app, t trialRow) {
	so := ""
	if t.Epochs < s.full {
		so = fmt.Sprintf(" so far, at epoch %d of %d", t.Epochs, s.full)
	}
	a.printf("  best%s: run %.12s, files in %s\n", so, t.Run, t.Dir)
	if same := s.asGood(t); len(same) > 0 {
		a.printf("  as good: trial %s\n", format.List(same))
	}
	for _, f := range s.Final[:min(len(s.Final), mostFinal)] {
		if f.Role == study.RoleBest && f.Value != nil {
			a.printf("  %s: run %.12s, %s %s, files in %s\n", s.finalName(f), f.Run, s.Metric, orDash(f.Value), f.Dir)
		}
	}
	if again := s.again(); len(again) > 1 {
		own := ""
		if slices.Contains(again, *t.Value) {
			own = "; one of them has the value of the trial itself"
		}
		a.printf("  again in %s: %s %s (mean ± half of Student’s 95 %% interval%s)\n", format.Count(len(again), "run"), s.Metric, judge.WithHalf(again), own)
	}
	if t.Command != "" {
		a.print("  started as: " + safetext.Line(t.Command) + "\n") // not folded, to be copied
		a.print("  with: " + safetext.Line(strings.Join(slices.Concat(t.Settings, t.shared), " ")) + "\n")
	}
	if t.Checkpoint != "" {
		a.print("  its checkpoint: " + safetext.Line(t.Checkpoint) + "\n")
	}
	if t.Code != "" {
		a.printf("  code: %s\n", t.Code)
	}
	if t.Copy != "" {
		a.print("  a copy of that code: " + safetext.Line(t.Copy) + "\n")
	}
}

// state is the status of a trial, with what else is to be known of it.
func (s searchRow) state(t trialRow) string {
	switch {
	case t.Further != nil:
		return t.Further.inWords()
	case t.Status == store.Done && t.Value == nil && t.Role == study.RoleTrial:
		return "done, " + cmp.Or(t.Lacks, "no value")
	case t.Status == store.Done && t.Epochs < s.full && s.over:
		return "stopped early"
	case t.Status == store.Done && t.Epochs < s.full && t.Role == study.RoleTrial:
		return "paused" // whether it is trained further depends on the others
	}
	return string(t.Status)
}

// mostFinal is how many of the last runs are named with their folders.
const mostFinal = 5

// noBest says why finished trials have no best.
func (s searchRow) noBest() string {
	done := 0
	for _, t := range s.Trials {
		if t.Status == store.Done {
			done++
		}
	}
	if done == 0 {
		return ""
	}
	if len(s.Reported) > 0 {
		return fmt.Sprintf("no best: no trial reports %s, the metric of the search; they report %s. Name one of these in the file, and start it again: what is computed stays%s",
			s.Metric, format.Few(s.Reported, shown), spelling.Suggestion(s.Metric, s.Reported))
	}
	if slices.ContainsFunc(s.Trials, func(t trialRow) bool { return t.Value != nil }) {
		return fmt.Sprintf("no best: no trial that went to epoch %d has a value of %s there", s.full, s.Metric)
	}
	return fmt.Sprintf("no best: none of %s has a value of %s at its last epoch", format.Count(done, "finished trial"), s.Metric)
}

func orDash(v *float64) string {
	if v == nil {
		return "–"
	}
	return format.Short(*v, 4)
}
