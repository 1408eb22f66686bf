package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// purged is the stream of jobs or of leases: it keeps which subjects were emptied.
type purged struct {
	jetstream.Stream
	times int
	err   error
}

func (p *purged) Purge(context.Context, ...jetstream.StreamPurgeOpt) error { p.times++; return p.err }

// overseer is a coordinator with buckets in memory.
func overseer(t *testing.T) (*Coordinator, *memory) {
	c := deaf(t)
	kv := &memory{}
	c.kv, c.jobs, c.leases = kv, &purged{}, &purged{}
	c.b.conn, c.b.back = newWorkshop().w.b.conn, make(chan struct{})
	c.b.js = counted{state: jetstream.StreamState{LastSeq: 9}}
	return c, kv
}

// TestReleasingALease gives up the one that is meant, and no later one; an unreadable one is removed and counted.
func TestReleasingALease(t *testing.T) {
	held := leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: 2, State: []byte("s")}
	c, kv := overseer(t)
	revision := kv.put(leasePrefix+"one", held.encode())
	for _, wrong := range []uint64{revision - 1, revision + 1} {
		must(t, c.Release(t.Context(), "one", wrong))
	}
	must(t, c.Release(t.Context(), "none", revision))
	if v, at := kv.lease(t, "one"); !v.Held || at != revision {
		t.Errorf("another one was released: %+v", v)
	}
	kv.before = func(call string) {
		if call == "Update" {
			kv.put(leasePrefix+"one", held.encode())
		}
	}
	must(t, c.Release(t.Context(), "one", revision)) // its worker was quicker
	kv.before = nil
	v, revision := kv.lease(t, "one")
	if !v.Held {
		t.Error("one that had changed was released")
	}
	must(t, c.Release(t.Context(), "one", revision))
	if v, at := kv.lease(t, "one"); v.Held || v.Attempt != 2 || string(v.State) != "s" || at != revision+1 {
		t.Errorf("%+v", v)
	}
	revision = kv.put(leasePrefix+"one", []byte("x"))
	must(t, c.Release(t.Context(), "one", revision))
	if u := c.Unusable(); c.leases.(*purged).times != 1 || u.Count != 1 || u.Last[0].What != "the key claim.one" || u.Last[0].Bytes != 1 || !strings.Contains(u.Last[0].Why, "unreadable") {
		t.Errorf("removed %d times, %+v", c.leases.(*purged).times, u)
	}
}

// TestLeasesThatCannotBeRead are set aside; one that cannot be removed either is logged, unless the coordinator is about to end.
func TestLeasesThatCannotBeRead(t *testing.T) {
	good := leaseValue{Worker: "w", Nonce: "n"}.encode()
	for key, value := range map[string]string{"claim.one": "x", "claim.bad%id": string(good)} {
		c, _ := overseer(t)
		var logs []string
		c.b.opt.Logf = func(format string, args ...any) { logs = append(logs, fmt.Sprintf(format, args...)) }
		if id, _, ok := c.readLease(t.Context(), entry{key: key, value: []byte(value), revision: 7}); ok || id != "" || len(logs) != 1 {
			t.Errorf("%s: %q, %v, logged %q", key, id, ok, logs)
		}
		c.leases = &purged{err: errServer}
		c.readLease(t.Context(), entry{key: key, value: []byte(value), revision: 7})
		if len(logs) != 3 || logs[2] != "the key "+key+" stays: the server does not like it" {
			t.Errorf("logged %q", logs)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if c.readLease(ctx, entry{key: key, value: []byte(value), revision: 7}); len(logs) != 4 {
			t.Errorf("logged %q", logs[4:])
		}
	}
}

// TestFreeingTheDead: leases of living workers stay, and those that nobody holds; a worker that is heard after all keeps its job.
func TestFreeingTheDead(t *testing.T) {
	c, kv := overseer(t)
	lease := func(id, worker string, held bool) entry {
		kv.put(leasePrefix+id, leaseValue{Worker: worker, Nonce: "n", Held: held, Attempt: 1}.encode())
		return kv.entries[leasePrefix+id]
	}
	list := []jetstream.KeyValueEntry{lease("a", "dead", true), lease("b", "alive", true), lease("c", "dead", false), lease("d", "dead", true), lease("e", "dead", true), nil}
	lease("d", "dead", true) // it has written since
	c.kv = &listedMemory{memory: kv, list: list}
	freed, err := c.Free(t.Context(), func(worker string) bool { return worker == "dead" })
	if err != nil || !slices.Equal(freed, []string{"a", "e"}) || c.jobs.(*purged).times != 2 {
		t.Errorf("freed %q, %d jobs taken out, %v", freed, c.jobs.(*purged).times, err)
	}
	for id, want := range map[string]bool{"a": false, "b": true, "c": false, "d": true, "e": false} {
		if v, _ := kv.lease(t, id); v.Held != want {
			t.Errorf("%s is held: %v", id, v.Held)
		}
	}
	leases, err := c.Leases(t.Context())
	if err != nil || len(leases) != 5 {
		t.Errorf("%+v, %v", leases, err)
	}
	if want := (Lease{Job: "b", Generation: 2, Held: true, Worker: "alive", Attempt: 1, Revision: 2}); fmt.Sprintf("%+v", leases[1]) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v, want %+v", leases[1], want)
	}
	if g := (leaseValue{Generation: 3}).generation(7); g != 3 {
		t.Errorf("generation %d", g)
	}
}

