package python

import (
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// TestVersionIsWhatTheEngineSays: Go and Python make the same digest of the same files.
func TestVersionIsWhatTheEngineSays(t *testing.T) {
	longtest.Only(t)
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(Version()) {
		t.Fatalf("version %q", Version())
	}
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		// Asking where PyTorch is takes a hundredth of the time of importing it.
		if exec.Command(python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)").Run() != nil {
			continue
		}
		out, err := exec.Command(python, "-c", "from collapse.engine import engine; print(engine.version())").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != Version() {
			t.Errorf("the engine says %q (%v), the embedded files have %s", got, err, Version())
		}
		return
	}
	t.Skip("no python3 with PyTorch (Debian: python3-torch)")
}

// TestFilesAreTheEngineAlone: what starts an engine is there, and nothing that only the repository needs.
func TestFilesAreTheEngineAlone(t *testing.T) {
	for _, name := range []string{"collapse/__init__.py", "collapse/engine/__init__.py", "collapse/engine/__main__.py", "collapse/engine/nets.py"} {
		if _, err := fs.Stat(Files(), name); err != nil {
			t.Error(err)
		}
	}
	err := fs.WalkDir(Files(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (!strings.HasSuffix(name, ".py") || strings.Contains(name, "test")) {
			t.Errorf("%s is embedded", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
