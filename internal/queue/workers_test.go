package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// shelf is a queue of one priority as a worker asks it.
type shelf struct {
	jetstream.Consumer
	jobs  []jetstream.Msg
	err   error // of the request
	after error // that ends a batch of none
	asked int
}

func (s *shelf) FetchNoWait(n int) (jetstream.MessageBatch, error) {
	s.asked++
	if n != 1 {
		return nil, fmt.Errorf("%d jobs are asked for at once", n)
	}
	if s.err != nil {
		return nil, s.err
	}
	if len(s.jobs) == 0 {
		return cut{nil, s.after}, nil
	}
	first := s.jobs[0]
	s.jobs = s.jobs[1:]
	return cut{fetched{first}, s.after}, nil
}

// TestTheNextJob is the first one of the highest priority that has any; a request that fails asks no lower one.
func TestTheNextJob(t *testing.T) {
	_, _, b := local(t, quick(t))
	high, normal, low := job("high"), job("normal"), job("low")
	for _, test := range []struct {
		name   string
		queues []*shelf
		want   jetstream.Msg
		err    error
		asked  int
	}{
		{"high", []*shelf{{jobs: []jetstream.Msg{high, low}}, {jobs: []jetstream.Msg{normal}}, {}}, high, nil, 1},
		{"normal", []*shelf{{}, {jobs: []jetstream.Msg{normal}}, {jobs: []jetstream.Msg{low}}}, normal, nil, 2},
		{"low", []*shelf{{}, {}, {jobs: []jetstream.Msg{low}}}, low, nil, 3},
		{"none", []*shelf{{}, {}, {}}, nil, nil, 3},
		{"a refusal", []*shelf{{err: errServer}, {jobs: []jetstream.Msg{normal}}, {}}, nil, errServer, 1},
		{"an end that is none", []*shelf{{}, {after: errServer}, {jobs: []jetstream.Msg{low}}}, nil, errServer, 2},
	} {
		w := &worker{b: b, opt: b.opt}
		for _, q := range test.queues {
			w.queues = append(w.queues, q)
		}
		m, err := w.next()
		asked := 0
		for _, q := range test.queues {
			asked += q.asked
		}
		if m != test.want || !errors.Is(err, test.err) || asked != test.asked {
			t.Errorf("%s: %v, %v, %d queues were asked", test.name, m, err, asked)
		}
	}
	away := newWorkshop().w
	away.queues = []jetstream.Consumer{&shelf{jobs: []jetstream.Msg{high}}}
	if m, err := away.next(); m != nil || !errors.Is(err, nats.ErrDisconnected) {
		t.Errorf("without a connection: %v, %v", m, err)
	}
}

// TestAWorkerWithoutWork looks again after a second or a heartbeat, whichever is shorter, after a hint, and when the server is back.
func TestAWorkerWithoutWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		waited := func() time.Duration {
			began := time.Now()
			s.w.wait(t.Context())
			return time.Since(began)
		}
		if d := waited(); d != time.Second {
			t.Errorf("it waits for %v", d)
		}
		s.w.poke()
		s.w.poke() // does not wait
		if d1, d2 := waited(), waited(); d1 != 0 || d2 != time.Second {
			t.Errorf("after a hint it waits for %v, then %v", d1, d2)
		}
		time.AfterFunc(300*time.Millisecond, s.w.b.wake)
		if d := waited(); d != 300*time.Millisecond {
			t.Errorf("with a server that is back after 300 ms it waits for %v", d)
		}
		s.w.opt.AckWait = 1500 * time.Millisecond
		if d := waited(); d != 500*time.Millisecond {
			t.Errorf("with heartbeats each half second it waits for %v", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		s.w.wait(ctx)
		if d := time.Since(began); d != 0 {
			t.Errorf("after its end it waits for %v", d)
		}
	})
}

