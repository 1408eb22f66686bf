package coordinator

import (
	"context"
	"errors"
	"fmt"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
)

// remoteRun is a run that a worker elsewhere computes while this process holds the lab's lease.
type remoteRun struct {
	lease      *store.Lease
	generation uint64 // of the worker's lease
}

// apply writes results into the lab. Batches may arrive again, so everything it does can be repeated. Messages of one run are
// applied in order; those of different runs do not depend on each other.
func (e *coordinator) apply(ctx context.Context, list []queue.Message) error {
	e.remoteMu.Lock()
	defer e.remoteMu.Unlock()
	list = e.admit(ctx, list)
	for len(list) > 0 {
		var err error
		if list, err = e.round(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// round applies each run's rows up to its first message of another kind, all in one transaction, then those messages, and returns
// the messages that come after them.
func (e *coordinator) round(ctx context.Context, list []queue.Message) (later []queue.Message, err error) {
	var parts []store.Part
	var others []queue.Message
	waits := map[string]bool{} // runs with an earlier message that is not applied yet
	for _, m := range list {
		switch {
		case waits[m.Job]:
			later = append(later, m)
		case m.Type != queue.Data || wire.IsLocal(m.Worker) || len(m.Data) == 0 || m.Data[0] != wire.TagRows:
			others, waits[m.Job] = append(others, m), true
		default:
			part, ok, err := e.rowsOf(m)
			if err != nil {
				return nil, err
			}
			if ok {
				parts = append(parts, part)
			}
		}
	}
	if err := e.write(ctx, parts); err != nil {
		return nil, err
	}
	for _, m := range others {
		if err := e.one(ctx, m); err != nil {
			return nil, err
		}
	}
	return later, nil
}

// rowsOf makes a message with rows part of the next transaction; ok is false if the message is stale.
func (e *coordinator) rowsOf(m queue.Message) (part store.Part, ok bool, err error) {
	r, err := e.current(m)
	if err != nil || r == nil {
		return part, false, err
	}
	rows, err := e.readRows(m)
	if err != nil {
		e.setAside(m, err)
		return part, false, nil
	}
	return store.Part{Lease: r.lease, EpochRows: rows}, true, nil
}

func (e *coordinator) write(ctx context.Context, parts []store.Part) error {
	if len(parts) == 0 {
		return nil
	}
	lost, err := e.lab.AppendAll(parts)
	if err != nil {
		return err
	}
	for _, c := range lost {
		delete(e.remote, c.Hash)
		if err := e.c.Cancel(ctx, c.Hash); err != nil {
			return err
		}
	}
	return nil
}

// one applies a message that holds no rows.
func (e *coordinator) one(ctx context.Context, m queue.Message) error {
	switch {
	case m.Type == queue.Trouble && wire.IsLocal(m.Worker): // this process has told it
		return nil
	case m.Type == queue.Trouble:
		e.o.Logf("run %.12s: attempt %d on %s failed; the run will be tried again: %s", m.Job, m.Attempt, m.Worker, m.Error)
		return nil
	case m.Type == queue.Data && len(m.Data) > 0 && m.Data[0] == wire.TagBegin:
		return e.begin(ctx, m)
	case m.Type == queue.Done && !wire.IsLocal(m.Worker):
		return e.adopt(ctx, m)
	case m.Type == queue.Done:
		return e.ended(ctx, m)
	case m.Type == queue.Failed, m.Type == queue.GaveUp:
		return e.fail(ctx, m)
	}
	return nil
}

// current returns the run that a message from a worker elsewhere belongs to, nil if the message is stale. After a restart it leases
// the run again, for the same worker.
func (e *coordinator) current(m queue.Message) (*remoteRun, error) {
	if r := e.remote[m.Job]; r != nil {
		if r.generation != m.Generation {
			return nil, nil
		}
		return r, nil
	}
	run, err := e.lab.Run(m.Job)
	if store.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	g, err := e.lab.Remote(m.Job)
	if err != nil || g != m.Generation || run.Status == store.Done || run.Status == store.Failed || run.Cancelled() {
		return nil, err
	}
	return e.lease(run, m.Generation, run.Program)
}

// lease takes the lab's lease of a run for a worker elsewhere. It returns nil if another process of this machine works on the run,
// or has finished it.
func (e *coordinator) lease(run store.Run, generation uint64, program store.Program) (*remoteRun, error) {
	c, _, err := e.lab.Lease(store.Spec{Kind: run.Kind, Config: run.Config, Program: program})
	var held *store.HeldError
	if errors.As(err, &held) || errors.Is(err, store.ErrDone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &remoteRun{lease: c, generation: generation}
	e.remote[run.Hash] = r
	return r, nil
}

// drop gives up the lab's lease of a run for a worker elsewhere, if there is one, so that another process can continue.
func (e *coordinator) drop(hash string) error {
	r := e.remote[hash]
	if r == nil {
		return nil
	}
	delete(e.remote, hash)
	if err := r.lease.Interrupt(); err != nil && !errors.Is(err, store.ErrLost) {
		return err
	}
	return nil
}

// begin starts an attempt by a worker elsewhere. Messages of older attempts that arrive later are stale.
func (e *coordinator) begin(ctx context.Context, m queue.Message) error {
	b, err := e.readBegin(m)
	if err != nil {
		e.setAside(m, err)
		return nil
	}
	run, err := e.lab.Run(m.Job)
	if store.IsNotFound(err) || err == nil && run.Cancelled() {
		return e.c.Cancel(ctx, m.Job) // a user changed it
	}
	if err != nil {
		return err
	}
	g, err := e.lab.Remote(m.Job)
	if err != nil || m.Generation < g {
		return err
	}
	old := e.remote[m.Job]
	if old == nil || old.generation != m.Generation {
		if err := e.drop(m.Job); err != nil {
			return err
		}
		r, err := e.lease(run, m.Generation, b.Program)
		if err != nil {
			return err
		}
		if r == nil { // it is done, or a `collapse train` computes it and will write its rows
			return e.c.Cancel(ctx, m.Job)
		}
	}
	if refused, err := e.refuseGap(ctx, m, run, b); refused || err != nil {
		return err
	}
	c := e.remote[m.Job].lease
	if err := rundir.Dir(c.Dir).Writer(nil).RemoveCheckpointsAfter(int(b.From)); err != nil { // else a later attempt would continue from them, across a gap
		return fmt.Errorf("study: removing checkpoints: %w", err)
	}
	return e.lostIsNoError(m.Job, errors.Join(c.DeleteAfter(b.From), c.SetRemote(m.Generation)))
}

// refuseGap ends an attempt that continues after epochs whose rows the lab lacks, and has the run computed again from what is complete.
func (e *coordinator) refuseGap(ctx context.Context, m queue.Message, run store.Run, b wire.Begin) (refused bool, err error) {
	kind := study.KindOf(run.Kind)
	if kind == nil {
		return false, nil
	}
	whole, gap, err := kind.Reach(e.lab.Reader, m.Job, 0, b.Rows-1)
	if err != nil || whole >= b.Rows-1 {
		return false, err
	}
	e.o.Logf("run %.12s: %s resumed from epoch %d, but the lab has no rows of epoch %s; the run is computed again from what is complete", m.Job, m.Worker, b.From, gap)
	if err := e.drop(m.Job); err != nil {
		return true, err
	}
	return true, e.again(ctx, m.Job)
}

// again stops the worker that computes a run and submits the run anew, without the checkpoint in the queue.
func (e *coordinator) again(ctx context.Context, hash string) error {
	if err := e.c.Cancel(ctx, hash); err != nil {
		return err
	}
	e.mu.Lock()
	run := e.open[hash]
	e.mu.Unlock()
	if run == nil {
		return nil
	}
	return e.submit(ctx, run.job())
}

func (e *coordinator) lostIsNoError(hash string, err error) error {
	if errors.Is(err, store.ErrLost) {
		delete(e.remote, hash)
		return nil
	}
	return err
}
