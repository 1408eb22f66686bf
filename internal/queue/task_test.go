package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// published accepts every message. Its leader knows the given number of leases.
type published struct {
	jetstream.JetStream
	leases uint64
}

func (p published) Stream(context.Context, string) (jetstream.Stream, error) {
	return leader{leases: p.leases}, nil
}

type leader struct {
	jetstream.Stream
	leases uint64
}

func (l leader) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	return &jetstream.StreamInfo{State: jetstream.StreamState{Subjects: map[string]uint64{"$KV.collapse-claims." + leasePrefix + "one": l.leases}}}, nil
}

func (published) PublishMsg(context.Context, *nats.Msg, ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	return &jetstream.PubAck{}, nil
}

// unheard is a job's message; the server hears of its acknowledgement only after enough attempts.
type unheard struct {
	jetstream.Msg
	lost, asked int
}

func (u *unheard) DoubleAck(context.Context) error {
	if u.asked++; u.asked <= u.lost {
		return nats.ErrTimeout
	}
	return nil
}

func (u *unheard) Ack() error { return nil } // nobody would know

// forgotten is a bucket from which a lease is removed after some writes.
type forgotten struct {
	jetstream.KeyValue
	writes int
}

func (f *forgotten) Update(context.Context, string, []byte, uint64) (uint64, error) {
	if f.writes--; f.writes < 0 {
		return 0, jetstream.ErrKeyRevisionMismatch
	}
	return 1, nil
}
func (f *forgotten) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	return nil, jetstream.ErrKeyNotFound
}

// TestAJobThatEndedLeavesTheQueue: a worker continues only when the server has taken the job out of the queue, since a server that
// dies would otherwise give it to others, who would do it again; or when the coordinator has forgotten the job, which also takes it
// out.
func TestAJobThatEndedLeavesTheQueue(t *testing.T) {
	for _, test := range []struct {
		name                string
		lost, writes, asked int
		want                error
	}{
		{"heard", 0, 9, 1, nil},
		{"heard the third time", 2, 9, 3, nil},
		{"never heard, and forgotten", 99, 2, 2, ErrLost},
		{"lost before", 0, 0, 0, ErrLost},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := deaf(t).b
			b.js = published{}
			m := &unheard{lost: test.lost}
			task := &Task{Job: Job{ID: "one"}, w: &worker{b: b, opt: b.opt, kv: &forgotten{writes: test.writes}}, msg: m}
			if err := task.finish(t.Context(), Done, nil, ""); !errors.Is(err, test.want) || m.asked != test.asked {
				t.Errorf("%s: %v after %d acknowledgements; want %v after %d", test.name, err, m.asked, test.want, test.asked)
			}
		})
	}
}

// TestAServerThatLagsBehindEndsNoLease: a cluster that has just lost a server refuses to update a lease, and a server that does not
// know the lease yet finds none. A worker that took this for the loss of its lease used to leave a finished job in the queue, where
// it was done again; one that saw this when taking a job dropped it.
func TestAServerThatLagsBehindEndsNoLease(t *testing.T) {
	mine := leaseValue{Worker: "me", Nonce: "mine", Held: true, Attempt: 1}
	for _, test := range []struct {
		name   string
		misses int // reads that find nothing
		want   error
	}{
		{"it lags behind", 5, nil},
		{"the lease does not come", 1 << 20, ErrLost},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := deaf(t).b
			b.js = published{leases: 1}
			kv := &refusing{refusals: 1, misses: test.misses, shows: entry{value: mine.encode(), revision: 9}}
			m := &unheard{}
			task := &Task{Job: Job{ID: "one"}, w: &worker{b: b, opt: b.opt, kv: kv}, msg: m, lease: mine, revision: 7, Generation: 3}
			if err := task.finish(t.Context(), Done, nil, ""); !errors.Is(err, test.want) || (m.asked == 1) != (err == nil) {
				t.Errorf("%s: %v after %d acknowledgements", test.name, err, m.asked)
			}
			kv.misses = test.misses
			if _, v, err := task.w.readLease(t.Context(), "one"); !errors.Is(err, test.want) || err == nil && v.Nonce != "mine" {
				t.Errorf("%s, read: %v, %+v", test.name, err, v)
			}
		})
	}
}

// refusing is a bucket that refuses some updates, and shows a lease, but not to the first reads.
type refusing struct {
	jetstream.KeyValue
	refusals int
	misses   int
	shows    entry
}

func (r *refusing) Update(_ context.Context, _ string, _ []byte, revision uint64) (uint64, error) {
	if r.refusals--; r.refusals >= 0 {
		return 0, jetstream.ErrKeyRevisionMismatch
	}
	return revision + 1, nil
}
func (r *refusing) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	if r.misses--; r.misses >= 0 {
		return nil, jetstream.ErrKeyNotFound
	}
	return r.shows, nil
}

// TestOnlyALaterLeaseTakesAJobFromItsWorker: a cluster that lost a server refuses updates while it has not agreed on those before. A
// worker that took this for the loss of its lease used to leave a job that nobody else had.
func TestOnlyALaterLeaseTakesAJobFromItsWorker(t *testing.T) {
	mine := leaseValue{Worker: "me", Nonce: "mine", Held: true, Attempt: 1}
	others, freed := leaseValue{Worker: "other", Nonce: "its own", Held: true, Attempt: 2}, mine
	freed.Held = false
	for _, test := range []struct {
		name     string
		refusals int
		shows    leaseValue
		revision uint64 // of what is shown; the task knows 7
		want     error
		knows    uint64
	}{
		{"an update is on its way", 1, mine, 7, jetstream.ErrKeyRevisionMismatch, 7},
		{"an update whose answer was lost", 1, mine, 9, nil, 10},
		{"another is on its way behind it", 2, mine, 9, jetstream.ErrKeyRevisionMismatch, 7},
		{"a server that lags behind shows whose it was before", 1, others, 5, jetstream.ErrKeyRevisionMismatch, 7},
		{"taken over", 1, others, 9, ErrLost, 7},
		{"given up for it", 1, freed, 9, ErrLost, 7},
	} {
		b := deaf(t).b
		kv := &refusing{refusals: test.refusals, shows: entry{value: test.shows.encode(), revision: test.revision}}
		task := &Task{Job: Job{ID: "one"}, w: &worker{b: b, opt: b.opt, kv: kv}, lease: mine, revision: 7, Generation: 3}
		if err := task.update(t.Context(), func(*leaseValue) {}); !errors.Is(err, test.want) || task.revision != test.knows {
			t.Errorf("%s: %v, the task knows revision %d; want %v and %d", test.name, err, task.revision, test.want, test.knows)
		}
	}
}