// TestASlot does one job after another, waits while there is none or the server does not answer, rests with its machine, and ends with an
// error only if that ends the worker.
func TestASlot(t *testing.T) {
	_, _, b := local(t, quick(t))
	s := newWorkshop()
	s.w.b.conn = b.conn
	s.w.opt.AckWait = 30 * time.Millisecond
	good := func(id string) jetstream.Msg { return job("collapse.job.p1."+id, headVersion, "1") }
	q := &shelf{jobs: []jetstream.Msg{good("a"), job("collapse.job.p1.bad%id"), good("b"), job("collapse.job.p1.c", headVersion, "2")}}
	refusing := &shelf{}
	s.w.queues = []jetstream.Consumer{refusing, q}
	s.kv.put(infoKey, []byte(`{"protocol":1,"version":"2","owner":"o","ack_wait":1000000000}`))
	var did []string
	var version *VersionError
	err := s.w.slot(t.Context(), func(_ context.Context, task *Task) ([]byte, error) {
		did = append(did, task.ID)
		return nil, nil
	})
	if !errors.As(err, &version) || !slices.Equal(did, []string{"a", "b"}) || len(s.w.idle) != 1 {
		t.Errorf("did %q, %v; %d hints for other slots", did, err, len(s.w.idle))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	refusing.err = errServer
	asked := refusing.asked
	go func() {
		for range 10 {
			s.w.poke()
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if err := s.w.slot(ctx, nil); err != nil || refusing.asked == asked {
		t.Errorf("one without answers: %v", err)
	}
	asked = refusing.asked
	if err := s.w.slot(ctx, nil); err != nil || refusing.asked != asked {
		t.Errorf("one that has ended: %v", err)
	}
	tired, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	s.w.note(errServer)
	if err := s.w.slot(tired, nil); err != nil || refusing.asked != asked {
		t.Errorf("one that rests: %v, asked %d times", err, refusing.asked-asked)
	}
}

// TestWhatAWorkerTells reaches the coordinator with the worker's name: messages that are no jobs, waits and their end.
func TestWhatAWorkerTells(t *testing.T) {
	_, c, b := local(t, quick(t))
	guard(t, c)
	w := &worker{b: b, opt: b.opt, name: "me", self: "n", retry: time.Minute}
	until := func(what string, ok func() bool) {
		t.Helper()
		for over := time.Now().Add(left(t)); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(over) {
				t.Fatal(what)
			}
		}
	}
	until("nobody listens", func() bool { b.Waits("first", "warming up"); return len(c.Waiters()) == 1 })
	b.Waits("first", "")
	until("it still waits", func() bool { return len(c.Waiters()) == 0 })
	w.unfit(errors.New("no memory"))
	until("its wait is unknown", func() bool { return len(c.Waiters()) == 1 })
	if got := c.Waiters()[0]; got.Worker != "me" || got.Why != "no memory" {
		t.Errorf("%+v", got)
	}
	m := job("collapse.job.p1.bad%id")
	w.refuse(m, errors.New("no\x1bjob"))
	until("the message is unknown", func() bool { return c.Unusable().Count == 1 })
	if got := c.Unusable().Last[0]; got.What != "a message on collapse.job.p1.bad%id" || got.Why != "no?job (found by me)" || got.Bytes != len("payload") || !slices.Equal(m.said, []string{"term"}) {
		t.Errorf("%+v, said %q", got, m.said)
	}
	w.rest.until, w.ready = time.Now(), func() error { return nil }
	must(t, w.untilFit(soon(t)))
	until("its end is unknown", func() bool { return len(c.Waiters()) == 0 })
}

// TestHowAWorkerBegins: what it is called, how many tasks it has side by side, and that it ends with what ends it.
func TestHowAWorkerBegins(t *testing.T) {
	s, c, b := local(t, quick(t))
	must(t, c.Submit(soon(t), jobs(5)...))
	ctx, cancel := context.WithCancelCause(t.Context())
	began := make(chan *Task, 5)
	ended := make(chan error, 1)
	go func() {
		ended <- b.Work(ctx, WorkerOptions{Slots: 3}, func(ctx context.Context, task *Task) ([]byte, error) {
			began <- task
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}()
	names := map[string]bool{}
	for range 3 {
		names[next(t, "three tasks", began).w.name] = true
	}
	leases, err := c.Leases(soon(t))
	if err != nil || len(leases) != 3 || len(names) != 1 || names[""] {
		t.Errorf("%d leases by %v, %v", len(leases), names, err)
	}
	cancel(errFound)
	if err := next(t, "the worker's end", ended); !errors.Is(err, errFound) || len(began) != 0 {
		t.Errorf("%v; %d more began", err, len(began))
	}
	leases, err = c.Leases(soon(t))
	for _, l := range leases {
		if l.Held {
			t.Errorf("%+v is still held", l)
		}
	}
	must(t, err)
	other, err := s.Connect(Options{Version: "2"})
	must(t, err)
	defer other.Close()
	var version *VersionError
	if err := other.Work(soon(t), WorkerOptions{}, nil); !errors.As(err, &version) {
		t.Errorf("another version: %v", err)
	}
}

// TestWhatGoesOverTheNetworkIsShort: whatever an error says, a notice fits what coordinators read.
func TestWhatGoesOverTheNetworkIsShort(t *testing.T) {
	s, _, b := local(t, quick(t))
	conn, _ := everywhere(t, s)
	notices, err := conn.SubscribeSync("collapse.notice")
	must(t, errors.Join(err, conn.Flush()))
	long := errors.New(strings.Repeat("x", 9000))
	w := &worker{b: b, opt: b.opt, name: "me", self: "n", retry: time.Minute}
	w.unfit(long)
	w.refuse(&told{brought: brought{m: message(strings.Repeat("s", 9000), "")}}, long)
	w.rest.until = time.Now()
	asked := 0
	w.ready = func() error {
		if asked++; asked == 1 {
			return long
		}
		if why, _ := w.waits(); len(why) != 1024 {
			t.Errorf("it waits for %d bytes", len(why))
		}
		return nil
	}
	w.retry = time.Millisecond
	must(t, w.untilFit(soon(t)))
	for i, want := range [][3]int{{1024, 0, 0}, {0, len("a message on ") + 200, 1024}, {0, 0, 0}} {
		m, err := notices.NextMsg(left(t))
		must(t, err)
		var n notice
		must(t, json.Unmarshal(m.Data, &n))
		if got := [3]int{len(n.Waits), len(n.Job), len(n.Why)}; n.Worker != "me" || n.Nonce != "n" || got != want {
			t.Errorf("notice %d has texts of %v bytes, want %v", i, got, want)
		}
	}
	if why, _ := w.waits(); why != "" || asked != 2 {
		t.Errorf("waits for %q", why)
	}
}
