package measurement

import (
	"fmt"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
)

// NoteLeftOut adds to the notes what each split of each column leaves out, once for columns that agree. Call it when all columns exist.
func (m *Result) NoteLeftOut() {
	said := map[string]bool{}
	for i := range m.Columns {
		for _, line := range m.Columns[i].leftOut() {
			if !said[line] {
				said[line] = true
				m.Notes = append(m.Notes, line)
			}
		}
	}
}

// leftOut says what a column's numbers leave out: how many classes, why, the first few, and how many samples.
func (c *Column) leftOut() []string {
	const few = 8
	var out []string
	for _, l := range c.LeftOut {
		names := strings.Join(l.Labels[:min(few, len(l.Labels))], ", ")
		if l.Count > few {
			names += ", …"
		}
		line := fmt.Sprintf("left out of the %s split: %s (%s): %s", l.Split, classCount(l.Count), names, l.Reason)
		if l.Samples > 0 {
			line += "; " + format.Count(l.Samples, "sample")
		}
		out = append(out, line)
	}
	return out
}

// leftOutWords says how many classes the train split leaves out; "" if none.
func (c *Column) leftOutWords(format string) string {
	n := 0
	for _, l := range c.LeftOut {
		if l.Split == "train" {
			n += l.Count
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, classCount(n))
}

// leftOutRows are rows of the CSV file, one per named class.
func (c *Column) leftOutRows() (rows [][]string) {
	for _, l := range c.LeftOut {
		for _, label := range l.Labels {
			rows = append(rows, []string{c.Name, label, "left_out_" + l.Split, "", l.Reason, "", "", ""})
		}
	}
	return rows
}

func classCount(n int) string {
	if n == 1 {
		return "1 class"
	}
	return strconv.Itoa(n) + " classes"
}
