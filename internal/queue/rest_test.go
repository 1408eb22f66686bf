package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// guard runs a coordinator's Guard until the test ends.
func guard(t *testing.T, c *Coordinator) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Guard(ctx) }()
	t.Cleanup(func() { stop(); ends(t, "Guard", ended) })
}

// TestTroubleOfAMachineIsNoAttempt has a worker whose disk is full next to a healthy one. The first asks once, reports that it
// waits, and takes work again when the trouble is over.
func TestTroubleOfAMachineIsNoAttempt(t *testing.T) {
	_, c, b := local(t, hasty(t))
	guard(t, c)
	l := collectFrom(t, c)
	var asked, worked atomic.Int64
	var full atomic.Bool
	full.Store(true)
	work(t, b, WorkerOptions{Name: "full", Slots: 1, Retry: 20 * time.Millisecond, Ready: func() error {
		if full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}}, func(_ context.Context, task *Task) ([]byte, error) {
		asked.Add(1)
		if full.Load() {
			return nil, Unfit(syscall.ENOSPC)
		}
		worked.Add(1)
		return task.Payload, nil
	})
	must(t, c.Submit(soon(t), jobs(6)...))
	for range 2 { // a coordinator that starts later hears of it, too
		c.waiters.mu.Lock()
		clear(c.waiters.list)
		c.waiters.mu.Unlock()
		for start := time.Now(); len(c.Waiters()) == 0; time.Sleep(5 * time.Millisecond) {
			if time.Since(start) > 20*time.Second {
				t.Fatal("nobody waits")
			}
		}
	}
	if w := c.Waiters(); len(w) != 1 || w[0].Worker != "full" || !strings.Contains(w[0].Why, "no space") {
		t.Errorf("%+v", w)
	}
	stop := work(t, b, WorkerOptions{Name: "well"}, func(_ context.Context, task *Task) ([]byte, error) {
		if task.Attempt != 1 {
			t.Errorf("%s is at attempt %d", task.ID, task.Attempt)
		}
		return task.Payload, nil
	})
	l.wait(t, 6)
	for id, got := range l.final {
		if got[0].Type != Done || got[0].Worker != "well" || got[0].Attempt != 1 {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if l.trouble != 0 || asked.Load() != 1 {
		t.Errorf("%d attempts failed; the full worker took %d jobs, want 1", l.trouble, asked.Load())
	}
	stop()
	c.waiters.mu.Lock()
	for _, w := range c.waiters.list {
		w.heard = time.Now().Add(time.Hour) // it reports that it continues
	}
	c.waiters.mu.Unlock()
	full.Store(false)
	more := jobs(8)[6:]
	must(t, c.Submit(soon(t), more...))
	l.wait(t, 8)
	if worked.Load() != 2 {
		t.Errorf("the worker did %d of 2 jobs after its trouble", worked.Load())
	}
	for start := time.Now(); len(c.Waiters()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal("it still counts as waiting")
		}
	}
}

// TestAWorkerThatEndsWaitsNoMore: whoever asks for the waiting ones is not told of it until it counts as silent.
func TestAWorkerThatEndsWaitsNoMore(t *testing.T) {
	opt := hasty(t)
	opt.AckWait = time.Minute
	_, c, b := local(t, opt)
	guard(t, c)
	collectFrom(t, c)
	stop := work(t, b, WorkerOptions{Name: "full", Retry: time.Hour}, func(context.Context, *Task) ([]byte, error) { return nil, Unfit(syscall.ENOSPC) })
	must(t, c.Submit(soon(t), jobs(1)...))
	waiting := func(n int) {
		for start := time.Now(); len(c.Waiters()) != n; time.Sleep(5 * time.Millisecond) {
			if time.Since(start) > 20*time.Second {
				t.Fatalf("%+v wait, want %d", c.Waiters(), n)
			}
		}
	}
	waiting(1)
	stop()
	waiting(0)
}

// TestPausesGrowWhileWorkBreaksAtOnce: without a way to check what is wrong, a worker must not use up one job after another.
func TestPausesGrowWhileWorkBreaksAtOnce(t *testing.T) {
	w := &worker{opt: Options{}.withDefaults(), b: &Broker{}, retry: time.Second, ready: func() error { return nil }}
	w.b.conn = nil
	last := time.Duration(0)
	for range 12 {
		w.rest.mu.Lock()
		w.rest.why = ""
		w.rest.mu.Unlock()
		w.note(errors.New("too little memory"))
		_, until := w.waits()
		pause := time.Until(until).Round(time.Second)
		if pause < last || pause > longestRest*time.Second {
			t.Errorf("a pause of %v after one of %v", pause, last)
		}
		last = pause
	}
	if last != longestRest*time.Second {
		t.Errorf("the last pause is %v", last)
	}
	w.fine()
	w.rest.why = ""
	w.note(errors.New("again"))
	if _, until := w.waits(); time.Until(until) > 2*time.Second {
		t.Error("a successful task does not end the growth")
	}
}

// TestAWorkerThatLostItsLeaseLeavesTheJob: a worker that was suspended or cut off, and finishes after another has taken over its
// job, must not take that job out of the queue: if the second one dies, nobody else would ever get it.
func TestAWorkerThatLostItsLeaseLeavesTheJob(t *testing.T) {
	t.Parallel()
	_, c, b := local(t, quick(t))
	must(t, c.Submit(soon(t), jobs(1)...))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go b.Work(ctx, WorkerOptions{Name: "sleeper"}, func(ctx context.Context, task *Task) ([]byte, error) {
		defer close(ended)
		// Another one takes over the lease while this process is suspended and hears nothing.
		e, err := c.kv.Get(ctx, leasePrefix+task.ID)
		if err != nil {
			return nil, err
		}
		_, err = c.kv.Update(ctx, leasePrefix+task.ID, leaseValue{Worker: "other", Nonce: "its own", Held: true, Attempt: 2}.encode(), e.Revision())
		return task.Payload, err
	})
	next(t, "the sleeper", ended)
	found := false
	bounded, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	must(t, ignoreFound(c.Receive(bounded, func(list []Message) error {
		for _, m := range list {
			found = found || m.Type == Done
		}
		if found {
			return errFound
		}
		return nil
	})))
	for start := time.Now(); time.Since(start) < time.Second; time.Sleep(20 * time.Millisecond) {
		if n, err := c.Waiting(t.Context()); err != nil || n != 1 {
			t.Fatalf("%d jobs in the queue, want that of the other worker; %v", n, err)
		}
	}
	leases, err := c.Leases(soon(t))
	if err != nil || len(leases) != 1 || leases[0].Worker != "other" || !found {
		t.Errorf("%+v, %v", leases, err)
	}
}

var errFound = errors.New("found")

func ignoreFound(err error) error {
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// TestHowLongAJobIsKeptBack: not at all the first time, since another machine may do it; then past this worker's rest and longer
// each time, up to a limit. Each job is counted separately.
func TestHowLongAJobIsKeptBack(t *testing.T) {
	w := &worker{opt: Options{}.withDefaults(), retry: time.Minute}
	if d := w.handBack("one"); d != 0 {
		t.Errorf("kept back for %v the first time", d)
	}
	for i, want := range []time.Duration{1, 2, 4, 4, 4} {
		if d := w.handBack("one"); d != w.opt.AckWait+want*time.Minute {
			t.Errorf("time %d: kept back for %v", i+2, d)
		}
	}
	if d := w.handBack("another"); d != 0 {
		t.Errorf("another one is kept back for %v", d)
	}
	w.rest.until = time.Now().Add(time.Hour)
	if d := w.handBack("another"); d < 59*time.Minute {
		t.Errorf("it comes back after %v, before the worker's rest has ended", d)
	}
	for i := range mostRefused + 2 {
		w.handBack(fmt.Sprint(i))
	}
	if len(w.rest.jobs) > mostRefused+1 {
		t.Errorf("%d jobs are remembered", len(w.rest.jobs))
	}
}
