package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestHowAQueueIsMade: what the server promises of its streams, its readers and its buckets, and what the queue says of itself.
func TestHowAQueueIsMade(t *testing.T) {
	opt := quick(t)
	opt.AckWait = 7 * time.Second
	s, c, b := local(t, opt)
	_, js := everywhere(t, s)
	config := func(name string) jetstream.StreamConfig {
		stream, err := js.Stream(soon(t), name)
		must(t, err)
		return stream.CachedInfo().Config
	}
	jobs := config("collapse-jobs")
	if jobs.Retention != jetstream.WorkQueuePolicy || jobs.Storage != jetstream.FileStorage || jobs.MaxMsgsPerSubject != 1 || jobs.Discard != jetstream.DiscardNew || !jobs.DiscardNewPerSubject ||
		jobs.Replicas != 1 || jobs.Metadata[metaOwner] != "lab" || !slices.Equal(jobs.Subjects, []string{"collapse.job.*.*"}) {
		t.Errorf("jobs: %+v", jobs)
	}
	for p := range 3 {
		reader, err := js.Consumer(soon(t), "collapse-jobs", fmt.Sprint("p", p))
		must(t, err)
		if r := reader.CachedInfo().Config; r.AckPolicy != jetstream.AckExplicitPolicy || r.AckWait != 7*time.Second || r.MaxDeliver != -1 || r.MaxAckPending != 200_000 || r.FilterSubject != fmt.Sprintf("collapse.job.p%d.*", p) {
			t.Errorf("priority %d: %+v", p, r)
		}
	}
	results := config("collapse-results")
	if results.Storage != jetstream.FileStorage || results.Replicas != 1 || results.Compression != jetstream.S2Compression || !slices.Equal(results.Subjects, []string{"collapse.res.*"}) {
		t.Errorf("results: %+v", results)
	}
	leases, blobs := config("KV_collapse-claims"), config("OBJ_collapse-blobs")
	if leases.AllowRollup || leases.Storage != jetstream.FileStorage || leases.Replicas != 1 || leases.MaxMsgSize != 1<<20 || blobs.Storage != jetstream.FileStorage || blobs.Replicas != 1 {
		t.Errorf("leases: %+v, blobs: %+v", leases, blobs)
	}
	i, err := b.readInfo(soon(t))
	if err != nil || *i != (info{Protocol: 1, Version: "1", Owner: "lab", AckWait: 7 * time.Second}) || c.AckWait() != 7*time.Second {
		t.Errorf("%+v, %v", i, err)
	}
	if again, err := b.Coordinate(soon(t), "lab"); err != nil || again == nil {
		t.Errorf("its own coordinator: %v", err)
	}
	must(t, second(c.kv.Put(soon(t), infoKey, []byte(`{"protocol":7,"version":"v7","owner":"lab"}`))))
	_, err = b.Coordinate(soon(t), "lab")
	says(t, "another protocol", err, "queue: the queue was made by another version of the program (v7); finish its studies with that one, or choose another --queue")
}

// TestWhoOwnsAQueue: the queue's stream of jobs says so, which workers cannot change; if that is silent, the description does.
func TestWhoOwnsAQueue(t *testing.T) {
	for _, test := range []struct {
		name, text, stream string
		streamErr          error
		want               string
		err                error
	}{
		{"nobody", "", "", jetstream.ErrStreamNotFound, "", nil},
		{"the stream", `{"protocol":1,"owner":"a","ack_wait":1000000000}`, "b", nil, "b", nil},
		{"mine", `{"protocol":1,"owner":"me","ack_wait":1000000000}`, "b", nil, "me", nil},
		{"the description of a stream that is silent", `{"protocol":1,"owner":"a","ack_wait":1000000000}`, "", nil, "a", nil},
		{"the description without a stream", `{"protocol":1,"owner":"a","ack_wait":1000000000}`, "", jetstream.ErrStreamNotFound, "a", nil},
		{"a damaged description", "x", "b", nil, "b", nil},
		{"nothing at all", "x", "", nil, "", nil},
		{"a refusal", "x", "", errServer, "", errServer},
	} {
		c, kv := overseer(t)
		if test.text != "" {
			kv.put(infoKey, []byte(test.text))
		}
		c.b.js = &owned{post: post{kv: kv}, owner: test.stream, err: test.streamErr}
		owner, err := c.owner(t.Context(), "me")
		if owner != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %v", test.name, owner, err)
		}
		if damaged := test.text == "x"; damaged != (c.Unusable().Count == 1) {
			t.Errorf("%s: %+v", test.name, c.Unusable())
		}
	}
}

