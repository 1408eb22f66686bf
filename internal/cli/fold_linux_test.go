package cli

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/screen/screentest"
)

// TestErrorsFoldAtTheTerminal: what failed, and what was typed wrongly, continues below at a blank, not in the middle of a word.
func TestErrorsFoldAtTheTerminal(t *testing.T) {
	for _, args := range [][]string{
		{"train", "--data", "glyphs", "--set", "optim.lr=a-word-that-is-no-number", "--lab", t.TempDir()},
		{"runs", "list", "--statuses", "--status", "done"},
	} {
		terminal, screen := screentest.Terminal(t, 40)
		if code := run(t.Context(), args, terminal, terminal); code != exitUsage {
			t.Fatalf("%q exits with %d", args, code)
		}
		shown := make([]byte, 4096)
		n, err := screen.Read(shown)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(shown[:n]), "\r", "")), "\n")
		if len(lines) < 2 {
			t.Errorf("one line:\n%s", lines)
		}
		for _, line := range lines {
			if len(line) > 40 && strings.Contains(line, " ") {
				t.Errorf("%d characters on a screen of 40: %s", len(line), line)
			}
		}
	}
}
