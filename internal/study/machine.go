package study

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"collapse/internal/store"
	"collapse/internal/train"
)

// MachineError is trouble of this machine that says nothing of the run, such as data that are missing here.
type MachineError struct{ Err error }

func (e *MachineError) Error() string { return e.Err.Error() }
func (e *MachineError) Unwrap() error { return e.Err }

// MachineTrouble reports whether an error comes from the machine and not from the run: another machine, or this one later, may do it.
func MachineTrouble(err error) bool {
	var here *MachineError
	var memory *train.MemoryError
	return errors.As(err, &here) || errors.As(err, &memory) || DiskTrouble(err) || slices.ContainsFunc(scarce, func(e error) bool { return errors.Is(err, e) })
}

// scarce is what a machine may run out of for a while.
var scarce = []error{syscall.ENFILE, syscall.EMFILE, syscall.ENOMEM}

// diskErrors are what the operating system says of a disk that cannot be used as it is.
var diskErrors = []error{syscall.EIO, syscall.EROFS, syscall.ENODEV, syscall.ESTALE, os.ErrPermission}

// DiskTrouble reports whether a disk, of files or of a lab, is full, broken, or not to be written to.
func DiskTrouble(err error) bool {
	var here *MachineError
	if errors.As(err, &here) { // data, which only that run needs
		return false
	}
	return store.IsFull(err) || store.IsUnusable(err) || slices.ContainsFunc(diskErrors, func(e error) bool { return errors.Is(err, e) })
}
