package screen

import (
	"testing"

	"collapse.example/collapse/internal/screen/screentest"
)

// A terminal has its own width, marks and colours; NO_COLOR takes the colours, a dumb one has neither.
func TestOnATerminal(t *testing.T) {
	f, _ := screentest.Terminal(t, 97)
	t.Setenv("COLUMNS", "120")
	for _, c := range []struct {
		term, noColor string
		want          Screen
	}{
		{"xterm-256color", "", Screen{97, true, true, true}},
		{"xterm-256color", "1", Screen{97, true, true, false}},
		{"dumb", "", Screen{97, true, false, false}},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		if got := Of(f); got != c.want {
			t.Errorf("TERM=%s NO_COLOR=%s: %+v, want %+v", c.term, c.noColor, got, c.want)
		}
	}
}
