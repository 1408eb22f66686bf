package study

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"collapse.example/collapse/internal/descriptors"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// MachineError is a problem with this machine that says nothing about the run, such as missing data.
type MachineError struct {
	Err   error
	Stops bool // where no other machine takes part, the study ends with it: its runs wait until that is mended
}

func (e *MachineError) Error() string { return e.Err.Error() }
func (e *MachineError) Unwrap() error { return e.Err }

// MachineTrouble reports whether an error comes from the machine rather than the run, so that another machine, or this one later, may succeed.
func MachineTrouble(err error) bool {
	var here *MachineError
	var memory *train.MemoryError
	var moved *store.MovedError
	return errors.As(err, &here) || errors.As(err, &memory) || errors.As(err, &moved) || DiskTrouble(err) || descriptors.Scarce(err) || errors.Is(err, syscall.ENOMEM)
}

// diskErrors are the operating system's errors for a disk that cannot be used as it is.
var diskErrors = []error{syscall.EIO, syscall.EROFS, syscall.ENODEV, syscall.ESTALE, os.ErrPermission}

// DiskTrouble reports whether a disk, with files or a lab on it, is full, broken or read-only.
func DiskTrouble(err error) bool {
	var here *MachineError
	if errors.As(err, &here) { // data files, which only that run needs
		return false
	}
	return store.IsFull(err) || store.IsUnusable(err) || slices.ContainsFunc(diskErrors, func(e error) bool { return errors.Is(err, e) })
}
