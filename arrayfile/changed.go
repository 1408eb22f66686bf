package arrayfile

import (
	"fmt"
	"runtime/debug"
	"time"
)

// ChangedError says that a file changed while it was read: what was read may be partly old and partly new.
type ChangedError struct {
	Path                  string
	Was, Is               int64 // bytes, when it was opened and now
	WasModified, Modified time.Time
}

func (e *ChangedError) Error() string {
	const again = "read it again once nothing writes to it"
	switch {
	case e.Was != e.Is:
		return fmt.Sprintf("%s changed while it was read: %d bytes at first, %d now; %s", e.Path, e.Was, e.Is, again)
	case !e.WasModified.Equal(e.Modified):
		const clock = "15:04:05.000000"
		return fmt.Sprintf("%s changed while it was read: last written at %s at first, at %s now; %s", e.Path, e.WasModified.Format(clock), e.Modified.Format(clock), again)
	}
	return fmt.Sprintf("%s: a part of it could not be read, though its size is still %d bytes: its disk or network failed, or it was cut and written again; %s", e.Path, e.Is, again)
}

// Guard calls f, which may read arrays that share the memory of opened files. If such memory cannot be read because another program
// has truncated the file, which would otherwise end the process, f is stopped and the error is *ChangedError. Any other panic
// passes.
//
// A file that is truncated within its last page, or overwritten, can be read without a fault: call File.Changed afterwards to detect
// that. Goroutines that f starts, other than the threads of a team, need their own Guard.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if err = faultError(r); err == nil {
				panic(r)
			}
		}
	}()
	return f()
}

// faultError returns the error for a panic, nil if the panic is not a fault in the memory of an opened file.
func faultError(r any) error {
	fault, ok := r.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	if m := mappingAt(fault.Addr()); m != nil {
		return m.fault()
	}
	return nil
}

// Read opens a file, calls use within Guard and closes the file, after which its arrays are invalid. If the file changed meanwhile,
// the error is *ChangedError, whatever use returned.
func Read(path string, use func(*File) error) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	return f.memory.read(func() error { return use(f) })
}

// ReadPickle is Read for a pickle.
func ReadPickle(path string, use func(Pickle) error) error {
	f, err := openPickle(path)
	if err != nil {
		return err
	}
	return f.memory.read(func() error { return use(f.Pickle) })
}

// read calls use within Guard, then checks whether the file has changed, and releases it.
func (m *mapping) read(use func() error) error {
	err := Guard(use)
	if changed := m.changed(); changed != nil {
		err = changed
	}
	if closing := m.close(); err == nil {
		err = closing
	}
	return err
}
