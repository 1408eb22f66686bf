package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// listed is a bucket whose watchers deliver one list after another.
type listed struct {
	jetstream.KeyValue
	lists [][]jetstream.KeyValueEntry
	close bool // the connection, after what is left
	asked int
}

type watcher struct {
	jetstream.KeyWatcher
	updates chan jetstream.KeyValueEntry
}

func (w watcher) Updates() <-chan jetstream.KeyValueEntry { return w.updates }
func (watcher) Stop() error                               { return nil }

func (l *listed) Watch(context.Context, string, ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	list := l.lists[min(l.asked, len(l.lists)-1)]
	l.asked++
	w := watcher{updates: make(chan jetstream.KeyValueEntry, len(list))}
	for _, e := range list {
		w.updates <- e
	}
	if l.close {
		close(w.updates)
	}
	return w, nil
}

// TestLeasesWhoseEndNeverComes: the library's watcher marks the end of the list at its last entry. If that is removed first, as the
// lease of a job that ends meanwhile is, there is no mark, and a caller that lists the leases would wait forever.
func TestLeasesWhoseEndNeverComes(t *testing.T) {
	one := entry{key: leasePrefix + "one", value: leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: 1}.encode(), revision: 7}
	synctest.Test(t, func(t *testing.T) {
		kv := &listed{lists: [][]jetstream.KeyValueEntry{{one}, {}, {one, nil}}}
		c := deaf(t)
		c.kv = kv
		leases, err := c.Leases(t.Context())
		if err != nil || len(leases) != 1 || leases[0].Job != "one" || kv.asked != 3 {
			t.Errorf("%+v after %d lists, %v", leases, kv.asked, err)
		}
		kv.lists, kv.close = [][]jetstream.KeyValueEntry{{one}}, true
		if leases, err := c.Leases(t.Context()); !errors.Is(err, nats.ErrConnectionClosed) {
			t.Errorf("over a connection that was closed: %+v, %v", leases, err)
		}
		bounded, cancel := context.WithTimeout(t.Context(), exchangeTime/2)
		defer cancel()
		kv.close = false
		if _, err := c.Leases(bounded); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that ended: %v", err)
		}
	})
}

// watched is a bucket with a lease that is held and, depending on the case, written again while somebody watches it.
type watched struct {
	oneEntry
	moves bool
	reads int
}

func (w *watched) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	e := w.entry
	if w.reads++; w.moves {
		e.revision += uint64(w.reads)
	}
	return e, nil
}

// TestALeaseThatMovesIsNotTakenOver: a job is delivered again if the server was away for longer than AckWait, although its worker
// kept working and is heard from as soon as the server is back.
func TestALeaseThatMovesIsNotTakenOver(t *testing.T) {
	held := entry{key: leasePrefix + "one", value: leaseValue{Worker: "holder", Nonce: "n", Held: true, Attempt: 1, State: []byte("epoch 3")}.encode(), revision: 7}
	for _, moves := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := deaf(t).b
			kv := &watched{oneEntry: oneEntry{entry: held}, moves: moves}
			w := &worker{b: b, opt: b.opt, name: "greedy", kv: kv}
			began := time.Now()
			v, _, err := w.take(t.Context(), "one")
			switch {
			case moves && (!errors.Is(err, errBusy) || len(kv.wrote) != 0):
				t.Errorf("one that changes: %v, %d writes", err, len(kv.wrote))
			case !moves && (err != nil || v.Worker != "greedy" || v.Attempt != 2 || string(v.State) != "epoch 3" || len(kv.wrote) != 1):
				t.Errorf("one that does not change: %+v, %v, %d writes", v, err, len(kv.wrote))
			}
			if d := time.Since(began); d < b.opt.beat()*3/2 {
				t.Errorf("watched for %v, beats are %v apart", d, b.opt.beat())
			}
		})
	}
}

// TestHoldersAreBackBeforeTheirLeasesAreTaken: however short AckWait is, ten attempts to find the server fit into the time for which
// a lease is watched.
func TestHoldersAreBackBeforeTheirLeasesAreTaken(t *testing.T) {
	for _, ackWait := range []time.Duration{500 * time.Millisecond, 15 * time.Second, time.Hour} {
		b := deaf(t).b
		b.opt.AckWait = ackWait
		b.silence.Store(int64(ackWait))
		for range 1000 {
			if d := b.reconnectDelay(1); d <= 0 || d > b.opt.watch()/10 || d > 700*time.Millisecond {
				t.Fatalf("AckWait %v: %v between two attempts, a lease is watched for %v", ackWait, d, b.opt.watch())
			}
		}
	}
}
