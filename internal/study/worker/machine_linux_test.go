package worker

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// withoutTorch is what happens to a run of PyTorch on a machine without it.
func withoutTorch(t *testing.T) error {
	t.Helper()
	c := studytest.Tiny()
	c.Run.Engine = "torch"
	hash, _, err := train.Identify(c, study.OpenSet)
	studytest.Must(t, err)
	none := &engine.Pool{Launch: func(context.Context) (*engine.Process, error) {
		return nil, &engine.MissingError{Tried: []string{"python3"}}
	}}
	return study.KindOf(store.Train).Compute(t.Context(), studytest.Lab(t), hash, train.Changes(c), study.Env{Engines: none})
}

// TestWhatIsTroubleOfAMachine sorts errors.
func TestWhatIsTroubleOfAMachine(t *testing.T) {
	w := &worker{o: Options{Scratch: "/scratch"}}
	for _, err := range []error{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENOMEM, os.ErrPermission,
		&os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}, &train.MemoryError{Free: 1}, &study.MachineError{Err: os.ErrNotExist},
		fmt.Errorf("train: writing: %w; epoch 3 is safe", syscall.EIO),
	} {
		if got := w.unfit(err); !queue.IsUnfit(got) {
			t.Errorf("%v counts as an attempt", err)
		}
	}
	for _, err := range []error{
		&train.DivergedError{}, queue.Fail(&train.DivergedError{}), queue.Fail(syscall.ENOSPC), context.DeadlineExceeded, queue.ErrLost,
		&train.ConfigError{}, fmt.Errorf("a surprise"),
	} {
		if queue.IsUnfit(w.unfit(err)) {
			t.Errorf("%v counts as the machine's", err)
		}
	}
	if err := withoutTorch(t); !queue.IsUnfit(w.unfit(err)) || !strings.Contains(err.Error(), "needs a Python with PyTorch") {
		t.Errorf("no PyTorch: %v", err)
	}
	if study.DiskTrouble(&study.MachineError{Err: os.ErrPermission}) {
		t.Error("data that cannot be read here end the whole study")
	}
	if w.unfit(nil) != nil {
		t.Error("success is trouble")
	}
	err := study.KindOf(store.Train).Compute(t.Context(), studytest.Lab(t), strings.Repeat("0", 64), train.Changes(studytest.Tiny()), study.Env{})
	if err == nil || !queue.IsUnfit(w.unfit(err)) || !strings.Contains(err.Error(), "differ from the coordinator's") {
		t.Errorf("other data: %v", err)
	}
}
