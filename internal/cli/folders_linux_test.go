package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
)

// TestAFullDiskLeavesTheOldPage writes a page on a disk with room for some of its files: over another it leaves that, and in a new folder
// nothing.
func TestAFullDiskLeavesTheOldPage(t *testing.T) {
	longtest.Only(t) // internal/outfile fills a disk in every test
	disk := filepath.Join(t.TempDir(), "disk")
	faulttest.SmallDisk(t, disk)
	old := filepath.Join(disk, "old")
	called(t, exitOK, "dilation", "--out", old)
	before := contents(t, old)
	defer faulttest.FillDisk(t, disk)()
	ballast := filepath.Join(disk, "ballast")
	if info, err := os.Stat(ballast); err != nil || os.Truncate(ballast, info.Size()-40<<10) != nil {
		t.Fatal(err)
	}
	for _, out := range []string{old, filepath.Join(disk, "new")} {
		if _, said := called(t, exitFailed, "dilation", "--eta", "0.06", "--out", out); !strings.Contains(said, "no space left on device") || !strings.Contains(said, out) {
			t.Errorf("it says %q", said)
		}
	}
	after := contents(t, disk)
	for name, b := range before {
		if !bytes.Equal(after[name], b) {
			t.Errorf("%s has changed", name)
		}
	}
	if len(after) != len(before)+1 { // the ballast
		t.Errorf("%d files, there were %d", len(after), len(before)+1)
	}
}
