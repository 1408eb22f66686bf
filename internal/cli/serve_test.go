package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/serve"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// serveUntil runs `collapse serve` and hands its JSON document to use, then interrupts it.
func serveUntil(t *testing.T, use func(s serving), args ...string) int {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() { code <- run(ctx, append([]string{"--json", "serve"}, args...), w, io.Discard); w.Close() }()
	var s serving
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		t.Fatal(err)
	}
	use(s)
	stop()
	go io.Copy(io.Discard, r)
	select {
	case c := <-code:
		return c
	case <-time.After(20 * time.Second):
		t.Fatal("an interrupted server does not end")
		return -1
	}
}

func TestServeAnswersAndEndsWhenInterrupted(t *testing.T) {
	code := serveUntil(t, func(s serving) {
		if !strings.HasPrefix(s.URL, "http://127.0.0.1:") || s.Token {
			t.Errorf("a loopback address is %+v", s)
		}
		answer, err := http.Get(s.URL + "theory")
		if err != nil || answer.StatusCode != 200 {
			t.Fatal(answer, err)
		}
		answer.Body.Close()
	}, "--listen", "127.0.0.1:0", "--lab", t.TempDir())
	if code != exitOK {
		t.Errorf("exit code %d, want %d: ending the page is how it ends", code, exitOK)
	}
}

func TestServeRefusesAWeakToken(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"--lab", t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--token", "short"}, &out, &errs); code == exitOK || !strings.Contains(errs.String(), "shorter than 16") {
		t.Errorf("code %d: %s", code, errs.String())
	}
}

// TestThePageControlsRuns cancels a run that works elsewhere in the process, then goes on with it from there.
func TestThePageControlsRuns(t *testing.T) {
	longtest.Only(t)
	const epochs = 100
	dir := t.TempDir()
	lab := openLab(t, dir)
	defer lab.Close()
	a := &app{ctx: t.Context(), stderr: os.Stderr, flags: new(program)}
	control := newLabControl(a, lab)
	c, err := train.Load("", nil, "data.name=glyphs", "data.samples_per_class=20", "data.test_samples_per_class=10", "data.pipeline=plain",
		"net.depth=1", "net.width=8", fmt.Sprint("run.epochs=", epochs), "run.batch=20")
	if err != nil {
		t.Fatal(err)
	}
	began, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		_, err := train.Run(t.Context(), c, lab, train.Options{Sink: slow{began}})
		ended <- err
	}()
	hash := <-began
	if err := control.Run(t.Context(), serve.Resume, hash); err == nil {
		t.Error("a running run was told to go on")
	}
	if err := control.Run(t.Context(), serve.Cancel, hash); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, store.ErrLost) {
		t.Errorf("the cancelled process ends with %v, want ErrLost", err)
	}
	if err := control.Run(t.Context(), serve.Resume, hash); err != nil {
		t.Fatal(err)
	}
	control.jobs.Wait()
	if r, err := lab.Run(hash); err != nil || r.Status != store.Done || r.LastEpoch != epochs {
		t.Errorf("resumed from the page it is %v at epoch %d, %v", r.Status, r.LastEpoch, err)
	}
	if err := control.Run(t.Context(), serve.Resume, hash); err == nil {
		t.Error("a finished run was told to go on")
	}
}

// slow tells the run's hash and leaves time to cancel it.
type slow struct{ began chan string }

func (s slow) Started(e train.Started) { s.began <- e.Run }
func (s slow) Step(train.StepDone)     {}
func (s slow) Epoch(train.EpochDone)   { time.Sleep(20 * time.Millisecond) }
func (s slow) Note(string)             {}
