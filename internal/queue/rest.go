package queue

import (
	"context"
	"sync"
	"time"
)

// rest is a worker's state while its machine can do no work. While why is not "", no slot asks for work.
type rest struct {
	mu    sync.Mutex
	why   string
	until time.Time      // time of the next check
	times int            // consecutive tasks that ended unfit
	jobs  map[string]int // how often a job ended unfit here, as far as remembered
	look  sync.Mutex
}

// longestRest bounds how the pauses grow when work fails again as soon as it is resumed.
const longestRest = 16 // times WorkerOptions.Retry

// unfit records and logs that a task ended because of trouble with this machine.
func (w *worker) unfit(err error) {
	why, fresh := w.note(err)
	if fresh {
		w.opt.Logf("this machine can do no work now and asks for none until that has changed: %s", why)
	}
	w.tell(notice{Waits: why})
}

// note begins a rest; fresh is false if there is one already.
func (w *worker) note(err error) (why string, fresh bool) {
	r := &w.rest
	r.mu.Lock()
	defer r.mu.Unlock()
	if fresh = r.why == ""; fresh {
		r.times++
		r.until = time.Now().Add(w.retry * time.Duration(min(longestRest, 1<<min(r.times-1, 10))))
	}
	r.why = clean(err.Error(), longestText/4)
	return r.why, fresh
}

// mostRefused bounds the number of jobs remembered as too much for this machine.
const mostRefused = 10_000

// handBack returns how long a job that ended unfit here is held back. The first time it is not: another machine may do it. A job
// that comes back here would be first in line whenever this worker asks, before others that it could do; so it is held back until
// after the next request.
func (w *worker) handBack(id string) time.Duration {
	r := &w.rest
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobs == nil || len(r.jobs) > mostRefused {
		r.jobs = map[string]int{}
	}
	r.jobs[id]++
	n := r.jobs[id]
	if n == 1 {
		return 0
	}
	return max(0, time.Until(r.until)) + w.opt.AckWait + w.retry*time.Duration(min(4, 1<<min(n-2, 10)))
}

// fine records that a task ended normally.
func (w *worker) fine() {
	w.rest.mu.Lock()
	defer w.rest.mu.Unlock()
	w.rest.times, w.rest.until = 0, time.Now() // resources that another task occupied may be free
}

// waits returns why the worker asks for no work, "" if it does ask, and when it checks again.
func (w *worker) waits() (why string, until time.Time) {
	w.rest.mu.Lock()
	defer w.rest.mu.Unlock()
	return w.rest.why, w.rest.until
}

// untilFit returns once this machine can work, or with the cause if ctx ends. One slot checks for all.
func (w *worker) untilFit(ctx context.Context) error {
	if why, _ := w.waits(); why == "" {
		return nil
	}
	w.rest.look.Lock()
	defer w.rest.look.Unlock()
	for {
		why, until := w.waits()
		if why == "" {
			return nil
		}
		if left := time.Until(until); left > 0 {
			if err := w.b.pauseWhole(ctx, min(left, time.Second)); err != nil {
				return err
			}
			continue
		}
		err := w.ready()
		w.rest.mu.Lock()
		if err != nil {
			w.rest.why, w.rest.until = clean(err.Error(), longestText/4), time.Now().Add(w.retry)
		} else {
			w.rest.why = ""
		}
		w.rest.mu.Unlock()
		if err == nil {
			w.opt.Logf("this machine can work again")
			w.tell(notice{})
		}
	}
}

// announce reports with every heartbeat that the worker waits, for coordinators that have not heard it yet.
func (w *worker) announce(ctx context.Context) {
	for w.b.pauseWhole(ctx, w.opt.beat()) == nil {
		if why, _ := w.waits(); why != "" {
			w.tell(notice{Waits: why})
		}
	}
}
