package coordinator

import (
	"context"
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
)

// Two things can be orphaned: a run with neither a job nor a lease in the queue (sweepOrphans), and a lease without a job
// (deadLeases).

// deadLeases are leases that are held while the queue has no job for them. Normally their runs are about to be reported as ended.
// But if a lease no longer changes and nothing from its worker is left to read, no report will come: the worker's last message could
// not be used, or its job was taken out of the queue by mistake. The run is then given to another worker.
type deadLeases map[string]deadLease

type deadLease struct {
	revision uint64
	since    time.Time
}

// silentFor is how long to wait for a dead lease, in multiples of the queue's AckWait.
const silentFor = 4

// sweep looks at the leases and gives up those that have not changed for long.
func (o deadLeases) sweep(ctx context.Context, e *coordinator) {
	leases, err := e.c.Leases(ctx)
	if err != nil {
		return // the server is away
	}
	there, err := e.c.Jobs(ctx)
	if err != nil {
		return
	}
	have := map[string]bool{}
	for _, id := range there {
		have[id] = true
	}
	held := map[string]bool{}
	for _, c := range leases {
		if !c.Held || have[c.Job] || !e.isOpen(c.Job) {
			continue
		}
		held[c.Job] = true
		if old, ok := o[c.Job]; !ok || old.revision != c.Revision {
			o[c.Job] = deadLease{c.Revision, time.Now()}
		} else if time.Since(old.since) > silentFor*e.c.AckWait() && e.allRead(ctx) {
			e.o.Logf("run %.12s: %s ended without a usable message; another worker continues", c.Job, c.Worker)
			e.c.Release(ctx, c.Job, c.Revision) // an error means that the server is away: the next look tries again
		}
	}
	for id := range o {
		if !held[id] {
			delete(o, id)
		}
	}
}

func (e *coordinator) isOpen(hash string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[hash] != nil
}

// allRead reports whether all results have been applied.
func (e *coordinator) allRead(ctx context.Context) bool {
	t, err := e.broker.Traffic(ctx)
	return err == nil && t.Unread == 0
}

// sweepOrphans handles runs that nobody reports on: those that a `collapse train` on this lab finished, and jobs that were taken out
// of the queue because such a process worked on them.
func (e *coordinator) sweepOrphans(ctx context.Context) error {
	there, err := e.c.Jobs(ctx)
	var jobs []queue.Job
	if err == nil {
		jobs, err = e.missing(ctx, there)
	}
	if err != nil {
		return nil // the server is away; its connection reports that
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
