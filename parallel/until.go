package parallel

import (
	"context"
	"sync/atomic"
)

// until is what a team of Until adds to the one whose threads it shares.
type until struct {
	ctx context.Context
	of  *Team // nil: the caller's goroutine alone
}

// stopped is what Do and Check panic with where the context of Until has ended.
type stopped struct{ err error }

// Until returns a team of the same threads that stops with ctx: parts that have not begun when it ends are left out, and Do, which
// then has half a result, panics on the caller's goroutine. Stopping turns that panic into the context's error. A nil ctx returns tm.
//
// A part of such a team that panics does so on the goroutine that called Do, too, which can recover.
func (tm *Team) Until(ctx context.Context) *Team {
	if ctx == nil || tm != nil && tm.until != nil && tm.until.ctx == ctx {
		return tm
	}
	return &Team{until: &until{ctx, tm}}
}

// Err returns the error of a team's ended context: nil while it has not ended, and for a team without one.
func (tm *Team) Err() error {
	if tm == nil || tm.until == nil {
		return nil
	}
	return tm.until.ctx.Err()
}

// Check panics as Do does if the team's context has ended: for loops between jobs. It must not be called in a part.
func (tm *Team) Check() {
	if err := tm.Err(); err != nil {
		panic(stopped{err})
	}
}

// Stopping is deferred where a team of Until is used. It recovers from the panic of an ended context and stores the context's error;
// any other panic goes on.
func Stopping(err *error) {
	switch p := recover().(type) {
	case nil:
	case stopped:
		*err = p.err
	default:
		panic(p)
	}
}

// do is Do of a team of Until.
func (u *until) do(parts int, t Task) {
	job := untilTask{Task: t, ctx: u.ctx}
	u.of.Do(parts, &job)
	if p := job.panicked.Load(); p != nil {
		panic(*p)
	}
	if err := u.ctx.Err(); err != nil {
		panic(stopped{err})
	}
}

// untilTask leaves out parts once its context has ended or a part has panicked.
type untilTask struct {
	Task
	ctx      context.Context
	panicked atomic.Pointer[any] // what the first part that panicked did so with
}

// Run runs a part. A panic is kept for the caller: on a worker's goroutine nothing could recover from it.
func (t *untilTask) Run(part int) {
	if t.panicked.Load() != nil || t.ctx.Err() != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			t.panicked.CompareAndSwap(nil, &p)
		}
	}()
	t.Task.Run(part)
}
