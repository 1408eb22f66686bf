package coordinator

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a fault of the program in the work on a study. It ends the study and no other work of the process.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("study: a fault of the program: %v; please report it with these lines\n%s", e.Value, e.Stack)
}

// Contained does work; a panic becomes a *PanicError.
func Contained(work func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return work()
}
