package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// claimValue is the entry of a claim.
type claimValue struct {
	Worker     string `json:"worker"`
	Nonce      string `json:"nonce"`                // tells two claims by one worker apart
	Generation uint64 `json:"generation,omitempty"` // 0: the revision of the entry itself
	Held       bool   `json:"held"`
	Attempt    int    `json:"attempt"` // from 1; starts again after saved state
	State      []byte `json:"state,omitempty"`
	Progress   []byte `json:"progress,omitempty"`
}

func (v claimValue) encode() []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("queue: a claim that JSON cannot hold")
	}
	return b
}

func (v claimValue) public(job string, revision uint64) Claim {
	return Claim{Job: job, Generation: v.generation(revision), Held: v.Held, Worker: v.Worker, Attempt: v.Attempt, State: v.State, Progress: v.Progress, Revision: revision}
}

func (v claimValue) generation(revision uint64) uint64 {
	if v.Generation == 0 {
		return revision
	}
	return v.Generation
}

// errBusy is returned by take for a job whose holder is alive.
var errBusy = errors.New("queue: another worker has the job")

// take claims a job whose message this worker holds. If the job is already claimed, take watches the claim for longer than a
// heartbeat: if it changes, its holder is alive (errBusy); if not, take takes it over. Holding the message alone proves nothing:
// after the server was away for a while, it is delivered again to another worker although the holder kept working.
func (w *worker) take(ctx context.Context, id string) (v claimValue, revision uint64, err error) {
	v = claimValue{Worker: w.name, Nonce: nuid.Next(), Held: true, Attempt: 1}
	revision, err = w.kv.Create(ctx, claimPrefix+id, v.encode())
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return v, revision, err
	}
	e, old, err := w.readClaim(ctx, id)
	if err != nil {
		return v, 0, err
	}
	if old.Held {
		if err := w.b.pauseWhole(ctx, w.opt.watch()); err != nil {
			return v, 0, err
		}
		seen := e.Revision()
		if e, old, err = w.readClaim(ctx, id); err != nil {
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
	revision, err = w.kv.Update(ctx, claimPrefix+id, v.encode(), e.Revision())
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		err = errBusy
	}
	return v, revision, err
}

// readClaim reads a job's claim. An entry that is not a valid claim counts as one that nobody holds.
func (w *worker) readClaim(ctx context.Context, id string) (jetstream.KeyValueEntry, claimValue, error) {
	e, err := w.kv.Get(ctx, claimPrefix+id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		if e, err = w.lookAgain(ctx, id); errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil, claimValue{}, ErrLost // cancelled or done meanwhile
		}
	}
	if err != nil {
		return nil, claimValue{}, err
	}
	v, err := parseClaim(e.Value(), e.Revision())
	if err != nil { // whoever held it cannot know that it still has it
		return e, claimValue{}, nil
	}
	return e, v, nil
}

// lookAgain reads a claim that one server of the queue did not find. Any server of a cluster answers reads, even one that lags
// behind and does not know the claim yet. Their leader, which answers for the stream as a whole, knows whether it exists: then it is
// read again until it appears, for as long as an exchange may take. If it does not appear, something other than the coordinator has
// removed it.
func (w *worker) lookAgain(ctx context.Context, id string) (e jetstream.KeyValueEntry, err error) {
	subject := w.b.claimSubject(id)
	i, err := streamInfo(ctx, w.b.js, w.b.claimStream(), jetstream.WithSubjectFilter(subject))
	if err != nil {
		return nil, err
	}
	err = jetstream.ErrKeyNotFound
	for end := time.Now().Add(min(w.opt.beat(), exchangeTime) / 2); i.State.Subjects[subject] > 0 && time.Now().Before(end); {
		if e, err = w.kv.Get(ctx, claimPrefix+id); !errors.Is(err, jetstream.ErrKeyNotFound) {
			break
		}
		if err := w.b.pauseWhole(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return e, err
}

// update replaces the task's claim, and returns ErrLost if it is no longer this task's. An update whose answer got lost is
// recognised as this task's own. Only a later write proves that the claim is lost: a cluster also refuses an update while it has not
// agreed on the one before, and may then show the state before that.
func (t *Task) update(ctx context.Context, change func(*claimValue)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.claim
	change(&v)
	v.Generation = t.Generation
	revision, err := t.w.kv.Update(ctx, claimPrefix+t.ID, v.encode(), t.revision)
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		e, now, readErr := t.w.readClaim(ctx, t.ID)
		switch {
		case readErr != nil:
			return readErr
		case e.Revision() <= t.revision:
			return err
		case now.Nonce != t.claim.Nonce || !now.Held:
			return ErrLost
		}
		revision, err = t.w.kv.Update(ctx, claimPrefix+t.ID, v.encode(), e.Revision())
	}
	if err != nil {
		return err
	}
	t.claim, t.revision = v, revision
	return nil
}
