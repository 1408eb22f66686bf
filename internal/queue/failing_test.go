package queue

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var errServer = errors.New("the server does not like it")

// failing counts the exchanges with a server, and lets one of them fail.
type failing struct {
	mu        sync.Mutex
	at, calls int // at 0: none fails
	failed    string
}

// next counts an exchange. It returns errServer if this is the one that fails.
func (f *failing) next(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls == f.at {
		f.failed = call
		return errServer
	}
	return nil
}

// failingServer and the types below wrap what the library offers. What it gives out is wrapped as well.
type failingServer struct {
	jetstream.JetStream
	f *failing
}

func fails[T any](f *failing, call string, do func() (T, error)) (T, error) {
	if err := f.next(call); err != nil {
		return *new(T), err
	}
	return do()
}

func (s failingServer) stream(call string, do func() (jetstream.Stream, error)) (jetstream.Stream, error) {
	real, err := fails(s.f, call, do)
	if err != nil {
		return nil, err
	}
	return failingStream{real, s.f}, nil
}

func (s failingServer) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	return s.stream("Stream", func() (jetstream.Stream, error) { return s.JetStream.Stream(ctx, name) })
}
func (s failingServer) CreateOrUpdateStream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	return s.stream("CreateOrUpdateStream", func() (jetstream.Stream, error) { return s.JetStream.CreateOrUpdateStream(ctx, c) })
}
func (s failingServer) UpdateStream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	return s.stream("UpdateStream", func() (jetstream.Stream, error) { return s.JetStream.UpdateStream(ctx, c) })
}
func (s failingServer) Consumer(ctx context.Context, stream, name string) (jetstream.Consumer, error) {
	return fails(s.f, "Consumer", func() (jetstream.Consumer, error) { return s.JetStream.Consumer(ctx, stream, name) })
}
func (s failingServer) KeyValue(ctx context.Context, name string) (jetstream.KeyValue, error) {
	real, err := fails(s.f, "KeyValue", func() (jetstream.KeyValue, error) { return s.JetStream.KeyValue(ctx, name) })
	if err != nil {
		return nil, err
	}
	return failingBucket{real, s.f}, nil
}
func (s failingServer) CreateOrUpdateKeyValue(ctx context.Context, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	real, err := fails(s.f, "CreateOrUpdateKeyValue", func() (jetstream.KeyValue, error) { return s.JetStream.CreateOrUpdateKeyValue(ctx, c) })
	if err != nil {
		return nil, err
	}
	return failingBucket{real, s.f}, nil
}
func (s failingServer) ObjectStore(ctx context.Context, name string) (jetstream.ObjectStore, error) {
	real, err := fails(s.f, "ObjectStore", func() (jetstream.ObjectStore, error) { return s.JetStream.ObjectStore(ctx, name) })
	if err != nil {
		return nil, err
	}
	return failingObjects{real, s.f}, nil
}
func (s failingServer) CreateObjectStore(ctx context.Context, c jetstream.ObjectStoreConfig) (jetstream.ObjectStore, error) {
	return fails(s.f, "CreateObjectStore", func() (jetstream.ObjectStore, error) { return s.JetStream.CreateObjectStore(ctx, c) })
}
func (s failingServer) PublishMsgAsync(m *nats.Msg, o ...jetstream.PublishOpt) (jetstream.PubAckFuture, error) {
	return fails(s.f, "PublishMsgAsync", func() (jetstream.PubAckFuture, error) { return s.JetStream.PublishMsgAsync(m, o...) })
}

type failingStream struct {
	jetstream.Stream
	f *failing
}

