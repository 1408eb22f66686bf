package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// TestHowTasksEnd: what the coordinator is told, what becomes of the lease, and when the job can be had again.
func TestHowTasksEnd(t *testing.T) {
	most := Options{}.withDefaults().MaxAttempts
	broken := errors.New("the disk is full")
	for _, test := range []struct {
		name     string
		err      error
		attempt  int
		stopping bool
		sent     string // type and text of the result
		held     bool
		next     int // attempt
		said     string
		times    int // machine troubles in a row, of 3 before
	}{
		{"done", nil, 2, false, "done ", true, 2, "double ack", 0},
		{"done while stopping", nil, 2, true, "done ", true, 2, "double ack", 0},
		{"failed", fmt.Errorf("epoch 3: %w", Fail(broken)), 2, false, "failed the disk is full", true, 2, "double ack", 0},
		{"failed while stopping", Fail(broken), 2, true, "failed the disk is full", true, 2, "double ack", 0},
		{"stopped", broken, most, true, "", false, most, "nak", 0},
		{"unfit", fmt.Errorf("epoch 3: %w", Unfit(broken)), most, false, "", false, most, "nak", 4},
		{"unfit while stopping", Unfit(broken), 1, true, "", false, 1, "nak", 3},
		{"postponed", fmt.Errorf("epoch 3: %w", Postpone(broken)), most, false, "", false, most, "nak in 15s", 0},
		{"trouble", broken, 1, false, "trouble the disk is full", false, 2, "nak in 2s", 0},
		{"the last trouble but one", broken, most - 1, false, "trouble the disk is full", false, most, "nak in 16s", 0},
		{"the last trouble", broken, most, false, "gave up the disk is full (attempt 5 of 5)", true, most, "double ack", 0},
		{"too many", broken, most + 1, false, "gave up the disk is full (attempt 6 of 5)", true, most + 1, "double ack", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorkshop()
			task, m := s.task(t, test.attempt)
			s.w.rest.times = 3
			stopping, stop := context.WithCancel(t.Context())
			defer stop()
			if test.stopping {
				stop()
			}
			if err := task.settle(t.Context(), stopping, []byte("end"), test.err); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			var sent []string
			for _, m := range s.post.sent {
				sent = append(sent, m.Header.Get(headType)+" "+m.Header.Get(headError))
				if ends := m.Header.Get(headType) != "trouble"; ends != (string(m.Data) == "end") {
					t.Errorf("%s: the result holds %q", test.name, m.Data)
				}
			}
			v, _ := s.kv.lease(t, "one")
			if got := strings.Join(sent, ", "); got != test.sent || v.Held != test.held || v.Attempt != test.next || v.Nonce != "mine" {
				t.Errorf("%s: sent %q, lease %+v", test.name, got, v)
			}
			if got := strings.Join(m.said, ", "); got != test.said || s.w.rest.times != test.times {
				t.Errorf("%s: said %q, %d troubles in a row", test.name, got, s.w.rest.times)
			}
		})
	}
}

// TestATaskThatCannotGiveUpItsLease keeps the job: whoever got it now would watch the lease. What the server answers is told on, and a worker that
// stops gives the job back all the same.
func TestATaskThatCannotGiveUpItsLease(t *testing.T) {
	for name, test := range map[string]struct {
		err     error
		stopped bool
		said    string
	}{
		"unfit": {Unfit(errors.New("x")), false, ""}, "postponed": {Postpone(errors.New("x")), false, ""}, "trouble": {errors.New("x"), false, ""},
		"stopped": {errors.New("x"), true, "nak"},
	} {
		s := newWorkshop()
		task, m := s.task(t, 1)
		s.kv.err = func(string) error { return errServer }
		stopping, stop := context.WithCancel(t.Context())
		if test.stopped {
			stop()
		}
		if err := task.settle(t.Context(), stopping, nil, test.err); !errors.Is(err, errServer) || strings.Join(m.said, ", ") != test.said {
			t.Errorf("%s: %v, said %q", name, err, m.said)
		}
		stop()
	}
}

// TestAnEndThatCannotBeSent leaves the job in the queue.
func TestAnEndThatCannotBeSent(t *testing.T) {
	s := newWorkshop()
	task, m := s.task(t, 1)
	var large *TooLargeError
	if err := task.settle(t.Context(), t.Context(), make([]byte, MaxMessage+1), nil); !errors.As(err, &large) || large.What != "a result of job one" || len(m.said) != 0 {
		t.Errorf("%v, said %q", err, m.said)
	}
	s.post.errs = []error{ErrLost}
	if err := task.settle(t.Context(), t.Context(), nil, nil); !errors.Is(err, ErrLost) || len(m.said) != 0 {
		t.Errorf("%v, said %q", err, m.said)
	}
	s.post.errs = []error{ErrLost}
	if err := task.settle(t.Context(), t.Context(), nil, errServer); !errors.Is(err, ErrLost) || len(m.said) != 0 {
		t.Errorf("trouble: %v, said %q", err, m.said)
	}
}

