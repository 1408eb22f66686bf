package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// cancelTask ends its context in a part and counts the parts that ran. Much later parts wait for the end: other threads could run
// all of them before the one that ends it.
type cancelTask struct {
	at     int
	cancel func()
	ended  <-chan struct{} // nil: no part waits
	ran    atomic.Int32
}

func (c *cancelTask) Run(part int) {
	c.ran.Add(1)
	if c.ended != nil && part > c.at+100 {
		<-c.ended
	}
	if part == c.at {
		c.cancel()
	}
}

// stopping does a job and returns what it panicked with and the error of a context that ended.
func stopping(tm *Team, parts int, t Task) (panicked any, err error) {
	defer func() { panicked = recover() }()
	defer Stopping(&err)
	tm.Do(parts, t)
	return nil, nil
}

// A team of Until leaves out the parts that follow the end of its context, says so, and leaves its threads usable.
func TestUntilStops(t *testing.T) {
	tm := NewTeam(3)
	defer tm.Close()
	for name, base := range map[string]*Team{"one thread": nil, "three threads": tm} {
		var never context.Context
		ctx, cancel := context.WithCancel(t.Context())
		until := base.Until(ctx)
		if until.Threads() != base.Threads() || until.Until(ctx) != until || base.Until(never) != base {
			t.Errorf("%s: another number of threads, or another team for the same context", name)
		}
		all := &countTask{runs: make([]atomic.Int32, 100)}
		if p, err := stopping(until, 100, all); err != nil || p != nil {
			t.Fatal(name, err, p)
		}
		all.check(t, 1)
		c := &cancelTask{at: 5, cancel: cancel, ended: ctx.Done()}
		if p, err := stopping(until, 1000, c); !errors.Is(err, context.Canceled) || p != nil {
			t.Errorf("%s: ended by %v, panic %v", name, err, p)
		}
		if n := c.ran.Load(); base == nil && n != 6 || n >= 1000 {
			t.Errorf("%s: %d of 1000 parts ran, the context ended in part 5", name, n)
		}
		if _, err := stopping(until, 0, all); !errors.Is(err, context.Canceled) || !errors.Is(until.Err(), context.Canceled) {
			t.Errorf("%s: a job after the end gives %v", name, err)
		}
		if p, err := stopping(base, 100, all); err != nil || p != nil || base.Err() != nil {
			t.Error(name, "the team without a context stopped, too:", err, p)
		}
		all.check(t, 2)
	}
}

// nestedTask uses its team in its parts.
type nestedTask struct {
	tm   *Team
	part *cancelTask
}

func (n *nestedTask) Run(int) { n.tm.Do(50, n.part) }

// A context that ends in a job within a job, on whatever goroutine, is the error of the outer one.
func TestUntilStopsWithinAPart(t *testing.T) {
	tm := NewTeam(4)
	defer tm.Close()
	ctx, cancel := context.WithCancel(t.Context())
	until := tm.Until(ctx)
	if p, err := stopping(until, 20, &nestedTask{until, &cancelTask{at: 30, cancel: cancel}}); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("ended by %v, panic %v", err, p)
	}
}

// failTask panics in a part and counts the parts that ran.
type failTask struct{ cancelTask }

func (f *failTask) Run(part int) {
	f.cancelTask.Run(part)
	if part == f.at {
		panic("kernel: test")
	}
}

// No part begins after one that panicked.
func TestUntilLeavesOutPartsAfterAPanic(t *testing.T) {
	var alone *Team
	f := &failTask{cancelTask{at: 5, cancel: func() {}}}
	if p, err := stopping(alone.Until(t.Context()), 1000, f); err != nil || p != "kernel: test" {
		t.Errorf("error %v, panic %v", err, p)
	}
	if n := f.ran.Load(); n != 6 {
		t.Errorf("%d of 1000 parts ran, part 5 panicked", n)
	}
}

// Check ends a loop between jobs, and only once the context has ended.
func TestUntilChecks(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	check := func(tm *Team) (err error) {
		defer Stopping(&err)
		tm.Check()
		return nil
	}
	var alone *Team
	if err := errors.Join(check(alone), check(alone.Until(ctx))); err != nil {
		t.Error(err)
	}
	cancel()
	if err := check(alone.Until(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
	if err := check(alone); err != nil {
		t.Error("without a context:", err)
	}
}

// badTask panics on workers: the caller's part waits until one has.
type badTask struct{ worker chan struct{} }

func (b *badTask) Run(part int) {
	if part == 0 {
		<-b.worker
		return
	}
	select {
	case <-b.worker:
	default:
		close(b.worker)
		panic("kernel: test")
	}
}

// A part of a team of Until that panics does so where the job was begun, on whatever thread it ran.
func TestUntilHandsPanicsToTheCaller(t *testing.T) {
	tm := NewTeam(2)
	defer tm.Close()
	until := tm.Until(t.Context())
	if p, err := stopping(until, 2, &badTask{worker: make(chan struct{})}); err != nil || p != "kernel: test" {
		t.Errorf("error %v, panic %v", err, p)
	}
	c := &countTask{runs: make([]atomic.Int32, 30)}
	if p, err := stopping(until, 30, c); err != nil || p != nil {
		t.Error("after a panic:", err, p)
	}
	c.check(t, 1)
}
