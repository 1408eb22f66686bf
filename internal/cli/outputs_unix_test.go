//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOutputsThroughPipes sends each output of measure, and a table, through a named pipe.
func TestOutputsThroughPipes(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"--csv", "--html", "--state-out"} {
		pipe := filepath.Join(dir, flag)
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skipf("this file system has no named pipes: %v", err)
		}
		read := make(chan []byte)
		go func() {
			b, _ := os.ReadFile(pipe)
			read <- b
		}()
		called(t, exitOK, "measure", formula, flag, pipe)
		if got := <-read; len(got) < 500 {
			t.Errorf("%s: %d bytes came through the pipe", flag, len(got))
		}
		if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			t.Errorf("%s: the pipe is now %v (%v)", flag, info.Mode(), err)
		}
	}
}

// TestLostResultsAreNoSuccess prints to a full disk what commands print to people.
func TestLostResultsAreNoSuccess(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("this system has no /dev/full: %v", err)
	}
	defer full.Close()
	lab, hash := evilLab(t)
	for _, args := range [][]string{{"runs", "list"}, {"runs", "show", hash}, {"study", "list"}, {"export"}, {"--json", "runs", "list"}, {"version"}, {"licenses"}, {"measure", formula},
		{"measure", formula, "--csv", "-"}, {"completion", "bash"}, {"train", "--print-config"}} {
		var errs strings.Builder
		if code := run(t.Context(), append([]string{"--lab", lab}, args...), full, &errs); code != exitFailed || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: exit code %d, %s", args, code, errs.String())
		}
	}
}

func TestOutputsOnDevices(t *testing.T) {
	for _, dev := range []string{"/dev/null", "/dev/full"} {
		before, err := os.Lstat(dev)
		if err != nil {
			t.Skipf("this system has no %s: %v", dev, err)
		}
		for _, args := range [][]string{{"measure", formula, "--csv"}, {"measure", formula, "--html"}, {"measure", formula, "--state-out"},
			{"solve", "mse", "--k", "2", "--d", "2", "--n", "2", "--save"}} {
			var out, errs strings.Builder
			code := run(t.Context(), append(args, dev), &out, &errs)
			said := errs.String()
			named := strings.Contains(said, args[len(args)-1]+" "+dev+": ") && strings.Contains(said, "no space left on device")
			if dev == "/dev/full" && (code != exitFailed || !named) || dev == "/dev/null" && code != exitOK {
				t.Errorf("%v %s: exit code %d, %s", args, dev, code, said)
			}
			if after, err := os.Lstat(dev); err != nil || !os.SameFile(before, after) {
				t.Fatalf("%s was replaced (%v)", dev, err)
			}
		}
	}
}
