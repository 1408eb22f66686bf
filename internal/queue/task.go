package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Task is a job that this worker has leased. Its methods may be called from any goroutine.
type Task struct {
	Job
	Generation uint64 // of the lease
	Attempt    int    // from 1

	w      *worker
	msg    jetstream.Msg
	cancel context.CancelCauseFunc

	mu       sync.Mutex // held for a whole update of the lease
	lease    leaseValue
	revision uint64

	progressMu sync.Mutex
	progress   []byte
	sent       int // messages sent so far
}

// do runs the task from lease to end.
func (t *Task) do(ctx context.Context, do func(context.Context, *Task) ([]byte, error)) {
	stopping := ctx
	ctx, t.cancel = context.WithCancelCause(ctx)
	defer t.cancel(nil)
	t.w.mu.Lock()
	t.w.tasks[t.ID] = t
	t.w.mu.Unlock()
	beats := make(chan struct{})
	go func() { defer close(beats); t.beat(ctx) }()
	var final []byte
	var err error
	if t.Attempt > t.w.opt.MaxAttempts {
		err = errDied
	} else {
		final, err = do(ctx, t)
	}
	if !errors.Is(context.Cause(ctx), ErrLost) && !errors.Is(err, ErrLost) {
		// Sending the last message may take as long as the server is away, so heartbeats continue.
		if err := t.settle(ctx, stopping, final, err); err != nil && !errors.Is(err, ErrLost) && stopping.Err() == nil {
			t.w.opt.Logf("job %.12s: %v", t.ID, err)
		}
	}
	t.cancel(nil)
	<-beats
	t.w.mu.Lock()
	delete(t.w.tasks, t.ID)
	t.w.mu.Unlock()
}

// errDied stands for attempts whose workers vanished without a message.
var errDied = errors.New("its workers died or fell silent each time: is there enough memory for it?")

// settle tells everybody how the task ended. stopping is the worker's context: once it has ended, the job is left to others.
func (t *Task) settle(ctx, stopping context.Context, final []byte, err error) error {
	var own failure
	var later postponed
	if !IsUnfit(err) {
		t.w.fine()
	}
	switch {
	case err == nil:
		return t.finish(ctx, Done, final, "")
	case errors.As(err, &own):
		return t.finish(ctx, Failed, final, own.Error())
	case stopping.Err() != nil:
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err := t.release(bounded)
		t.msg.Nak()
		return err
	case IsUnfit(err):
		t.w.unfit(err)
		if err := t.release(ctx); err != nil {
			return err
		}
		if d := t.w.handBack(t.ID); d > 0 {
			return t.msg.NakWithDelay(d)
		}
		return t.msg.Nak() // others can take it at once
	case errors.As(err, &later):
		if err := t.release(ctx); err != nil {
			return err
		}
		return t.msg.NakWithDelay(t.w.opt.AckWait)
	case t.Attempt >= t.w.opt.MaxAttempts:
		return t.finish(ctx, GaveUp, final, fmt.Sprintf("%v (attempt %d of %d)", err, t.Attempt, t.w.opt.MaxAttempts))
	}
	return t.retry(ctx, err)
}

// release gives up the lease.
func (t *Task) release(ctx context.Context) error {
	return t.update(ctx, func(v *leaseValue) { v.Held = false })
}

// retry leaves the job to another attempt, after a while.
func (t *Task) retry(ctx context.Context, why error) error {
	t.w.opt.Logf("job %.12s: attempt %d failed; it will be tried again: %v", t.ID, t.Attempt, why)
	if err := t.send(ctx, Trouble, nil, why.Error()); err != nil {
		return err
	}
	t.mu.Lock()
	attempt := t.lease.Attempt
	t.mu.Unlock()
	if err := t.update(ctx, func(v *leaseValue) { v.Held, v.Attempt = false, v.Attempt+1 }); err != nil {
		return err
	}
	return t.msg.NakWithDelay(t.w.opt.backoff(attempt))
}

