//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunsDiff tells the settings and the lines of code in which two runs differ; without the copies it tells which file.
func TestRunsDiff(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	one := strings.Replace(scriptGrid, "wd = [0.0, 0.5]", "wd = [0.5]", 1)
	file, lab := scriptStudy(t, one)
	hash := func() string {
		t.Helper()
		called(t, exitOK, "--lab", lab, "study", "run", file)
		var rows []listedRun
		out, _ := called(t, exitOK, "--lab", lab, "--json", "runs", "list", "--limit", "1")
		decodeOnly(t, out, &rows)
		return rows[0].Run
	}
	first := hash()
	edited := strings.Replace(shellTrainer, "sum=$((sum + e))", "sum=$((sum + e + 1))\t# \x1b[31m", 1)
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(edited), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(one, "lr = 0.1", "lr = 0.25", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	second := hash()
	out, _ := called(t, exitOK, "--lab", lab, "runs", "diff", first, second)
	for _, want := range []string{"\nlr       0.1 ", " 0.25\n", "\n--- a/train.sh\n+++ b/train.sh\n", "\n-  sum=$((sum + e))\n+  sum=$((sum + e + 1))    # \\x1b[31m\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "trainer.code") || strings.Contains(out, "\nwd") {
		t.Error(out)
	}
	if out, _ := called(t, exitOK, "--lab", lab, "runs", "diff", first, first); out != "That is one run.\n" {
		t.Error(out)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if out, _ := called(t, exitOK, "--lab", lab, "runs", "diff", first, second); !strings.Contains(out, "train.sh differs: SHA-256") || !strings.Contains(out, "this machine has kept no copy of both") {
		t.Error(out)
	}
}