// TestAJobThatComesBackUnfitIsHeldBack: the first time others can take it at once, then not before this worker asks again.
func TestAJobThatComesBackUnfitIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		for i, want := range []string{"nak", "nak in 2m15s", "nak in 3m15s"} { // a rest of a minute, AckWait, and one or two minutes
			task, m := s.task(t, 1)
			must(t, task.settle(t.Context(), t.Context(), nil, Unfit(errors.New("no memory"))))
			if !slices.Equal(m.said, []string{want}) {
				t.Errorf("time %d: %q, want %s", i+1, m.said, want)
			}
		}
		if want := []string{"this machine can do no work now and asks for none until that has changed: no memory"}; !slices.Equal(s.logs, want) {
			t.Errorf("logged %q", s.logs)
		}
	})
}

// TestWhatAResultSays: every result names its lease, its worker and its attempt; a text is one line, and no longer than any that a coordinator reads.
func TestWhatAResultSays(t *testing.T) {
	s := newWorkshop()
	task, _ := s.task(t, 3)
	must(t, task.Send(t.Context(), []byte("row")))
	must(t, task.send(t.Context(), Trouble, nil, "two\nlines\t"+strings.Repeat("x", 2*longestText)))
	for i, m := range s.post.sent {
		got, err := parseMessage("collapse.res.", m.Subject, m.Header, m.Data, uint64(i)+1)
		if err != nil || got.Job != "one" || got.Generation != task.Generation || got.Worker != "me" || got.Attempt != 3 {
			t.Errorf("%+v, %v", got, err)
		}
		if first := i == 0; first != (got.Type == Data && string(got.Data) == "row" && got.Error == "" && len(m.Header[headError]) == 0) ||
			!first && (got.Type != Trouble || !strings.HasPrefix(got.Error, "two lines xxx") || len(m.Header.Get(headError)) > longestText) {
			t.Errorf("%+v", got)
		}
	}
	if len(s.post.sent) != 2 || task.sent != 2 {
		t.Errorf("%d messages, counted as %d", len(s.post.sent), task.sent)
	}
}

// TestEveryResultHasANumberOfItsOwn: the server drops a message whose number it has, so two of the same bytes must differ in it.
func TestEveryResultHasANumberOfItsOwn(t *testing.T) {
	_, c, b := local(t, quick(t))
	must(t, c.Submit(soon(t), jobs(1)...))
	ended := make(chan uint64, 1)
	work(t, b, WorkerOptions{}, func(ctx context.Context, task *Task) ([]byte, error) {
		defer func() { ended <- task.Generation }()
		return nil, errors.Join(task.Send(ctx, []byte("row")), task.Send(ctx, []byte("row")))
	})
	generation := next(t, "the job", ended)
	for i := range uint64(2) {
		m, err := c.results.GetMsg(soon(t), i+1)
		must(t, err)
		if got, want := m.Header.Get("Nats-Msg-Id"), fmt.Sprintf("job00000/%d/%d", generation, i+1); got != want {
			t.Errorf("result %d is called %q, want %q", i+1, got, want)
		}
	}
}

// TestWhatIsSentAgain: an exchange is repeated every second until the server answers; a lost lease and the context's end are final.
func TestWhatIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		task, _ := s.task(t, 1)
		s.post.errs = []error{nats.ErrTimeout, errServer, nil}
		began := time.Now()
		if err := task.Send(t.Context(), nil); err != nil || time.Since(began) != 2*time.Second || len(s.post.sent) != 1 {
			t.Errorf("%v, after %v", err, time.Since(began))
		}
		s.post.errs = []error{ErrLost}
		if err := task.Send(t.Context(), nil); !errors.Is(err, ErrLost) || time.Since(began) != 2*time.Second {
			t.Errorf("a lost lease: %v, after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		s.post.errs = slices.Repeat([]error{nats.ErrTimeout}, 100)
		time.AfterFunc(2500*time.Millisecond, func() { cancel(errFound) })
		if err := task.Send(ctx, nil); !errors.Is(err, errFound) || time.Since(began) != 4500*time.Millisecond {
			t.Errorf("a context that ends: %v, after %v", err, time.Since(began))
		}
		if err := task.Send(ctx, nil); !errors.Is(err, errFound) || time.Since(began) != 4500*time.Millisecond {
			t.Errorf("a context that has ended: %v, after %v", err, time.Since(began))
		}
		silent := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		answered := 0
		if err := task.insist(t.Context(), func(ctx context.Context) error {
			if answered++; answered == 1 {
				return silent(ctx)
			}
			return nil
		}); err != nil || answered != 2 || time.Since(began) != 4500*time.Millisecond+exchangeTime+time.Second {
			t.Errorf("a server that falls silent: %v, after %v", err, time.Since(began))
		}
	})
}

