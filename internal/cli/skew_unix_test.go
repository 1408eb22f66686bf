//go:build unix

package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/version"
)

// beforeBuilds is the last commit whose program does not know its build.
const beforeBuilds = "5c43b18"

// oldProgram builds the program of that commit.
func oldProgram(t *testing.T) string {
	t.Helper()
	root, sources := filepath.Join("..", ".."), t.TempDir()
	if err := exec.Command("git", "-C", root, "cat-file", "-e", beforeBuilds+"^{commit}").Run(); err != nil {
		t.Skipf("this checkout has no commit %s: it has no git, or a history that is cut short (git fetch --unshallow)", beforeBuilds)
	}
	archive := filepath.Join(sources, "sources.tar")
	program := filepath.Join(sources, "collapse-old")
	for _, args := range [][]string{{"git", "-C", root, "archive", "-o", archive, beforeBuilds}, {"tar", "-xf", archive, "-C", sources},
		{"go", "-C", sources, "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/collapse"}} {
		if said, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, said)
		}
	}
	return program
}

// TestAnOlderProgramIsRefused has a worker of an older program join a study, when it begins and when it is resumed, and a study that an older
// program began resumed: all are refused in words that name both.
func TestAnOlderProgramIsRefused(t *testing.T) {
	longtest.Only(t)
	old := oldProgram(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "long.toml")
	if err := os.WriteFile(file, []byte(strings.Replace(hostileStudy, "epochs = 1", "epochs = 100000", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	lab := filepath.Join(dir, "lab")
	for _, call := range [][]string{{"study", "run", file}, {"study", "resume", "q"}} {
		cmd, _, _ := played(append([]string{"--lab", lab}, append(call, "--workers", "1", "--listen", "127.0.0.1:0")...)...)
		url := announced(t, cmd)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute) // one that is not refused works on
		said, err := exec.CommandContext(ctx, old, "worker", "--connect", url, "--token-file", filepath.Join(lab, "queue.token"), "--scratch", filepath.Join(dir, "scratch")).CombinedOutput()
		stop()
		if err == nil || !strings.Contains(string(said), "0.1.0") || !strings.Contains(string(said), version.ID()) {
			t.Errorf("%v: a worker of %s: %v: %s", call, beforeBuilds, err, said)
		}
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), ignoreExit(cmd.Wait())); err != nil {
			t.Error(err)
		}
	}
	lab = filepath.Join(dir, "older")
	begun := exec.Command(old, "--lab", lab, "study", "run", file, "--workers", "1")
	if err := begun.Start(); err != nil {
		t.Fatal(err)
	}
	there("older", "runs", "*", "ckpt", "*")(dir, nil)
	if err := errors.Join(begun.Process.Signal(syscall.SIGTERM), ignoreExit(begun.Wait())); err != nil {
		t.Error(err)
	}
	if code, _, said := call(t, "--lab", lab, "study", "resume", "q", "--workers", "1"); code != exitFailed || !strings.Contains(said, "collapse 0.1.0") || !strings.Contains(said, version.ID()) {
		t.Errorf("resuming a study of %s: exit code %d: %s", beforeBuilds, code, said)
	}
}

// announced starts a coordinator and returns the address that it says. The test's end kills it.
func announced(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Stderr = nil
	says, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	url := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(says); lines.Scan(); { // to its end: the process waits for its reader
			if _, after, found := strings.Cut(lines.Text(), coordinator.Announcement+": collapse worker --connect "); found {
				at, _, _ := strings.Cut(after, " ")
				url <- at
			}
		}
	}()
	select {
	case at := <-url:
		return at
	case <-time.After(time.Minute):
		t.Fatal("the coordinator says no address")
		return ""
	}
}

// ignoreExit drops what says only that a process did not succeed.
func ignoreExit(err error) error {
	if errors.As(err, new(*exec.ExitError)) {
		return nil
	}
	return err
}
