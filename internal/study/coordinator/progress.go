package coordinator

import (
	"cmp"
	"context"
	"sort"
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
)

// close counts a run as ended and reports it. After the last one it has reconcile end the work.
func (e *coordinator) close(run store.Run) {
	e.mu.Lock()
	o := e.open[run.Hash]
	if o == nil {
		e.mu.Unlock()
		return
	}
	delete(e.open, run.Hash)
	delete(e.working, run.Hash)
	e.closing++
	e.doneHere++
	ended := &Ended{Hash: run.Hash, Note: o.Note, Payload: o.Payload, Failed: run.Status == store.Failed, Text: run.Error}
	if ended.Failed {
		e.failed++
	} else {
		e.done++
	}
	e.mu.Unlock()
	if kind := study.KindOf(run.Kind); kind != nil && !ended.Failed {
		ended.Text = kind.Headline(e.lab.Reader, run.Hash)
	}
	e.tell(ended)
	e.mu.Lock()
	e.closing--
	e.mu.Unlock()
	if e.nothingLeft() {
		select {
		case e.emptied <- struct{}{}:
		default:
		}
	}
}

// thisProcess stands for a worker's name where the coordinator computes a run itself. It is never silent: it has no way to be lost.
const thisProcess = "this process"

// progress records how far a run has got; worker "" means that nobody computes it.
func (e *coordinator) progress(hash, worker string, p study.Progress) {
	e.mu.Lock()
	o := e.open[hash]
	if o != nil {
		o.worker, o.progress, o.heard = worker, p, time.Now()
		e.working[hash] = o
		if worker == "" {
			delete(e.working, hash)
		}
	}
	e.mu.Unlock()
	if o != nil {
		e.tell(nil)
	}
}

// silent are the workers elsewhere that have not been heard of for so long that another may have their runs, by run.
func (e *coordinator) silent() []Silent {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []Silent
	for hash, o := range e.working {
		if o.worker != thisProcess && time.Since(o.heard) > e.c.AckWait() {
			list = append(list, Silent{o.worker, hash, o.heard.UTC().Truncate(time.Second)})
		}
	}
	sort.Slice(list, func(i, j int) bool { a, b := &list[i], &list[j]; return cmp.Compare(a.Run, b.Run) < 0 })
	return list
}

// progressEvery bounds how often progress is reported; ends are always reported.
const progressEvery = 100 * time.Millisecond

func (e *coordinator) tell(ended *Ended) {
	e.watchMu.Lock()
	defer e.watchMu.Unlock()
	if now := time.Now(); ended != nil || now.Sub(e.told) >= progressEvery {
		e.told = now
		e.o.Watch(Event{Snapshot: e.snapshot(), Ended: ended})
	}
}

// snapshot returns the current state of the studies. The time left follows from the runs done here so far, including parts of runs,
// and assumes that the others take as long.
func (e *coordinator) snapshot() Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Snapshot{Runs: e.runs, Done: e.done, Failed: e.failed}
	parts := 0.0
	for hash, o := range e.working {
		s.Working = append(s.Working, Working{Hash: hash, Note: o.Note, Worker: o.worker, Progress: o.progress})
		if o.progress.Epochs > 0 {
			parts += float64(o.progress.Epoch) / float64(o.progress.Epochs)
		}
	}
	sort.Slice(s.Working, func(i, j int) bool { a, b := &s.Working[i], &s.Working[j]; return cmp.Compare(a.Note, b.Note) < 0 })
	if work := e.doneHere + parts; work > 0 {
		s.Left = time.Duration(float64(time.Since(e.started)) * (float64(len(e.open)) - parts) / work)
	}
	return s
}

// watchLeases learns from the queue which worker computes which run.
func (e *coordinator) watchLeases(ctx context.Context) error {
	for {
		err := e.c.Watch(ctx, func(c queue.Lease) {
			if wire.IsLocal(c.Worker) { // its progress is reported directly
				return
			}
			p, worker := wire.ParseProgress(c.Progress), c.Worker
			if !c.Held {
				worker = ""
			}
			e.progress(c.Job, worker, p)
		})
		if ctx.Err() != nil {
			return err
		}
		select { // the server was away
		case <-time.After(time.Second):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
