package queue

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Coordinator submits jobs and collects results. A queue has only one at a time.
type Coordinator struct {
	b       *Broker
	jobs    jetstream.Stream
	results jetstream.Stream
	leases  jetstream.Stream // the stream underneath the bucket
	kv      jetstream.KeyValue
	text    []byte // the queue's description

	aside   deadLetters
	waiters waiters
}

// Coordinate creates the queue, or takes over an existing one. owner names the lab; if the queue belongs to another one, the error
// is *OwnerError.
func (b *Broker) Coordinate(ctx context.Context, owner string) (*Coordinator, error) {
	c := &Coordinator{b: b, waiters: waiters{list: map[string]*waiter{}}}
	old, err := c.owner(ctx, owner)
	if err != nil {
		return nil, err
	}
	if old != "" && old != owner {
		return nil, &OwnerError{Name: b.opt.Name, Owner: old}
	}
	if err := c.createPatiently(ctx, owner); err != nil {
		if b.refused.Load() {
			err = fmt.Errorf("the server does not allow it; a worker's token can make no queue (docs/internal/queue.md): %w", err)
		}
		return nil, fmt.Errorf("queue: making the queue: %w", err)
	}
	if c.text, err = json.Marshal(info{Protocol: protocol, Version: b.opt.Version, Owner: owner, AckWait: b.opt.AckWait}); err != nil {
		panic("queue: a description that JSON cannot hold")
	}
	if _, err := c.kv.Put(ctx, infoKey, c.text); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return c, nil
}

// metaOwner is the key of the owner in the description of the stream of jobs, which workers cannot change.
const metaOwner = "collapse.owner"

// owner returns the owner of this queue, "" if there is none; mine is its reader. If the queue's own description is damaged, it is
// written again, and the stream of jobs tells the owner.
func (c *Coordinator) owner(ctx context.Context, mine string) (string, error) {
	old, err := c.b.readInfo(ctx)
	var version *VersionError
	if errors.As(err, &version) {
		return "", fmt.Errorf("queue: the queue was made by another version of the program (%s); finish its studies with that one, or choose another --queue", version.Coordinator)
	}
	var damaged *infoError
	if err != nil && !errors.As(err, &damaged) {
		return "", err
	}
	if damaged != nil {
		c.SetAside("the key "+infoKey, 0, damaged)
	}
	if old != nil && old.Owner == mine {
		return mine, nil
	}
	s, err := c.b.js.Stream(ctx, c.b.jobStream())
	switch {
	case err == nil && s.CachedInfo().Config.Metadata[metaOwner] != "":
		return s.CachedInfo().Config.Metadata[metaOwner], nil
	case old != nil:
		return old.Owner, nil
	case err != nil && !errors.Is(err, jetstream.ErrStreamNotFound):
		return "", fmt.Errorf("queue: %w", err)
	}
	return "", nil
}

// replicas is how many servers of a cluster keep a copy.
func (b *Broker) replicas() int {
	if len(b.conn.Servers()) >= 3 {
		return 3
	}
	return 1
}

// createTime is how long the queue's making is tried again where the server fails within: while strangers' connections come in faster
// than it closes them, it can open no file for a moment, and does not say why.
const createTime = 5 * time.Second

func (c *Coordinator) createPatiently(ctx context.Context, owner string) error {
	for start := time.Now(); ; {
		err := c.create(ctx, owner)
		var failed *jetstream.APIError
		if !errors.As(err, &failed) || failed.Code != 500 || time.Since(start) > createTime {
			return err
		}
		if err := c.b.pauseWhole(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (c *Coordinator) create(ctx context.Context, owner string) error {
	b, replicas := c.b, c.b.replicas()
	var err error
	if c.jobs, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: b.jobStream(), Subjects: []string{b.jobSubject("*", "*")}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		// A second message for a job that is already in the queue is refused.
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, Replicas: replicas,
		Metadata: map[string]string{metaOwner: owner},
	}); err != nil {
		return err
	}
	for p := range priorities {
		name := "p" + strconv.Itoa(int(p))
		if _, err := c.jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: name, FilterSubject: b.jobSubject(name, "*"), AckPolicy: jetstream.AckExplicitPolicy, AckWait: b.opt.AckWait,
			MaxDeliver: -1, MaxAckPending: 200_000, // the default of 1000 would stall large fleets
		}); err != nil {
			return err
		}
	}
	if c.results, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: b.resultStream(), Subjects: []string{b.resultSubject("*")}, Storage: jetstream.FileStorage, Replicas: replicas,
		Compression: jetstream.S2Compression,
	}); err != nil {
		return err
	}
	if c.kv, err = b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: b.leaseBucket(), Storage: jetstream.FileStorage, Replicas: replicas, MaxValueSize: 2 * MaxMessage,
	}); err != nil {
		return err
	}
	if err := c.closeLeases(ctx); err != nil {
		return err
	}
	_, err = b.Objects(ctx) // workers may use it, but not create it
	return err
}

// closeLeases forbids messages that replace others (Nats-Rollup), which buckets allow: one message of a worker could otherwise empty the
// bucket, and with it what the queue says about itself.
func (c *Coordinator) closeLeases(ctx context.Context) error {
	s, err := c.b.js.Stream(ctx, c.b.leaseStream())
	if err != nil {
		return err
	}
	closed := s.CachedInfo().Config
	closed.AllowRollup = false
	c.leases, err = c.b.js.UpdateStream(ctx, closed)
	return err
}

// errSubjectFull is the server's answer to a second message for one subject.
const errSubjectFull = "maximum messages per subject exceeded"

