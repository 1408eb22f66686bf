package bench

import (
	"errors"
	"io/fs"
	"os"
)

// temporary creates a file for the duration of a measurement. If an open file can be unlinked, it has no name, so that not even a
// killed process leaves it behind.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "collapse-bench-*")
	if err == nil {
		_ = os.Remove(f.Name())
	}
	return f, err
}

// discard closes a temporary file and removes it if it still has a name.
func discard(f *os.File) error {
	err := f.Close()
	if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
