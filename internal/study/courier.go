package study

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"collapse/internal/queue"
)

// courier sends a run's rows and checkpoints from the scratch lab to the queue, beside the computation.
// While the server is away it waits and the run goes on: what it has not sent stays in the scratch lab.
type courier struct {
	w    *remoteWorker
	t    *queue.Task
	news chan struct{} // the scratch lab may hold more

	stop  context.CancelFunc
	ended chan struct{}
	start chan int64 // the epoch that the run starts after

	begun bool
	sent  int64 // rows up to this epoch are on the server's disk
	saved time.Time
	err   error // why it gave up
}

func newCourier(w *remoteWorker, t *queue.Task) *courier {
	return &courier{w: w, t: t, news: make(chan struct{}, 1), start: make(chan int64, 1), sent: -1, saved: time.Now()}
}

// begin starts it: the run computes on from epoch from.
func (c *courier) begin(from int64) {
	if c.ended != nil { // a run starts once
		return
	}
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

func (c *courier) poke() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// run sends until the context ends.
func (c *courier) run(ctx context.Context, from int64) error {
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
func (c *courier) deliver(ctx context.Context, from int64) error {
	if !c.begun {
		host, _ := os.Hostname()
		if err := c.t.Send(ctx, begin{From: from, Program: program(), Host: host}.encode()); err != nil {
			return err
		}
		c.begun = true
	}
	return c.rows(ctx)
}

// rows sends all rows that were not sent.
func (c *courier) rows(ctx context.Context) error {
	epochs, err := c.w.scratch.RowsAfter(c.t.ID, c.sent)
	if err != nil {
		return err
	}
	for _, e := range epochs {
		for _, message := range encodeRows(e) {
			if err := c.t.Send(ctx, message); err != nil {
				return err
			}
		}
		c.sent = e.Epoch
	}
	return nil
}

// checkpoint sends the newest checkpoint, after the rows of all epochs before it: the run may have computed on since
// they were sent last. A checkpoint that was pruned on the way is no reason to stop: the next will do.
func (c *courier) checkpoint(ctx context.Context) error {
	blobs, err := c.w.blobs(ctx, c.w.o.Blobs != "")
	if err != nil {
		return err
	}
	dir := c.w.scratch.RunDir(c.t.ID)
	epoch := newestOf(filepath.Join(dir, "ckpt"))
	if epoch == 0 {
		return nil
	}
	if err := c.rows(ctx); err != nil {
		return err
	}
	err = saveCheckpoint(ctx, c.t, dir, epoch, blobs, c.w.o.Blobs != "")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		c.saved = time.Now()
	}
	return err
}

// finish ends the courier once everything is sent. stopping says that the worker stops: then the run's
// newest checkpoint goes, too, and the server being away is no reason to wait for long.
func (c *courier) finish(ctx context.Context, stopping bool) error {
	newest := newestOf(filepath.Join(c.w.scratch.RunDir(c.t.ID), "ckpt"))
	if c.ended != nil {
		c.stop()
		<-c.ended
	}
	if c.err != nil {
		return c.err
	}
	if !stopping {
		return c.deliver(ctx, newest) // a run that the scratch lab had as done has not begun
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := c.deliver(bounded, newest); err != nil {
		return err
	}
	return c.checkpoint(bounded)
}

// abandon ends the courier and leaves what is not sent.
func (c *courier) abandon() {
	if c.ended != nil {
		c.stop()
		<-c.ended
	}
}

// farewell bounds what a worker does for its runs when it is told to stop. Batch systems kill some 30
// seconds later.
const farewell = 10 * time.Second

func (p Progress) encode() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic("study: progress that JSON cannot hold")
	}
	return text
}
