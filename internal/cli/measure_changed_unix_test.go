//go:build unix

package cli

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/longtest"
)

// TestPlayCollapse is the program, in a process of its own, for other tests.
func TestPlayCollapse(t *testing.T) {
	if os.Getenv(playCollapse) == "" {
		t.Skip("played by other tests")
	}
	os.Exit(Main(flag.Args(), os.Stdout, os.Stderr))
}

func played(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	cmd = exec.Command(os.Args[0], append([]string{"-test.run=^TestPlayCollapse$", "--"}, args...)...)
	cmd.Env = append(os.Environ(), playCollapse+"=1")
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// A file that another program cuts or writes to at any moment while it is measured gives its own numbers or an error that names it: never other
// numbers, never the end of the process by a signal.
func TestMeasureOfAFileThatChanges(t *testing.T) {
	longtest.Only(t)
	const n, d, k = 20000, 61, 7
	random := rand.New(rand.NewPCG(1, 2))
	values, labels := make([]float32, n*d), make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % k)
		for j := range d {
			values[i*d+j] = float32(random.NormFloat64() + float64((i%k)*j%5))
		}
	}
	dir := t.TempDir()
	h, y := filepath.Join(dir, "h.npy"), filepath.Join(dir, "y.npy")
	write := func(path string, a arrayfile.Array) {
		var b bytes.Buffer
		if err := errors.Join(arrayfile.WriteNPY(&b, a), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(y, arrayfile.Of("", []int{n}, labels))
	write(h, arrayfile.Of("", []int{n, d}, values))
	args := []string{"--json", "measure", "--features", h, "--labels", y, "--null", "3"}
	cmd, want, stderr := played(args...)
	began := time.Now()
	if err := cmd.Run(); err != nil || want.Len() == 0 {
		t.Fatalf("%v: %s", err, stderr)
	}
	whole := time.Since(began)
	const size = 128 + 4*n*d
	refused := 0
	for trial := range longtest.Of(8, 16) {
		write(h, arrayfile.Of("", []int{n, d}, values))
		cmd, stdout, stderr := played(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Float64() * float64(whole))) // any moment
		if err := disturb(h, trial, size, random); err != nil {
			t.Error(err)
		}
		err := cmd.Wait()
		switch code := cmd.ProcessState.ExitCode(); {
		case err == nil && withoutTime(stdout.String()) == withoutTime(want.String()):
		case err == nil:
			again, now, _ := played(args...) // it may have been opened after the change
			if err := again.Run(); err != nil || withoutTime(stdout.String()) != withoutTime(now.String()) {
				t.Fatalf("trial %d: other numbers, exit code 0", trial)
			}
		case code == exitFailed && strings.Contains(stderr.String(), h):
			refused++
		default:
			t.Fatalf("trial %d: %v: %s", trial, err, stderr)
		}
	}
	if refused == 0 {
		t.Error("no trial met a reader")
	}
}

// disturb cuts a file inside its last page, cuts it anywhere, or writes other numbers into it.
func disturb(path string, trial int, size int64, random *rand.Rand) error {
	switch trial % 3 {
	case 0:
		return os.Truncate(path, size-4-4*random.Int64N(900))
	case 1:
		return os.Truncate(path, random.Int64N(size))
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = w.WriteAt(bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, 1000), 4096)
	return errors.Join(err, w.Close())
}

// withoutTime drops what differs between two measurements of the same.
func withoutTime(document string) string {
	var kept []string
	for _, line := range strings.Split(document, "\n") {
		if !strings.Contains(line, "seconds") && !strings.Contains(line, "generated") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
