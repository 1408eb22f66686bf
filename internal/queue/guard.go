package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Guard listens to what workers report about themselves, and keeps the queue's description as Coordinate wrote it, until ctx ends.
func (c *Coordinator) Guard(ctx context.Context) error {
	sub, err := c.b.conn.Subscribe(c.b.noticeSubject(), c.hear)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	defer sub.Unsubscribe()
	for {
		c.keepInfo(ctx) // an error means that the server is away, or that the entry was changed
		if err := c.b.pauseWhole(ctx, time.Second); err != nil {
			return err
		}
	}
}

var errChanged = errors.New("queue: the description was changed")

// keepInfo watches the description and writes it again when somebody else changes it.
func (c *Coordinator) keepInfo(ctx context.Context) error {
	w, err := c.kv.Watch(ctx, infoKey)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return errChanged
			}
			if e == nil || bytes.Equal(e.Value(), c.text) {
				continue
			}
			c.SetAside("the key "+infoKey, len(e.Value()), errors.New("it is not what this coordinator wrote, and was written again"))
			_, err := c.kv.Put(ctx, infoKey, c.text)
			return errors.Join(errChanged, err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// dropJob takes a message out of the queue whose subject belongs to no job. Subjects can contain '*' or '>', so nothing is purged by its
// subject. A worker that receives the message removes it as well (worker.refuse).
func (c *Coordinator) dropJob(ctx context.Context, subject string) error {
	for next := uint64(1); ; {
		m, err := c.jobs.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		if m.Subject == subject {
			return c.deleteJob(ctx, m.Sequence)
		}
		next = m.Sequence + 1
	}
}

// deleteJob deletes a message of the queue. A message that somebody else has removed meanwhile counts as deleted.
func (c *Coordinator) deleteJob(ctx context.Context, sequence uint64) error {
	err := c.jobs.DeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) { // the library does not say why
		if _, there := c.jobs.GetMsg(ctx, sequence); errors.Is(there, jetstream.ErrMsgNotFound) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	return nil
}

// dropLease removes an entry that is not a valid lease. A worker that holds it notices at its next heartbeat and leaves the job to others.
func (c *Coordinator) dropLease(ctx context.Context, e jetstream.KeyValueEntry, why error) error {
	c.SetAside("the key "+e.Key(), len(e.Value()), why)
	return c.leases.Purge(ctx, jetstream.WithPurgeSubject("$KV."+c.b.leaseBucket()+"."+e.Key()), jetstream.WithPurgeSequence(e.Revision()+1))
}

// Release gives up a lease if its entry still has the given revision: the job, submitted again, can be taken at once.
func (c *Coordinator) Release(ctx context.Context, id string, revision uint64) error {
	e, err := c.kv.Get(ctx, leasePrefix+id)
	if errors.Is(err, jetstream.ErrKeyNotFound) || err == nil && e.Revision() != revision {
		return nil
	}
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	v, err := parseLease(e.Value(), revision)
	if err != nil {
		return c.dropLease(ctx, e, err)
	}
	v.Held = false
	_, err = c.kv.Update(ctx, e.Key(), v.encode(), revision)
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return nil
	}
	return err
}

// Plausible returns an error if no lease can have had the generation of a message: the current lease is at least as new as any
// message of its job, and no generation is above the newest revision.
func (c *Coordinator) Plausible(ctx context.Context, m Message) error {
	newest := uint64(0)
	e, err := c.kv.Get(ctx, leasePrefix+m.Job)
	switch {
	case err == nil:
		v, err := parseLease(e.Value(), e.Revision())
		if newest = e.Revision(); err == nil {
			newest = v.generation(e.Revision())
		}
	case errors.Is(err, jetstream.ErrKeyNotFound):
		i, err := streamInfo(ctx, c.b.js, c.b.leaseStream())
		if err != nil {
			return nil // the server is away: the rule of generations still applies
		}
		newest = i.State.LastSeq
	default:
		return nil
	}
	if m.Generation > newest {
		return fmt.Errorf("queue: generation %d was never given out; the newest is %d", m.Generation, newest)
	}
	return nil
}
