package worker

import (
	"context"
	"errors"
	"math"
	"os"
	"sync/atomic"
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/train"
)

// uploader sends a run's rows and checkpoints from the scratch lab to the queue while the run computes. While the server is away,
// the uploader waits and the run continues: what is not sent stays in the scratch lab.
type uploader struct {
	w    *worker
	t    *queue.Task
	news chan struct{} // signals that the scratch lab may hold more

	stop  context.CancelFunc
	ended chan struct{}

	state wire.State   // what the task came with, then what the uploader has stored
	safe  atomic.Int64 // the epoch the run has reached: later checkpoints in the scratch lab were skipped

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

// reached records that rows up to an epoch are in the scratch lab.
func (c *uploader) reached(epoch int64) {
	c.safe.Store(epoch)
	c.poke()
}

// newest is the epoch of the newest checkpoint up to where the run has got, 0 if there is none.
func (c *uploader) newest() int64 {
	return wire.NewestUpTo(c.w.scratch.RunDir(c.t.ID), c.safe.Load())
}

// begin starts the uploader; the run computes the epochs after from.
func (c *uploader) begin(from int64) {
	if c.ended != nil { // a run starts only once
		return
	}
	c.safe.Store(from)
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.ended = stop, make(chan struct{})
	go func() {
		defer close(c.ended)
		if err := c.run(ctx, from); ctx.Err() == nil { // if stop interrupted it, that is not an error
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

// run sends rows and checkpoints until the context ends.
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

// deliver sends the begin message, once, and all rows that were not sent. Rows of earlier epochs are sent again: an attempt whose
// worker died may not have sent all of its rows.
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
			// The checkpoint in the queue comes after epochs that this attempt computes anew, perhaps with other bits: nobody may continue from it.
			c.state = wire.State{}
			if err := c.t.SetState(ctx, c.state.Encode()); err != nil {
				return err
			}
		}
		if c.state.Shared != c.w.shares(c.t) {
			c.state.SideParts = nil // sent again, to where this worker stores its files
		}
		c.begun, c.sent = true, first-1
	}
	return c.rows(ctx)
}

// first returns the epoch from which on the scratch lab has all rows up to the epoch that the run continues from. If the run came
// with a checkpoint from the queue, others have sent the rows of the epochs before.
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

// checkpoint sends the newest checkpoint, after the rows of all epochs before it, since the run may have computed more since rows
// were last sent. A checkpoint that the queue already has is not sent again. If a checkpoint was pruned meanwhile, that is not an error:
// the next one will do.
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
	sideParts, err := wire.LeaveSideFiles(ctx, blobs, wire.BlobsOf(c.t), dir, epoch, c.state.SideParts)
	if err != nil {
		return err
	}
	s, err := wire.SaveCheckpoint(ctx, c.t, dir, epoch, blobs, shared, sideParts...)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		c.state, c.saved = s, time.Now()
	}
	return err
}

// finish ends the uploader once everything is sent. stopping says that the worker stops: then the run's newest checkpoint is sent,
// too, and the uploader does not wait long for a server that is away.
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
		return c.deliver(ctx, newest) // the run was already done in the scratch lab, so it never began
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := c.deliver(bounded, newest); err != nil {
		return err
	}
	return c.checkpoint(bounded)
}

// abandon ends the uploader without sending the rest.
func (c *uploader) abandon() {
	if c.ended != nil {
		c.stop()
		<-c.ended
	}
}

// shutdownGrace bounds how long a worker takes to hand over its runs when it is told to stop. Batch systems kill some 30 seconds
// later.
const shutdownGrace = 10 * time.Second
