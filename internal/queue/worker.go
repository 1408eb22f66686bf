package queue

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// WorkerOptions describe a worker.
type WorkerOptions struct {
	Name  string // for people and for Coordinator.Free; default: random
	Slots int    // tasks side by side; default 1

	// After a task that ended with Unfit, the worker asks for no work for Retry, default 1 min, and for longer if that happens again
	// right away. Then Ready says why this machine still cannot work, or nil if it can; if Ready itself is nil, the machine counts
	// as able.
	Ready func() error
	Retry time.Duration
}

// worker is one Work call.
type worker struct {
	b      *Broker
	opt    Options // the broker's, with the coordinator's durations
	name   string
	kv     jetstream.KeyValue
	queues []jetstream.Consumer // by priority
	self   string               // distinguishes this Work call from others
	ready  func() error
	retry  time.Duration
	rest   rest

	mu    sync.Mutex
	tasks map[string]*Task // being worked on, by job
	idle  chan struct{}    // signals that there may be a job
}

// Work takes jobs and calls do for each, Slots at a time, until ctx ends, and then waits for the calls under way. It returns why it
// ended: *VersionError if the coordinator is another version.
//
// What do returns ends the task: nil sends Done with the bytes returned; Fail(err) sends Failed; any other error ends this attempt,
// and the job is tried again elsewhere or later, and given up after Options.MaxAttempts. Errors marked by Postpone and Unfit do not
// count as attempts. do must return soon once its context has ended: either the lease is lost (context.Cause is ErrLost), or the
// worker is stopping, which leaves the job to others at once.
func (b *Broker) Work(ctx context.Context, o WorkerOptions, do func(context.Context, *Task) ([]byte, error)) error {
	w := &worker{b: b, opt: b.opt, name: cmp.Or(o.Name, nuid.Next()), tasks: map[string]*Task{}, idle: make(chan struct{}, 1),
		self: nuid.Next(), ready: o.Ready, retry: cmp.Or(o.Retry, time.Minute)}
	if w.ready == nil {
		w.ready = func() error { return nil }
	}
	if err := w.join(ctx); err != nil {
		return err
	}
	stop, err := w.listen()
	if err != nil {
		return err
	}
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	announced := make(chan struct{})
	go func() { defer close(announced); w.announce(ctx) }()
	defer func() { <-announced }()
	defer cancel(nil)
	var wg sync.WaitGroup
	for range max(1, o.Slots) {
		wg.Go(func() {
			if err := w.slot(ctx, do); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	w.leave()
	return context.Cause(ctx)
}

// leave takes back that the worker waits.
func (w *worker) leave() {
	if why, _ := w.waits(); why != "" {
		w.tell(notice{Ended: true})
		w.b.conn.FlushTimeout(time.Second) // best effort: who is silent is forgotten
	}
}

// join waits until the queue exists, and checks that this program may work for it.
func (w *worker) join(ctx context.Context) error {
	for told := false; ; told = true {
		i, err := w.b.readInfo(ctx)
		var version *VersionError
		switch {
		case errors.As(err, &version):
			return err
		case err == nil && i != nil && i.Version != w.opt.Version:
			return &VersionError{Coordinator: i.Version, Here: w.opt.Version}
		case err == nil && i != nil:
			w.opt.AckWait = i.AckWait
			w.b.silence.Store(int64(i.AckWait))
			if err := w.b.outlast(ctx, w.open); err != nil {
				return fmt.Errorf("queue: %w", err)
			}
			return nil
		}
		if !told {
			w.opt.Logf("waiting for a study to start")
		}
		if err := w.b.pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

func (w *worker) open(ctx context.Context) (err error) {
	if w.kv, err = w.b.js.KeyValue(ctx, w.b.leaseBucket()); err != nil {
		return err
	}
	w.queues = make([]jetstream.Consumer, priorities)
	for p := range w.queues {
		if w.queues[p], err = w.b.js.Consumer(ctx, w.b.jobStream(), "p"+strconv.Itoa(p)); err != nil {
			return err
		}
	}
	return nil
}

// listen handles cancellations and hints.
func (w *worker) listen() (stop func(), err error) {
	halt, err1 := w.b.conn.Subscribe(w.b.controlSubject(), func(m *nats.Msg) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if t := w.tasks[string(m.Data)]; t != nil {
			t.cancel(ErrLost)
		}
	})
	wake, err2 := w.b.conn.Subscribe(w.b.wakeSubject(), func(*nats.Msg) { w.poke() })
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return func() { halt.Unsubscribe(); wake.Unsubscribe() }, nil
}

func (w *worker) poke() {
	select {
	case w.idle <- struct{}{}:
	default:
	}
}

// slot does one job after another. It returns an error only if that ends the whole worker.
func (w *worker) slot(ctx context.Context, do func(context.Context, *Task) ([]byte, error)) error {
	for ctx.Err() == nil {
		if w.untilFit(ctx) != nil {
			return nil
		}
		m, err := w.next()
		if err != nil || m == nil {
			w.wait(ctx)
			continue
		}
		w.poke() // there may be more, for another slot
		if err := w.one(ctx, m, do); err != nil {
			return err
		}
	}
	return nil
}

// next fetches a job of the highest priority available; nil if there is none.
func (w *worker) next() (jetstream.Msg, error) {
	if !w.b.conn.IsConnected() {
		// A request made now would be sent on reconnecting, when nobody waits for its answer: a job would be lost until AckWait has
		// passed.
		return nil, nats.ErrDisconnected
	}
	for _, q := range w.queues {
		got, err := q.FetchNoWait(1)
		if err != nil {
			return nil, err
		}
		for m := range got.Messages() {
			return m, nil
		}
		if err := got.Error(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// wait idles until there may be a job.
func (w *worker) wait(ctx context.Context) {
	select {
	case <-time.After(min(time.Second, w.opt.beat())):
	case <-w.idle:
	case <-w.b.reconnected():
	case <-ctx.Done():
	}
}

// one does the job of a message, or leaves it to the worker that has it.
func (w *worker) one(ctx context.Context, m jetstream.Msg, do func(context.Context, *Task) ([]byte, error)) error {
	priority, id, err := parseJob(w.b.jobPrefix(), m.Subject())
	if err != nil {
		w.refuse(m, err)
		return nil
	}
	if m.Headers().Get(headVersion) != w.opt.Version {
		return w.otherVersion(ctx, m)
	}
	lease, revision, err := w.take(ctx, id)
	switch {
	case errors.Is(err, ErrLost):
		m.Ack() // the job is done or cancelled
		return nil
	case err != nil:
		m.NakWithDelay(w.opt.AckWait)
		return nil
	}
	t := &Task{Job: Job{ID: id, Kind: clean(m.Headers().Get(headKind), longestName), Priority: priority, Payload: m.Data(), State: stateOf(lease, m), Folder: folderOf(m)},
		Generation: revision, Attempt: lease.Attempt, w: w, msg: m, lease: lease, revision: revision}
	t.do(ctx, do)
	return nil
}

// refuse takes a message that is not a job out of the queue and tells the coordinator.
func (w *worker) refuse(m jetstream.Msg, why error) {
	w.opt.Logf("set aside: a message on %s is not a job: %v", clean(m.Subject(), longestName), why)
	w.tell(notice{Job: "a message on " + clean(m.Subject(), longestName), Why: clean(why.Error(), longestText/4), Bytes: len(m.Data())})
	m.Term()
}

// otherVersion handles a job of another version of the program: it returns *VersionError if the queue now belongs to that version;
// otherwise no coordinator submitted the job.
func (w *worker) otherVersion(ctx context.Context, m jetstream.Msg) error {
	bounded, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	i, err := w.b.readInfo(bounded)
	var version *VersionError
	switch {
	case errors.As(err, &version):
		m.Nak()
		return err
	case err != nil || i == nil:
		m.NakWithDelay(w.opt.AckWait)
		return nil
	case i.Version != w.opt.Version:
		m.Nak()
		return &VersionError{Coordinator: i.Version, Here: w.opt.Version}
	}
	w.refuse(m, fmt.Errorf("queue: a job of version %q in a queue of %q", clean(m.Headers().Get(headVersion), longestName), i.Version))
	return nil
}

// stateOf returns what a worker saved last, or else what the job came with.
func stateOf(lease leaseValue, m jetstream.Msg) []byte {
	if lease.State != nil {
		return lease.State
	}
	state, err := base64.StdEncoding.DecodeString(m.Headers().Get(headState))
	if err != nil || len(state) == 0 {
		return nil
	}
	return state
}

// folderOf is where the job's blobs are, "" for a name that leads elsewhere.
func folderOf(m jetstream.Msg) string {
	if name := m.Headers().Get(headFolder); validID(name) {
		return name
	}
	return ""
}

// pauseWhole waits for d, or returns the cause if ctx ends.
func (b *Broker) pauseWhole(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