// Submit puts jobs into the queue. A job that is already there stays as it is. While the server is away, Submit waits.
func (c *Coordinator) Submit(ctx context.Context, jobs ...Job) error {
	defer c.b.conn.Publish(c.b.wakeSubject(), nil) // only a hint: workers also look by themselves
	const window = 1000
	for start := 0; start < len(jobs); start += window {
		some := jobs[start:min(start+window, len(jobs))]
		if err := c.b.outlast(ctx, func(ctx context.Context) error { return c.submit(ctx, some) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *Coordinator) submit(ctx context.Context, jobs []Job) error {
	acks := make([]jetstream.PubAckFuture, len(jobs))
	for i, job := range jobs {
		if err := errors.Join(checkID(job.ID), checkSize("job "+job.ID, job.Payload)); err != nil {
			return err
		}
		m := nats.NewMsg(c.b.jobSubject("p"+strconv.Itoa(int(job.Priority)), job.ID))
		m.Data = job.Payload
		m.Header.Set(headKind, job.Kind)
		m.Header.Set(headVersion, c.b.opt.Version)
		if job.Folder != "" {
			if err := checkID(job.Folder); err != nil {
				return err
			}
			m.Header.Set(headFolder, job.Folder)
		}
		if len(job.State) > 4<<10 {
			return fmt.Errorf("queue: job %s begins with a state of %d bytes; at most 4096 go with a job", job.ID, len(job.State))
		}
		if job.State != nil {
			m.Header.Set(headState, base64.StdEncoding.EncodeToString(job.State))
		}
		var err error
		if acks[i], err = c.b.js.PublishMsgAsync(m); err != nil {
			return fmt.Errorf("queue: submitting: %w", err)
		}
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			if !strings.Contains(err.Error(), errSubjectFull) {
				return fmt.Errorf("queue: submitting: %w", err)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Waiting returns the number of jobs in the queue, including those being worked on.
func (c *Coordinator) Waiting(ctx context.Context) (int, error) {
	i, err := streamInfo(ctx, c.b.js, c.b.jobStream())
	if err != nil {
		return 0, fmt.Errorf("queue: %w", err)
	}
	return int(i.State.Msgs), nil
}

// Jobs returns the jobs in the queue, including those being worked on. It removes messages that are not jobs.
func (c *Coordinator) Jobs(ctx context.Context) ([]string, error) {
	i, err := streamInfo(ctx, c.b.js, c.b.jobStream(), jetstream.WithSubjectFilter(c.b.jobSubject("*", "*")))
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	ids := make([]string, 0, len(i.State.Subjects))
	for subject := range i.State.Subjects {
		_, id, err := parseJob(c.b.jobPrefix(), subject)
		if err != nil {
			c.SetAside("a message on "+subject, 0, err)
			if err := c.dropJob(ctx, subject); err != nil {
				return nil, err
			}
			continue
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Cancel takes jobs out of the queue and stops the workers that compute them.
func (c *Coordinator) Cancel(ctx context.Context, ids ...string) error {
	if err := c.Forget(ctx, ids...); err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.b.conn.Publish(c.b.controlSubject(), []byte(id)); err != nil {
			return fmt.Errorf("queue: cancelling: %w", err)
		}
	}
	return nil
}

// Forget removes what the queue holds of jobs that have ended: the message, if it is still there, and the lease. A worker that still
// computes one notices at its next heartbeat. While the server is away, Forget waits.
func (c *Coordinator) Forget(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if err := checkID(id); err != nil {
			return err
		}
		if err := c.b.outlast(ctx, func(ctx context.Context) error {
			if err := c.jobs.Purge(ctx, jetstream.WithPurgeSubject(c.b.jobSubject("*", id))); err != nil {
				return fmt.Errorf("queue: job %.12s: %w", id, err)
			}
			if err := c.leases.Purge(ctx, jetstream.WithPurgeSubject(c.b.leaseSubject(id))); err != nil {
				return fmt.Errorf("queue: lease of job %.12s: %w", id, err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// LastGeneration is at least as high as every generation that a lease of this queue has had.
func (c *Coordinator) LastGeneration(ctx context.Context) (last uint64, err error) {
	err = c.b.outlast(ctx, func(ctx context.Context) error {
		info, err := streamInfo(ctx, c.b.js, c.b.leaseStream())
		if err == nil {
			last = info.State.LastSeq
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("queue: %w", err)
	}
	return last, nil
}

// settledEvery is the time between two looks of Settled.
const settledEvery = 10 * time.Millisecond

// Settled returns once Receive has handled every result of a job that was on the server when Settled was called. While the server is
// away, it waits. Only the acknowledgement floor tells what was handled: while the server is still creating a reader, it answers and
// reports nothing as pending.
func (c *Coordinator) Settled(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	var last uint64 // 0: none
	if err := c.b.outlast(ctx, func(ctx context.Context) error {
		m, err := c.results.GetLastMsgForSubject(ctx, c.b.resultSubject(id))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err == nil {
			last = m.Sequence
		}
		return err
	}); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	for last > 0 {
		var settled bool
		err := c.b.outlast(ctx, func(ctx context.Context) error {
			reader, err := c.results.Consumer(ctx, readerName)
			if errors.Is(err, jetstream.ErrConsumerNotFound) { // about to be created
				return nil
			}
			if err == nil {
				settled = reader.CachedInfo().AckFloor.Stream >= last
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		if settled {
			return nil
		}
		if err := c.b.pause(ctx, settledEvery); err != nil {
			return err
		}
	}
	return nil
}
