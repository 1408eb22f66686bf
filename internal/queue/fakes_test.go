package queue

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// memory is a bucket without a server: every write has the next revision, and an update must name the one that it replaces.
type memory struct {
	jetstream.KeyValue
	mu       sync.Mutex
	entries  map[string]entry
	revision uint64
	err      func(call string) error // of a call before it does anything; nil: none
	before   func(call string)       // what somebody else does just before a call
}

func (m *memory) begin(call string) error {
	if m.before != nil {
		m.before(call)
	}
	m.mu.Lock()
	if m.err != nil {
		return m.err(call)
	}
	return nil
}

func (m *memory) put(key string, value []byte) uint64 {
	if m.entries == nil {
		m.entries = map[string]entry{}
	}
	m.revision++
	m.entries[key] = entry{key: key, value: value, revision: m.revision}
	return m.revision
}

func (m *memory) Create(_ context.Context, key string, value []byte, _ ...jetstream.KVCreateOpt) (uint64, error) {
	defer m.mu.Unlock()
	if err := m.begin("Create"); err != nil {
		return 0, err
	}
	if _, there := m.entries[key]; there {
		return 0, jetstream.ErrKeyExists
	}
	return m.put(key, value), nil
}

func (m *memory) Get(_ context.Context, key string) (jetstream.KeyValueEntry, error) {
	defer m.mu.Unlock()
	if err := m.begin("Get"); err != nil {
		return nil, err
	}
	e, there := m.entries[key]
	if !there {
		return nil, jetstream.ErrKeyNotFound
	}
	return e, nil
}

func (m *memory) Put(_ context.Context, key string, value []byte) (uint64, error) {
	defer m.mu.Unlock()
	if err := m.begin("Put"); err != nil {
		return 0, err
	}
	return m.put(key, value), nil
}

func (m *memory) Update(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	defer m.mu.Unlock()
	if err := m.begin("Update"); err != nil {
		return 0, err
	}
	if m.entries[key].revision != revision {
		return 0, jetstream.ErrKeyRevisionMismatch
	}
	return m.put(key, value), nil
}

// lease is what the bucket holds for a job.
func (m *memory) lease(t *testing.T, id string) (leaseValue, uint64) {
	t.Helper()
	e := m.entries[leasePrefix+id]
	v, err := parseLease(e.value, e.revision)
	must(t, err)
	return v, e.revision
}

// told is a job's message that keeps what the server was told about it.
type told struct {
	brought
	mu   sync.Mutex
	said []string
	err  error // of what needs no answer
}

func (m *told) say(format string, args ...any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said = append(m.said, fmt.Sprintf(format, args...))
	return m.err
}

// soFar is what was said, while a task is still running.
func (m *told) soFar() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.said)
}

func (m *told) Ack() error                         { return m.say("ack") }
func (m *told) DoubleAck(context.Context) error    { return m.say("double ack") }
func (m *told) Nak() error                         { return m.say("nak") }
func (m *told) NakWithDelay(d time.Duration) error { return m.say("nak in %v", d) }
func (m *told) InProgress() error                  { return m.say("in progress") }
func (m *told) Term() error                        { return m.say("term") }

// post is a server that takes results, and has one bucket and no leases in its stream.
type post struct {
	jetstream.JetStream
	sent []*nats.Msg
	errs []error // of the first messages
	kv   jetstream.KeyValue
	asks error // of KeyValue
}

func (p *post) PublishMsg(_ context.Context, m *nats.Msg, _ ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if len(p.errs) > 0 {
		err := p.errs[0]
		p.errs = p.errs[1:]
		if err != nil {
			return nil, err
		}
	}
	p.sent = append(p.sent, m)
	return &jetstream.PubAck{}, nil
}
func (p *post) Stream(context.Context, string) (jetstream.Stream, error)     { return leader{}, nil }
func (p *post) KeyValue(context.Context, string) (jetstream.KeyValue, error) { return p.kv, p.asks }
func (p *post) Consumer(context.Context, string, string) (jetstream.Consumer, error) {
	return standing{}, nil
}

// workshop is a worker with all that it talks to, and none of it a server.
type workshop struct {
	w    *worker
	kv   *memory
	post *post
	logs []string
}

func newWorkshop() *workshop {
	s := &workshop{kv: &memory{}, post: &post{}}
	s.post.kv = s.kv
	opt := Options{Version: "1", Logf: func(format string, args ...any) { s.logs = append(s.logs, fmt.Sprintf(format, args...)) }}.withDefaults()
	b := &Broker{opt: opt, js: s.post, conn: &nats.Conn{}, back: make(chan struct{})}
	b.silence.Store(int64(opt.AckWait))
	s.w = &worker{b: b, opt: opt, name: "me", kv: s.kv, retry: time.Minute, ready: func() error { return nil }, tasks: map[string]*Task{}, idle: make(chan struct{}, 1)}
	return s
}

// task is the worker's task of a job that it has leased.
func (s *workshop) task(t *testing.T, attempt int) (*Task, *told) {
	t.Helper()
	v := leaseValue{Worker: "me", Nonce: "mine", Held: true, Attempt: attempt}
	revision := s.kv.put(leasePrefix+"one", v.encode())
	m := &told{}
	return &Task{Job: Job{ID: "one"}, Generation: revision, Attempt: attempt, w: s.w, msg: m, lease: v, revision: revision, cancel: func(error) {}}, m
}
