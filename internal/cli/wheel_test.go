package cli

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/version"
)

// TestWheelHoldsThisProgram packs the test itself; the share a smaller program of this machine, if it has one that a wheel may hold.
func TestWheelHoldsThisProgram(t *testing.T) {
	dir := t.TempDir()
	self, err := ownProgram()
	if itself, err2 := os.Executable(); err != nil || err2 != nil || self != itself {
		t.Fatalf("this program is %q, %v; want %q, %v", self, err, itself, err2)
	}
	if small, err := exec.LookPath("true"); err == nil && runtime.GOOS == "linux" && !longtest.Whole() {
		self = small
		ownProgram = func() (string, error) { return small, nil }
		t.Cleanup(func() { ownProgram = os.Executable })
	}
	var made struct{ Wheel string }
	stdout, _ := called(t, exitOK, "--json", "wheel", "--sources", "../../python", "--out", dir)
	decodeOnly(t, stdout, &made)
	if filepath.Dir(made.Wheel) != dir || !strings.HasPrefix(filepath.Base(made.Wheel), "collapse_lab-"+version.Version+"-py3-none-") {
		t.Errorf("the wheel is %s", made.Wheel)
	}
	z, err := zip.OpenReader(made.Wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	want, err := os.Stat(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "collapse/bin/") {
			if f.UncompressedSize64 != uint64(want.Size()) {
				t.Errorf("%s has %d bytes, this program %d", f.Name, f.UncompressedSize64, want.Size())
			}
			return
		}
	}
	t.Error("no program in the wheel")
}

func TestWheelWithoutSources(t *testing.T) {
	if _, stderr := called(t, exitFailed, "wheel", "--sources", t.TempDir()); !strings.Contains(stderr, "folder python of a checkout") {
		t.Errorf("it said %q", stderr)
	}
}