// owned is a server whose stream of jobs has an owner.
type owned struct {
	post
	owner string
	err   error
}

func (o *owned) Stream(context.Context, string) (jetstream.Stream, error) {
	return ownedStream{owner: o.owner}, o.err
}

type ownedStream struct {
	jetstream.Stream
	owner string
}

func (o ownedStream) CachedInfo() *jetstream.StreamInfo {
	return &jetstream.StreamInfo{Config: jetstream.StreamConfig{Metadata: map[string]string{metaOwner: o.owner}}}
}

// unmade is a server on which no queue can be made.
type unmade struct {
	*owned
	err   error
	asked int
}

func (u *unmade) CreateOrUpdateStream(context.Context, jetstream.StreamConfig) (jetstream.Stream, error) {
	u.asked++
	return nil, u.err
}

// TestAServerThatCannotMakeAQueue is asked again for five seconds if it failed within; what it refuses is an error at once, which tells whom to ask.
func TestAServerThatCannotMakeAQueue(t *testing.T) {
	for _, test := range []struct {
		err   error
		asked int
		after time.Duration
	}{{&jetstream.APIError{Code: 500}, 52, 5100 * time.Millisecond}, {&jetstream.APIError{Code: 503}, 1, 0}, {&jetstream.APIError{Code: 400}, 1, 0}, {errServer, 1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			b := newWorkshop().w.b
			u := &unmade{err: test.err, owned: &owned{post: post{kv: &memory{}}, err: jetstream.ErrStreamNotFound}}
			b.js = u
			began := time.Now()
			_, err := b.Coordinate(t.Context(), "lab")
			if took := time.Since(began); !errors.Is(err, test.err) || !strings.HasPrefix(err.Error(), "queue: making the queue: ") || u.asked != test.asked || took != test.after {
				t.Errorf("%v after %v and %d tries", err, took, u.asked)
			}
			b.refused.Store(true)
			u.err = errServer
			_, err = b.Coordinate(t.Context(), "lab")
			says(t, "a worker's token", err, "queue: making the queue: the server does not allow it; a worker's token can make no queue (docs/internal/queue.md): the server does not like it")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errFound)
			defer cancel()
			u.err = &jetstream.APIError{Code: 500}
			if _, err := b.Coordinate(ctx, "lab"); !errors.Is(err, errFound) {
				t.Errorf("a context that ends: %v", err)
			}
		})
	}
}

// receipt is the server's answer to a message.
type receipt struct {
	jetstream.PubAckFuture
	ok  chan *jetstream.PubAck
	err chan error
}

func (r receipt) Ok() <-chan *jetstream.PubAck { return r.ok }
func (r receipt) Err() <-chan error            { return r.err }

// letterbox is a server that answers each message with the next of its errors, with a receipt, or, if it is silent, not at all.
type letterbox struct {
	jetstream.JetStream
	got    []*nats.Msg
	errs   []error
	silent bool
}

func (l *letterbox) PublishMsgAsync(m *nats.Msg, _ ...jetstream.PublishOpt) (jetstream.PubAckFuture, error) {
	l.got = append(l.got, m)
	r := receipt{ok: make(chan *jetstream.PubAck, 1), err: make(chan error, 1)}
	switch {
	case l.silent:
	case len(l.errs) > 0:
		r.err <- l.errs[0]
		l.errs = l.errs[1:]
	default:
		r.ok <- &jetstream.PubAck{}
	}
	return r, nil
}

// TestSubmittingJobs: what a message holds of its job; a job that is there is no error, any other answer is.
func TestSubmittingJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := overseer(t)
		l := &letterbox{errs: []error{fmt.Errorf("nats: %s", errSubjectFull)}}
		c.b.js, c.b.opt.Version, c.b.conn = l, "v", nil // there is nobody to give a hint to
		must(t, c.Submit(t.Context(), Job{ID: "one"}, Job{ID: "two", Kind: "k", Priority: Low, Payload: []byte("p"), State: []byte{0xff}, Folder: "f"}, Job{ID: "three", State: []byte{}}))
		for i, want := range []string{
			"collapse.job.p0.one  map[Kind:[] Version:[v]]",
			"collapse.job.p2.two p map[Folder:[f] Kind:[k] State:[/w==] Version:[v]]",
			"collapse.job.p0.three  map[Kind:[] State:[] Version:[v]]",
		} {
			if got := fmt.Sprintf("%s %s %v", l.got[i].Subject, l.got[i].Data, l.got[i].Header); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		l.got = nil
		must(t, c.Submit(t.Context(), slices.Repeat([]Job{{ID: "a"}}, 2001)...))
		if len(l.got) != 2001 {
			t.Errorf("%d messages for 2001 jobs", len(l.got))
		}
		began := time.Now()
		l.errs = []error{nats.ErrNoResponders, nats.ErrNoResponders}
		must(t, c.Submit(t.Context(), Job{ID: "a"}))
		if time.Since(began) != 2*time.Second {
			t.Errorf("a server that is away: after %v", time.Since(began))
		}
		l.errs = []error{errServer}
		if err := c.Submit(t.Context(), Job{ID: "a"}); !errors.Is(err, errServer) || !strings.HasPrefix(err.Error(), "queue: submitting: ") {
			t.Error(err)
		}
		l.silent = true
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errFound)
		defer cancel()
		if err := c.Submit(ctx, Job{ID: "a"}); !errors.Is(err, errFound) || time.Since(began) != 62*time.Second {
			t.Errorf("a silent server: %v after %v", err, time.Since(began))
		}
	})
}