// TestSavedState starts the count of attempts again, and goes with the lease.
func TestSavedState(t *testing.T) {
	s := newWorkshop()
	task, _ := s.task(t, 3)
	must(t, task.SetState(t.Context(), []byte("epoch 3")))
	if v, revision := s.kv.lease(t, "one"); string(v.State) != "epoch 3" || v.Attempt != 1 || !v.Held || v.Generation != task.Generation || revision != task.revision {
		t.Errorf("%+v at %d, the task is at %d", v, revision, task.revision)
	}
	s.kv.put(leasePrefix+"one", leaseValue{Worker: "other", Nonce: "its own", Held: true, Attempt: 1}.encode())
	if err := task.SetState(t.Context(), []byte("epoch 4")); !errors.Is(err, ErrLost) {
		t.Errorf("under a lost lease: %v", err)
	}
	if v, _ := s.kv.lease(t, "one"); v.State != nil {
		t.Errorf("it was written: %+v", v)
	}
}

// TestHeartbeats: three in AckWait, each with the newest progress; an answer that is missing does no harm, a lost lease ends the task.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		task, m := s.task(t, 2)
		ended := make(chan error, 1)
		task.cancel = func(err error) { ended <- err }
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); task.beat(ctx) }()
		task.Progress([]byte("epoch 1"))
		time.Sleep(15 * time.Second)
		synctest.Wait()
		v, revision := s.kv.lease(t, "one")
		if string(v.Progress) != "epoch 1" || revision != 4 || !v.Held || v.Attempt != 2 || len(m.soFar()) != 3 || m.soFar()[0] != "in progress" {
			t.Errorf("%+v at revision %d, said %q", v, revision, m.soFar())
		}
		s.kv.mu.Lock()
		s.kv.err = func(string) error { return nats.ErrTimeout }
		s.kv.mu.Unlock()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(m.soFar()) != 5 || len(ended) != 0 {
			t.Errorf("the server is away: said %q", m.soFar())
		}
		s.kv.mu.Lock()
		s.kv.err = nil
		s.kv.put(leasePrefix+"one", leaseValue{Worker: "other", Nonce: "its own", Held: true, Attempt: 3}.encode())
		s.kv.mu.Unlock()
		s.w.b.wake() // the server is back
		<-over
		if err := <-ended; !errors.Is(err, ErrLost) || len(m.soFar()) != 6 {
			t.Errorf("ended with %v, said %q", err, m.soFar())
		}
		cancel()
		task.beat(ctx) // returns
		if len(m.soFar()) != 6 {
			t.Error("a heartbeat after the end")
		}
	})
}

// TestARunOfATask: it is found by its job as long as it runs, its context ends with it, and what goes wrong at its end is logged.
func TestARunOfATask(t *testing.T) {
	for _, test := range []struct {
		name    string
		attempt int
		err     error
		refuse  bool
		ran     bool
		sent    int
		log     string
	}{
		{"done", 5, nil, false, true, 1, ""},
		{"its workers died", 6, nil, false, false, 1, ""},
		{"lost", 1, fmt.Errorf("sending: %w", ErrLost), false, true, 0, ""},
		{"an end that is refused", 1, Postpone(errors.New("x")), true, true, 0, "job one: the server does not like it"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorkshop()
			task, m := s.task(t, test.attempt)
			if test.refuse {
				s.kv.err = func(string) error { return errServer }
			}
			var inside context.Context
			task.do(t.Context(), func(ctx context.Context, same *Task) ([]byte, error) {
				inside = ctx
				if same != task || s.w.tasks["one"] != task || ctx.Err() != nil {
					t.Errorf("%s: another task, or one that has ended", test.name)
				}
				return nil, test.err
			})
			if ran := inside != nil; ran != test.ran || ran && inside.Err() == nil || len(s.w.tasks) != 0 {
				t.Errorf("%s: ran: %v, and %d tasks are left", test.name, ran, len(s.w.tasks))
			}
			if len(s.post.sent) != test.sent || strings.Join(s.logs, "") != test.log || test.sent > 0 != slices.Contains(m.said, "double ack") {
				t.Errorf("%s: %d results, logged %q, said %q", test.name, len(s.post.sent), s.logs, m.said)
			}
			if !test.ran && s.post.sent[0].Header.Get(headType) != string(GaveUp) {
				t.Errorf("%s: %v", test.name, s.post.sent[0].Header)
			}
		})
	}
}
