// Package worker computes runs for a coordinator elsewhere, each in a scratch lab of its own, from which an uploader (uploader.go)
// sends rows and checkpoints while the run computes. machine.go decides which errors come from this machine.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// Options describe a worker on another machine.
type Options struct {
	Name    string       // for people; default: host and process
	Slots   int          // runs side by side
	Threads int          // of all slots together
	Engines *engine.Pool // for runs that another process computes; nil: this machine can do none of those
	Members int          // of those that are computed in one batch; up to 1: none

	// Scratch is a local folder for runs under way: a small lab of the worker's own, which also serves as its outbox while the
	// coordinator is away. A worker that is started again on the same folder continues from there.
	Scratch string
	Blobs   string // shared folder, as Options.Blobs of package coordinator

	Scripts string // folder with the code of scripts that this worker may start; "": none
	// CheckpointEvery is how often a run's checkpoint is sent off this machine; default 1 minute. If the machine is lost, so is that
	// much of the run.
	CheckpointEvery time.Duration

	// Stale is the silence after which a lease in the scratch lab may be taken over, as store.Options.Stale: one that could not be
	// given up, for instance, because the disk was full.
	Stale time.Duration

	// Retry is how long the worker asks for no runs after its machine could not do one; default 1 minute.
	Retry time.Duration

	Leave time.Duration // without a run for this long the worker ends, with ErrIdle; 0: it waits for ever

	Watch func(hash string, p study.Progress) // may be nil
	Logf  func(format string, args ...any)
}

// Work computes runs for the coordinator behind the broker until ctx ends. It never touches the coordinator's lab: it computes each
// run in its scratch lab and sends the rows from there, so that what was computed while the coordinator or the network was away
// arrives later.
func Work(ctx context.Context, b *queue.Broker, o Options) error {
	w, err := openWorker(ctx, b, o)
	if err != nil {
		return err
	}
	defer w.close()
	for range w.o.Slots {
		w.teams <- parallel.NewTeam(max(1, w.o.Threads/w.o.Slots))
	}
	ctx, idle := leaving(ctx, o.Leave)
	defer idle.stop()
	return b.Work(ctx, queue.WorkerOptions{Name: w.o.Name, Slots: w.o.Slots, Ready: w.ready, Retry: w.o.Retry},
		func(ctx context.Context, t *queue.Task) ([]byte, error) {
			defer idle.busy()()
			final, err := w.compute(ctx, t)
			return final, w.unfit(err)
		})
}

// openWorker makes a worker, waiting while the disk of its scratch folder is full.
func openWorker(ctx context.Context, b *queue.Broker, o Options) (*worker, error) {
	for told := false; ; told = true {
		w, err := newWorker(b, o)
		if err == nil && told {
			b.Waits(w.o.Name, "")
		}
		if err == nil || !store.IsFull(err) {
			return w, err
		}
		why := fullAt(o.Scratch)
		if !told && o.Logf != nil {
			o.Logf("this machine can do no work now and asks for none until that has changed: %v", why)
		}
		b.Waits(workerName(o), why.Error())
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(min(cmp.Or(o.Retry, time.Minute), fullEvery)):
		}
	}
}

// fullEvery is how often a worker that has not begun checks for free space.
const fullEvery = 3 * time.Second

// workerName is the worker's name for people.
func workerName(o Options) string {
	if o.Name != "" {
		return o.Name
	}
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

type worker struct {
	b       *queue.Broker
	o       Options
	lock    *queue.Lock
	scratch *store.Lab
	teams   chan *parallel.Team

	mu   sync.Mutex
	sent []string // runs whose results have all been sent; their scratch files can be removed
}

func newWorker(b *queue.Broker, o Options) (*worker, error) {
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.Watch == nil {
		o.Watch = func(string, study.Progress) {}
	}
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = time.Minute
	}
	o.Name = workerName(o)
	if wire.IsLocal(o.Name) {
		return nil, fmt.Errorf("study: a worker's name may not begin with %q", wire.LocalPrefix)
	}
	w := &worker{b: b, o: o, teams: make(chan *parallel.Team, o.Slots)}
	dir, err := w.ownScratch()
	if err != nil {
		return nil, err
	}
	if w.scratch, err = store.Open(dir, store.Options{Stale: w.o.Stale}); err != nil {
		return nil, errors.Join(err, w.lock.Release())
	}
	return w, nil
}

// ownScratch finds a folder inside Scratch that no other worker uses.
func (w *worker) ownScratch() (string, error) {
	for i := 0; ; i++ {
		dir := filepath.Join(w.o.Scratch, fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", fmt.Errorf("study: the worker's scratch folder: %w", err)
		}
		lock, err := queue.TakeLock(filepath.Join(dir, "worker.lock"))
		var held *queue.HeldError
		if errors.As(err, &held) {
			continue
		}
		if err != nil {
			return "", err
		}
		w.lock = lock
		return dir, nil
	}
}

func (w *worker) close() {
	w.sweep()
	for {
		select {
		case team := <-w.teams:
			team.Close()
		default:
			w.scratch.Close()
			w.lock.Release()
			return
		}
	}
}

// sweep removes the runs whose results have all been sent.
func (w *worker) sweep() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, hash := range w.sent {
		if err := w.scratch.Remove(hash); err != nil {
			w.o.Logf("%v", err)
		}
	}
	w.sent = nil
}

