package archtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// TestTheModuleCanBeRenamed gives a clone another path and runs the rules on imports there; in the night everything is built.
func TestTheModuleCanBeRenamed(t *testing.T) {
	longtest.Only(t)
	const path = "example.org/somebody/renamed"
	clone := filepath.Join(t.TempDir(), "clone")
	root := filepath.Join("..", "..")
	if err := exec.Command("git", "-C", root, "rev-parse").Run(); err != nil {
		t.Skip("this is no checkout of git")
	}
	run := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run(root, "git", "clone", "-q", "--no-local", ".", clone)
	before := run(clone, "go", "list", "./...")
	was := run(clone, "go", "list", "-m")
	run(clone, "scripts/rename_module.sh", path)
	if after := run(clone, "go", "list", "./..."); after != strings.ReplaceAll(before, was+"/", path+"/") {
		t.Errorf("the packages are\n%s", after)
	}
	run(clone, "go", "test", "-run", "TestArrowsPointDown|TestEveryPackageHasARow", "./internal/archtest")
	// git grep ends with 1 if it finds nothing.
	if again, err := exec.Command("git", "-C", clone, "grep", "-lE", `"`+was+`/(internal|measure|nn)/`, "--", "*.go").Output(); err == nil {
		t.Errorf("the old path is still in %s", again)
	}
	for _, build := range longtest.Of(nil, []string{".", "examples"}) {
		run(clone, "go", "-C", build, "build", "./...")
	}
}