func (t *Task) finish(ctx context.Context, how Type, data []byte, text string) error {
	if err := t.send(ctx, how, data, text); err != nil {
		return err
	}
	// Confirm that the job is out of the queue before leaving it: a server that dies forgets what it has received but not confirmed,
	// and the job would be done again. A process that was suspended may have lost its lease without knowing: then the job is another
	// worker's and stays in the queue.
	return t.insist(ctx, func(ctx context.Context) error {
		if err := t.update(ctx, func(*leaseValue) {}); err != nil {
			return err
		}
		return t.msg.DoubleAck(ctx)
	})
}

// beat renews the job and the lease until ctx ends, and ends the task's context when they are lost.
func (t *Task) beat(ctx context.Context) {
	every := t.w.opt.beat()
	for t.w.b.pause(ctx, every) == nil { // also right away when the server is back
		t.msg.InProgress() // needs no answer; the lease decides
		t.progressMu.Lock()
		progress := t.progress
		t.progressMu.Unlock()
		bounded, cancel := context.WithTimeout(ctx, every)
		err := t.update(bounded, func(v *leaseValue) { v.Progress = progress })
		cancel()
		if errors.Is(err, ErrLost) {
			t.cancel(ErrLost)
			return
		}
	}
}

// Progress sets what the next heartbeats carry.
func (t *Task) Progress(b []byte) {
	t.progressMu.Lock()
	defer t.progressMu.Unlock()
	t.progress = b
}

// SetState saves what the next worker needs to continue if this one dies, in one write that succeeds only while the lease holds:
// otherwise it returns ErrLost. Attempts are counted from here again. While the server is away, SetState waits. The limit is
// MaxMessage bytes.
func (t *Task) SetState(ctx context.Context, state []byte) error {
	if err := checkSize("the state of job "+t.ID, state); err != nil {
		return err
	}
	return t.insist(ctx, func(ctx context.Context) error {
		return t.update(ctx, func(v *leaseValue) { v.State, v.Attempt = state, 1 })
	})
}

// Send sends one result to the coordinator and returns once it is on the server's disk; while the server is away, it waits. A result
// under a lost lease is dropped by its reader.
func (t *Task) Send(ctx context.Context, data []byte) error { return t.send(ctx, Data, data, "") }

func (t *Task) send(ctx context.Context, kind Type, data []byte, text string) error {
	if err := checkSize("a result of job "+t.ID, data); err != nil {
		return err
	}
	t.progressMu.Lock()
	t.sent++
	n := t.sent
	t.progressMu.Unlock()
	m := nats.NewMsg(t.w.b.resultSubject(t.ID))
	m.Data = data
	m.Header.Set(headType, string(kind))
	m.Header.Set(headGeneration, strconv.FormatUint(t.Generation, 10))
	m.Header.Set(headWorker, t.w.name)
	m.Header.Set(headAttempt, strconv.Itoa(t.Attempt))
	if text != "" {
		m.Header.Set(headError, clean(strings.Join(strings.Fields(text), " "), longestText)) // a header is one line
	}
	// The server drops a second copy of a message that it already has, if its answer to the first got lost.
	id := fmt.Sprintf("%s/%d/%d", t.ID, t.Generation, n)
	return t.insist(ctx, func(ctx context.Context) error {
		_, err := t.w.b.js.PublishMsg(ctx, m, jetstream.WithMsgID(id))
		return err
	})
}

// insist repeats an exchange with the server until it succeeds, the lease is lost or ctx ends.
func (t *Task) insist(ctx context.Context, exchange func(context.Context) error) error {
	for {
		bounded, cancel := context.WithTimeout(ctx, exchangeTime)
		err := exchange(bounded)
		cancel()
		if err == nil || errors.Is(err, ErrLost) {
			return err
		}
		if err := t.w.b.pause(ctx, time.Second); err != nil { // at once if ctx has ended
			return err
		}
	}
}
