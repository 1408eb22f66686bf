package faulttest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestEachCallFails: of three calls each fails in turn, with the error that was asked for, and those after it are not made.
func TestEachCallFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	var calls []string
	EachCall(t, syscall.EIO, func() error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil {
			return err
		}
		return os.Mkdir(filepath.Join(dir, "made"), 0o777)
	}, func(call string, err error) {
		calls = append(calls, call)
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", call, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "made")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the folder is there, %v", call, err)
		}
	})
	if want := []string{"openat, call 1", "fsync, call 2", "mkdirat, call 3"}; !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
		t.Errorf("in the end nothing fails, and the folder is not there: %v", err)
	}
}
