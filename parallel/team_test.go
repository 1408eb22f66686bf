package parallel

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// countTask counts how often each part ran.
type countTask struct{ runs []atomic.Int32 }

func (c *countTask) Run(part int) { c.runs[part].Add(1) }

func (c *countTask) check(t *testing.T, want int32) {
	t.Helper()
	for part := range c.runs {
		if got := c.runs[part].Load(); got != want {
			t.Fatalf("part %d of %d ran %d times, want %d", part, len(c.runs), got, want)
		}
	}
}

func TestTeamRunsEveryPartOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 7, 64} {
		tm := NewTeam(threads)
		if tm.Threads() != threads {
			t.Fatalf("%d threads, want %d", tm.Threads(), threads)
		}
		for round := range 200 {
			c := &countTask{runs: make([]atomic.Int32, round%40)}
			tm.Do(len(c.runs), c)
			c.check(t, 1)
		}
		tm.Close()
	}
	c := &countTask{runs: make([]atomic.Int32, 9)}
	var none *Team
	none.Do(9, c)
	c.check(t, 1)
	if none.Threads() != 1 {
		t.Fatal("a nil team has one thread")
	}
	none.Close()
}

// meetTask returns only if its parts run at the same time.
type meetTask struct {
	arrived sync.WaitGroup
	failed  atomic.Bool
}

func (m *meetTask) Run(int) {
	m.arrived.Done()
	all := make(chan struct{})
	go func() { m.arrived.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(20 * time.Second):
		m.failed.Store(true)
	}
}

// Workers that have parked are woken, and as many parts run at once as there are threads.
func TestTeamWakesParkedWorkers(t *testing.T) {
	const threads = 4
	tm := NewTeam(threads)
	defer tm.Close()
	for range 20 {
		for _, w := range tm.workers {
			for !w.parked.Load() {
				time.Sleep(100 * time.Microsecond)
			}
		}
		m := &meetTask{}
		m.arrived.Add(threads)
		tm.Do(threads, m)
		if m.failed.Load() {
			t.Fatal("the parts did not run at the same time")
		}
	}
}

// nestTask runs a job of the same team from inside each part.
type nestTask struct {
	tm    *Team
	inner *countTask
}

func (n *nestTask) Run(int) { n.tm.Do(len(n.inner.runs), n.inner) }

func TestTeamNestedAndConcurrentJobs(t *testing.T) {
	tm := NewTeam(3)
	defer tm.Close()
	inner := &countTask{runs: make([]atomic.Int32, 5)}
	tm.Do(8, &nestTask{tm, inner})
	inner.check(t, 8)

	shared := &countTask{runs: make([]atomic.Int32, 30)}
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 100 {
				tm.Do(len(shared.runs), shared)
			}
		})
	}
	callers.Wait()
	shared.check(t, 400)
}

func TestTeamClosed(t *testing.T) {
	tm := NewTeam(3)
	tm.Close()
	tm.Close()
	c := &countTask{runs: make([]atomic.Int32, 4)}
	tm.Do(4, c)
	c.check(t, 1)
}

type panicTask struct{ caller chan struct{} }

// Run panics on the caller's goroutine only: workers wait until it has.
func (p *panicTask) Run(int) {
	select {
	case <-p.caller:
	default:
		close(p.caller)
		panic("kernel: test")
	}
}

// A panic of a part on the caller's goroutine leaves the team usable.
func TestTeamSurvivesPanic(t *testing.T) {
	tm := NewTeam(1)
	tm.workers = append(tm.workers, &worker{wake: make(chan struct{}, 1)}) // never joins
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		tm.Do(2, &panicTask{caller: make(chan struct{})})
	}()
	c := &countTask{runs: make([]atomic.Int32, 3)}
	tm.Do(3, c)
	c.check(t, 1)
	if !tm.mu.TryLock() {
		t.Fatal("the team is still busy")
	}
}

func TestTeamAllocatesNothing(t *testing.T) {
	tm := NewTeam(2)
	defer tm.Close()
	c := &countTask{runs: make([]atomic.Int32, 16)}
	if allocs := testing.AllocsPerRun(100, func() { tm.Do(16, c) }); allocs != 0 {
		t.Fatalf("%g allocations a job", allocs)
	}
}
