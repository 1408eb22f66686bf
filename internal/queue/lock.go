package queue

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"collapse.example/collapse/internal/jail"
)

// Lock is the right to coordinate a lab. The operating system releases it when the process ends, however it ends.
type Lock struct{ f *os.File }

// errHeld is what lockFile returns for a lock that another process holds.
var errHeld = errors.New("held")

// TakeLock takes the lock in the file path, which is created if necessary, stays, and must be no link. If another process has it, the error is
// *HeldError and names that process.
func TakeLock(path string) (*Lock, error) {
	f, err := jail.Open(filepath.Dir(path), filepath.Base(path), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	if err := lockFile(f); err != nil {
		text, _ := io.ReadAll(io.LimitReader(f, 1000)) // only for people, so an error does not matter
		f.Close()
		if errors.Is(err, errHeld) {
			return nil, &HeldError{Path: path, Holder: string(text)}
		}
		return nil, fmt.Errorf("queue: locking %s: %w", path, err)
	}
	l := &Lock{f: f}
	host, _ := os.Hostname()
	text := fmt.Sprintf("process %d on %s since %s", os.Getpid(), host, time.Now().Format(time.DateTime))
	if err := errors.Join(f.Truncate(0), writeAt(f, text)); err != nil {
		return nil, errors.Join(fmt.Errorf("queue: %s: %w", path, err), l.Release())
	}
	return l, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// Release gives the lock back.
func (l *Lock) Release() error { return l.f.Close() }
