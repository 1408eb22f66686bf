package screen

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks text into lines of at most the given width, or of one long word.
func Wrap(words string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Split(words, " ") {
		last := &lines[len(lines)-1]
		switch n := utf8.RuneCountInString(*last); {
		case n == 0:
			*last = word
		case n+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// Fold breaks lines that are wider than a terminal at blanks, and continues them below their text: behind a label that two blanks end, or
// below their first word. Elsewhere text stays as it is, for other programs to read.
func (s Screen) Fold(text string) string {
	if !s.Terminal {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if utf8.RuneCountInString(line) > s.Columns() {
			indent := hanging(line)
			lead := string([]rune(line)[:indent])
			lines[i] = lead + strings.Join(Wrap(line[len(lead):], s.Columns()-indent), "\n"+strings.Repeat(" ", indent))
		}
	}
	return strings.Join(lines, "\n")
}

// mostLabel is the widest label that lines continue behind.
const mostLabel = 20

// hanging is the column in which the text of a line begins.
func hanging(line string) int {
	start := len(line) - len(strings.TrimLeft(line, " "))
	if at := strings.Index(line[start:], "  "); start == 0 && at >= 0 {
		rest := line[at:]
		if end := utf8.RuneCountInString(line[:at]) + len(rest) - len(strings.TrimLeft(rest, " ")); end <= mostLabel {
			return end
		}
	}
	return min(start, mostLabel)
}
