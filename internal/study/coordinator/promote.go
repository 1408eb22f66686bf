package coordinator

import (
	"context"
	"fmt"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
)

// submit puts jobs into the queue. If workers elsewhere may take them, a run that continues one of this lab's runs gets that run's
// last checkpoint with its job.
func (e *coordinator) submit(ctx context.Context, jobs ...queue.Job) error {
	for i := range jobs {
		jobs[i].Folder = e.folder
		if !e.opened() || study.TrialOf(string(jobs[i].Payload)).From == "" {
			continue
		}
		var err error
		if jobs[i].State, err = e.beginning(ctx, jobs[i]); err != nil {
			e.o.Logf("run %.12s: workers elsewhere compute it from its start: %v", jobs[i].ID, err)
		}
	}
	return e.c.Submit(ctx, jobs...)
}

// opened reports whether workers elsewhere can take jobs.
func (e *coordinator) opened() bool { return e.o.Listen != "" || e.o.Remote != nil }

// beginning makes the checkpoint that a run continues from, with the rows up to it, and also stores it with the queue. It returns
// nil if the run has to start from the beginning.
func (e *coordinator) beginning(ctx context.Context, job queue.Job) ([]byte, error) {
	kind, err := study.KindNamed(job.Kind)
	if err != nil {
		return nil, err
	}
	epoch, err := kind.Begin(ctx, e.lab, string(job.Payload))
	if err != nil || epoch == 0 {
		return nil, err
	}
	dir := e.lab.RunDir(job.ID)
	blobs, err := e.blobs(ctx, e.o.Blobs != "")
	if err != nil {
		return nil, err
	}
	state, err := wire.LeaveCheckpoint(ctx, blobs, e.o.Blobs != "", fmt.Sprintf("%s/begin", job.ID), dir, epoch)
	if err != nil {
		return nil, err
	}
	return state.Encode(), nil
}