// TestWhatAQueueCounts: jobs that wait or are worked on, and who is told of a cancellation.
func TestWhatAQueueCounts(t *testing.T) {
	s, c, b := local(t, quick(t))
	must(t, c.Submit(soon(t), jobs(3)...))
	conn, js := everywhere(t, s)
	stops, err := conn.SubscribeSync("collapse.stop")
	must(t, err)
	wakes, err := conn.SubscribeSync("collapse.wake")
	must(t, errors.Join(err, conn.Flush()))
	must(t, c.Cancel(soon(t), "job00001", "job00002"))
	for _, id := range []string{"job00001", "job00002"} {
		if m, err := stops.NextMsg(left(t)); err != nil || string(m.Data) != id {
			t.Errorf("%+v, %v; want %s", m, err, id)
		}
	}
	must(t, c.Submit(soon(t), Job{ID: "more"}))
	if _, err := wakes.NextMsg(left(t)); err != nil {
		t.Errorf("no hint for the workers: %v", err)
	}
	must(t, second(js.PublishMsg(soon(t), message("collapse.job.p1.bad%id", ""))))
	list, err := c.Jobs(soon(t))
	slices.Sort(list)
	if u := c.Unusable(); u.Count != 1 || u.Last[0].What != "a message on collapse.job.p1.bad%id" {
		t.Errorf("set aside: %+v", u)
	}
	if n, err2 := c.Waiting(soon(t)); n != 2 || err != nil || err2 != nil || !slices.Equal(list, []string{"job00000", "more"}) {
		t.Errorf("%d jobs, %q, %v, %v", n, list, err, err2)
	}
	for i := range 3 {
		must(t, second(c.kv.Put(soon(t), leasePrefix+"more", leaseValue{Worker: "w", Nonce: fmt.Sprint(i)}.encode())))
	}
	must(t, c.Forget(soon(t), "more"))
	if leases, err := c.Leases(soon(t)); err != nil || len(leases) != 0 {
		t.Errorf("leases left: %+v, %v", leases, err)
	}
	traffic, err := b.Traffic(soon(t))
	if last, err2 := c.LastGeneration(soon(t)); err != nil || err2 != nil || traffic != (Traffic{Leases: last}) || last < 4 {
		t.Errorf("%+v, last generation %d, %v, %v", traffic, last, err, err2)
	}
}

// TestTrafficIsReadWithoutAReader: then everything is unread; a reader that is further than the count leaves nothing unread.
func TestTrafficIsReadWithoutAReader(t *testing.T) {
	for _, test := range []struct {
		floor     uint64
		readerErr error
		want      Traffic
		err       error
	}{
		{0, jetstream.ErrConsumerNotFound, Traffic{Leases: 9, Results: 9, Unread: 4}, nil},
		{7, nil, Traffic{Leases: 9, Results: 9, Unread: 2}, nil},
		{11, nil, Traffic{Leases: 9, Results: 9}, nil},
		{0, errServer, Traffic{}, errServer},
	} {
		c, _ := overseer(t)
		c.b.js = passed{counted{state: jetstream.StreamState{LastSeq: 9, Msgs: 4}}, test.floor, test.readerErr}
		if got, err := c.b.Traffic(t.Context()); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%+v, %v; want %+v", got, err, test.want)
		}
	}
}

// passed is a server whose reader of results has got to a number.
type passed struct {
	counted
	floor uint64
	err   error
}

func (p passed) Consumer(context.Context, string, string) (jetstream.Consumer, error) {
	return standing{info: &jetstream.ConsumerInfo{AckFloor: jetstream.SequenceInfo{Stream: p.floor}}}, p.err
}
