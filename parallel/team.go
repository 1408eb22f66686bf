// Package parallel shares one computation among a fixed set of threads.
//
// The caller cuts its work into parts by shape alone (rows, blocks), never by the number of threads, and combines what the parts
// computed in a fixed order. Results are then the same bits on any number of threads. Everything of this module that computes in
// parallel takes a *Team; nil means the caller's goroutine alone.
package parallel

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Task is work cut into parts that may run in any order and at the same time.
type Task interface{ Run(part int) }

// Team is a fixed set of threads that share one computation. The parts of a task are fixed by its
// caller from shapes alone, so results never depend on the size of the team. A nil *Team runs
// everything on the caller's goroutine.
//
// The workers are goroutines that live as long as the team. Between jobs they watch for the next one
// for a short while (layers follow each other within microseconds) and then park.
type Team struct {
	mu      sync.Mutex // held by the caller whose job runs
	task    Task
	parts   int64
	workers []*worker
	done    chan struct{} // a worker tells the waiting caller that it was the last to leave
	closed  atomic.Bool
	until   *until                  // of a team that stops with a context; it has no workers of its own
	fault   atomic.Pointer[Fault]   // of a worker in this job
	observe func(parts int, t Task) // runs the jobs of a team of one thread; nil: nobody looks

	_     [64]byte
	next  atomic.Int64 // first part nobody has taken
	_     [56]byte
	state atomic.Uint64 // generation<<genShift | open | waiting | workers inside the job
	_     [56]byte
}

// The caller opens state with a new generation; workers enter by adding one while it is open and
// leave by subtracting one; the caller closes it and waits until nobody is inside. task, parts and
// next change only while state is closed and empty, so a worker that comes late does no harm.
const (
	insideMask   = 1<<16 - 1
	stateOpen    = 1 << 16
	stateWaiting = 1 << 17 // the caller has parked until the last worker leaves
	genShift     = 18
	maxThreads   = insideMask
)

// Polls before a thread parks. A poll of the first kind is a load, about a nanosecond; one of the
// second yields to other goroutines and costs about a tenth of a microsecond.
const (
	tightPolls = 2000
	yieldPolls = 300
)

type worker struct {
	parked atomic.Bool
	wake   chan struct{}
	_      [40]byte
}

// NewTeam starts a team of the given number of threads, the caller's included; threads ≤ 0 means
// GOMAXPROCS. Close ends its goroutines.
func NewTeam(threads int) *Team {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	tm := &Team{done: make(chan struct{}, 1)}
	for range min(threads, maxThreads) - 1 {
		w := &worker{wake: make(chan struct{}, 1)}
		tm.workers = append(tm.workers, w)
		go tm.serve(w)
	}
	return tm
}

// Threads returns the number of threads that share a job; 1 for a nil team.
func (tm *Team) Threads() int {
	if tm == nil {
		return 1
	}
	if tm.until != nil {
		return tm.until.of.Threads()
	}
	return len(tm.workers) + 1
}

// Close ends the team's goroutines. It must not be called while a job runs. A closed team runs later
// jobs on the caller's goroutine.
func (tm *Team) Close() {
	if tm == nil || tm.closed.Swap(true) {
		return
	}
	for _, w := range tm.workers {
		w.unpark()
	}
}

// Observe has every later job of a team of one thread done by f, which runs the parts, so that it can count and time them; nil ends that. It
// panics if the team has more threads.
func (tm *Team) Observe(f func(parts int, t Task)) {
	if tm.Threads() > 1 {
		panic("parallel: only a team of one thread can be observed")
	}
	tm.observe = f
}

