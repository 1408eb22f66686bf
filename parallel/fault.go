package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Fault is the panic of a team's worker that read memory which is not there, such as that of a mapped file that another program has
// cut, handed on to the caller of Do.
type Fault struct {
	err   runtime.Error
	addr  uintptr
	stack []byte // of the worker
}

// newFault returns the fault that a panic is about, nil if it is about something else.
func newFault(r any) *Fault {
	err, ok := r.(runtime.Error)
	if !ok {
		return nil
	}
	at, ok := r.(interface{ Addr() uintptr }) // of a fault, not of a nil pointer
	if !ok {
		return nil
	}
	return &Fault{err, at.Addr(), debug.Stack()}
}

// Error includes the worker's stack: if nobody expects the fault, it is what a person needs to see.
func (f *Fault) Error() string {
	return fmt.Sprintf("%v at %#x, in a worker of a team:\n%s", f.err, f.addr, f.stack)
}

// Unwrap returns the runtime's error.
func (f *Fault) Unwrap() error { return f.err }

// Addr is the address that could not be read, as of the runtime's own error.
func (f *Fault) Addr() uintptr { return f.addr }
