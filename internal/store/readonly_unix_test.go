//go:build unix

package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/faulttest"
)

// TestALabThatCannotBeWrittenTo reads a closed lab as another user, in a directory of another.
func TestALabThatCannotBeWrittenTo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user to read the lab")
	}
	dir, err := os.MkdirTemp("", "store") // t.TempDir is closed to others
	must(t, err)
	defer os.RemoveAll(dir)
	l, err := Open(dir, Options{})
	must(t, err)
	must(t, leased(t, l, spec(1)).Finish())
	must(t, l.Close())
	program := filepath.Join(dir, "store.test")
	must(t, copyFile(program, os.Args[0]))
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		must(t, err)
		return os.Chmod(path, 0o555) // whatever the umask
	}))
	faulttest.Enterable(t, dir)
	cmd := exec.Command(program, dir)
	cmd.Env = append(os.Environ(), "STORE_TEST_ROLE=read")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "runs: 1\n" {
		t.Fatalf("%s, %v", out, err)
	}
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}
