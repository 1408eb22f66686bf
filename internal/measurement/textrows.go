package measurement

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/measure"
)

// leastReading is how many characters of a line a reading needs beside its number; where there are fewer it stands below.
const leastReading = 30

// writeGroup writes a table: key, value, values for shuffled labels and a reading; or, for several layers, key, a value
// per layer and the name.
func (m *Result) writeGroup(b *strings.Builder, g group, width int) {
	rows, widths := m.cells(g)
	indent := 0
	for _, n := range widths {
		indent += n + 2
	}
	below := width-indent < leastReading
	for _, row := range rows {
		line, last := "", row[len(row)-1]
		for i, n := range widths {
			line += padded(row[i], n) + "  "
		}
		switch {
		case len(m.Columns) > 1 || last == "":
			fmt.Fprintln(b, strings.TrimRight(line+last, " "))
		case below:
			const far = "      "
			fmt.Fprintf(b, "%s\n%s%s\n", strings.TrimRight(line, " "), far, strings.Join(screen.Wrap(last, width-len(far)), "\n"+far))
		default:
			fmt.Fprintln(b, line+strings.Join(screen.Wrap(last, width-indent), "\n"+strings.Repeat(" ", indent)))
		}
	}
}

// cells are the head and the rows of a group's table, with the widths of all columns but the last.
func (m *Result) cells(g group) (rows [][]string, widths []int) {
	head, one := []string{"  "}, len(m.Columns) == 1
	for _, c := range m.Columns {
		if one {
			head = append(head, "")
		} else {
			head = append(head, safetext.Line(c.Name))
		}
	}
	shuffled := m.shuffled(g)
	if shuffled {
		head = append(head, "shuffled labels")
	}
	if shuffled || !one {
		rows = append(rows, append(head, ""))
	}
	for _, d := range g.Keys {
		row := []string{"  " + d.Key}
		for _, c := range m.Columns {
			row = append(row, c.Value(d.Key))
		}
		switch {
		case !one:
			row = append(row, d.Name)
		case shuffled:
			row = append(row, m.MainColumn().chance(d.Key), m.MainColumn().Readings[d.Key])
		default:
			row = append(row, m.MainColumn().Readings[d.Key])
		}
		rows = append(rows, row)
	}
	widths = make([]int, len(rows[0])-1)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	return rows, widths
}

// writeLines writes a list under a title, unless it is empty; long lines are broken and indented.
func writeLines(b *strings.Builder, width int, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", strings.Join(screen.Wrap(safetext.Line(line), width-6), "\n      "))
	}
}

// shuffled reports whether a group has a column for shuffled labels.
func (m *Result) shuffled(g group) bool {
	return len(m.Columns) == 1 && slices.ContainsFunc(g.Keys, func(d measure.Definition) bool { return m.MainColumn().chance(d.Key) != "" })
}

// chance writes the range of a measure for shuffled labels; "" if unknown.
func (c *Column) chance(key string) string {
	null, known := c.Null[key]
	if !known || key == measure.KeyRankBetween || SaysNothing(key, c.Report.K) {
		return ""
	}
	low, high := format.Digits(null.Low), format.Digits(null.High)
	if low == high {
		return low
	}
	return low + " to " + high
}

// missing groups the keys without a value by their reason, in the registry's order.
func (m *Result) missing() []string {
	return m.byReason(func(c *Column, key string) string { return c.Missing[key] })
}

// opened groups the keys with uncertain digits by their reason.
func (m *Result) opened() []string {
	return m.byReason(func(c *Column, key string) string {
		if SaysNothing(key, c.Report.K) {
			return ""
		}
		return c.Reason[key]
	})
}

// byReason writes a line for each distinct reason, with its keys.
func (m *Result) byReason(of func(*Column, string) string) []string {
	var order []string
	keys := map[string][]string{}
	for i := range m.Columns {
		c := &m.Columns[i]
		for _, d := range measure.Definitions() {
			reason := of(c, d.Key)
			if reason == "" {
				continue
			}
			if len(m.Columns) > 1 {
				reason = c.Name + ": " + reason
			}
			if keys[reason] == nil {
				order = append(order, reason)
			}
			keys[reason] = append(keys[reason], d.Key)
		}
	}
	for i, reason := range order {
		order[i] = strings.Join(keys[reason], ", ") + ": " + reason
	}
	return order
}
