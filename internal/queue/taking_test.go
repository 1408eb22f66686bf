package queue

import (
	"context"
	"encoding/base64"
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

// TestTakingAJob: a job that nobody has or that was given up is taken at once, one whose holder is silent after it was watched.
func TestTakingAJob(t *testing.T) {
	most := Options{}.withDefaults().MaxAttempts
	saved := []byte("epoch 3")
	for _, test := range []struct {
		name    string
		old     *leaseValue
		attempt int
		state   string
		after   time.Duration
	}{
		{"a new one", nil, 1, "", 0},
		{"given up", &leaseValue{Worker: "w", Nonce: "n", Attempt: 2, State: saved, Progress: []byte("p")}, 2, "epoch 3", 0},
		{"freed before its first attempt", &leaseValue{Worker: "w", Nonce: "n"}, 1, "", 0},
		{"its worker died", &leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: 1, State: saved}, 2, "epoch 3", 7500 * time.Millisecond},
		{"its worker died in the last attempt", &leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: most}, most + 1, "", 7500 * time.Millisecond},
		{"one that counts further", &leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: most + 7}, most + 1, "", 7500 * time.Millisecond},
		{"one that cannot be read", &leaseValue{}, 1, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorkshop()
			if test.old != nil {
				s.kv.put(leasePrefix+"one", test.old.encode())
			}
			began := time.Now()
			v, revision, err := s.w.take(t.Context(), "one")
			if took := time.Since(began); err != nil || took != test.after {
				t.Errorf("%s: %v, after %v", test.name, err, took)
			}
			written, at := s.kv.lease(t, "one")
			if written.Nonce != v.Nonce || at != revision || v.Nonce == "" || v.Worker != "me" || !v.Held || v.Attempt != test.attempt || string(v.State) != test.state || v.Progress != nil || v.Generation != 0 {
				t.Errorf("%s: %+v at %d, written is %+v at %d", test.name, v, revision, written, at)
			}
		})
	}
}

// TestAJobThatCannotBeTaken: another one was quicker, it ended, or the server said no; each has its own error, and nothing is written.
func TestAJobThatCannotBeTaken(t *testing.T) {
	held := leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: 1}
	free := held
	free.Held = false
	refuse := func(refused string, nth int) func(call string) error {
		return func(call string) error {
			if call == refused {
				if nth--; nth == 0 {
					return errServer
				}
			}
			return nil
		}
	}
	for _, test := range []struct {
		name   string
		old    leaseValue
		err    func(call string) error
		before func(kv *memory, call string)
		want   error
	}{
		{"the first write is refused", held, refuse("Create", 1), nil, errServer},
		{"the first look is refused", held, refuse("Get", 1), nil, errServer},
		{"the second look is refused", held, refuse("Get", 2), nil, errServer},
		{"the update is refused", held, refuse("Update", 1), nil, errServer},
		{"it ended before the first look", held, nil, func(kv *memory, call string) {
			if call == "Get" {
				clear(kv.entries)
			}
		}, ErrLost},
		{"another takes it over first", free, nil, func(kv *memory, call string) {
			if call == "Update" {
				kv.put(leasePrefix+"one", held.encode())
			}
		}, errBusy},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorkshop()
			s.kv.put(leasePrefix+"one", test.old.encode())
			s.kv.err = test.err
			if test.before != nil {
				s.kv.before = func(call string) { test.before(s.kv, call) }
			}
			if _, _, err := s.w.take(t.Context(), "one"); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, err, test.want)
			}
			for _, e := range s.kv.entries {
				if strings.Contains(string(e.value), `"me"`) {
					t.Errorf("%s: written is %s", test.name, e.value)
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		s.kv.put(leasePrefix+"one", held.encode())
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errFound) })
		if _, _, err := s.w.take(ctx, "one"); !errors.Is(err, errFound) {
			t.Errorf("a worker that stops meanwhile: %v", err)
		}
	})
}

// slowLeader knows of a lease that other servers do not know yet.
type slowLeader struct {
	post
	err error
}

func (l *slowLeader) Stream(context.Context, string) (jetstream.Stream, error) {
	return leader{leases: 1}, l.err
}

