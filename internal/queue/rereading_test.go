package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// counts is a stream of which only the numbers are asked.
type counts struct {
	jetstream.Stream
	state jetstream.StreamState
}

func (c counts) CachedInfo() *jetstream.StreamInfo { return &jetstream.StreamInfo{State: c.state} }

type counted struct {
	jetstream.JetStream
	state jetstream.StreamState
}

func (c counted) Stream(context.Context, string) (jetstream.Stream, error) {
	return counts{state: c.state}, nil
}

// TestReadingResultsAgain ends with what was there when it began, or with what ended it.
func TestReadingResultsAgain(t *testing.T) {
	rows := strings.Fields(strings.Repeat("row ", 3*batch))
	for _, test := range []struct {
		name    string
		state   jetstream.StreamState
		p       tape
		handled error
		after   int // calls of the handler after which the context ends
		got     int
		want    error
	}{
		{"none", jetstream.StreamState{LastSeq: 7}, tape{}, nil, 0, 0, nil},
		{"all", jetstream.StreamState{Msgs: 3 * batch, LastSeq: 3 * batch}, tape{texts: rows}, nil, 0, 3 * batch, nil},
		{"up to the last batch", jetstream.StreamState{Msgs: 2 * batch, LastSeq: 2 * batch}, tape{texts: rows}, nil, 0, 2 * batch, nil},
		{"and one more", jetstream.StreamState{Msgs: 2*batch + 1, LastSeq: 2*batch + 1}, tape{texts: rows}, nil, 0, 3 * batch, nil},
		{"no reader", jetstream.StreamState{Msgs: 1, LastSeq: 1}, tape{texts: rows, fails: map[int]error{1: errServer}}, nil, 0, 0, errServer},
		{"no messages", jetstream.StreamState{Msgs: 1, LastSeq: 1}, tape{texts: rows, fails: map[int]error{2: errServer}}, nil, 0, 0, errServer},
		{"an end too early", jetstream.StreamState{Msgs: 4 * batch, LastSeq: 4 * batch}, tape{texts: rows, after: nats.ErrTimeout}, nil, 0, 3 * batch, nats.ErrTimeout},
		{"a handler that ends it", jetstream.StreamState{Msgs: 3 * batch, LastSeq: 3 * batch}, tape{texts: rows}, errFound, 0, batch, errFound},
		{"a context that ends", jetstream.StreamState{Msgs: 3 * batch, LastSeq: 3 * batch}, tape{texts: rows}, nil, 2, 2 * batch, context.Canceled},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := deaf(t)
			c.b.js, c.results = counted{state: test.state}, again{&test.p}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			got, calls := 0, 0
			err := c.Replay(ctx, func(list []Message) error {
				got += len(list)
				if calls++; calls == test.after {
					cancel()
				}
				return test.handled
			})
			if !errors.Is(err, test.want) || got != test.got {
				t.Errorf("%s: %d messages, %v; want %d, %v", test.name, got, err, test.got, test.want)
			}
		})
	}
}

// again is a tape that is read in order.
type again struct{ *tape }

func (r again) OrderedConsumer(context.Context, jetstream.OrderedConsumerConfig) (jetstream.Consumer, error) {
	if err := r.fail(); err != nil {
		return nil, err
	}
	return &reel{p: r.tape}, nil
}

// progressing is a stream whose newest result of a job has a number, and whose reader gets on.
type progressing struct {
	jetstream.Stream
	last   uint64
	floors []any // what is heard of the reader, one after another: how far it is, or an error
	errs   []error
}

func (p *progressing) GetLastMsgForSubject(_ context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	if len(p.errs) > 0 {
		err := p.errs[0]
		p.errs = p.errs[1:]
		return nil, err
	}
	if p.last == 0 {
		return nil, jetstream.ErrMsgNotFound
	}
	return &jetstream.RawStreamMsg{Subject: subject, Sequence: p.last}, nil
}
func (p *progressing) Consumer(context.Context, string) (jetstream.Consumer, error) {
	next := p.floors[0]
	p.floors = p.floors[1:]
	if err, failed := next.(error); failed {
		return nil, err
	}
	return standing{info: &jetstream.ConsumerInfo{AckFloor: jetstream.SequenceInfo{Stream: uint64(next.(int))}}}, nil
}

// TestWhenAJobIsSettled: once its newest result is acknowledged; a reader that is not there yet, and a server that is away, are waited for.
func TestWhenAJobIsSettled(t *testing.T) {
	for _, test := range []struct {
		name  string
		p     *progressing
		left  int // of floors
		after time.Duration
		want  error
	}{
		{"no result", &progressing{floors: []any{0}}, 1, 0, nil},
		{"just acknowledged", &progressing{last: 7, floors: []any{7, 8}}, 1, 0, nil},
		{"one missing", &progressing{last: 7, floors: []any{5, 6, 8, 9}}, 1, 2 * settledEvery, nil},
		{"a reader to come", &progressing{last: 7, floors: []any{jetstream.ErrConsumerNotFound, 7}}, 0, settledEvery, nil},
		{"a server that is away", &progressing{last: 7, errs: []error{nats.ErrNoResponders}, floors: []any{nats.ErrTimeout, 7}}, 0, 2 * time.Second, nil},
		{"a refusal", &progressing{last: 7, errs: []error{errServer}}, 0, 0, errServer},
		{"a later refusal", &progressing{last: 7, floors: []any{6, errServer}}, 0, settledEvery, errServer},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := deaf(t)
			c.results = test.p
			began := time.Now()
			if err := c.Settled(t.Context(), "one"); !errors.Is(err, test.want) || err != nil && !strings.HasPrefix(err.Error(), "queue: ") {
				t.Errorf("%s: %v", test.name, err)
			}
			if took := time.Since(began); took != test.after || len(test.p.floors) != test.left {
				t.Errorf("%s: after %v, want %v; %d answers are left", test.name, took, test.after, len(test.p.floors))
			}
		})
	}
}
