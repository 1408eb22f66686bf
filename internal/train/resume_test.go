package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

func TestInterruptedRunEndsInTheSameBits(t *testing.T) {
	c := tinyConfig()
	whole := newLab(t)
	want := mustRun(t, c, whole, Options{})
	lab := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	s := &stopAfter{epochs: 2, cancel: cancel}
	r, err := Run(ctx, c, lab, Options{Sink: s, Open: openOnce})
	var stopped *InterruptedError
	if !errors.As(err, &stopped) || stopped.Epoch != 2 || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "train --resume "+r.Run[:12]) {
		t.Fatalf("interrupted run: %v", err)
	}
	if run, err := lab.Run(r.Run); err != nil || run.Status != store.Interrupted {
		t.Fatalf("the lab says %v, %v", run.Status, err)
	}
	back, err := Resume(context.Background(), lab, r.Run[:8], Options{Open: openOnce})
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "resumed", endFiles(t, want), endFiles(t, back))
	sameValues(t, "resumed", epochValues(t, whole, want.Run), epochValues(t, lab, back.Run))
}

// TestRowsLaterThanTheCheckpointGo interrupts between checkpoints: when the run continues, the lab holds exactly what its checkpoint holds.
func TestRowsLaterThanTheCheckpointGo(t *testing.T) {
	for stop, safe := range map[int]int{1: 0, 3: 2} {
		c := tinyConfig()
		c.Run.Epochs, c.Run.CheckpointEvery = 4, 2
		lab := newLab(t)
		ctx, cancel := context.WithCancel(context.Background())
		r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: stop, cancel: cancel}, Open: openOnce})
		var stopped *InterruptedError
		if !errors.As(err, &stopped) || stopped.Epoch != safe {
			t.Fatalf("stopped after epoch %d: %v", stop, err)
		}
		newest := func() (last int64) {
			for _, v := range epochValues(t, lab, r.Run) {
				last = max(last, v.Step)
			}
			return last
		}
		if newest() != int64(stop) {
			t.Errorf("rows up to epoch %d, wanted %d", newest(), stop)
		}
		s := &startHook{do: func() {
			if newest() != int64(safe) {
				t.Errorf("going on from epoch %d with rows up to %d", safe, newest())
			}
		}}
		if _, err := Resume(context.Background(), lab, r.Run, Options{Open: openOnce, Sink: s}); err != nil {
			t.Fatal(err)
		}
	}
}

// stopAfter cancels once an epoch is done.
type stopAfter struct {
	recorder
	epochs int
	cancel func()
}

func (s *stopAfter) Epoch(e EpochDone) {
	if e.Epoch == s.epochs {
		s.cancel()
	}
}

// TestEveryFailureOfARunLosesNothing fails every call of a whole run, as a full disk and as a power cut, and runs again. The share is every
// third call, others for the power cut than for the full disk.
func TestEveryFailureOfARunLosesNothing(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs = 2
	whole := newLab(t)
	wholeRun := mustRun(t, c, whole, Options{})
	want, wantValues := endFiles(t, wholeRun), epochValues(t, whole, wholeRun.Run)
	lab := newLab(t)
	every := longtest.Of(3, 1)
	for i, fatal := range []bool{false, true} {
		failures := 0
		for n := 1 + i%every; ; n += every {
			fs := newFaultFS(n, fatal, errFull)
			_, err := Run(context.Background(), c, lab, Options{FS: fs, Open: openOnce, Again: true})
			if fs.calls < n {
				break
			}
			when := fmt.Sprintf("call %d (%s), fatal %v", n, fs.log[n-1], fatal)
			if !errors.Is(err, errFull.Err) {
				t.Fatalf("%s: error is %v", when, err)
			}
			failures++
			if fatal {
				if err := fs.powerOff(); err != nil {
					t.Fatal(err)
				}
			}
			r := mustRun(t, c, lab, Options{FS: newFaultFS(0, false, nil)})
			sameFiles(t, when, want, endFiles(t, r))
			sameValues(t, when, wantValues, epochValues(t, lab, r.Run))
		}
		if failures < 40/every {
			t.Errorf("only %d calls were failed", failures)
		}
	}
}

func TestAnotherMachineIsRefusedOrRecorded(t *testing.T) {
	c := tinyConfig()
	lab := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: 1, cancel: cancel}, Open: openOnce})
	if r.Checkpoint == "" {
		t.Fatal(err)
	}
	file := filepath.Join(r.Checkpoint, rundir.State)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	here := ThisMachine()
	old := fmt.Sprintf(`"kernel": %q`, here.Kernel)
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s does not name the kernel:\n%s", rundir.State, text)
	}
	olderState(t, file, func(text []byte) []byte { return bytes.Replace(text, []byte(old), []byte(`"kernel": "abacus"`), 1) })
	var other *MachineError
	if _, err = Resume(context.Background(), lab, r.Run, Options{Open: openOnce}); !errors.As(err, &other) || other.Was.Kernel != "abacus" {
		t.Fatalf("resumed under another kernel: %v", err)
	}
	s := &recorder{}
	if r, err = Resume(context.Background(), lab, r.Run, Options{Open: openOnce, AllowKernelChange: true, Sink: s}); err != nil {
		t.Fatal(err)
	}
	ckpt := &checkpoints{Writer: rundir.Dir(r.Dir).Writer(nil), run: r.Run}
	saved, err := ckpt.read(3)
	if err != nil || len(saved.state.Changes) != 1 || saved.state.Changes[0].From.Kernel != "abacus" || saved.state.Changes[0].To != here || saved.state.Changes[0].AfterEpoch != 1 {
		t.Errorf("the change is not recorded: %+v, %v", saved, err)
	}
	if len(s.notes) != 1 || !strings.Contains(s.notes[0], "abacus") {
		t.Errorf("notes: %q", s.notes)
	}
}

// renameFS calls back before each rename, which is when a checkpoint comes into being.
type renameFS struct {
	rundir.System
	before func(to string)
}

func (f renameFS) Rename(from, to string) error {
	f.before(to)
	return f.System.Rename(from, to)
}

// Rows of short epochs wait to be written together, but never beyond a checkpoint: a process that is killed right after it would miss them.
func TestRowsAreNeverBehindACheckpoint(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs, c.Run.CheckpointEvery = 9, 3
	lab := newLab(t)
	var seen []int64
	fs := renameFS{before: func(to string) {
		epoch, err := strconv.ParseInt(filepath.Base(to), 10, 64)
		if err != nil || filepath.Base(filepath.Dir(to)) != "ckpt" {
			return
		}
		runs, err := lab.List(store.Filter{})
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		rows, err := lab.RowsAfter(runs[0].Hash, 0)
		if err != nil || int64(len(rows)) != epoch-1 {
			t.Errorf("the lab has %d epochs when the checkpoint of epoch %d is made, %v", len(rows), epoch, err)
		}
		seen = append(seen, epoch)
	}}
	mustRun(t, c, lab, Options{FS: fs})
	if !slices.Equal(seen, []int64{3, 6, 9}) {
		t.Errorf("checkpoints of epochs %d", seen)
	}
}
