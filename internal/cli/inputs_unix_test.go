//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyRegularFilesAreRead: no command waits for a pipe or fills its memory from a device, whatever of its files one stands for.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, "/dev/zero"} {
		capture := t.TempDir()
		if err := os.Symlink(file, filepath.Join(capture, "tap.json")); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"measure", file}, {"measure", "--features", file, "--labels", file}, {"measure", "--merge", file}, {"measure", capture},
			{"measure", "--means", file, "--state-out", filepath.Join(dir, "s.ncs"), file},
			{"train", file}, {"study", "run", file}, {"dilation", "--fit", file},
			{"landscape", "--classifier", file}, {"worker", "--connect", "nats://127.0.0.1:1", "--token-file", file}, {"worker", "--connect", "nats://127.0.0.1:1", "--ca", file},
		} {
			var out, messages bytes.Buffer
			code := Main(append([]string{"--lab", filepath.Join(dir, "lab")}, args...), &out, &messages)
			if code == exitOK || !strings.Contains(messages.String(), "want a regular file") {
				t.Errorf("%s: exit code %d, %s", strings.Join(args, " "), code, messages.String())
			}
		}
	}
}
