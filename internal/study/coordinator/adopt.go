package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
)

// adopt takes over the files of a finished run, marks the run as done, then lets the queue forget it.
func (e *coordinator) adopt(ctx context.Context, m queue.Message) error {
	r, err := e.current(m)
	if err != nil {
		return err
	}
	if r == nil { // already done, or a stale message
		return e.ended(ctx, m)
	}
	missing, err := e.missingRows(m.Job)
	if err != nil {
		return err
	}
	if missing != nil {
		return e.unusable(ctx, m, missing)
	}
	if err := e.fetchFiles(ctx, m, r.lease.Dir); err != nil {
		return e.unusable(ctx, m, err)
	}
	if err := e.lostIsNoError(m.Job, r.lease.Finish()); err != nil {
		return err
	}
	delete(e.remote, m.Job)
	return e.ended(ctx, m)
}

// missingRows says which rows the lab lacks of a run that a worker calls done, nil if it has all.
func (e *coordinator) missingRows(hash string) (missing, err error) {
	run, err := e.lab.Run(hash)
	if err != nil || study.KindOf(run.Kind) == nil {
		return nil, err
	}
	whole, gap, err := study.KindOf(run.Kind).Reach(e.lab.Reader, hash, 0, math.MaxInt64)
	if err != nil || gap == "" {
		return nil, err
	}
	return fmt.Errorf("study: it says that the run is done, but the lab has no rows of epoch %s (they are whole up to epoch %d)", gap, whole), nil
}

func (e *coordinator) fetchFiles(ctx context.Context, m queue.Message, dir string) error {
	files, err := wire.ReadManifest(m)
	if err != nil {
		return err
	}
	staging := rundir.Dir(dir).Arriving(m.Generation)
	if err := files.Unpack(ctx, staging, e.blobs); err != nil {
		return err
	}
	return e.takeFiles(m.Job, staging, dir)
}

// takeFiles moves the files of a finished run from staging into the run's folder.
func (e *coordinator) takeFiles(hash, staging, dir string) error {
	run, err := e.lab.Run(hash)
	if err == nil && study.KindOf(run.Kind) != nil {
		err = study.KindOf(run.Kind).CheckFiles(e.lab.Reader, hash, staging)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	if err := wire.MoveInto(staging, dir); err != nil {
		return err
	}
	if err := rundir.Dir(dir).Writer(nil).Sweep(); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	return nil
}

func (e *coordinator) blobs(ctx context.Context, shared bool) (queue.Blobs, error) {
	if !shared {
		return e.broker.Objects(ctx)
	}
	if e.o.Blobs == "" {
		return nil, errors.New("study: the worker left its files in a shared folder; start the study with --blobs DIR, too")
	}
	return queue.Folder(filepath.Join(e.o.Blobs, e.folder)), nil
}

// unusable handles a finished run whose files cannot be retrieved. If a disk is full or broken here, or the lab was moved, the study stops and nothing is lost;
// otherwise another worker tries again, up to three times.
func (e *coordinator) unusable(ctx context.Context, m queue.Message, cause error) error {
	if study.DiskTrouble(cause) || ctx.Err() != nil {
		return cause
	}
	if moved := e.lab.Moved(); moved != nil {
		return moved
	}
	if err := e.drop(m.Job); err != nil {
		return err
	}
	e.mu.Lock()
	run := e.open[m.Job]
	if run != nil {
		run.broken++
	}
	e.mu.Unlock()
	if run == nil {
		return e.c.Forget(ctx, m.Job)
	}
	e.o.Logf("run %.12s: the result of %s cannot be used: %v", m.Job, m.Worker, cause)
	if run.broken >= 3 {
		m.Error = cause.Error()
		return e.fail(ctx, m)
	}
	if err := e.c.Forget(ctx, m.Job); err != nil {
		return err
	}
	return e.submit(ctx, run.job())
}

// fail marks a run as failed, unless its own process did.
func (e *coordinator) fail(ctx context.Context, m queue.Message) error {
	run, err := e.lab.Run(m.Job)
	if store.IsNotFound(err) {
		return e.ended(ctx, m)
	}
	if err != nil {
		return err
	}
	if run.Status == store.Done || run.Status == store.Failed {
		return e.ended(ctx, m)
	}
	var r *remoteRun
	if wire.IsLocal(m.Worker) {
		r, err = e.lease(run, 0, run.Program)
		delete(e.remote, m.Job)
	} else if r, err = e.current(m); r == nil && err == nil && e.remote[m.Job] == nil {
		r, err = e.lease(run, m.Generation, run.Program) // it failed before its first row
	}
	if err != nil {
		return err
	}
	if r == nil { // another process of this machine computes it
		return e.c.Cancel(ctx, m.Job)
	}
	delete(e.remote, m.Job)
	if err := e.lostIsNoError(m.Job, r.lease.Fail(errors.New(m.Error))); err != nil {
		return err
	}
	return e.ended(ctx, m)
}

// ended counts a run that is done or failed in the lab, and lets the queue forget it.
func (e *coordinator) ended(ctx context.Context, m queue.Message) error {
	run, err := e.lab.Run(m.Job)
	switch {
	case store.IsNotFound(err):
		return e.c.Forget(ctx, m.Job)
	case err != nil:
		return err
	case run.Status != store.Done && run.Status != store.Failed && wire.IsLocal(m.Worker):
		return e.c.Cancel(ctx, m.Job) // its results have been deleted since: sweepOrphans submits it again
	case run.Status != store.Done && run.Status != store.Failed:
		return nil // a stale message: another worker computes it
	}
	if err := e.c.Forget(ctx, m.Job); err != nil {
		return err
	}
	e.close(run)
	return nil
}
