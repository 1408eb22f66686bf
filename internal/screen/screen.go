// Package screen knows what can be shown where a command prints: how wide it is, and whether marks and colours help there.
package screen

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Usual is the width of a screen that nobody knows.
const Usual = 80

// least is the narrowest width that tables are laid out for; a narrower terminal breaks their lines.
const least = 40

// Screen is where a command prints. The zero value shows plain text only; its width counts as Usual.
type Screen struct {
	Width    int
	Terminal bool
	Marks    bool // ✓ and ✗
	Colours  bool
}

// Of describes the screen behind w. Marks and colours are for terminals that are not dumb, colours only without NO_COLOR (no-color.org).
// COLUMNS, if set, is the width where w is no terminal.
func Of(w io.Writer) Screen {
	s := Screen{Width: Usual}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			s.Width = n
		}
		s.Terminal = true
		s.Marks = os.Getenv("TERM") != "dumb"
		s.Colours = s.Marks && os.Getenv("NO_COLOR") == ""
	}
	s.Width = max(s.Width, least)
	return s
}

// Columns is the width of lines.
func (s Screen) Columns() int {
	if s.Width == 0 {
		return Usual
	}
	return s.Width
}

// Paint is how a text looks.
type Paint string

// The paints, as the terminal's attributes.
const (
	Plain  Paint = ""
	Strong Paint = "1"
	Good   Paint = "32"
	Bad    Paint = "31"
	Quiet  Paint = "2"
)

// Painted is the text in a paint, or the text alone where there are no colours. The text must be safe for a terminal.
func (s Screen) Painted(p Paint, text string) string {
	if !s.Colours || p == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// Mark is ✓ or ✗, painted; "" where there are no marks.
func (s Screen) Mark(good bool) string {
	switch {
	case !s.Marks:
		return ""
	case good:
		return s.Painted(Good, "✓")
	}
	return s.Painted(Bad, "✗")
}
