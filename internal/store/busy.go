package store

import "fmt"

// BusyError says that another process has held the lab's write lock for longer than a write waits.
type BusyError struct {
	Path   string // of the database
	Holder string // describes the process; "" if the system does not tell
	Resume string // a command that resumes the holder, if it is suspended
	cause  error
}

func (e *BusyError) Error() string {
	switch {
	case e.Holder == "":
		return fmt.Sprintf("store: %s: another process has been writing for %v; try again: %v", e.Path, busyWait, e.cause)
	case e.Resume != "":
		return fmt.Sprintf("store: %s: %s is suspended and holds the lab's write lock; resume it (%s) or end it", e.Path, e.Holder, e.Resume)
	}
	return fmt.Sprintf("store: %s: %s has held the lab's write lock for %v; wait for it or end it", e.Path, e.Holder, busyWait)
}

func (e *BusyError) Unwrap() error { return e.cause }

// busy describes who holds the write lock of the database at path.
func busy(path string, cause error) *BusyError {
	e := &BusyError{Path: path, cause: cause}
	if pid, name, suspended := lockHolder(path); pid != 0 {
		e.heldBy(pid, name, suspended)
	}
	return e
}

func (e *BusyError) heldBy(pid int, name string, suspended bool) {
	e.Holder = fmt.Sprintf("process %d", pid)
	if name != "" {
		e.Holder += " (" + name + ")"
	}
	if suspended {
		e.Resume = fmt.Sprintf("kill -CONT %d", pid)
	}
}
