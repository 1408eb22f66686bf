package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// published takes every message.
type published struct{ jetstream.JetStream }

func (published) PublishMsg(context.Context, *nats.Msg, ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	return &jetstream.PubAck{}, nil
}

// unheard is a job's message; the server hears of its acknowledgement only when it was asked often enough.
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

// forgotten is a bucket from which a claim is removed after some writes.
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

// TestAJobThatEndedLeavesTheQueue: a worker goes on only when the server has taken the job out of the queue, for a server that dies
// would give it to others, who would do it again; or when the coordinator has forgotten the job, which takes it out, too.
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
