//go:build unix

package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
			code := run(t.Context(), append([]string{"--lab", filepath.Join(dir, "lab")}, args...), &out, &messages)
			if code == exitOK || !strings.Contains(messages.String(), "want a regular file") {
				t.Errorf("%s: exit code %d, %s", strings.Join(args, " "), code, messages.String())
			}
		}
	}
}

// TestAWorkerDoesNotWaitForCertificates names a file without any: to try again would not help.
func TestAWorkerDoesNotWaitForCertificates(t *testing.T) {
	dir := t.TempDir()
	token, ca := filepath.Join(dir, "token"), filepath.Join(dir, "ca.pem")
	for path, text := range map[string]string{token: "0123456789abcdef0123", ca: "no certificate"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var errs strings.Builder
	code := run(ctx, []string{"worker", "--connect", "nats://127.0.0.1:1", "--token-file", token, "--ca", ca, "--scratch", dir}, io.Discard, &errs)
	if code != exitFailed || ctx.Err() != nil || !strings.Contains(errs.String(), ca+" holds no certificate") {
		t.Errorf("exit code %d, %v: %s", code, ctx.Err(), errs.String())
	}
}
