//go:build unix

package data

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockFolder keeps a second Get away from a folder until unlock is called. The lock ends with the process, however it ends.
func lockFolder(folder string) (unlock func(), err error) {
	path := filepath.Join(folder, ".collapse-get.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("data: another process is downloading into %s; wait until it is done", folder)
		}
		return nil, fmt.Errorf("data: locking %s: %w", folder, err)
	}
	// The previous holder may have removed the file between our opening and locking it; then no other process would see our
	// lock.
	ours, err1 := f.Stat()
	there, err2 := os.Stat(path)
	if err1 != nil || err2 != nil || !os.SameFile(ours, there) {
		f.Close()
		return nil, fmt.Errorf("data: another process was downloading into %s a moment ago; try again", folder)
	}
	return func() { os.Remove(path); f.Close() }, nil
}
