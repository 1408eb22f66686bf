package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestSettledWaitsForTheJobsResults: results of the job that are on the server are handled before Settled returns; those of other jobs need not be.
func TestSettledWaitsForTheJobsResults(t *testing.T) {
	s := startServer(t, ServerOptions{})
	b, err := s.Connect(quick(t))
	must(t, err)
	defer b.Close()
	c, err := b.Coordinate(t.Context(), "lab")
	must(t, err)
	must(t, c.Submit(soon(t), Job{ID: "one"}, Job{ID: "silent"}))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	sent, speak := make(chan error, 2), make(chan struct{})
	go b.Work(ctx, WorkerOptions{Slots: 2}, func(ctx context.Context, task *Task) ([]byte, error) {
		var err error
		for range 5 {
			if task.ID == "one" {
				err = errors.Join(err, task.Send(ctx, []byte("row")))
			}
		}
		sent <- err
		if task.ID == "silent" {
			<-speak
			sent <- task.Send(ctx, []byte("row"))
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	must(t, next(t, "the first job's results", sent))
	must(t, next(t, "the second job's results", sent))
	must(t, c.Settled(soon(t), "silent")) // nothing was sent, and nobody receives
	bounded, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := c.Settled(bounded, "one"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while nobody receives: %v", err)
	}
	var handled atomic.Int64
	late := make(chan struct{})
	defer close(late)
	go c.Receive(ctx, func(list []Message) error {
		time.Sleep(50 * time.Millisecond)
		if list[len(list)-1].Job == "silent" {
			<-late
		}
		handled.Add(int64(len(list)))
		return nil
	})
	must(t, c.Settled(soon(t), "one"))
	if n := handled.Load(); n < 5 {
		t.Errorf("%d of 5 results were handled", n)
	}
	close(speak)
	must(t, next(t, "the silent job's result", sent))
	must(t, c.Settled(soon(t), "one")) // although the other job's result waits
	newest, err := c.kv.Put(t.Context(), leasePrefix+"newest", leaseValue{Worker: "w", Nonce: "n"}.encode())
	must(t, err)
	last, err := c.LastGeneration(soon(t))
	if last < newest {
		t.Errorf("last generation %d, and there is one of %d", last, newest)
	}
	leases, err2 := c.Leases(soon(t))
	if err != nil || err2 != nil || len(leases) != 3 || last < max(leases[0].Generation, leases[1].Generation, leases[2].Generation) {
		t.Errorf("last generation %d of %+v; %v, %v", last, leases, err, err2)
	}
}

// begun is a server that is just creating the reader of five results: it answers for the reader, but has counted nothing yet.
type begun struct{ jetstream.JetStream }

func (begun) Stream(context.Context, string) (jetstream.Stream, error) { return begunStream{}, nil }
func (begun) Consumer(context.Context, string, string) (jetstream.Consumer, error) {
	return begunReader{}, nil
}

type begunStream struct{ jetstream.Stream }

func (begunStream) CachedInfo() *jetstream.StreamInfo {
	return &jetstream.StreamInfo{State: jetstream.StreamState{Msgs: 5, LastSeq: 5}}
}
func (begunStream) GetLastMsgForSubject(context.Context, string) (*jetstream.RawStreamMsg, error) {
	return &jetstream.RawStreamMsg{Sequence: 5}, nil
}
func (begunStream) Consumer(context.Context, string) (jetstream.Consumer, error) {
	return begunReader{}, nil
}

type begunReader struct{ jetstream.Consumer }

func (begunReader) CachedInfo() *jetstream.ConsumerInfo { return &jetstream.ConsumerInfo{} }

// TestAReaderThatIsBeingMadeHasReadNothing: otherwise a run would be continued without the rows that are on their way.
func TestAReaderThatIsBeingMadeHasReadNothing(t *testing.T) {
	c := deaf(t)
	c.b.js, c.results = begun{}, begunStream{}
	bounded, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Settled(bounded, "one"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("settled: %v", err)
	}
	if got, err := c.b.Traffic(t.Context()); err != nil || got.Unread != 5 {
		t.Errorf("%+v, %v; want 5 unread", got, err)
	}
}

// remade is a stream of results with an existing reader. It records where a new reader starts to read.
type remade struct {
	jetstream.Stream
	info jetstream.ConsumerInfo
	from uint64
}

type standing struct {
	jetstream.Consumer
	info *jetstream.ConsumerInfo
}

func (s standing) CachedInfo() *jetstream.ConsumerInfo { return s.info }

func (r *remade) Consumer(context.Context, string) (jetstream.Consumer, error) {
	return standing{info: &r.info}, nil
}
func (*remade) DeleteConsumer(context.Context, string) error { return jetstream.ErrConsumerNotFound } // another answer was lost
func (r *remade) CreateConsumer(_ context.Context, config jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	r.from = config.OptStartSeq
	return standing{}, nil
}

// TestAReaderWithResultsInHandIsMadeAnew: even if the server does not count them as pending, as a server of a cluster does not while
// it takes over the reader. Otherwise later results would be acknowledged, and with them these, which nobody has handled.
func TestAReaderWithResultsInHandIsMadeAnew(t *testing.T) {
	for _, test := range []struct {
		delivered, floor uint64
		pending          int
		from             uint64 // 0: it stays
	}{{0, 0, 0, 0}, {7, 7, 0, 0}, {7, 4, 3, 5}, {7, 4, 0, 5}} {
		c := deaf(t)
		r := &remade{info: jetstream.ConsumerInfo{NumAckPending: test.pending,
			Delivered: jetstream.SequenceInfo{Consumer: test.delivered, Stream: test.delivered}, AckFloor: jetstream.SequenceInfo{Consumer: test.floor, Stream: test.floor}}}
		c.results = r
		if _, err := c.reader(t.Context()); err != nil || r.from != test.from {
			t.Errorf("%+v: the reader begins at %d, %v", test, r.from, err)
		}
	}
}

// late is a reader for which a message arrived when nobody waited for it any more.
type late struct {
	jetstream.Consumer
	delivered uint64
}

func (late) Fetch(int, ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	return fetched(nil), nil
}
func (l late) Info(context.Context) (*jetstream.ConsumerInfo, error) {
	return &jetstream.ConsumerInfo{Delivered: jetstream.SequenceInfo{Consumer: l.delivered}}, nil
}

// TestAResultThatCameTooLateIsMissedSoon: within seconds, not only when the server delivers it again, or when the next one arrives.
func TestAResultThatCameTooLateIsMissedSoon(t *testing.T) {
	for _, test := range []struct {
		delivered, read uint64
		want            error
	}{{7, 7, nil}, {8, 7, errGap}, {0, 0, nil}} {
		if _, _, err := deaf(t).waitForOne(t.Context(), late{delivered: test.delivered}, &test.read); !errors.Is(err, test.want) {
			t.Errorf("%d handed out, %d read: %v, want %v", test.delivered, test.read, err, test.want)
		}
	}
}