func (w *worker) blobs(ctx context.Context, t *queue.Task, shared bool) (queue.Blobs, error) {
	switch {
	case !shared:
		return w.b.Objects(ctx)
	case w.o.Blobs == "" || t.Folder == "":
		return nil, errors.New("study: a checkpoint is in a shared folder; start this worker and its coordinator with --blobs DIR, too")
	}
	return queue.Folder(filepath.Join(w.o.Blobs, t.Folder)), nil
}

// shares reports whether this worker puts what is too large for a message into the shared folder: it does if the coordinator has
// made the lab's own folder there.
func (w *worker) shares(t *queue.Task) bool {
	if w.o.Blobs == "" || t.Folder == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(w.o.Blobs, t.Folder))
	return err == nil && info.IsDir()
}

// compute does one task: the run computes in the scratch lab, and an uploader sends what appears there.
func (w *worker) compute(ctx context.Context, t *queue.Task) ([]byte, error) {
	w.sweep()
	kind, err := study.KindNamed(t.Kind)
	if err != nil {
		return nil, err
	}
	state, elsewhere, err := w.prepare(ctx, t, kind)
	if err != nil {
		return nil, err
	}
	team := <-w.teams
	defer func() { w.teams <- team }()
	c := newUploader(w, t)
	c.state = state
	err = kind.Compute(ctx, w.scratch, t.ID, string(t.Payload), study.Env{Team: team, Engines: w.o.Engines, Ensemble: train.Ensemble{Members: w.o.Members, Threads: w.o.Threads}, Scripts: w.o.Scripts, StartOver: true, Started: c.begin, Saved: c.reached, RowsElsewhere: elsewhere,
		Note: func(text string) { w.o.Logf("run %.12s: %s", t.ID, text) },
		Progress: func(p study.Progress) {
			t.Progress(wire.EncodeProgress(p))
			w.o.Watch(t.ID, p)
		}})
	final, err := w.handOver(ctx, t, c, err)
	w.tell(t.ID, kind, err)
	return final, err
}

// tell says how a run has ended that is handed over.
func (w *worker) tell(hash string, kind study.Kind, err error) {
	switch {
	case err == nil:
		w.o.Logf("run %.12s: done: %s", hash, kind.Headline(w.scratch.Reader, hash))
	case queue.IsFailure(err):
		words, _, _ := strings.Cut(err.Error(), "\n")
		w.o.Logf("run %.12s: failed: %s", hash, words)
	}
}

// handOver sends what is left of a computation and returns the task's last message. err says how the computation ended.
func (w *worker) handOver(ctx context.Context, t *queue.Task, c *uploader, err error) ([]byte, error) {
	switch {
	case errors.Is(context.Cause(ctx), queue.ErrLost):
		c.abandon()
		return nil, queue.ErrLost
	case err != nil && ctx.Err() != nil:
		return nil, errors.Join(err, c.finish(ctx, true))
	case err != nil && !queue.IsFailure(err):
		c.abandon()
		return nil, err
	}
	// What a failed run has is sent, too: it shows how the run failed.
	if sendErr := c.finish(ctx, false); err != nil || sendErr != nil {
		return nil, errors.Join(err, sendErr)
	}
	shared := w.shares(t)
	final, err := wire.SendFiles(ctx, t, w.scratch.RunDir(t.ID), func() (queue.Blobs, error) { return w.blobs(ctx, t, shared) }, shared)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.sent = append(w.sent, t.ID)
	w.mu.Unlock()
	return final, nil
}

// prepare readies the scratch lab for a task: it restores the checkpoint that came with the task, and removes a result that nobody
// can use. Rows up to the epoch before that checkpoint are elsewhere: the worker that made it sent them to the queue first.
func (w *worker) prepare(ctx context.Context, t *queue.Task, kind study.Kind) (state wire.State, elsewhere int64, err error) {
	if state, err = wire.DecodeState(t.State); err != nil {
		w.o.Logf("run %.12s: its checkpoint cannot be retrieved, so it starts again: %v", t.ID, err)
	}
	elsewhere = max(0, state.Usable()-1)
	dir := w.scratch.RunDir(t.ID)
	whole, gap, err := kind.Reach(w.scratch.Reader, t.ID, elsewhere, math.MaxInt64)
	if err != nil {
		return state, 0, err
	}
	if run, err := w.scratch.Run(t.ID); err == nil && gap != "" && (run.Status == store.Done || run.Status == store.Failed) {
		// It continued from a checkpoint whose rows the coordinator turned out not to have.
		w.o.Logf("run %.12s: it ended here without the rows of epoch %s, which the lab does not have either, so it starts again", t.ID, gap)
		if err := w.scratch.Remove(t.ID); err != nil {
			return state, 0, err
		}
		whole = elsewhere
	}
	blobs := func(ctx context.Context, shared bool) (queue.Blobs, error) { return w.blobs(ctx, t, shared) }
	if err := wire.RestoreCheckpoint(ctx, state, dir, whole, blobs); study.MachineTrouble(err) {
		return state, 0, err
	} else if err != nil {
		w.o.Logf("run %.12s: its checkpoint cannot be retrieved, so it starts again: %v", t.ID, err)
	}
	return state, elsewhere, nil
}