func (s failingStream) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	return fails(s.f, "Info", func() (*jetstream.StreamInfo, error) { return s.Stream.Info(ctx, o...) })
}
func (s failingStream) Purge(ctx context.Context, o ...jetstream.StreamPurgeOpt) error {
	return errors.Join(s.f.next("Purge"), s.Stream.Purge(ctx, o...))
}
func (s failingStream) GetMsg(ctx context.Context, n uint64, o ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return fails(s.f, "GetMsg", func() (*jetstream.RawStreamMsg, error) { return s.Stream.GetMsg(ctx, n, o...) })
}
func (s failingStream) GetLastMsgForSubject(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	return fails(s.f, "GetLastMsgForSubject", func() (*jetstream.RawStreamMsg, error) { return s.Stream.GetLastMsgForSubject(ctx, subject) })
}
func (s failingStream) DeleteMsg(ctx context.Context, n uint64) error {
	return errors.Join(s.f.next("DeleteMsg"), s.Stream.DeleteMsg(ctx, n))
}
func (s failingStream) CreateOrUpdateConsumer(ctx context.Context, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	return fails(s.f, "CreateOrUpdateConsumer", func() (jetstream.Consumer, error) { return s.Stream.CreateOrUpdateConsumer(ctx, c) })
}
func (s failingStream) CreateConsumer(ctx context.Context, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	return fails(s.f, "CreateConsumer", func() (jetstream.Consumer, error) { return s.Stream.CreateConsumer(ctx, c) })
}
func (s failingStream) DeleteConsumer(ctx context.Context, name string) error {
	return errors.Join(s.f.next("DeleteConsumer"), s.Stream.DeleteConsumer(ctx, name))
}
func (s failingStream) OrderedConsumer(ctx context.Context, c jetstream.OrderedConsumerConfig) (jetstream.Consumer, error) {
	return s.reader("OrderedConsumer", func() (jetstream.Consumer, error) { return s.Stream.OrderedConsumer(ctx, c) })
}
func (s failingStream) Consumer(ctx context.Context, name string) (jetstream.Consumer, error) {
	return s.reader("Consumer", func() (jetstream.Consumer, error) { return s.Stream.Consumer(ctx, name) })
}
func (s failingStream) reader(call string, do func() (jetstream.Consumer, error)) (jetstream.Consumer, error) {
	real, err := fails(s.f, call, do)
	if err != nil {
		return nil, err
	}
	return failingReader{real, s.f}, nil
}

type failingReader struct {
	jetstream.Consumer
	f *failing
}

func (r failingReader) Fetch(n int, o ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	return fails(r.f, "Fetch", func() (jetstream.MessageBatch, error) { return r.Consumer.Fetch(n, o...) })
}

type failingBucket struct {
	jetstream.KeyValue
	f *failing
}

func (b failingBucket) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	return fails(b.f, "Get", func() (jetstream.KeyValueEntry, error) { return b.KeyValue.Get(ctx, key) })
}
func (b failingBucket) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	return fails(b.f, "Put", func() (uint64, error) { return b.KeyValue.Put(ctx, key, value) })
}
func (b failingBucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return fails(b.f, "Update", func() (uint64, error) { return b.KeyValue.Update(ctx, key, value, revision) })
}
func (b failingBucket) Watch(ctx context.Context, key string, o ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	return fails(b.f, "Watch", func() (jetstream.KeyWatcher, error) { return b.KeyValue.Watch(ctx, key, o...) })
}

type failingObjects struct {
	jetstream.ObjectStore
	f *failing
}

func (o failingObjects) GetInfo(ctx context.Context, name string, opts ...jetstream.GetObjectInfoOpt) (*jetstream.ObjectInfo, error) {
	return fails(o.f, "GetInfo", func() (*jetstream.ObjectInfo, error) { return o.ObjectStore.GetInfo(ctx, name, opts...) })
}
func (o failingObjects) Get(ctx context.Context, name string, opts ...jetstream.GetObjectOpt) (jetstream.ObjectResult, error) {
	return fails(o.f, "Get", func() (jetstream.ObjectResult, error) { return o.ObjectStore.Get(ctx, name, opts...) })
}
func (o failingObjects) Put(ctx context.Context, meta jetstream.ObjectMeta, r io.Reader) (*jetstream.ObjectInfo, error) {
	return fails(o.f, "Put", func() (*jetstream.ObjectInfo, error) { return o.ObjectStore.Put(ctx, meta, r) })
}

