package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Traffic is what has passed through a queue since it was created.
type Traffic struct {
	Leases  uint64 // writes of leases: new ones, heartbeats, saved states
	Results uint64 // messages to the coordinator
	Unread  uint64 // messages that the coordinator has not handled
}

// Traffic asks the server for its counts.
func (b *Broker) Traffic(ctx context.Context) (Traffic, error) {
	leases, err := b.js.Stream(ctx, b.leaseStream())
	if err != nil {
		return Traffic{}, fmt.Errorf("queue: %w", err)
	}
	reader, readerErr := b.js.Consumer(ctx, b.resultStream(), readerName)
	if readerErr != nil && !errors.Is(readerErr, jetstream.ErrConsumerNotFound) {
		return Traffic{}, fmt.Errorf("queue: %w", readerErr)
	}
	results, err := b.js.Stream(ctx, b.resultStream())
	if err != nil {
		return Traffic{}, fmt.Errorf("queue: %w", err)
	}
	t := Traffic{Leases: leases.CachedInfo().State.LastSeq, Results: results.CachedInfo().State.LastSeq, Unread: results.CachedInfo().State.Msgs}
	if readerErr == nil { // otherwise nobody has begun to read
		t.Unread = t.Results - min(t.Results, reader.CachedInfo().AckFloor.Stream) // as in Settled: what is pending is not known at once
	}
	return t, nil
}