// listedMemory is a bucket in memory whose list is given.
type listedMemory struct {
	*memory
	list []jetstream.KeyValueEntry
	open bool // after the list
}

func (l *listedMemory) Watch(context.Context, string, ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	w := watcher{updates: make(chan jetstream.KeyValueEntry, len(l.list))}
	for _, e := range l.list {
		w.updates <- e
	}
	if !l.open {
		close(w.updates)
	}
	return w, nil
}

// TestWatchingLeases tells each that can be read, past the mark of the list's end, until the context or the connection ends.
func TestWatchingLeases(t *testing.T) {
	one := entry{key: "claim.one", value: leaseValue{Worker: "w", Nonce: "n", Held: true}.encode(), revision: 7}
	bad := entry{key: "claim.two", value: []byte("x"), revision: 8}
	for _, open := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c, kv := overseer(t)
			c.kv = &listedMemory{kv, []jetstream.KeyValueEntry{one, nil, bad, one}, open}
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errFound)
			defer cancel()
			var got []Lease
			err := c.Watch(ctx, func(l Lease) { got = append(got, l) })
			if len(got) != 2 || got[1].Job != "one" || got[1].Generation != 7 || open != errors.Is(err, errFound) {
				t.Errorf("left open: %v; %+v, %v", open, got, err)
			}
		})
	}
}

// TestThePlausibleGenerations: up to the lease's own, however often it was renewed; without a lease up to the newest write. Whoever cannot
// ask lets a result pass: it has a generation to go by.
func TestThePlausibleGenerations(t *testing.T) {
	for _, test := range []struct {
		name   string
		lease  []byte
		refuse error
		newest uint64
	}{
		{"a new lease", leaseValue{Worker: "w", Nonce: "n"}.encode(), nil, 4},
		{"one that was renewed", leaseValue{Worker: "w", Nonce: "n", Generation: 3}.encode(), nil, 3},
		{"one that cannot be read", []byte("x"), nil, 4},
		{"none", nil, nil, 9},
		{"no answer", nil, errServer, 0},
	} {
		c, kv := overseer(t)
		kv.revision = 3
		if test.lease != nil {
			kv.put(leasePrefix+"one", test.lease)
		}
		kv.err = func(string) error { return test.refuse }
		if err := c.Plausible(t.Context(), Message{Job: "one", Generation: max(test.newest, 1)}); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		err := c.Plausible(t.Context(), Message{Job: "one", Generation: test.newest + 1})
		if test.newest > 0 {
			says(t, test.name, err, fmt.Sprintf("generation %d was never given out; the newest is %d", test.newest+1, test.newest))
		} else if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	c, _ := overseer(t)
	c.b.js = &slowLeader{err: errServer}
	if err := c.Plausible(t.Context(), Message{Job: "one", Generation: 1 << 40}); err != nil {
		t.Errorf("a server that is away: %v", err)
	}
}

// TestTheDescriptionIsKept: the coordinator's own text is left alone, any other is counted and written over.
func TestTheDescriptionIsKept(t *testing.T) {
	c, kv := overseer(t)
	c.text = []byte("mine")
	own, other := entry{key: infoKey, value: []byte("mine")}, entry{key: infoKey, value: []byte("theirs")}
	c.kv = &listedMemory{kv, []jetstream.KeyValueEntry{own, nil, own}, false}
	if err := c.keepInfo(t.Context()); !errors.Is(err, errChanged) || len(kv.entries) != 0 || c.Unusable().Count != 0 {
		t.Errorf("its own: %v, wrote %v", err, kv.entries)
	}
	c.kv = &listedMemory{kv, []jetstream.KeyValueEntry{own, nil, other}, true}
	if err := c.keepInfo(t.Context()); !errors.Is(err, errChanged) || string(kv.entries[infoKey].value) != "mine" {
		t.Errorf("another: %v, wrote %v", err, kv.entries)
	}
	if u := c.Unusable(); u.Count != 1 || u.Last[0].What != "the key info" || u.Last[0].Bytes != 6 || !strings.Contains(u.Last[0].Why, "was written again") {
		t.Errorf("%+v", u)
	}
	kv.err = func(string) error { return errServer }
	if err := c.keepInfo(t.Context()); !errors.Is(err, errServer) {
		t.Errorf("a write that is refused: %v", err)
	}
	c.kv = &listedMemory{kv, nil, true}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errFound)
	if err := c.keepInfo(ctx); !errors.Is(err, errFound) {
		t.Errorf("a context that ended: %v", err)
	}
}

