package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/safetext"
)

// table is the page of all claims.
func table(all []Recipe, scales, rows bool) string {
	var b strings.Builder
	b.WriteString("# Results\n\n")
	fmt.Fprintf(&b, "%s. %s\n\n", format.Count(len(all), "recipe"), made(all))
	fmt.Fprintf(&b, "%s\n%s\n\n%s [Figures](figures.md).", counts(all), sources, sizes(all))
	if scales {
		b.WriteString(" [Beside a smaller scale](scales.md).")
	}
	b.WriteString("\n\n")
	b.WriteString("| figure or table | claim | source | verdict | effect, 95 % interval | seeds |\n|---|---|---|---|---|---|\n")
	for _, r := range all {
		for i, c := range r.Claims {
			where := ""
			if i == 0 {
				where = fmt.Sprintf("**%s** (%s)", cell(r.Paper), r.ID)
			}
			effect, seeds := effectOf(c)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", where, cell(c.Statement), cell(whose(c)), c.Verdict, cell(effect), seeds)
		}
	}
	b.WriteString(openClaims(all))
	b.WriteString(numbers(all))
	b.WriteString("\n## How they were made\n\n| recipe | command | runs | core hours | program | machine | date |\n|---|---|---|---|---|---|---|\n")
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s |\n", r.ID, r.Command, finished(r.Runs, r.Failed), hours(r), cell(r.Program), cell(r.Machine), r.Date.UTC().Format("2006-01-02"))
	}
	if rows {
		fmt.Fprintf(&b, "\nThe rows of these runs are the lab [%s](%[1]s). `collapse results --check DIR` makes recipes again from them, without images, and compares; `collapse lab merge DIR/%[1]s` takes them into a lab that goes on.\n", RowsName)
	}
	return b.String()
}

// finished is a number of runs, of how many if some failed or have not ended.
func finished(runs, failed int) string {
	if failed > 0 {
		return fmt.Sprintf("%d of %d", runs-failed, runs)
	}
	return fmt.Sprint(runs)
}

func hours(r Recipe) string {
	if r.CoreHours <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", r.CoreHours)
}

// made says what the runs took.
func made(all []Recipe) string {
	runs, failed, hours := 0, 0, 0.0
	for _, r := range all {
		runs, failed, hours = runs+r.Runs, failed+r.Failed, hours+r.CoreHours
	}
	words := format.Count(runs, "run")
	if failed > 0 {
		words = finished(runs, failed) + " runs"
	}
	return fmt.Sprintf("%s, %.1f core hours (runs that recipes share are counted in each)", words, hours)
}

// counts are the verdicts on claims about trained networks, and on those about the theory, by source.
func counts(all []Recipe) string {
	var trained, theory []judge.Claim
	for _, r := range all {
		if r.Runs > 0 {
			trained = append(trained, r.Claims...)
		} else {
			theory = append(theory, r.Claims...)
		}
	}
	var b strings.Builder
	b.WriteString("| claims | holds | partly | does not hold | cannot tell |\n|---|---|---|---|---|\n")
	for _, kind := range []struct {
		what   string
		claims []judge.Claim
	}{{"trained networks", trained}, {"the theory", theory}} {
		for _, g := range judge.GroupBySource(kind.claims) {
			fmt.Fprintf(&b, "| %s: %s |", kind.what, g.Source.Words())
			for _, v := range judge.Verdicts {
				fmt.Fprintf(&b, " %d |", g.Count(v))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// sources explains the words of the table of counts, and what a verdict speaks of.
const sources = "A claim of a paper is our question to one of its sentences, which is quoted; thresholds and bands in it are ours, and several claims may ask one sentence. " +
	"Checks compare numbers of this program with each other."

// sizes says what runs the verdicts are about.
func sizes(all []Recipe) string {
	if slices.ContainsFunc(all, func(r Recipe) bool { return r.Scale != "paper" }) {
		return "A verdict is about the runs behind it. Networks here are far narrower than the papers’, trained on far fewer images, and some on other data: each of the [recipes](../../../recipes) lists what was changed."
	}
	for _, r := range all {
		if r.Changed == nil || slices.ContainsFunc(r.Changed, func(c Change) bool { return !c.Part }) {
			return "A verdict is about the runs behind it. They have the papers’ scale, but for what a command sets by hand."
		}
	}
	return "A verdict is about the runs behind it. Networks, images and epochs are the papers’ own; each command says which part of a figure was computed."
}

// whose says where a claim comes from.
func whose(c judge.Claim) string {
	switch cited := c.Cited(); {
	case c.Source == judge.FromPaper:
		return cited
	case cited != "":
		return "read off: " + cited
	case c.Source == judge.OwnCheck:
		return "check"
	}
	return string(c.Source)
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

// openClaims has a paragraph for each claim that does not simply hold, the papers' sentences before others.
func openClaims(all []Recipe) string {
	var b strings.Builder
	for _, source := range append(slices.Clone(judge.Sources), judge.Unrecorded) {
		headed := false
		for _, r := range all {
			for _, c := range r.Claims {
				if c.Verdict == judge.Holds || c.Source != source {
					continue
				}
				if !headed {
					fmt.Fprintf(&b, "\n## What does not hold, holds partly or stays open: %s\n", source.Words())
					headed = true
				}
				b.WriteString(r.openClaim(c))
			}
		}
	}
	return b.String()
}

func (r Recipe) openClaim(c judge.Claim) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s, %s: %s.** %s: %s.", cell(r.Paper), c.ID, c.Verdict, cell(c.Statement), cell(c.Reason))
	for _, s := range c.Statistics {
		fmt.Fprintf(&b, " %s.", cell(format.Capital(s)))
	}
	return b.String() + r.deciding(c.Effect) + "\n"
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

// smaller says what the names of networks mean in the table of numbers.
const smaller = "Below the scale paper, networks are narrower and images fewer than the name of a row says; such a difference says nothing of the paper’s number."

// numbers sets the papers' numbers beside ours.
func numbers(all []Recipe) string {
	var b strings.Builder
	for _, r := range all {
		for _, n := range r.Numbers {
			if b.Len() == 0 {
				b.WriteString("\n## The papers’ numbers beside ours\n\n" + smaller + "\n\n| recipe | what | the paper | these runs | difference |\n|---|---|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.ID, cell(n.Placed()), n.Paper, n.Ours, n.Difference)
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
