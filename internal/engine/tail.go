package engine

import (
	"strings"
	"sync"
)

// tailSize is how much of an engine's stderr is kept for a message, in bytes.
const tailSize = 8 << 10

// tail keeps the end of what is written to it, and never blocks.
type tail struct {
	mu   sync.Mutex
	kept []byte
	cut  bool // earlier text was dropped
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-tailSize):]...)
	if over := len(t.kept) - tailSize; over > 0 || len(b) > tailSize {
		t.kept, t.cut = append(t.kept[:0], t.kept[max(0, over):]...), true
	}
	return len(b), nil
}

// shownLines is how many lines of an engine's stderr a message shows.
const shownLines = 12

// text returns the last lines that were written.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "?")), "\n")
	if t.cut && len(lines) > 1 {
		lines = lines[1:] // the first is incomplete
	}
	if len(lines) > shownLines {
		lines = lines[len(lines)-shownLines:]
	}
	return strings.Join(lines, "\n")
}

// indented indents lines below a message.
func indented(text string) string {
	if text == "" {
		return ""
	}
	return "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
}