// TestALeaseThatIsYetToCome is looked for until it comes, as long as half a heartbeat and no longer than half of what an exchange may take.
func TestALeaseThatIsYetToCome(t *testing.T) {
	for ackWait, longest := range map[time.Duration]time.Duration{time.Minute: exchangeTime / 2, 6 * time.Second: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorkshop()
			s.w.b.js, s.w.opt.AckWait = &slowLeader{}, ackWait
			began := time.Now()
			if _, _, err := s.w.readLease(t.Context(), "one"); !errors.Is(err, ErrLost) || time.Since(began) < longest || time.Since(began) > longest+50*time.Millisecond {
				t.Errorf("one that does not come: %v, after %v", err, time.Since(began))
			}
			began = time.Now()
			time.AfterFunc(longest/2, func() {
				s.kv.mu.Lock()
				defer s.kv.mu.Unlock()
				s.kv.put(leasePrefix+"one", leaseValue{Worker: "w", Nonce: "n", Held: true}.encode())
			})
			if _, v, err := s.w.readLease(t.Context(), "one"); err != nil || v.Worker != "w" || time.Since(began) > longest/2+20*time.Millisecond {
				t.Errorf("one that comes: %+v, %v, after %v", v, err, time.Since(began))
			}
			clear(s.kv.entries)
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errFound)
			if _, _, err := s.w.readLease(ctx, "one"); !errors.Is(err, errFound) {
				t.Errorf("a worker that stops meanwhile: %v", err)
			}
			s.w.b.js = &slowLeader{err: errServer}
			if _, _, err := s.w.readLease(t.Context(), "one"); !errors.Is(err, errServer) {
				t.Errorf("a leader that does not answer: %v", err)
			}
		})
	}
}

// TestUpdatesOfALease: the task knows what it wrote last; an answer of the server is told on, and changes nothing.
func TestUpdatesOfALease(t *testing.T) {
	s := newWorkshop()
	task, _ := s.task(t, 1)
	must(t, task.update(t.Context(), func(v *leaseValue) { v.Progress = []byte("p") }))
	if v, revision := s.kv.lease(t, "one"); string(v.Progress) != "p" || v.Generation != 1 || revision != 2 || task.revision != 2 || string(task.lease.Progress) != "p" {
		t.Errorf("%+v at %d; the task knows %+v at %d", v, revision, task.lease, task.revision)
	}
	s.kv.err = func(string) error { return errServer }
	if err := task.update(t.Context(), func(v *leaseValue) { v.Held = false }); !errors.Is(err, errServer) || !task.lease.Held || task.revision != 2 {
		t.Errorf("%v; the task knows %+v at %d", err, task.lease, task.revision)
	}
	s.kv.err = func(call string) error {
		if call == "Get" {
			return errServer
		}
		return nil
	}
	task.revision = 1
	if err := task.update(t.Context(), func(*leaseValue) {}); !errors.Is(err, errServer) {
		t.Errorf("a look that is refused: %v", err)
	}
}

// job is a message of a job as the server delivers it.
func job(subject string, headers ...string) *told {
	return &told{brought: brought{m: message(subject, "payload", headers...)}}
}

// TestWhatAWorkerDoesWithAMessage: what its task holds, and what the server is told of a message that becomes none.
func TestWhatAWorkerDoesWithAMessage(t *testing.T) {
	state := base64.StdEncoding.EncodeToString([]byte("warm"))
	saved := leaseValue{Worker: "w", Nonce: "n", Attempt: 2, State: []byte("epoch 3")}
	for _, test := range []struct {
		name string
		m    *told
		old  *leaseValue
		err  error // of all calls of the bucket
		want Job
		said string
	}{
		{"a job", job("collapse.job.p2.one", headVersion, "1", headKind, "run\x1b", headFolder, "f", headState, state), nil, nil,
			Job{ID: "one", Kind: "run?", Priority: Low, Payload: []byte("payload"), State: []byte("warm"), Folder: "f"}, ""},
		{"one with saved state", job("collapse.job.p0.one", headVersion, "1", headState, state, headFolder, "../f"), &saved, nil,
			Job{ID: "one", Priority: High, Payload: []byte("payload"), State: []byte("epoch 3")}, ""},
		{"one with a state that is none", job("collapse.job.p0.one", headVersion, "1", headState, "%"), nil, nil, Job{ID: "one", Priority: High, Payload: []byte("payload")}, ""},
		{"one with an empty state", job("collapse.job.p0.one", headVersion, "1", headState, ""), nil, nil, Job{ID: "one", Priority: High, Payload: []byte("payload")}, ""},
		{"no job", job("collapse.job.p9.one", headVersion, "1"), nil, nil, Job{}, "term"},
		{"one that ended", job("collapse.job.p1.one", headVersion, "1"), nil, ErrLost, Job{}, "ack"},
		{"one that cannot be leased", job("collapse.job.p1.one", headVersion, "1"), nil, errServer, Job{}, "nak in 15s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorkshop()
			if test.old != nil {
				s.kv.put(leasePrefix+"one", test.old.encode())
			}
			if test.err != nil {
				s.kv.err = func(string) error { return test.err }
			}
			var got Job
			if err := s.w.one(t.Context(), test.m, func(_ context.Context, task *Task) ([]byte, error) {
				got = task.Job
				if v, revision := s.kv.lease(t, "one"); task.Generation != revision || task.Attempt != v.Attempt || v.Attempt == 0 {
					t.Errorf("%s: generation %d, attempt %d, the lease is %+v at %d", test.name, task.Generation, task.Attempt, v, revision)
				}
				return nil, ErrLost
			}); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) || got.State == nil != (test.want.State == nil) {
				t.Errorf("%s: %+v, %v", test.name, got, err)
			}
			if said := strings.Join(test.m.said, ", "); said != test.said {
				t.Errorf("%s: said %q, want %q", test.name, said, test.said)
			}
			if told := test.said == "term"; told != (len(s.logs) == 1 && strings.Contains(s.logs[0], "set aside: a message on collapse.job.p9.one is not a job: queue: ")) {
				t.Errorf("%s: logged %q", test.name, s.logs)
			}
		})
	}
}

