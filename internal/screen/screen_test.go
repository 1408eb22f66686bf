package screen

import (
	"bytes"
	"testing"
)

// Away from a terminal nothing is marked or painted, and the width is COLUMNS or usual.
func TestAwayFromATerminal(t *testing.T) {
	for columns, want := range map[string]int{"": Usual, "120": 120, "7": least, "-3": Usual, "many": Usual} {
		t.Setenv("COLUMNS", columns)
		if s := Of(new(bytes.Buffer)); s != (Screen{Width: want}) || s.Mark(true)+s.Mark(false) != "" || s.Painted(Good, "x") != "x" {
			t.Errorf("COLUMNS=%s: %+v", columns, s)
		}
	}
	if (Screen{}).Columns() != Usual {
		t.Error("an unknown screen has no width")
	}
}

// A long line continues below its text on a terminal, and stays one line elsewhere.
func TestFold(t *testing.T) {
	text := "short\nexact      f* = 0.5 and nine words more that do not fit\n           one that is set in and does not fit either\nplain words that do not fit in here\n"
	want := "short\nexact      f* = 0.5 and nine words more\n           that do not fit\n           one that is set in and does\n           not fit either\nplain words that do not fit in here\n"
	if got := (Screen{Width: 40, Terminal: true}).Fold(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (Screen{Width: 40}).Fold(text); got != text {
		t.Errorf("a pipe gets %q", got)
	}
}

func TestPaints(t *testing.T) {
	s := Screen{Marks: true, Colours: true}
	if got := s.Mark(true) + s.Mark(false) + s.Painted(Plain, "x") + s.Painted(Strong, "") + s.Painted(Strong, "y"); got != "\x1b[32m✓\x1b[0m\x1b[31m✗\x1b[0mx\x1b[1my\x1b[0m" {
		t.Errorf("%q", got)
	}
}
