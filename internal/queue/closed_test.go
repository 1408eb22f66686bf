package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestAConnectionThatWasClosed: who needs it says so, and does not wait for it.
func TestAConnectionThatWasClosed(t *testing.T) {
	_, c, b := local(t, quick(t))
	b.Close()
	c.jobs, c.leases = &purged{}, &purged{}
	w := &worker{b: b, opt: b.opt}
	for name, err := range map[string]error{"cancel": c.Cancel(soon(t), "one"), "guard": c.Guard(soon(t)), "listen": second(w.listen())} {
		if !errors.Is(err, nats.ErrConnectionClosed) || !strings.HasPrefix(err.Error(), "queue: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.tell(notice{Worker: "w"}) // to nobody
	if c.jobs.(*purged).times != 1 || c.leases.(*purged).times != 1 {
		t.Error("a job that cannot be cancelled stays in the queue")
	}
}

// closing is a server that shows its bucket once.
type closing struct {
	*post
	shown int
}

func (c *closing) KeyValue(ctx context.Context, name string) (jetstream.KeyValue, error) {
	if c.shown++; c.shown > 1 {
		return nil, errServer
	}
	return c.post.KeyValue(ctx, name)
}

// readerless is a server without readers of jobs.
type readerless struct{ *post }

func (readerless) Consumer(context.Context, string, string) (jetstream.Consumer, error) {
	return nil, errServer
}

// TestAQueueThatCannotBeOpened after its description was read: the worker ends with the server's reason.
func TestAQueueThatCannotBeOpened(t *testing.T) {
	s := newWorkshop()
	s.kv.put(infoKey, []byte(`{"protocol":1,"version":"1","owner":"o","ack_wait":3000000000}`))
	for name, js := range map[string]jetstream.JetStream{"no bucket": &closing{post: s.post}, "no reader": readerless{s.post}} {
		s.w.b.js = js
		if err := s.w.join(t.Context()); !errors.Is(err, errServer) || !strings.HasPrefix(err.Error(), "queue: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatAWorkerHears: a cancellation ends the task of that job alone, a hint wakes a slot.
func TestWhatAWorkerHears(t *testing.T) {
	_, c, b := local(t, quick(t))
	w := &worker{b: b, opt: b.opt, tasks: map[string]*Task{}, idle: make(chan struct{}, 1)}
	ended := make(chan error, 2)
	w.tasks["one"] = &Task{cancel: func(err error) { ended <- err }}
	w.tasks["two"] = &Task{cancel: func(error) { t.Error("the other task was ended") }}
	stop, err := w.listen()
	must(t, err)
	must(t, b.conn.Flush())
	must(t, c.Cancel(soon(t), "none", "one"))
	if err := next(t, "the cancellation", ended); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	must(t, c.Submit(soon(t)))
	next(t, "the hint", w.idle)
	stop()
	must(t, b.conn.Flush())
	must(t, c.Cancel(soon(t), "one"))
	must(t, b.conn.Flush())
	select {
	case <-ended:
		t.Error("it hears after its end")
	case <-time.After(20 * time.Millisecond):
	}
}