// several is a stream of jobs in which messages come one after another on subjects that a pattern matches as well.
type several struct {
	jetstream.Stream
	subjects []string
	deleted  []uint64
	err      error
}

func (s *several) GetMsg(_ context.Context, n uint64, _ ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	if s.err != nil {
		return nil, s.err
	}
	if n > uint64(len(s.subjects)) {
		return nil, jetstream.ErrMsgNotFound
	}
	return &jetstream.RawStreamMsg{Subject: s.subjects[n-1], Sequence: n}, nil
}
func (s *several) DeleteMsg(_ context.Context, n uint64) error {
	s.deleted = append(s.deleted, n)
	return nil
}

// TestTakingOutAMessageOfASubject leaves those whose subjects are only like it.
func TestTakingOutAMessageOfASubject(t *testing.T) {
	for subject, want := range map[string][]uint64{"q.job.p1.*": {3}, "q.job.p1.a": {1}, "q.job.p1.z": nil} {
		c := deaf(t)
		s := &several{subjects: []string{"q.job.p1.a", "q.job.p1.b", "q.job.p1.*", "q.job.p1.c"}}
		c.jobs = s
		if err := c.dropJob(t.Context(), subject); err != nil || !slices.Equal(s.deleted, want) {
			t.Errorf("%s: %v are deleted, %v", subject, s.deleted, err)
		}
		s.err = errServer
		if err := c.dropJob(t.Context(), subject); !errors.Is(err, errServer) {
			t.Errorf("%s: %v", subject, err)
		}
	}
}

// TestARestAndItsEnd: a machine in trouble is looked at after its pause, and again after each Retry, until it can work or its worker stops.
func TestARestAndItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		ready := []error{errServer, errors.New("still\x1b"), nil}
		var asked atomic.Int64
		s.w.ready = func() error { return ready[asked.Add(1)-1] }
		began := time.Now()
		if err := s.w.untilFit(t.Context()); err != nil || asked.Load() != 0 || len(s.logs) != 0 {
			t.Errorf("a fit one: %v, asked %d times", err, asked.Load())
		}
		s.w.unfit(errors.New("no memory"))
		s.w.unfit(errors.New("no disk"))
		if why, until := s.w.waits(); why != "no disk" || until.Sub(began) != time.Minute || len(s.logs) != 1 {
			t.Errorf("waits for %q until %v, logged %q", why, until.Sub(began), s.logs)
		}
		time.AfterFunc(130*time.Second, func() {
			if why, _ := s.w.waits(); why != "still?" || asked.Load() != 2 {
				t.Errorf("waits for %q, asked %d times", why, asked.Load())
			}
		})
		if err := s.w.untilFit(t.Context()); err != nil || asked.Load() != 3 || time.Since(began) != 3*time.Minute {
			t.Errorf("%v after %v, asked %d times", err, time.Since(began), asked.Load())
		}
		if why, _ := s.w.waits(); why != "" || len(s.logs) != 2 || s.logs[1] != "this machine can work again" {
			t.Errorf("waits for %q, logged %q", why, s.logs)
		}
		s.w.unfit(errors.New("no memory"))
		if _, until := s.w.waits(); time.Until(until) != 2*time.Minute {
			t.Errorf("the second pause in a row is %v", time.Until(until))
		}
		s.w.fine() // another task has ended: look at once
		asked.Store(2)
		if err := s.w.untilFit(t.Context()); err != nil || time.Since(began) != 3*time.Minute || asked.Load() != 3 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		s.w.unfit(errors.New("no memory"))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(500*time.Millisecond, func() { cancel(errFound) })
		if err := s.w.untilFit(ctx); !errors.Is(err, errFound) || time.Since(began) != 3*time.Minute+500*time.Millisecond {
			t.Errorf("a worker that stops: %v after %v", err, time.Since(began))
		}
	})
}
