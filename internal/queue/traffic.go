package queue

import (
	"context"
	"fmt"
)

// Traffic is what has gone through a queue since it was made.
type Traffic struct {
	Claims  uint64 // writes of claims: claims, heartbeats, saved states
	Results uint64 // messages to the coordinator
	Unread  uint64 // those of them that it has not handled
}

// Traffic asks the server.
func (b *Broker) Traffic(ctx context.Context) (Traffic, error) {
	claims, err := b.js.Stream(ctx, "KV_"+b.claimBucket())
	if err != nil {
		return Traffic{}, fmt.Errorf("queue: %w", err)
	}
	reader, err := b.js.Consumer(ctx, b.resultStream(), readerName)
	if err != nil {
		return Traffic{}, fmt.Errorf("queue: %w", err)
	}
	now := reader.CachedInfo()
	results, err := b.js.Stream(ctx, b.resultStream())
	if err != nil {
		return Traffic{}, fmt.Errorf("queue: %w", err)
	}
	return Traffic{Claims: claims.CachedInfo().State.LastSeq, Results: results.CachedInfo().State.LastSeq,
		Unread: now.NumPending + uint64(now.NumAckPending)}, nil
}
