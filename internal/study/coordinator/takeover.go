package coordinator

import (
	"context"
	"errors"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
)

// prepare puts the checkpoint that a worker elsewhere left with the queue into the run's folder, if the lab has the rows before it.
func (e *coordinator) prepare(ctx context.Context, t *queue.Task, kind study.Kind) (wire.State, error) {
	state, err := wire.DecodeState(t.State)
	if err != nil {
		e.o.Logf("run %.12s: its checkpoint cannot be retrieved: %v", t.ID, err)
	}
	if state.Usable() == 0 {
		return state, nil
	}
	dir := e.lab.RunDir(t.ID)
	whole, gap, err := kind.Reach(e.lab.Reader, t.ID, 0, max(state.Epoch, wire.NewestOf(dir))-1)
	if err != nil {
		return state, err
	}
	if whole < state.Epoch-1 {
		e.o.Logf("run %.12s: the checkpoint of epoch %d that a worker left is not used: the lab has no rows of epoch %s", t.ID, state.Epoch, gap)
		return state, nil
	}
	if err := wire.RestoreCheckpoint(ctx, state, dir, whole, e.blobs); err != nil {
		e.o.Logf("run %.12s: its checkpoint cannot be retrieved: %v", t.ID, err)
	}
	return state, nil
}

// voidState removes a checkpoint from the queue that a run of this process does not continue from: the epochs before it are computed anew here.
func (e *coordinator) voidState(ctx context.Context, t *queue.Task, state wire.State, from int64) {
	if state.Epoch == 0 || state.Usable() == state.Epoch && from >= state.Epoch {
		return
	}
	if err := t.SetState(ctx, wire.State{}.Encode()); err != nil && ctx.Err() == nil {
		e.o.Logf("run %.12s: %v", t.ID, err)
	}
}

// takeBack ends a remote worker's part in a run whose lease in the queue is now held by a slot of this process. Anything that worker
// still sends has an older generation, and is stale.
func (e *coordinator) takeBack(t *queue.Task) error {
	e.remoteMu.Lock()
	defer e.remoteMu.Unlock()
	if r := e.remote[t.ID]; r != nil {
		delete(e.remote, t.ID)
		return e.lostIsNoError(t.ID, errors.Join(r.lease.SetRemote(t.Generation), r.lease.Interrupt()))
	}
	g, err := e.lab.Remote(t.ID)
	if store.IsNotFound(err) || err == nil && g == 0 && !e.opened() {
		return nil
	}
	if err != nil {
		return err
	}
	return e.lab.SetRemote(t.ID, t.Generation)
}
