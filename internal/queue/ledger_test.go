package queue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// ledger keeps what a coordinator receives, by the rule of generations, and forgets jobs that ended.
type ledger struct {
	mu      sync.Mutex
	current map[string]uint64
	final   map[string][]Message
	data    map[string][]string
	trouble int
	seen    map[uint64]bool // sequences
	changed chan struct{}
}

func newLedger() *ledger {
	return &ledger{current: map[string]uint64{}, final: map[string][]Message{}, data: map[string][]string{}, seen: map[uint64]bool{}, changed: make(chan struct{}, 1)}
}

func collectFrom(t *testing.T, c *Coordinator) *ledger {
	l := newLedger()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := c.Receive(ctx, func(list []Message) error { return l.apply(ctx, c, list) }); !errors.Is(err, context.Canceled) {
			t.Errorf("Receive: %v", err)
		}
	}()
	t.Cleanup(func() { cancel(); ends(t, "Receive", ended) })
	return l
}

func (l *ledger) apply(ctx context.Context, c *Coordinator, list []Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range list {
		if m.Generation < l.current[m.Job] {
			continue
		}
		l.current[m.Job] = m.Generation
		again := l.seen[m.Sequence] // its acknowledgement was lost, and perhaps the requests made to the server with it
		l.seen[m.Sequence] = true
		switch {
		case again && (m.Type == Data || m.Type == Trouble):
		case m.Type == Data:
			l.data[m.Job] = append(l.data[m.Job], string(m.Data))
		case m.Type == Trouble:
			l.trouble++
		default:
			if !again {
				l.final[m.Job] = append(l.final[m.Job], m)
			}
			if c != nil {
				if err := c.Forget(ctx, m.Job); err != nil {
					return err
				}
			}
		}
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return nil
}

// wait returns once n jobs have ended.
func (l *ledger) wait(t *testing.T, n int) {
	t.Helper()
	over := time.After(left(t))
	for {
		l.mu.Lock()
		have := len(l.final)
		l.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-l.changed:
		case <-over:
			t.Fatalf("%d of %d jobs ended within %v", have, n, patience)
		}
	}
}
