package powercut_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/powercut"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/train"
)

// begun is a run that another machine has begun, as the queue keeps it.
type begun struct {
	Hash  string
	Blobs string // shared folder
	State wire.State
}

// stopping is a sink that interrupts a run after an epoch.
type stopping struct {
	promises
	after int
	stop  context.CancelFunc
}

func (s *stopping) Epoch(e train.EpochDone) {
	if e.Epoch == s.after {
		s.stop()
	}
}

// begunElsewhere computes the first epochs of the run and leaves what a worker leaves of them; the file path says where.
func begunElsewhere(t *testing.T, path string) begun {
	t.Helper()
	lab := openLab(t, t.TempDir())
	within, stop := context.WithCancel(t.Context())
	sink := &stopping{promises{to: io.Discard}, 3, stop}
	_, err := train.Run(within, trained(), lab, train.Options{Sink: sink})
	var interrupted *train.InterruptedError
	if !errors.As(err, &interrupted) || interrupted.Epoch != 3 {
		t.Fatalf("%v", err)
	}
	b := begun{Hash: onlyRun(t, lab), Blobs: t.TempDir()}
	blobs := queue.Folder(b.Blobs)
	dir := lab.RunDir(b.Hash)
	b.State, err = wire.LeaveCheckpoint(t.Context(), blobs, true, "x", dir, 3)
	must(t, err)
	b.State.SideParts, err = wire.LeaveSideFiles(t.Context(), blobs, "x", dir, 3, nil)
	must(t, err)
	if len(b.State.SideParts) == 0 {
		t.Fatal("nothing lies beside the checkpoint")
	}
	text, err := json.Marshal(b)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o666))
	return b
}

// resume does with a scratch lab what a worker does of a run that another has begun.
func (b begun) resume(lab *store.Lab, sink *promises) (train.Result, error) {
	before := b.State.Epoch - 1
	blobs := func(context.Context, bool) (queue.Blobs, error) { return queue.Folder(b.Blobs), nil }
	whole, _, err := study.KindOf(store.Train).Reach(lab.Reader, b.Hash, before, math.MaxInt64)
	if err != nil {
		return train.Result{}, err
	}
	if err := wire.RestoreCheckpoint(ctx, b.State, lab.RunDir(b.Hash), whole, blobs); err != nil {
		return train.Result{}, err
	}
	return train.Run(ctx, trained(), lab, train.Options{Sink: sink, RowsElsewhere: int(before)})
}

// roleWorker goes on with the run that the file args[1] describes, in the scratch lab args[0].
func roleWorker(args []string) error {
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	var b begun
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	lab, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	if _, err := b.resume(lab, &promises{to: os.Stdout}); err != nil {
		return err
	}
	fmt.Println("done")
	return lab.Close()
}

// TestAWorkerAfterAPowerCut: a run that a worker goes on with after another has in the end every file of an undisturbed one.
func TestAWorkerAfterAPowerCut(t *testing.T) {
	t.Parallel()
	root, note := t.TempDir(), filepath.Join(t.TempDir(), "begun")
	b := begunElsewhere(t, note)
	r := powercut.Record(t, root, faulttest.Command("worker", filepath.Join(root, "scratch"), note))
	want := files(t, openLab(t, filepath.Join(root, "scratch")).RunDir(b.Hash))
	if len(want) < 15 {
		t.Fatalf("%d files", len(want))
	}
	r.Cuts(t, longtest.Of(40, 300), func(t *testing.T, c powercut.Cut) {
		lab := openLab(t, filepath.Join(c.Dir, "scratch"))
		sink := &promises{to: io.Discard}
		_, err := b.resume(lab, sink)
		must(t, err)
		safe := int(b.State.Epoch) // from the queue, if not from this disk
		if said, ok := c.SaidLast("epoch"); ok {
			fmt.Sscan(said, &safe)
		}
		if sink.first > 0 && sink.first <= safe {
			t.Errorf("the run goes on with epoch %d, and %d was said to be safe", sink.first, safe)
		}
		sameFiles(t, files(t, lab.RunDir(b.Hash)), want)
	})
}
