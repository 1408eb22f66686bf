package worker

import (
	"context"
	"errors"
	"math"
	"os"
	"sync/atomic"
	"time"

	"collapse/internal/queue"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/internal/study/wire"
	"collapse/internal/train"
)

// uploader sends a run's rows and checkpoints from the scratch lab to the queue, while the run computes.
// While the server is away it waits and the run goes on: what is not sent stays in the scratch lab.
type uploader struct {
	w    *worker
	t    *queue.Task
	news chan struct{} // the scratch lab may hold more

	stop  context.CancelFunc
	ended chan struct{}

	state wire.State   // that the task came with, then what it has left
	safe  atomic.Int64 // the run has come to this epoch: later checkpoints in the scratch lab were passed over

	begun bool
	sent  int64 // rows up to this epoch are on the server's disk
	saved time.Time
	err   error // why it gave up
}

func newUploader(w *worker, t *queue.Task) *uploader {
	c := &uploader{w: w, t: t, news: make(chan struct{}, 1), saved: time.Now()}
	c.safe.Store(math.MaxInt64)
	return c
}

// reached says that rows up to an epoch are in the scratch lab.
func (c *uploader) reached(epoch int64) {
	c.safe.Store(epoch)
	c.poke()
}

// newest is the epoch of the newest checkpoint that the run has come to, 0 if there is none.
func (c *uploader) newest() int64 {
	return wire.NewestUpTo(c.w.scratch.RunDir(c.t.ID), c.safe.Load())
}

// begin starts it: the run computes on from epoch from.
func (c *uploader) begin(from int64) {
	if c.ended != nil { // a run starts once
		return
	}
	c.safe.Store(from)
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.ended = stop, make(chan struct{})
	go func() {
		defer close(c.ended)
		if err := c.run(ctx, from); ctx.Err() == nil { // stop ends it in the midst of things, which is no error
			c.err = err
		}
	}()
	c.poke()
}

func (c *uploader) poke() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// run sends until the context ends.
func (c *uploader) run(ctx context.Context, from int64) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.news:
		}
		if err := c.deliver(ctx, from); err != nil {
			return err
		}
		if time.Since(c.saved) >= c.w.o.CheckpointEvery {
			if err := c.checkpoint(ctx); err != nil {
				return err
			}
		}
	}
}

// deliver sends the beginning, once, and all rows that were not sent. The rows of earlier epochs go
// again: an attempt whose worker died may have left with some of them unsent.
func (c *uploader) deliver(ctx context.Context, from int64) error {
	if !c.begun {
		first, err := c.first(from)
		if err != nil {
			return err
		}
		host, _ := os.Hostname()
		if err := c.t.Send(ctx, wire.Begin{From: from, Rows: first, Program: train.ThisProgram(), Host: host}.Encode()); err != nil {
			return err
		}
		if from < c.state.Epoch || c.state.Usable() != c.state.Epoch {
			// The checkpoint that the queue keeps is of epochs that this attempt computes anew, maybe into other bits: nobody goes on from it.
			c.state = wire.State{}
			if err := c.t.SetState(ctx, c.state.Encode()); err != nil {
				return err
			}
		}
		if c.state.Shared != c.w.shares(c.t) {
			c.state.Beside = nil // it goes again, to where this worker leaves things
		}
		c.begun, c.sent = true, first-1
	}
	return c.rows(ctx)
}

// first returns the epoch from which on the scratch lab has all rows up to an epoch that the run computes on from. Where the run came
// with a checkpoint from the queue, those of the epochs before were sent by others.
func (c *uploader) first(from int64) (int64, error) {
	kind := study.KindOf(store.Kind(c.t.Kind))
	if kind == nil {
		return 1, nil
	}
	whole, _, err := kind.Reach(c.w.scratch.Reader, c.t.ID, 0, from)
	if err != nil || whole == from {
		return 1, err
	}
	return min(from, max(0, c.state.Usable()-1)) + 1, nil
}

// rows sends all rows that were not sent.
func (c *uploader) rows(ctx context.Context) error {
	epochs, err := c.w.scratch.RowsAfter(c.t.ID, c.sent)
	if err != nil {
		return err
	}
	for _, e := range epochs {
		for _, message := range wire.EncodeRows(e) {
			if err := c.t.Send(ctx, message); err != nil {
				return err
			}
		}
		c.sent = e.Epoch
	}
	return nil
}

// checkpoint sends the newest checkpoint, after the rows of all epochs before it: the run may have computed on since
// they were sent last. One that the queue has goes only once. A checkpoint that was pruned on the way is no reason to stop: the next
// will do.
func (c *uploader) checkpoint(ctx context.Context) error {
	dir, epoch := c.w.scratch.RunDir(c.t.ID), c.newest()
	if epoch <= c.state.Epoch {
		return nil
	}
	shared := c.w.shares(c.t)
	blobs, err := c.w.blobs(ctx, c.t, shared)
	if err != nil {
		return err
	}
	if err := c.rows(ctx); err != nil {
		return err
	}
	beside, err := wire.LeaveBeside(ctx, blobs, wire.BlobsOf(c.t), dir, epoch, c.state.Beside)
	if err != nil {
		return err
	}
	s, err := wire.SaveCheckpoint(ctx, c.t, dir, epoch, blobs, shared, beside...)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		c.state, c.saved = s, time.Now()
	}
	return err
}

// finish ends the uploader once everything is sent. stopping says that the worker stops: then the run's
// newest checkpoint goes, too, and the server being away is no reason to wait for long.
func (c *uploader) finish(ctx context.Context, stopping bool) error {
	if c.ended != nil {
		c.stop()
		<-c.ended
	}
	newest := c.newest()
	if c.err != nil {
		return c.err
	}
	if !stopping {
		return c.deliver(ctx, newest) // a run that the scratch lab had as done has not begun
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := c.deliver(bounded, newest); err != nil {
		return err
	}
	return c.checkpoint(bounded)
}

// abandon ends the uploader and leaves what is not sent.
func (c *uploader) abandon() {
	if c.ended != nil {
		c.stop()
		<-c.ended
	}
}

// shutdownGrace bounds what a worker does for its runs when it is told to stop. Batch systems kill some 30
// seconds later.
const shutdownGrace = 10 * time.Second
