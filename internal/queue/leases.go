package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Free gives up the leases of workers that are known to be dead, so that their jobs are taken at once instead of after AckWait. It
// returns the jobs, which must be submitted again.
func (c *Coordinator) Free(ctx context.Context, dead func(worker string) bool) ([]string, error) {
	var freed []string
	err := c.eachLease(ctx, func(id string, v leaseValue, revision uint64) error {
		if !v.Held || !dead(v.Worker) {
			return nil
		}
		v.Held = false
		_, err := c.kv.Update(ctx, leasePrefix+id, v.encode(), revision)
		if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return nil // not dead after all
		}
		if err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		freed = append(freed, id)
		return c.Withdraw(ctx, id)
	})
	return freed, err
}

// Withdraw takes a job's message out of the queue, so that the job can be submitted anew at another place in it. What the queue knows of the
// job besides, its state and attempts, stays.
func (c *Coordinator) Withdraw(ctx context.Context, id string) error {
	if err := c.jobs.Purge(ctx, jetstream.WithPurgeSubject(c.b.jobSubject("*", id))); err != nil {
		return fmt.Errorf("queue: job %.12s: %w", id, err)
	}
	return nil
}

// readLease reads an entry below leasePrefix. An invalid one is set aside; then ok is false.
func (c *Coordinator) readLease(ctx context.Context, e jetstream.KeyValueEntry) (id string, v leaseValue, ok bool) {
	id = strings.TrimPrefix(e.Key(), leasePrefix)
	v, err := parseLease(e.Value(), e.Revision())
	if !validID(id) {
		err = errors.New("queue: the name of no job")
	}
	if err == nil {
		return id, v, true
	}
	if err := c.dropLease(ctx, e, err); err != nil && ctx.Err() == nil {
		c.b.opt.Logf("the key %s stays: %v", clean(e.Key(), longestName), err)
	}
	return "", v, false
}

// eachLease calls f for every current lease.
func (c *Coordinator) eachLease(ctx context.Context, f func(id string, v leaseValue, revision uint64) error) error {
	entries, err := c.entries(ctx)
	for errors.Is(err, errUnended) {
		entries, err = c.entries(ctx)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if id, v, ok := c.readLease(ctx, e); ok {
			if err := f(id, v, e.Revision()); err != nil {
				return err
			}
		}
	}
	return nil
}

// errUnended says that the last lease was never marked as the last.
var errUnended = errors.New("queue: the list of leases has no end")

// entries returns the current entries below leasePrefix. The last entry carries a mark; if it is removed before it is sent, the mark
// never arrives (errUnended).
func (c *Coordinator) entries(ctx context.Context) (list []jetstream.KeyValueEntry, err error) {
	w, err := c.kv.Watch(ctx, leasePrefix+">", jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return nil, fmt.Errorf("queue: listing the leases: %w", nats.ErrConnectionClosed)
			case e == nil: // end of the existing entries
				return list, nil
			}
			list = append(list, e)
		case <-time.After(exchangeTime):
			return nil, errUnended
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Leases returns which worker has which job.
func (c *Coordinator) Leases(ctx context.Context) ([]Lease, error) {
	var all []Lease
	err := c.eachLease(ctx, func(id string, v leaseValue, revision uint64) error {
		all = append(all, v.public(id, revision))
		return nil
	})
	return all, err
}

// Watch calls f with every existing lease and then, until ctx ends, with every lease that changes.
func (c *Coordinator) Watch(ctx context.Context, f func(Lease)) error {
	w, err := c.kv.Watch(ctx, leasePrefix+">", jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return context.Cause(ctx)
			}
			if e == nil {
				continue
			}
			if id, v, ok := c.readLease(ctx, e); ok {
				f(v.public(id, e.Revision()))
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// AckWait is the silence after which a job is given to another worker.
func (c *Coordinator) AckWait() time.Duration { return c.b.opt.AckWait }
