package coordinator

import (
	"context"
	"errors"
	"slices"
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/wire"
)

// lookEvery is the time between looks at what users and other processes did.
const lookEvery = 250 * time.Millisecond

// orphansEvery is the time between sweeps of orphans: a queue that notices silence sooner is swept sooner.
func (e *coordinator) orphansEvery() time.Duration {
	return min(10*time.Second, silentFor*e.c.AckWait())
}

// watchLab looks for cancelled and retried studies, and for runs that other processes of this lab compute.
func (e *coordinator) watchLab(ctx context.Context) error {
	look, sweep := time.NewTicker(lookEvery), time.NewTicker(e.orphansEvery())
	defer look.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-sweep.C:
			if err := e.sweepOrphans(ctx); err != nil {
				return err
			}
		case <-look.C:
			if err := e.reconcile(ctx); err != nil {
				return err
			}
		case <-e.emptied:
			if err := e.reconcile(ctx); err != nil {
				return err
			}
		}
	}
}

// reconcile applies changes by users, and ends the work if nothing is left. A resume that arrives while the last run is finishing is
// honoured.
func (e *coordinator) reconcile(ctx context.Context) error {
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
	if !e.nothingLeft() {
		return nil
	}
	if !e.summary().Cancelled {
		more, err := e.o.More()
		if err != nil {
			return err
		}
		if more {
			return e.reload(ctx)
		}
	}
	e.finished()
	return nil
}

// reload brings the queue in line with the lab.
func (e *coordinator) reload(ctx context.Context) error {
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

// rebuild applies every result that the queue holds once more. Runs that are done in the lab stay as they are.
func (e *coordinator) rebuild(ctx context.Context) error {
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
			if run.Status != store.Done && !wire.IsLocal(m.Worker) {
				wanted = append(wanted, m)
			}
		}
		return e.apply(ctx, wanted)
	})
}

// release gives up the lab's leases for workers elsewhere; these continue, and the next coordinator takes them over.
func (e *coordinator) release() error {
	e.remoteMu.Lock()
	defer e.remoteMu.Unlock()
	var all error
	for hash := range e.remote {
		all = errors.Join(all, e.drop(hash))
	}
	return all
}
