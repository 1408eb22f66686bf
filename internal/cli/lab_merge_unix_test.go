//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatAnotherMachineComputedComesHome: a study is computed in two labs in parts, and has nothing left to compute in the first.
func TestWhatAnotherMachineComputedComesHome(t *testing.T) {
	file, home := studyFile(t)
	away, numbers := filepath.Join(t.TempDir(), "away"), filepath.Join(t.TempDir(), "numbers")
	called(t, 0, "--lab", away, "study", "run", file, "--seeds", "2")
	called(t, 0, "--lab", home, "study", "run", file, "--seeds", "1")
	called(t, 0, "--lab", away, "lab", "copy", numbers, "--numbers")
	out, _ := called(t, 0, "--lab", home, "lab", "merge", numbers)
	if !strings.Contains(out, " over, and ") || !strings.Contains(out, "left: done here before") {
		t.Error(out)
	}
	if out, _ := called(t, 0, "--lab", home, "study", "run", file, "--seeds", "2", "--dry-run"); !strings.Contains(out, "4 runs, 0 to compute") {
		t.Error(out)
	}
	called(t, 0, "--lab", home, "study", "run", file, "--seeds", "2")
	same(t, table(t, home, "tiny"), table(t, away, "tiny"))
	called(t, 0, "--lab", home, "runs", "check")
	if _, errs := called(t, 1, "--lab", home, "lab", "merge", home); !strings.Contains(errs, "is this lab; name another one") {
		t.Error(errs)
	}
	if _, errs := called(t, 1, "--lab", home, "lab", "merge", filepath.Join(home, "none")); !strings.Contains(errs, "there is no lab") {
		t.Error(errs)
	}
}