// TestJobsOfAnotherVersion end the worker if the queue is now that version's; otherwise nobody has submitted them. If that cannot be asked, they wait.
func TestJobsOfAnotherVersion(t *testing.T) {
	for _, test := range []struct {
		name, info string
		asks       error
		says       string // the worker's last error
		said       string
	}{
		{"the queue's version", `{"protocol":1,"version":"2","owner":"o","ack_wait":1000000000}`, nil, "collapse 2 and this worker collapse 1", "nak"},
		{"another protocol", `{"protocol":2,"version":"9","owner":"o"}`, nil, "collapse 9 and this worker collapse 1", "nak"},
		{"nobody's", `{"protocol":1,"version":"1","owner":"o","ack_wait":1000000000}`, nil, "", "term"},
		{"no queue", "", nil, "", "nak in 15s"},
		{"no answer", "", errServer, "", "nak in 15s"},
		{"a damaged queue", "x", nil, "", "nak in 15s"},
	} {
		s := newWorkshop()
		s.post.asks = test.asks
		if test.info != "" {
			s.kv.put(infoKey, []byte(test.info))
		}
		m := job("collapse.job.p1.one", headVersion, "2\x1b")
		err := s.w.one(t.Context(), m, func(context.Context, *Task) ([]byte, error) { t.Error("it was begun"); return nil, nil })
		var version *VersionError
		if errors.As(err, &version) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
		if said := strings.Join(m.said, ", "); said != test.said {
			t.Errorf("%s: said %q, want %q", test.name, said, test.said)
		}
		if refused := test.said == "term"; refused != (len(s.logs) == 1 && strings.Contains(s.logs[0], `a job of version "2?" in a queue of "1"`)) {
			t.Errorf("%s: logged %q", test.name, s.logs)
		}
	}
}

// TestJoiningAQueue: a worker waits for the queue, says so once, goes by its durations, and leaves one of another version.
func TestJoiningAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		s.w.kv = nil
		began := time.Now()
		answers := []error{errServer, nats.ErrTimeout, nil}
		s.kv.err = func(string) error {
			err := answers[0]
			answers = answers[min(1, len(answers)-1):]
			return err
		}
		time.AfterFunc(4500*time.Millisecond, func() {
			s.kv.mu.Lock()
			defer s.kv.mu.Unlock()
			s.kv.put(infoKey, []byte(`{"protocol":1,"version":"1","owner":"o","ack_wait":3000000000}`))
		})
		if err := s.w.join(t.Context()); err != nil || time.Since(began) != 5*time.Second || s.w.opt.AckWait != 3*time.Second || s.w.b.silence.Load() != 3e9 {
			t.Errorf("%v, after %v: AckWait is %v", err, time.Since(began), s.w.opt.AckWait)
		}
		if s.w.kv == nil || len(s.w.queues) != int(priorities) || !slices.Equal(s.logs, []string{"waiting for a study to start"}) {
			t.Errorf("%d queues, logged %q", len(s.w.queues), s.logs)
		}
		for _, text := range []string{`{"protocol":1,"version":"2","owner":"o","ack_wait":3000000000}`, `{"protocol":2,"version":"2"}`} {
			s.kv.put(infoKey, []byte(text))
			var version *VersionError
			if err := s.w.join(t.Context()); !errors.As(err, &version) || version.Coordinator != "2" || version.Here != "1" {
				t.Errorf("%s: %v", text, err)
			}
		}
		clear(s.kv.entries)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errFound) })
		if err := s.w.join(ctx); !errors.Is(err, errFound) {
			t.Errorf("a worker that is stopped: %v", err)
		}
	})
}
