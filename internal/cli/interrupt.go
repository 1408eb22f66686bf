package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long a command that only computes may take to end by itself after a signal.
const patience = time.Second

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

// onlyComputes says that from here on the command changes nothing but its output files, so it may be abandoned at any point
// until the returned function is called.
func (a *app) onlyComputes() (over func()) {
	a.leaveable.Store(true)
	return func() { a.leaveable.Store(false) }
}

// perform runs a command. One that only computes is abandoned if it continues after a signal (a matrix decomposition or a timed
// loop checks no context), and the process ends. Any other command is waited for.
func (a *app) perform(command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-a.ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
	}
	if a.leaveable.Load() {
		return context.Cause(a.ctx)
	}
	return <-done
}
