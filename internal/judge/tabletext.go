package judge

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
)

// text is the cell with as many digits as its interval allows.
func (c TableCell) text(percent bool) string {
	unit := 1.0
	if percent {
		unit = 100
	}
	mean, half := unit*float64(c.Mean), unit*float64(c.Hi-c.Lo)/2
	if half == 0 { // a setting, as a rule
		return format.Short(mean, 4)
	}
	return format.PlusMinus(mean, half)
}

// head is the name of a column of numbers.
func (t Tabled) head(i int) string {
	if t.Percent[i] {
		return t.Values[i] + ", %"
	}
	return t.Values[i]
}

// counted is how many seeds a cell has, with the runs that lack a value.
func (c TableCell) counted() string {
	if lack := c.Of - c.Runs; lack > 0 {
		failed := ""
		if c.Failed > 0 {
			failed = fmt.Sprintf(", %d failed", c.Failed)
		}
		return fmt.Sprintf("%d (%d of %d runs%s)", c.N, c.Runs, c.Of, failed)
	}
	return strconv.Itoa(c.N)
}

// Shown is the table for pages and terminals.
func (t Tabled) Shown() (out format.Table) {
	out.Columns = slices.Clone(t.Rows)
	for i := range t.Values {
		out.Columns = append(out.Columns, t.head(i), "n")
	}
	for _, line := range t.Lines {
		row := slices.Clone(line.Settings)
		for i, c := range line.Cells {
			row = append(row, c.text(t.Percent[i]), c.counted())
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// CSV has a line for each combination and value, with all digits.
func (t Tabled) CSV() (lines [][]string) {
	lines = [][]string{append(slices.Clone(t.Rows), "value", "mean", "lo", "hi", "seeds", "runs", "of", "missing")}
	number := func(q Quantity) string {
		if math.IsNaN(float64(q)) {
			return ""
		}
		return strconv.FormatFloat(float64(q), 'g', -1, 64)
	}
	for _, line := range t.Lines {
		for i, c := range line.Cells {
			lines = append(lines, append(slices.Clone(line.Settings), t.Values[i], number(c.Mean), number(c.Lo), number(c.Hi), strconv.Itoa(c.N), strconv.Itoa(c.Runs), strconv.Itoa(c.Of), c.Missing))
		}
	}
	return lines
}

// latex makes text of characters that mean something to LaTeX.
var latex = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`, `^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`,
	"±", `$\pm$`, "−", `$-$`, "–", "--", "·", `$\cdot$`, "\n", " ", "\r", " ")

// superscripts are the exponents of powers of ten.
var (
	superscripts = regexp.MustCompile(`[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+`)
	plainDigits  = strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")
)

func latexText(text string) string {
	return superscripts.ReplaceAllStringFunc(latex.Replace(text), func(raised string) string { return "$^{" + plainDigits.Replace(raised) + "}$" })
}

// LaTeX is the table as a file to \input, with booktabs' rules.
func (t Tabled) LaTeX() string {
	shown := t.Shown()
	line := func(cells []string) string {
		out := make([]string, len(cells))
		for i, c := range cells {
			out[i] = latexText(c)
		}
		return strings.Join(out, " & ") + ` \\` + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", len(t.Rows)), strings.Repeat("r", 2*len(t.Values)))
	b.WriteString(line(shown.Columns) + "\\midrule\n")
	for _, row := range shown.Rows {
		b.WriteString(line(row))
	}
	fmt.Fprintf(&b, "\\bottomrule\n\\end{tabular}\n\\caption{%s. %s}\n\\end{table}\n", latexText(t.Title), latexText(t.Caption))
	return b.String()
}