// Do runs t.Run(0) … t.Run(parts-1), handed out one by one to whichever thread is free, and returns
// when all have ended. It allocates nothing if t is a pointer. Called while another job of the team
// runs (from a part, or from another goroutine), it runs on the caller's goroutine alone.
//
// A part that reads memory which is not there panics on the caller's goroutine: with *Fault if a worker ran it, else
// as the runtime does after debug.SetPanicOnFault.
func (tm *Team) Do(parts int, t Task) {
	if tm != nil && tm.until != nil {
		tm.until.do(parts, t)
		return
	}
	if tm != nil && tm.observe != nil {
		tm.observe(parts, t)
		return
	}
	if tm == nil || parts <= 1 || len(tm.workers) == 0 || tm.closed.Load() || !tm.mu.TryLock() {
		for part := range parts {
			t.Run(part)
		}
		return
	}
	tm.task, tm.parts = t, int64(parts)
	tm.next.Store(0)
	tm.state.Store((tm.state.Load()>>genShift+1)<<genShift | stateOpen)
	for _, w := range tm.workers[:min(len(tm.workers), parts-1)] {
		if w.parked.Load() {
			w.unpark()
		}
	}
	defer tm.finish()
	tm.take()
}

// take runs parts until none is left.
func (tm *Team) take() {
	for {
		part := tm.next.Add(1) - 1
		if part >= tm.parts {
			return
		}
		tm.task.Run(int(part))
	}
}

// takeFaults is take for a worker: a fault is kept for the caller, and no more parts are handed out. Any other panic ends the
// process, as one of a goroutine does.
func (tm *Team) takeFaults() {
	defer func() {
		if r := recover(); r != nil {
			fault := newFault(r)
			if fault == nil {
				panic(r)
			}
			tm.fault.CompareAndSwap(nil, fault)
			tm.next.Store(tm.parts)
		}
	}()
	tm.take()
}

// finish closes the job to workers that have not joined and waits for those inside.
func (tm *Team) finish() {
	tm.next.Store(tm.parts) // after a panic of the caller's part, hand out nothing more
	tm.state.And(^uint64(stateOpen))
	for poll := 0; tm.state.Load()&insideMask != 0; poll++ {
		if poll < tightPolls {
			continue
		}
		if poll < tightPolls+yieldPolls {
			runtime.Gosched()
			continue
		}
		if old := tm.state.Load(); old&insideMask != 0 && tm.state.CompareAndSwap(old, old|stateWaiting) {
			<-tm.done
		}
	}
	tm.task = nil
	fault := tm.fault.Swap(nil)
	tm.mu.Unlock()
	if fault != nil {
		panic(fault)
	}
}

// serve is a worker's life: join each new job, leave it when no part is left, park when none comes.
func (tm *Team) serve(w *worker) {
	debug.SetPanicOnFault(true)
	var seen uint64 // generation of the last job joined
	for poll := 0; !tm.closed.Load(); {
		s := tm.state.Load()
		if s&stateOpen != 0 && s>>genShift != seen {
			if tm.state.CompareAndSwap(s, s+1) {
				seen, poll = s>>genShift, 0
				tm.takeFaults()
				tm.leave()
			}
			continue
		}
		poll++
		switch {
		case poll < tightPolls:
		case poll < tightPolls+yieldPolls:
			runtime.Gosched()
		default:
			tm.park(w, seen)
			poll = 0
		}
	}
}

// leave takes the worker out of the job and wakes the caller if it has parked for the last one.
func (tm *Team) leave() {
	s := tm.state.Add(^uint64(0))
	if s&insideMask == 0 && s&stateWaiting != 0 {
		tm.done <- struct{}{}
	}
}

// park sleeps until a caller wakes the worker. The flag is raised first and the state read again
// after it, so a job opened in between is not missed: either the worker sees it, or its caller sees
// the flag.
func (tm *Team) park(w *worker, seen uint64) {
	w.parked.Store(true)
	s := tm.state.Load()
	if (s&stateOpen != 0 && s>>genShift != seen) || tm.closed.Load() {
		if w.parked.CompareAndSwap(true, false) {
			return
		}
	}
	<-w.wake
}

// unpark wakes a parked worker, once.
func (w *worker) unpark() {
	if w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}