// TestEveryRefusalOfTheServerIsToldOn: whichever exchange of a call fails, the call fails, with that cause, and asked again it is done.
func TestEveryRefusalOfTheServerIsToldOn(t *testing.T) {
	t.Parallel()
	s := startServer(t, ServerOptions{})
	b, err := s.Connect(quick(t))
	must(t, err)
	t.Cleanup(b.Close)
	f := &failing{}
	b.js = failingServer{b.js, f}
	c, err := b.Coordinate(soon(t), "lab")
	must(t, err)
	_, plain := everywhere(t, s)
	bucket, err := plain.KeyValue(soon(t), b.leaseBucket())
	must(t, err)
	blobs, err := b.Objects(soon(t))
	must(t, err)
	var kept Blob
	var revision uint64
	lease := func(value []byte) func() error {
		return func() (err error) { revision, err = bucket.Put(soon(t), leasePrefix+"job00000", value); return err }
	}
	held := leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: 1}.encode()
	garbage := func() error {
		if _, err := plain.PublishMsg(soon(t), message("collapse.job.p1.bad%id", "x")); err != nil && !strings.Contains(err.Error(), errSubjectFull) {
			return err
		}
		return nil
	}
	must(t, second(plain.PublishMsg(soon(t), message("collapse.res.job00001", "x", headType, "data", headGeneration, "1", headAttempt, "1"))))
	acknowledge(t, c, "job00001")
	but := func(nothing, err error) error {
		if errors.Is(err, nothing) {
			return nil
		}
		return err
	}
	noReader := func() error {
		return but(jetstream.ErrConsumerNotFound, plain.DeleteConsumer(soon(t), b.resultStream(), readerName))
	}
	noStore := func() error {
		return but(jetstream.ErrBucketNotFound, plain.DeleteObjectStore(soon(t), b.blobBucket()))
	}
	for _, test := range []struct {
		name    string
		prepare func() error
		do      func() error
		calls   int    // at least
		around  string // exchanges whose failure need not be an error
	}{
		{"coordinate", nil, func() error { return second(b.Coordinate(soon(t), "lab")) }, 10, ""},
		{"coordinate one that is damaged", func() error { return second(bucket.Put(soon(t), infoKey, []byte("x"))) },
			func() error { return second(b.Coordinate(soon(t), "lab")) }, 11, ""},
		{"submit", nil, func() error { return c.Submit(soon(t), jobs(2)...) }, 2, ""},
		{"waiting", nil, func() error { return second(c.Waiting(soon(t))) }, 1, ""},
		{"jobs", garbage, func() error { return second(c.Jobs(soon(t))) }, 4, ""},
		{"cancel", nil, func() error { return c.Cancel(soon(t), "a") }, 2, ""},
		{"forget", nil, func() error { return c.Forget(soon(t), "a") }, 2, ""},
		{"last", nil, func() error { return second(c.LastGeneration(soon(t))) }, 1, ""},
		{"settled", nil, func() error { return c.Settled(soon(t), "job00001") }, 2, ""},
		{"leases", nil, func() error { return second(c.Leases(soon(t))) }, 1, ""},
		{"watch", lease(held), func() error {
			ctx, cancel := context.WithCancel(soon(t))
			return but(context.Canceled, c.Watch(ctx, func(Lease) { cancel() }))
		}, 1, ""},
		{"free", lease(held), func() error { return second(c.Free(soon(t), func(string) bool { return true })) }, 3, ""},
		{"release", lease(held), func() error { return c.Release(soon(t), "job00000", revision) }, 2, ""},
		{"release an unread", lease([]byte("x")), func() error { return c.Release(soon(t), "job00000", revision) }, 2, ""},
		{"replay", nil, func() error { return c.Replay(soon(t), func([]Message) error { return nil }) }, 3, ""},
		{"traffic", nil, func() error { return second(b.Traffic(soon(t))) }, 3, ""},
		{"reader", nil, func() error { return second(c.reader(soon(t))) }, 1, ""},
		{"reader, none", noReader, func() error { return second(c.reader(soon(t))) }, 2, ""},
		{"objects", nil, func() error { return second(b.Objects(soon(t))) }, 1, ""},
		{"objects, none", noStore, func() error { return second(b.Objects(soon(t))) }, 2, ""},
		{"put", nil, func() error { return second(blobs.Put(soon(t), "job/y", strings.NewReader("content"))) }, 2, "GetInfo"}, // another name is taken
		{"get", func() (err error) { kept, err = blobs.Put(soon(t), "job/x", strings.NewReader("content")); return err },
			func() error { return blobs.Get(soon(t), kept, io.Discard) }, 4, ""},
		{"list", nil, func() error { return second(blobs.List(soon(t))) }, 2, ""},
		{"remove", func() error { return second(blobs.Put(soon(t), "job/z", strings.NewReader("content"))) }, func() error { return blobs.Remove(soon(t), "job/z") }, 4, ""},
		{"clear", nil, func() error { return blobs.Clear(soon(t)) }, 2, ""},
	} {
		for n := 1; ; n++ {
			if test.prepare != nil {
				f.at, f.calls = 0, 0
				must(t, test.prepare())
			}
			f.at, f.calls = n, 0
			err := test.do()
			if f.calls < n {
				if err != nil || n <= test.calls {
					t.Errorf("%s: no exchange of %d fails, want at least %d: %v", test.name, n-1, test.calls, err)
				}
				break
			}
			if !errors.Is(err, errServer) && !strings.Contains(test.around, f.failed) {
				t.Errorf("%s, %s is exchange %d: %v", test.name, f.failed, n, err)
			}
		}
		f.at = 0
	}
}

// acknowledge handles all results, of which the last is one of the job.
func acknowledge(t *testing.T, c *Coordinator, id string) {
	t.Helper()
	ctx, cancel := context.WithCancel(soon(t))
	ended := make(chan error, 1)
	go func() { ended <- c.Receive(ctx, func([]Message) error { return nil }) }()
	must(t, c.Settled(soon(t), id))
	cancel()
	ends(t, "Receive", ended)
}
