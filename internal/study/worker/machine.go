package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// probe is how much space must be free on the disk of the scratch folder before a worker asks for work again after the disk was full.
const probe = 4 << 20

// probeDisk returns an error if nothing can be written to a folder.
func probeDisk(dir string) error {
	path := filepath.Join(dir, "probe.tmp")
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("study: the scratch folder: %w", err)
	}
	_, err = f.Write(make([]byte, probe))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		err = fmt.Errorf("study: the scratch folder: %w", err)
	}
	return errors.Join(err, os.Remove(path))
}

// unfit marks an error of the worker's machine for the queue, and says where it occurred.
func (w *worker) unfit(err error) error {
	if err == nil || queue.IsFailure(err) || errors.Is(err, queue.ErrLost) || !study.MachineTrouble(err) {
		return err
	}
	return queue.Unfit(w.where(err))
}

// where says in a few words which disk has what problem. It gives no advice on how to continue: other workers continue the run.
func (w *worker) where(err error) error {
	var file *os.PathError
	switch {
	case store.IsFull(err):
		return fullAt(w.o.Scratch)
	case study.DiskTrouble(err) && errors.As(err, &file):
		return fmt.Errorf("%w at %s", file.Err, file.Path)
	}
	return err
}

func fullAt(scratch string) error { return fmt.Errorf("disk full at %s", scratch) }

// ready says why the worker's machine cannot do a run now: its scratch disk is still full.
func (w *worker) ready() error {
	if err := probeDisk(w.scratch.Dir()); err != nil {
		return w.where(err)
	}
	return nil
}
