package study

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"collapse/internal/queue"
	"collapse/internal/store"
)

func sortByPosition(list []*openRun) {
	slices.SortFunc(list, func(a, b *openRun) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Hash, b.Hash))
	})
}

// close counts a run as ended and tells it. After the last one it has heed end the work.
func (e *engine) close(run store.Run) {
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
	ended := &Ended{Hash: run.Hash, Note: o.Note, Failed: run.Status == store.Failed, Text: run.Error}
	if ended.Failed {
		e.failed++
	} else {
		e.done++
	}
	e.mu.Unlock()
	if kind := kinds[run.Kind]; kind != nil && !ended.Failed {
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

// progress notes how far a run is; worker "" says that nobody is at it.
func (e *engine) progress(hash, worker string, p Progress) {
	e.mu.Lock()
	o := e.open[hash]
	if o != nil {
		o.worker, o.progress = worker, p
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

// toldEvery bounds how often progress is told; ends are always.
const toldEvery = 100 * time.Millisecond

func (e *engine) tell(ended *Ended) {
	e.watchMu.Lock()
	defer e.watchMu.Unlock()
	if now := time.Now(); ended != nil || now.Sub(e.told) >= toldEvery {
		e.told = now
		e.o.Watch(Event{Snapshot: e.snapshot(), Ended: ended})
	}
}

// snapshot is how far the studies are now. The time left follows from the runs done here so far, parts
// of runs included, on the assumption that the others take as long.
func (e *engine) snapshot() Snapshot {
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
	slices.SortFunc(s.Working, func(a, b Working) int { return cmp.Compare(a.Note, b.Note) })
	if work := e.doneHere + parts; work > 0 {
		s.Left = time.Duration(float64(time.Since(e.started)) * (float64(len(e.open)) - parts) / work)
	}
	return s
}

// watchClaims learns from the queue who works on what.
func (e *engine) watchClaims(ctx context.Context) error {
	for {
		err := e.c.Watch(ctx, func(c queue.Claim) {
			if isLocal(c.Worker) { // its progress is known at first hand
				return
			}
			p, worker := parseProgress(c.Progress), c.Worker
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

// Times between looks at what people, and other processes, did.
const (
	lookEvery = 250 * time.Millisecond
	tendEvery = 10 * time.Second
)

// heedPeople looks for cancelled and retried studies, and keeps an eye on runs that other processes of
// this lab compute.
func (e *engine) heedPeople(ctx context.Context) error {
	look, tend := time.NewTicker(lookEvery), time.NewTicker(tendEvery)
	defer look.Stop()
	defer tend.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tend.C:
			if err := e.tend(ctx); err != nil {
				return err
			}
		case <-look.C:
			if err := e.heed(ctx); err != nil {
				return err
			}
		case <-e.emptied:
			if err := e.heed(ctx); err != nil {
				return err
			}
		}
	}
}

// heed takes over what people changed and ends the work if nothing is left. A person who lets a run go on
// before the last other one has ended, or as it ends, is heard.
func (e *engine) heed(ctx context.Context) error {
	now, err := e.lab.StudyRevision()
	if err != nil {
		return err
	}
	e.mu.Lock()
	changed := now != e.revision
	e.mu.Unlock()
	if changed {
		if err := e.reload(ctx); err != nil {
			return err
		}
	}
	if e.nothingLeft() {
		e.finished()
	}
	return nil
}

// reload brings the queue in line with the lab.
func (e *engine) reload(ctx context.Context) error {
	e.mu.Lock()
	before := make([]string, 0, len(e.open))
	for id := range e.open {
		before = append(before, id)
	}
	e.mu.Unlock()
	if err := e.load(); err != nil {
		return err
	}
	e.mu.Lock()
	gone := slices.DeleteFunc(before, func(id string) bool { return e.open[id] != nil })
	e.mu.Unlock()
	if err := e.c.Cancel(ctx, gone...); err != nil {
		return err
	}
	there, err := e.c.Jobs(ctx)
	if err != nil {
		return err
	}
	jobs, err := e.missing(ctx, there)
	if err != nil {
		return err
	}
	return e.submit(ctx, jobs...)
}

// tend settles what nobody reports: runs that a `collapse train` of this lab finished, and jobs that
// were taken out of the queue because one was at them.
func (e *engine) tend(ctx context.Context) error {
	there, err := e.c.Jobs(ctx)
	var jobs []queue.Job
	if err == nil {
		jobs, err = e.missing(ctx, there)
	}
	if err != nil {
		return nil // the server is away; its connection says so
	}
	for _, job := range jobs {
		run, err := e.lab.Run(job.ID)
		if err != nil {
			return err
		}
		if run.Status == store.Done || run.Status == store.Failed {
			e.close(run)
		} else if err := e.submit(ctx, job); err != nil {
			return nil
		}
	}
	return nil
}

// release gives the lab's claims of workers elsewhere up; they go on, and the next coordinator takes
// them over.
func (e *engine) release() error {
	e.remoteMu.Lock()
	defer e.remoteMu.Unlock()
	var all error
	for hash, r := range e.remote {
		if err := r.claim.Interrupt(); err != nil && !errors.Is(err, store.ErrLost) {
			all = errors.Join(all, err)
		}
		delete(e.remote, hash)
	}
	return all
}

// rebuild applies every result that the queue holds once more. Runs that the lab holds as done stay as
// they are.
func (e *engine) rebuild(ctx context.Context) error {
	e.o.Logf("reading all results again")
	e.mu.Lock()
	e.finished = func() {}
	e.mu.Unlock()
	return e.c.Replay(ctx, func(list []queue.Message) error {
		var wanted []queue.Message
		for _, m := range list {
			run, err := e.lab.Run(m.Job)
			if store.IsNotFound(err) {
				continue
			}
			if err != nil {
				return err
			}
			if run.Status != store.Done && !isLocal(m.Worker) {
				wanted = append(wanted, m)
			}
		}
		return e.apply(ctx, wanted)
	})
}
