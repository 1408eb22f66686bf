package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"collapse/internal/queue"
	"collapse/internal/store"
	"collapse/train"
)

// elsewhereError is trouble of this machine that says nothing of the run, such as data that are missing here.
type elsewhereError struct{ error }

func (e elsewhereError) Unwrap() error { return e.error }

// machineTrouble reports whether an error comes from the machine and not from the run: another machine, or this one later, may do it.
func machineTrouble(err error) bool {
	var here elsewhereError
	var memory *train.MemoryError
	return errors.As(err, &here) || errors.As(err, &memory) || diskTrouble(err) || slices.ContainsFunc(scarce, func(e error) bool { return errors.Is(err, e) })
}

// scarce is what a machine may run out of for a while.
var scarce = []error{syscall.ENFILE, syscall.EMFILE, syscall.ENOMEM}

// diskErrors are what the operating system says of a disk that cannot be used as it is.
var diskErrors = []error{syscall.EIO, syscall.EROFS, syscall.ENODEV, syscall.ESTALE, os.ErrPermission}

// diskTrouble reports whether a disk, of files or of a lab, is full, broken, or not to be written to.
func diskTrouble(err error) bool {
	var here elsewhereError
	if errors.As(err, &here) { // data, which only that run needs
		return false
	}
	return store.IsFull(err) || store.IsUnusable(err) || slices.ContainsFunc(diskErrors, func(e error) bool { return errors.Is(err, e) })
}

// probe is how much must be free on the disk of a worker's scratch folder for it to ask for work again after it was full.
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

// unfit marks trouble of a worker's machine for the queue, and says where it is.
func (w *remoteWorker) unfit(err error) error {
	if err == nil || queue.IsFailure(err) || errors.Is(err, queue.ErrLost) || !machineTrouble(err) {
		return err
	}
	return queue.Unfit(w.where(err))
}

// where says in a few words what is wrong with which disk, and nothing of how to go on with a run that others go on with.
func (w *remoteWorker) where(err error) error {
	var file *os.PathError
	switch {
	case store.IsFull(err):
		return fullAt(w.o.Scratch)
	case diskTrouble(err) && errors.As(err, &file):
		return fmt.Errorf("%w at %s", file.Err, file.Path)
	}
	return err
}

func fullAt(scratch string) error { return fmt.Errorf("disk full at %s", scratch) }

// ready says why the worker's machine can do no run now: its scratch disk is still full.
func (w *remoteWorker) ready() error {
	if err := probeDisk(w.scratch.Dir()); err != nil {
		return w.where(err)
	}
	return nil
}

// localTrouble deals with what ended a run in a slot of this process. A disk that is full or broken is the lab's, so another attempt
// would end the same way: the work ends, nothing is lost. Other trouble of this machine is no attempt of the run while somebody else
// may do it, or this machine once another run has ended.
func (e *engine) localTrouble(hash string, err error) error {
	switch {
	case err == nil || queue.IsFailure(err) || !machineTrouble(err):
		return err
	case store.IsFull(err):
		e.abort(err)
		return queue.Unfit(err)
	case diskTrouble(err):
		e.abort(fmt.Errorf("study: the disk of the lab %s cannot be used; nothing that was computed is lost: put that right, then go on with: collapse study resume %s: %w",
			e.lab.Dir(), strings.Join(e.names, " "), err))
		return queue.Unfit(err)
	}
	e.progress(hash, "", Progress{})
	var here elsewhereError
	var memory *train.MemoryError
	shared := e.o.Listen != "" || e.o.Remote != nil
	alone := e.nobodyWorks()
	if !shared && (errors.As(err, &here) || alone && errors.As(err, &memory)) {
		return err // it will not be otherwise: the run says why
	}
	return queue.Unfit(err)
}
