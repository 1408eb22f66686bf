package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// leaseValue is the entry of a lease.
type leaseValue struct {
	Worker     string `json:"worker"`
	Nonce      string `json:"nonce"`                // tells two leases by one worker apart
	Generation uint64 `json:"generation,omitempty"` // 0: the revision of the entry itself
	Held       bool   `json:"held"`
	Attempt    int    `json:"attempt"` // from 1; starts again after saved state
	State      []byte `json:"state,omitempty"`
	Progress   []byte `json:"progress,omitempty"`
}

func (v leaseValue) encode() []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("queue: a lease that JSON cannot hold")
	}
	return b
}

func (v leaseValue) public(job string, revision uint64) Lease {
	return Lease{Job: job, Generation: v.generation(revision), Held: v.Held, Worker: v.Worker, Attempt: v.Attempt, State: v.State, Progress: v.Progress, Revision: revision}
}

func (v leaseValue) generation(revision uint64) uint64 {
	if v.Generation == 0 {
		return revision
	}
	return v.Generation
}

// errBusy is returned by take for a job whose holder is alive.
var errBusy = errors.New("queue: another worker has the job")

// take leases a job whose message this worker holds. If the job is already leased, take watches the lease for longer than a
// heartbeat: if it changes, its holder is alive (errBusy); if not, take takes it over. Holding the message alone proves nothing:
// after the server was away for a while, it is delivered again to another worker although the holder kept working.
func (w *worker) take(ctx context.Context, id string) (v leaseValue, revision uint64, err error) {
	v = leaseValue{Worker: w.name, Nonce: nuid.Next(), Held: true, Attempt: 1}
	revision, err = w.kv.Create(ctx, leasePrefix+id, v.encode())
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return v, revision, err
	}
	e, old, err := w.readLease(ctx, id)
	if err != nil {
		return v, 0, err
	}
	if old.Held {
		if err := w.b.pauseWhole(ctx, w.opt.watch()); err != nil {
			return v, 0, err
		}
		seen := e.Revision()
		if e, old, err = w.readLease(ctx, id); err != nil {
			return v, 0, err
		}
		if e.Revision() != seen {
			return v, 0, errBusy
		}
		old.Attempt++ // its worker died
		if old.Attempt > w.opt.MaxAttempts {
			old.Attempt = w.opt.MaxAttempts + 1
		}
	}
	v.State, v.Attempt = old.State, max(1, old.Attempt)
	revision, err = w.kv.Update(ctx, leasePrefix+id, v.encode(), e.Revision())
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		err = errBusy
	}
	return v, revision, err
}

// readLease reads a job's lease. An entry that is not a valid lease counts as one that nobody holds.
func (w *worker) readLease(ctx context.Context, id string) (jetstream.KeyValueEntry, leaseValue, error) {
	e, err := w.kv.Get(ctx, leasePrefix+id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		if e, err = w.lookAgain(ctx, id); errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil, leaseValue{}, ErrLost // cancelled or done meanwhile
		}
	}
	if err != nil {
		return nil, leaseValue{}, err
	}
	v, err := parseLease(e.Value(), e.Revision())
	if err != nil { // whoever held it cannot know that it still has it
		return e, leaseValue{}, nil
	}
	return e, v, nil
}

// lookAgain reads a lease that one server of the queue did not find. Any server of a cluster answers reads, even one that lags
// behind and does not know the lease yet. Their leader, which answers for the stream as a whole, knows whether it exists: then it is
// read again until it appears, for as long as an exchange may take. If it does not appear, something other than the coordinator has
// removed it.
func (w *worker) lookAgain(ctx context.Context, id string) (e jetstream.KeyValueEntry, err error) {
	subject := w.b.leaseSubject(id)
	i, err := streamInfo(ctx, w.b.js, w.b.leaseStream(), jetstream.WithSubjectFilter(subject))
	if err != nil {
		return nil, err
	}
	err = jetstream.ErrKeyNotFound
	for end := time.Now().Add(min(w.opt.beat(), exchangeTime) / 2); i.State.Subjects[subject] > 0 && time.Now().Before(end); {
		if e, err = w.kv.Get(ctx, leasePrefix+id); !errors.Is(err, jetstream.ErrKeyNotFound) {
			break
		}
		if err := w.b.pauseWhole(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return e, err
}

// update replaces the task's lease, and returns ErrLost if it is no longer this task's. An update whose answer got lost is
// recognised as this task's own. Only a later write proves that the lease is lost: a cluster also refuses an update while it has not
// agreed on the one before, and may then show the state before that.
func (t *Task) update(ctx context.Context, change func(*leaseValue)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.lease
	change(&v)
	v.Generation = t.Generation
	revision, err := t.w.kv.Update(ctx, leasePrefix+t.ID, v.encode(), t.revision)
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		e, now, readErr := t.w.readLease(ctx, t.ID)
		switch {
		case readErr != nil:
			return readErr
		case e.Revision() <= t.revision:
			return err
		case now.Nonce != t.lease.Nonce || !now.Held:
			return ErrLost
		}
		revision, err = t.w.kv.Update(ctx, leasePrefix+t.ID, v.encode(), e.Revision())
	}
	if err != nil {
		return err
	}
	t.lease, t.revision = v, revision
	return nil
}
