package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
)

// twoClasses writes a file of two classes.
func twoClasses(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "two.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, y := []float32{0, 1, 0, 1.1, 1, 0, 1.1, 0}, []int64{0, 0, 1, 1}
	if err := arrayfile.WriteNPZ(f, []arrayfile.Array{arrayfile.Of("features", []int{4, 2}, h), arrayfile.Of("labels", []int{4}, y)}); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInterruptedMeasurementsStop interrupts measurements of every form, the one of standard input while it waits for a stream.
func TestInterruptedMeasurementsStop(t *testing.T) {
	path := twoClasses(t)
	state := filepath.Join(t.TempDir(), "first.ncs")
	if code := run(t.Context(), []string{"measure", path, "--classes", "2", "--state-out", state}, io.Discard, io.Discard); code != exitOK {
		t.Fatal("the first pass ends with code", code)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin }()
	for name, args := range map[string][]string{
		"a file":        {path},
		"a first pass":  {path, "--state-out", state + ".again"},
		"states":        {"--merge", state},
		"a second pass": {path, "--means", state, "--state-out", state + ".second"},
		"a stream":      {"-"},
	} {
		ctx, stop := context.WithCancel(t.Context())
		if name == "a stream" {
			time.AfterFunc(20*time.Millisecond, stop)
		} else {
			stop()
		}
		var errs bytes.Buffer
		code := make(chan int, 1)
		go func() { code <- run(ctx, append([]string{"measure"}, args...), io.Discard, &errs) }()
		select {
		case c := <-code:
			if c != exitInterrupted {
				t.Errorf("%s: exit code %d, want %d: %s", name, c, exitInterrupted, errs.String())
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: an interrupted measurement goes on", name)
		}
	}
}
