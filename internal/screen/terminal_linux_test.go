package screen

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal of the given width.
func terminal(t *testing.T, width uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { slave.Close() })
	return slave
}

// A terminal has its own width, marks and colours; NO_COLOR takes the colours, a dumb one has neither.
func TestOnATerminal(t *testing.T) {
	f := terminal(t, 97)
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
