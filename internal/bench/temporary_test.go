package bench

import (
	"os"
	"runtime"
	"testing"
)

// TestTemporaryFilesStayNowhere looks for the file while it is used, as if the process were killed then, and afterwards.
func TestTemporaryFilesStayNowhere(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // on Windows
	empty := func(when string) {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			t.Errorf("%s: %d files (%v), want none", when, len(entries), err)
		}
	}
	f, err := temporary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		empty("in use")
	}
	if err := discard(f); err != nil {
		t.Error(err)
	}
	empty("discarded")
	if f, err = os.CreateTemp("", "named-*"); err != nil {
		t.Fatal(err)
	}
	if err := discard(f); err != nil {
		t.Error(err)
	}
	empty("a file that kept its name")
}
