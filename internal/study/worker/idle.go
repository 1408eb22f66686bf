package worker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrIdle ends a worker that has had no run for Options.Leave.
var ErrIdle = errors.New("study: the worker has had no run for as long as it waits for one")

// idleness ends a context once no run has been under way for a time.
type idleness struct {
	after  time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	runs  int
	timer *time.Timer // nil: it never ends
}

// leaving returns a context that ends with ErrIdle after so long without a run; 0 never.
func leaving(ctx context.Context, after time.Duration) (context.Context, *idleness) {
	ctx, cancel := context.WithCancelCause(ctx)
	i := &idleness{after: after, cancel: cancel}
	if after > 0 {
		i.timer = time.AfterFunc(after, i.end)
	}
	return ctx, i
}

func (i *idleness) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.runs == 0 {
		i.cancel(ErrIdle)
	}
}

// busy notes that a run has begun, and returns what to call at its end.
func (i *idleness) busy() (end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.runs++
	if i.timer != nil {
		i.timer.Stop()
	}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.runs--; i.runs == 0 && i.timer != nil {
			i.timer.Reset(i.after)
		}
	}
}

func (i *idleness) stop() {
	if i.timer != nil {
		i.timer.Stop()
	}
	i.cancel(nil)
}
