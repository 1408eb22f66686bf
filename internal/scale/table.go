package scale

import (
	"fmt"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
)

// Columns are the headings of Cells.
func (plan Plan) Columns() []string {
	return []string{"recipe", "runs", "work", format.Count(plan.Hours.Cores, "core"), strconv.Itoa(manyCores) + " cores", "one GPU"}
}

// Cells are a plan as a row of a table.
func (plan Plan) Cells() []string {
	if !plan.Trains {
		return []string{plan.Recipe, "–", "–", "seconds", "seconds", "–"}
	}
	here, many := format.Span(plan.Hours.Here), format.Span(plan.Hours.On64)
	if plan.Hours.Unrated {
		here, many = "–", "–"
	}
	return []string{plan.Recipe, grouped(plan.Runs), plan.work(), here, many, format.Span(plan.Hours.OnGPU)}
}

// work is the arithmetic of all runs.
func (plan Plan) work() string {
	if plan.Bound {
		return "up to " + format.FLOP(plan.FLOP)
	}
	return format.FLOP(plan.FLOP)
}

// Lines are a plan as short lines, each a name and a text.
func (plan Plan) Lines() [][2]string {
	if !plan.Trains {
		return [][2]string{{"work", "seconds on any machine: it trains no network and counts no FLOP"}}
	}
	runs, work := grouped(plan.Runs), plan.work()
	if plan.Done > 0 {
		runs += fmt.Sprintf(", %s of them in the lab", grouped(plan.Done))
	}
	if plan.Failed > 0 {
		runs += fmt.Sprintf(", %s failed before", grouped(plan.Failed))
	}
	if plan.Left != plan.FLOP {
		work += "; left are " + format.FLOP(plan.Left)
	}
	columns, cells := plan.Columns(), plan.Cells()
	lines := [][2]string{{"runs", runs}, {"work", work}}
	for i := 3; i < len(cells); i++ {
		lines = append(lines, [2]string{columns[i], cells[i]})
	}
	lines[len(lines)-1][1] += "  (" + GPU() + ")"
	for _, r := range plan.Rates {
		lines = append(lines, [2]string{"rate", fmt.Sprintf("%s: %.0f GFLOP/s on two cores (%s)", r.Of, r.GFLOPS, r.Source)})
	}
	return lines
}

// Markdown writes plans, and the rates they follow from, as the two tables of docs/scale.md.
func Markdown(plans []Plan) string {
	var s strings.Builder
	row := func(cells []string) { fmt.Fprintf(&s, "| %s |\n", strings.Join(cells, " | ")) }
	row(plans[0].Columns())
	s.WriteString(strings.Repeat("|---", len(plans[0].Columns())) + "|\n")
	for _, p := range plans {
		row(p.Cells())
	}
	s.WriteString("\n| network | GFLOP/s on two cores | on one GPU | measured |\n|---|---|---|---|\n")
	for _, r := range rates {
		row([]string{r.Of, strconv.FormatFloat(r.GFLOPS, 'f', -1, 64), strconv.FormatFloat(r.OnGPU, 'f', -1, 64), r.Source})
	}
	return s.String()
}

// grouped writes a count with commas.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
