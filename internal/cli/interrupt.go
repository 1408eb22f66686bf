package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// How long a command may take to end by itself after a signal: one that only computes, and any other.
const (
	patience       = time.Second
	keeperPatience = 1700 * time.Millisecond // the process is to end within two seconds
)

// interruption is the cause of a context that a signal ended.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string {
	if i.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

func (interruption) Is(target error) bool { return target == context.Canceled }

// untilSignal returns a context that ends with the first Ctrl-C or SIGTERM. A second one ends the process at once.
func untilSignal() (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(context.Background())
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-arrived:
			signal.Stop(arrived)
			end(interruption{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(arrived)
		end(nil)
	}
}

// interruptCode is the exit code that shells give a process that a signal ended.
func interruptCode(ctx context.Context) int {
	if i, ok := context.Cause(ctx).(interruption); ok && i.signal == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

// leftError says that a command did not end by itself. It is left as kill -9 would leave it, after which labs are whole.
type leftError struct{ error }

func (e leftError) Error() string {
	return e.error.Error() + " in the middle of its work: what it had saved is kept, and the same call goes on from there"
}

func (e leftError) Unwrap() error { return e.error }

// onlyComputes says that from here on the command changes nothing but its output files, so it may be abandoned at any point
// until the returned function is called.
func (a *app) onlyComputes() (over func()) {
	a.leaveable.Store(true)
	return func() { a.leaveable.Store(false) }
}

// perform runs a command. One that continues after a signal (a matrix decomposition, a large step or a timed loop checks no context) is
// abandoned, and the process ends: soon if it only computes, and a moment later if it changes the lab. A worker is waited for, since it sends
// its checkpoints to others, and so are scripts, which may save one; so is a command that a program, not a signal, has cancelled.
func (a *app) perform(command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-a.ctx.Done():
	}
	cause := context.Cause(a.ctx)
	var signalled interruption
	soon, late := time.After(patience), make(<-chan time.Time)
	switch bySignal := errors.As(cause, &signalled); {
	case bySignal && a.unhurried.Load():
		a.notef("ending: runs under way save a checkpoint, and scripts have ten seconds to end; a second Ctrl-C ends all at once\n")
	case bySignal:
		late = time.After(keeperPatience)
	}
	for {
		select {
		case err := <-done:
			return err
		case <-soon:
			if a.leaveable.Load() {
				return cause
			}
		case <-late:
			return leftError{cause}
		}
	}
}
