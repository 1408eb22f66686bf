//go:build unix

package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
)

// atWork is a command that a signal meets at work, and how to see that it is.
type atWork struct {
	args  []string
	ready func(dir string, stdin io.Writer) bool
	says  string // beside how it ended
}

// there waits for a file.
func there(parts ...string) func(string, io.Writer) bool {
	return func(dir string, _ io.Writer) bool {
		for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
			if found, _ := filepath.Glob(filepath.Join(append([]string{dir}, parts...)...)); len(found) > 0 {
				return true
			}
		}
		return false
	}
}

// worksUntilSignal are commands of each way to end: one keeps what it has, one waits for input, one for somebody who reads, and one
// looks at no context in what it does then.
var worksUntilSignal = map[string]atWork{
	"training": {[]string{"train", "--data", "glyphs", "--epochs", "100000", "--width", "8", "--depth", "1"}, there("lab", "runs", "*", "ckpt", "*"), "continue with: collapse train --resume"},
	"a trace":  {[]string{"train", "--data", "glyphs", "--trace", "pipe"}, there("lab", "runs", "*", "config.toml"), "continue with: collapse train --resume"},
	"a stream": {[]string{"measure", "-"}, func(_ string, stdin io.Writer) bool {
		const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1), }"
		_, err := io.WriteString(stdin, "\x93NUMPY\x01\x00v\x00"+header+strings.Repeat(" ", 117-len(header))+"\n"+strings.Repeat("\x00", 1<<20))
		return err == nil // which is more than a pipe holds
	}, ""},
	"large steps": {[]string{"train", "--data", "glyphs", "--width", "4000", "--depth", "5", "--threads", "1"}, there("lab", "runs", "*", "config.toml"), "collapse: "},
	"a page":      {[]string{"demo", "--out", "page"}, there("lab", "runs", "*", "config.toml"), "collapse: "},
}

// TestSignalsEndCommands sends both signals to commands at work; the share one to each. None leaves a temporary file.
func TestSignalsEndCommands(t *testing.T) {
	longtest.Only(t)
	for sig, end := range map[syscall.Signal]struct {
		code int
		word string
	}{syscall.SIGINT: {130, "interrupted"}, syscall.SIGTERM: {143, "terminated"}} {
		for i, name := range slices.Sorted(maps.Keys(worksUntilSignal)) {
			if !longtest.Whole() && (i%2 == 0) != (sig == syscall.SIGINT) {
				continue
			}
			work := worksUntilSignal[name]
			dir, temp := t.TempDir(), t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				t.Skipf("this file system has no named pipes: %v", err)
			}
			cmd, stdout, stderr := played(append([]string{"--lab", "lab"}, work.args...)...)
			cmd.Dir, cmd.Env = dir, append(cmd.Env, "TMPDIR="+temp)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			code := signalled(t, cmd, sig, func() bool { return work.ready(dir, stdin) })
			stdin.Close()
			if code != end.code {
				t.Errorf("%s, %v: exit code %d, want %d: %s%s", name, sig, code, end.code, stdout, stderr)
			}
			if work.says == "" && stderr.String() != "collapse: "+end.word+"\n" || !strings.Contains(stderr.String(), work.says) {
				t.Errorf("%s, %v: it says %q, want %q", name, sig, stderr, end.word+work.says)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("%s, %v: temporary files stay: %v (%v)", name, sig, left, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "page", "*", ".collapse-*")); len(left) > 0 {
				t.Errorf("%s, %v: temporary files stay: %v", name, sig, left)
			}
		}
	}
}

// signalled sends a signal to a command once it is at work and returns its exit code; -1 if it had to be killed.
func signalled(t *testing.T, cmd *exec.Cmd, sig syscall.Signal, ready func() bool) int {
	t.Helper()
	if !ready() {
		t.Errorf("%v never began to work", cmd.Args)
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Error(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	began := time.Now()
	_ = cmd.Wait()                                         // the code says it
	if took := time.Since(began); took > 2*hostileSignal { // twice, for a machine with other work
		t.Errorf("%v ends %v after %v", cmd.Args, took, sig)
	}
	return cmd.ProcessState.ExitCode()
}

// TestAScriptMaySaveBeforeItEnds: Ctrl-C on a study of scripts, or on a search with them, gives them more than the two seconds of other commands,
// says so at once, and ends with the command that goes on.
func TestAScriptMaySaveBeforeItEnds(t *testing.T) {
	longtest.Only(t)
	for name, text := range map[string]string{"grid": scriptGrid, "search": strings.Replace(scriptGrid, "[grid]", "[search]\nmetric = \"sum\"\ngoal = \"max\"\ntrials = 2\n[search.space]\nlr = { uniform = [0.1, 0.2] }\n[grid]", 1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, lab := scriptStudy(t, text)
			dir := filepath.Dir(file)
			slow := "trap 'sleep 3; echo yes > saved; exit 1' TERM; echo on >> began; while :; do sleep 0.1; done\n"
			if err := os.WriteFile(filepath.Join(dir, "train.sh"), []byte(slow), 0o666); err != nil {
				t.Fatal(err)
			}
			cmd, _, said := played("--lab", lab, "study", "run", file)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
					break
				}
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the code says it
			if _, err := os.Stat(filepath.Join(dir, "saved")); err != nil || cmd.ProcessState.ExitCode() != exitInterrupted {
				t.Errorf("%v, %v", err, cmd.ProcessState)
			}
			for _, want := range []string{"scripts have ten seconds to end", "continue with: collapse --lab "} {
				if !strings.Contains(said.String(), want) {
					t.Errorf("it does not say %q: %s", want, said)
				}
			}
		})
	}
}

// TestWorkIsLeftBehind has commands that do not end with their context: a signal ends any within two seconds, but not a worker, and nothing else
// ends one that keeps something.
func TestWorkIsLeftBehind(t *testing.T) {
	longtest.Only(t)
	term := interruption{syscall.SIGTERM}
	for what, c := range map[string]struct {
		is   func(a *app)
		by   error
		left bool
	}{
		"only computes":              {func(a *app) { a.onlyComputes() }, context.Canceled, true},
		"only computes, by a signal": {func(a *app) { a.onlyComputes() }, term, true},
		"keeps something":            {func(a *app) {}, context.Canceled, false},
		"keeps, by a signal":         {func(a *app) {}, term, true},
		"a worker, by a signal":      {func(a *app) { a.unhurried.Store(true) }, term, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancelCause(t.Context())
			var said strings.Builder
			a := &app{ctx: ctx, stderr: &said}
			ended, returned := make(chan struct{}), make(chan error, 1)
			go func() { returned <- a.perform(func() error { c.is(a); end(c.by); <-ended; return nil }) }()
			wait := hostileSignal
			if c.left {
				wait = time.Minute // this machine may have other work
			}
			var err error
			select {
			case err = <-returned:
			case <-time.After(wait):
			}
			if c.left != (err != nil) || c.left && !errors.Is(err, context.Canceled) {
				t.Errorf("left behind with %v, want it left: %v", err, c.left)
			}
			close(ended)
			if !c.left {
				if err := <-returned; err != nil {
					t.Error(err)
				}
				if told := strings.Contains(said.String(), "a second Ctrl-C ends all at once"); told != (c.by == error(term)) {
					t.Errorf("says %q", said.String())
				}
			}
		})
	}
}
