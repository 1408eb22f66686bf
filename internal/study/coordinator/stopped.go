package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"collapse.example/collapse/internal/store"
)

// StoppedError says that the work's context ended before the work did.
type StoppedError struct {
	Summary
	Studies []string
	Cause   error // the context's error
}

func (e *StoppedError) Error() string {
	why := context.Canceled // rather than what it met
	if errors.Is(e.Cause, context.DeadlineExceeded) {
		why = context.DeadlineExceeded
	}
	return fmt.Sprintf("study: %v: %d of %d runs are finished; continue with: collapse study resume %s", why, e.Done, e.Runs, strings.Join(e.Studies, " "))
}

// Unwrap returns the context's error.
func (e *StoppedError) Unwrap() error { return e.Cause }

// stopped explains why the work ended early.
func (e *coordinator) stopped(err error) error {
	if err == nil {
		return nil
	}
	if store.IsFull(err) {
		return &FullError{Dir: e.lab.Dir(), Studies: e.names, Cause: err}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		s := e.summary()
		return &StoppedError{Summary: s, Studies: e.names, Cause: err}
	}
	return err
}
