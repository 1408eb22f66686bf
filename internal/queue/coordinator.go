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

// Coordinator submits jobs and collects results. A queue has one at a time.
type Coordinator struct {
	b       *Broker
	jobs    jetstream.Stream
	results jetstream.Stream
	claims  jetstream.Stream // the stream below the bucket
	kv      jetstream.KeyValue
}

// Coordinate makes the queue, or takes up the one that is there. owner names the lab; *OwnerError if
// the queue is another's.
func (b *Broker) Coordinate(ctx context.Context, owner string) (*Coordinator, error) {
	old, err := b.readInfo(ctx)
	var version *VersionError
	if err != nil && !errors.As(err, &version) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("queue: the queue was made by another version of the program (%s); finish its studies with that one, or choose another --queue", version.Coordinator)
	}
	if old != nil && old.Owner != owner {
		return nil, &OwnerError{Name: b.opt.Name, Owner: old.Owner}
	}
	c := &Coordinator{b: b}
	if err := c.create(ctx); err != nil {
		return nil, fmt.Errorf("queue: making the queue: %w", err)
	}
	text, err := json.Marshal(info{Protocol: protocol, Version: b.opt.Version, Owner: owner, AckWait: b.opt.AckWait})
	if err != nil {
		panic("queue: a description that JSON cannot hold")
	}
	if _, err := c.kv.Put(ctx, infoKey, text); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return c, nil
}

// replicas is how many servers of a cluster keep a copy.
func (b *Broker) replicas() int {
	if len(b.conn.Servers()) >= 3 {
		return 3
	}
	return 1
}

func (c *Coordinator) create(ctx context.Context) error {
	b, replicas := c.b, c.b.replicas()
	var err error
	if c.jobs, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: b.jobStream(), Subjects: []string{b.jobSubject("*", "*")}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		// A second message for a job that is in the queue is refused.
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, Replicas: replicas,
	}); err != nil {
		return err
	}
	for p := range priorities {
		name := "p" + strconv.Itoa(int(p))
		if _, err := c.jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: name, FilterSubject: b.jobSubject(name, "*"), AckPolicy: jetstream.AckExplicitPolicy, AckWait: b.opt.AckWait,
			MaxDeliver: -1, MaxAckPending: 200_000, // the default of 1000 stalls large fleets
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
		Bucket: b.claimBucket(), Storage: jetstream.FileStorage, Replicas: replicas, MaxValueSize: 2 * MaxMessage,
	}); err != nil {
		return err
	}
	c.claims, err = b.js.Stream(ctx, "KV_"+b.claimBucket())
	return err
}

// errSubjectFull is the server's answer to a second message for one subject.
const errSubjectFull = "maximum messages per subject exceeded"

// Submit puts jobs into the queue. One that is there already stays as it is. It waits while the server is away.
func (c *Coordinator) Submit(ctx context.Context, jobs ...Job) error {
	defer c.b.conn.Publish(c.b.wakeSubject(), nil) // a hint: workers look by themselves, too
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
		checkID(job.ID)
		if err := checkSize("job "+job.ID, job.Payload); err != nil {
			return err
		}
		m := nats.NewMsg(c.b.jobSubject("p"+strconv.Itoa(int(job.Priority)), job.ID))
		m.Data = job.Payload
		m.Header.Set(headKind, job.Kind)
		m.Header.Set(headVersion, c.b.opt.Version)
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

// Waiting returns how many jobs are in the queue, those being worked on included.
func (c *Coordinator) Waiting(ctx context.Context) (int, error) {
	i, err := c.jobs.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("queue: %w", err)
	}
	return int(i.State.Msgs), nil
}

// Jobs returns the jobs in the queue, those being worked on included.
func (c *Coordinator) Jobs(ctx context.Context) ([]string, error) {
	i, err := c.jobs.Info(ctx, jetstream.WithSubjectFilter(c.b.jobSubject("*", "*")))
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	ids := make([]string, 0, len(i.State.Subjects))
	for subject := range i.State.Subjects {
		ids = append(ids, subject[strings.LastIndexByte(subject, '.')+1:])
	}
	return ids, nil
}

