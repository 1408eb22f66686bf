package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// listed is a bucket whose watchers bring one list after another.
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

// TestClaimsWhoseEndNeverComes: the library's watcher tells the end of the list with its last entry. When that is removed first, as
// the claim of a job that ends meanwhile is, it tells nothing; whoever listed the claims would wait for ever.
func TestClaimsWhoseEndNeverComes(t *testing.T) {
	one := entry{key: claimPrefix + "one", value: claimValue{Worker: "w", Nonce: "n", Held: true, Attempt: 1}.encode(), revision: 7}
	synctest.Test(t, func(t *testing.T) {
		kv := &listed{lists: [][]jetstream.KeyValueEntry{{one}, {}, {one, nil}}}
		c := deaf(t)
		c.kv = kv
		claims, err := c.Claims(t.Context())
		if err != nil || len(claims) != 1 || claims[0].Job != "one" || kv.asked != 3 {
			t.Errorf("%+v after %d lists, %v", claims, kv.asked, err)
		}
		kv.lists, kv.close = [][]jetstream.KeyValueEntry{{one}}, true
		if claims, err := c.Claims(t.Context()); !errors.Is(err, nats.ErrConnectionClosed) {
			t.Errorf("over a connection that was closed: %+v, %v", claims, err)
		}
		bounded, cancel := context.WithTimeout(t.Context(), exchangeTime/2)
		defer cancel()
		kv.close = false
		if _, err := c.Claims(bounded); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that ended: %v", err)
		}
	})
}
