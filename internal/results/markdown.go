package results

import (
	"fmt"
	"math"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/safetext"
)

// table is the page of all claims.
func table(all []Recipe) string {
	var b strings.Builder
	b.WriteString("# Results\n\n")
	fmt.Fprintf(&b, "%s. %s\n\n", format.Count(len(all), "recipe"), made(all))
	fmt.Fprintf(&b, "%s [Figures](figures.md).\n\n", counts(all))
	b.WriteString("| figure or table | claim | verdict | effect, 95 % interval | seeds |\n|---|---|---|---|---|\n")
	for _, r := range all {
		for i, c := range r.Claims {
			where := ""
			if i == 0 {
				where = fmt.Sprintf("**%s** (%s)", cell(r.Paper), r.ID)
			}
			effect, seeds := effectOf(c)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", where, cell(c.Statement), c.Verdict, cell(effect), seeds)
		}
	}
	b.WriteString(openClaims(all))
	b.WriteString(numbers(all))
	b.WriteString("\n## How they were made\n\n| recipe | command | runs | core hours | program | machine | date |\n|---|---|---|---|---|---|---|\n")
	for _, r := range all {
		hours := "–"
		if r.CoreHours > 0 {
			hours = fmt.Sprintf("%.2f", r.CoreHours)
		}
		fmt.Fprintf(&b, "| %s | `%s` | %d | %s | %s | %s | %s |\n", r.ID, r.Command, r.Runs, hours, cell(r.Program), cell(r.Machine), r.Date.UTC().Format("2006-01-02"))
	}
	return b.String()
}

// made says what the runs took.
func made(all []Recipe) string {
	runs, hours := 0, 0.0
	for _, r := range all {
		runs, hours = runs+r.Runs, hours+r.CoreHours
	}
	return fmt.Sprintf("%s, %.1f core hours (runs that recipes share are counted in each)", format.Count(runs, "run"), hours)
}

// counts are the verdicts on claims about trained networks, and on those about the theory.
func counts(all []Recipe) string {
	trained, theory := map[judge.Verdict]int{}, map[judge.Verdict]int{}
	for _, r := range all {
		of := trained
		if r.Runs == 0 {
			of = theory
		}
		for _, c := range r.Claims {
			of[c.Verdict]++
		}
	}
	var lines []string
	for _, kind := range []struct {
		what     string
		verdicts map[judge.Verdict]int
	}{{"trained networks", trained}, {"the theory", theory}} {
		var words []string
		for _, v := range judge.Verdicts {
			if n := kind.verdicts[v]; n > 0 {
				words = append(words, fmt.Sprintf("%s: %d", v, n))
			}
		}
		if len(words) > 0 {
			lines = append(lines, "Claims about "+kind.what+": "+strings.Join(words, ", ")+".")
		}
	}
	return strings.Join(lines, " ")
}

// effectOf is what a claim rests on in a few words: the pooled effect, or the only one, or the reason where there is none.
func effectOf(c judge.Claim) (effect, seeds string) {
	if c.Effect == nil || len(c.Effect.Cells) == 0 {
		return c.Reason, ""
	}
	cell := c.Effect.Cells[0]
	if c.Effect.Pooled != nil {
		cell = *c.Effect.Pooled
	} else if len(c.Effect.Cells) > 1 {
		return c.Reason, ""
	}
	if math.IsNaN(float64(cell.Lo)) {
		return c.Reason, fmt.Sprint(cell.Seeds)
	}
	digits := func(q judge.Quantity) string { return format.Digits(float64(q)) }
	return fmt.Sprintf("%s %s (%s to %s)", c.Effect.Name(), digits(cell.Value), digits(cell.Lo), digits(cell.Hi)), fmt.Sprint(cell.Seeds)
}

// openClaims has a paragraph for each claim that does not simply hold.
func openClaims(all []Recipe) string {
	var b strings.Builder
	for _, r := range all {
		for _, c := range r.Claims {
			if c.Verdict == judge.Holds {
				continue
			}
			if b.Len() == 0 {
				b.WriteString("\n## What does not hold, holds partly or stays open\n")
			}
			fmt.Fprintf(&b, "\n**%s, %s: %s.** %s: %s.", cell(r.Paper), c.ID, c.Verdict, cell(c.Statement), cell(c.Reason))
			for _, s := range c.Statistics {
				fmt.Fprintf(&b, " %s.", cell(format.Capital(s)))
			}
			b.WriteString(r.deciding(c.Effect))
			b.WriteString("\n")
		}
	}
	return b.String()
}

// deciding says how long the seeds would take that decide an open claim, at what this recipe's took; "" if nothing is known.
func (r Recipe) deciding(e *judge.Effect) string {
	if e == nil || e.Needed == 0 || r.CoreHours == 0 {
		return ""
	}
	of := e.Cells[0]
	if e.Pooled != nil {
		of = *e.Pooled
	}
	hours := r.CoreHours / 2 * float64(e.Needed) / float64(of.Seeds)
	return fmt.Sprintf(" So many take about %s on two such cores.", format.Span(hours))
}

// numbers sets the papers' numbers beside ours.
func numbers(all []Recipe) string {
	var b strings.Builder
	for _, r := range all {
		for _, n := range r.Numbers {
			if b.Len() == 0 {
				b.WriteString("\n## The papers’ numbers beside ours\n\n| recipe | what | the paper | these runs | difference |\n|---|---|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.ID, cell(n.What), n.Paper, n.Ours, n.Difference)
		}
	}
	return b.String()
}

// gallery is the page of figures.
func gallery(all []Recipe) string {
	var b strings.Builder
	b.WriteString("# Figures\n\nOne of each recipe; `collapse reproduce ID` makes the others. [Claims and numbers](README.md).\n")
	for _, r := range all {
		if len(r.Figures) == 0 {
			continue
		}
		f := r.Figures[0]
		fmt.Fprintf(&b, "\n## %s\n\n%s (%s, scale %s)\n\n![%s](figures/%s.svg)\n\n%s\n", cell(r.Title), cell(r.Paper), r.ID, r.Scale, cell(f.Title), r.ID, cell(f.Caption))
	}
	return b.String()
}

// cell is text that stays in its cell of a table and is no markup.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ", "*", "\\*").Replace(safetext.Line(s))
}
