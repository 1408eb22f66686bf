package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/wire"
)

// scratchRun is a run in a worker's scratch lab whose epochs are written by hand.
type scratchRun struct {
	t     *testing.T
	lease *store.Lease
}

func (s scratchRun) epochs(from, to int64) {
	for e := from; e <= to; e++ {
		must(s.t, s.lease.AppendEpoch(e, []store.Value{{Key: store.Key{Series: "epoch", Measure: "loss"}, Step: e, Value: 1}}))
	}
}

// saved writes something that the queue accepts as the checkpoint of an epoch.
func (s scratchRun) saved(epoch int64) {
	dir := filepath.Join(s.lease.Dir, "ckpt", fmt.Sprint(epoch))
	must(s.t, os.MkdirAll(dir, 0o777))
	must(s.t, os.WriteFile(filepath.Join(dir, "model.safetensors"), []byte("weights"), 0o666))
}

// TestNoCheckpointIsAheadOfItsRows: a run that continues to compute while its rows are sent may have a newer checkpoint by then. A
// worker that continues from it does not compute the epochs before, so their rows must have been sent, too.
func TestNoCheckpointIsAheadOfItsRows(t *testing.T) {
	server, err := queue.StartServer(queue.ServerOptions{Dir: t.TempDir()})
	must(t, err)
	defer server.Close()
	b, err := server.Connect(studytest.QuickQueue())
	must(t, err)
	defer b.Close()
	c, err := b.Coordinate(t.Context(), "lab")
	must(t, err)
	w, err := newWorker(b, Options{Slots: 1, Threads: 1, Scratch: t.TempDir()})
	must(t, err)
	defer w.close()
	spec := study.SimulatedItems(1)[0]
	must(t, c.Submit(t.Context(), queue.Job{ID: spec.Hash, Kind: "test"}))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go b.Work(ctx, queue.WorkerOptions{}, func(ctx context.Context, task *queue.Task) ([]byte, error) {
		lease, _, err := w.scratch.Lease(spec.Spec)
		must(t, err)
		run, uploader := scratchRun{t, lease}, newUploader(w, task)
		run.epochs(1, 3)
		must(t, uploader.deliver(ctx, 0))
		run.epochs(4, 9)
		run.saved(10) // as training does: an epoch's checkpoint, which has its rows, before them
		must(t, uploader.checkpoint(ctx))
		objects, err := w.blobs(ctx, task, false)
		must(t, err)
		if _, err := wire.SaveCheckpoint(ctx, task, lease.Dir, 11, objects, false); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a checkpoint that was pruned: %v", err) // which the uploader takes for no reason to stop
		}
		return nil, lease.Finish()
	})
	var arrived []int64
	errEnd := errors.New("enough")
	if err := c.Receive(t.Context(), func(list []queue.Message) error {
		for _, m := range list {
			switch {
			case m.Type == queue.Done:
				stop()
				return errEnd
			case m.Data[0] == wire.TagRows:
				rows, err := wire.DecodeRows(m.Data[1:])
				must(t, err)
				arrived = append(arrived, rows.Epoch)
			}
		}
		return nil
	}); err != errEnd {
		t.Fatal(err)
	}
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(arrived, want) {
		t.Errorf("with the checkpoint of epoch 10 left the rows of %v", arrived)
	}
}