// Cancel takes jobs out of the queue and stops the workers that are at them.
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

// Forget removes what the queue holds of jobs that have ended: the message, should it still be there,
// and the claim. A worker that is still at one finds out at its next heartbeat. It waits while the server is away.
func (c *Coordinator) Forget(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		checkID(id)
		if err := c.b.outlast(ctx, func(ctx context.Context) error {
			if err := c.jobs.Purge(ctx, jetstream.WithPurgeSubject(c.b.jobSubject("*", id))); err != nil {
				return fmt.Errorf("queue: job %.12s: %w", id, err)
			}
			if err := c.claims.Purge(ctx, jetstream.WithPurgeSubject("$KV."+c.b.claimBucket()+"."+claimPrefix+id)); err != nil {
				return fmt.Errorf("queue: claim of job %.12s: %w", id, err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// LastGeneration is at least as high as every generation that a claim of this queue has had.
func (c *Coordinator) LastGeneration(ctx context.Context) (last uint64, err error) {
	err = c.b.outlast(ctx, func(ctx context.Context) error {
		info, err := c.claims.Info(ctx)
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

// settledEvery is how often Settled looks.
const settledEvery = 10 * time.Millisecond

// Settled returns once Receive has handled every result of a job that was on the server when Settled was called. It waits while the
// server is away.
func (c *Coordinator) Settled(ctx context.Context, id string) error {
	checkID(id)
	var last uint64 // 0: there is none
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
			if errors.Is(err, jetstream.ErrConsumerNotFound) { // it is about to be made
				return nil
			}
			if err == nil {
				i := reader.CachedInfo()
				settled = i.AckFloor.Stream >= last || i.NumPending == 0 && i.NumAckPending == 0
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

// Free gives up the claims of workers that are known to be dead, so that their jobs, submitted again,
// are taken at once instead of after AckWait. It returns the jobs, which must be submitted again.
func (c *Coordinator) Free(ctx context.Context, dead func(worker string) bool) ([]string, error) {
	var freed []string
	err := c.eachClaim(ctx, func(e jetstream.KeyValueEntry) error {
		v, err := parseClaim(e.Value())
		if err != nil || !v.Held || !dead(v.Worker) {
			return err
		}
		id := strings.TrimPrefix(e.Key(), claimPrefix)
		v.Held = false
		if _, err := c.kv.Update(ctx, e.Key(), v.encode(), e.Revision()); err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		freed = append(freed, id)
		return c.jobs.Purge(ctx, jetstream.WithPurgeSubject(c.b.jobSubject("*", id)))
	})
	return freed, err
}

// eachClaim calls f for every claim there is now.
func (c *Coordinator) eachClaim(ctx context.Context, f func(jetstream.KeyValueEntry) error) error {
	w, err := c.kv.Watch(ctx, claimPrefix+">", jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	defer w.Stop()
	for {
		select {
		case e := <-w.Updates():
			if e == nil { // all that were there
				return nil
			}
			if err := f(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Claims returns who works on what now.
func (c *Coordinator) Claims(ctx context.Context) ([]Claim, error) {
	var all []Claim
	err := c.eachClaim(ctx, func(e jetstream.KeyValueEntry) error {
		v, err := parseClaim(e.Value())
		all = append(all, v.public(strings.TrimPrefix(e.Key(), claimPrefix), e.Revision()))
		return err
	})
	return all, err
}

// Watch calls f with every claim there is and, until ctx ends, with every one that changes.
func (c *Coordinator) Watch(ctx context.Context, f func(Claim)) error {
	w, err := c.kv.Watch(ctx, claimPrefix+">", jetstream.IgnoreDeletes())
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
			if v, err := parseClaim(e.Value()); err == nil {
				f(v.public(strings.TrimPrefix(e.Key(), claimPrefix), e.Revision()))
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
