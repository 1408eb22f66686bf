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

func TestPaints(t *testing.T) {
	s := Screen{Marks: true, Colours: true}
	if got := s.Mark(true) + s.Mark(false) + s.Painted(Plain, "x") + s.Painted(Strong, "") + s.Painted(Strong, "y"); got != "\x1b[32m✓\x1b[0m\x1b[31m✗\x1b[0mx\x1b[1my\x1b[0m" {
		t.Errorf("%q", got)
	}
}
