package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func TestEveryJobIsDoneOnce(t *testing.T) {
	_, c, b := local(t, quick(t))
	l := collectFrom(t, c)
	var mu sync.Mutex
	ran := map[string]int{}
	do := func(ctx context.Context, task *Task) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		ran[task.ID]++
		if task.Attempt != 1 || task.Kind != "test" || task.State != nil || task.Priority != Normal {
			t.Errorf("task %+v", task.Job)
		}
		return task.Payload, task.Send(ctx, []byte("half way"))
	}
	must(t, c.Submit(soon(t), jobs(100)...))
	must(t, c.Submit(soon(t), jobs(100)...)) // jobs that are there stay as they are
	if n, err := c.Waiting(t.Context()); err != nil || n != 100 {
		t.Fatalf("%d jobs waiting, %v; want 100", n, err)
	}
	work(t, b, WorkerOptions{Name: "one", Slots: 2}, do)
	work(t, b, WorkerOptions{Name: "two"}, do)
	l.wait(t, 100)
	for i, job := range jobs(100) {
		got := l.final[job.ID]
		if len(got) != 1 || got[0].Type != Done || got[0].Data[0] != byte(i) || ran[job.ID] != 1 || len(l.data[job.ID]) != 1 {
			t.Errorf("%s: ran %d times, ended %+v, %d results", job.ID, ran[job.ID], got, len(l.data[job.ID]))
		}
	}
	deadline := time.Now().Add(left(t))
	for n := 1; n > 0; {
		var err error
		n, err = c.Waiting(t.Context())
		must(t, err)
		if time.Now().After(deadline) {
			t.Fatalf("%d jobs are still in the queue", n)
		}
	}
	if leases, err := c.Leases(soon(t)); err != nil || len(leases) != 0 {
		t.Errorf("leases left: %v, %v", leases, err)
	}
}

func TestHigherPrioritiesGoFirst(t *testing.T) {
	_, c, b := local(t, quick(t))
	l := collectFrom(t, c)
	list := jobs(6)
	for i := range list {
		list[i].Priority = Priority(2 - i/2) // two low, two normal, two high
	}
	must(t, c.Submit(soon(t), list...))
	var order []string
	work(t, b, WorkerOptions{}, func(_ context.Context, task *Task) ([]byte, error) {
		order = append(order, task.ID) // one slot
		return nil, nil
	})
	l.wait(t, 6)
	want := []string{"job00004", "job00005", "job00002", "job00003", "job00000", "job00001"}
	if fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestTroubleIsTriedAgainAndFailureIsNot(t *testing.T) {
	t.Parallel()
	opt := quick(t)
	opt.MaxAttempts = 3
	_, c, b := local(t, opt)
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), jobs(3)...))
	var mu sync.Mutex
	tries := map[string][]int{}
	work(t, b, WorkerOptions{Slots: 2}, func(_ context.Context, task *Task) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		tries[task.ID] = append(tries[task.ID], task.Attempt)
		switch task.ID {
		case "job00000":
			return nil, Fail(errors.New("diverged"))
		case "job00001":
			if task.Attempt < 3 {
				return nil, errors.New("disk full")
			}
			return nil, nil
		}
		return nil, errors.New("always")
	})
	l.wait(t, 3)
	want := map[string]struct {
		how   Type
		text  string
		tries []int
	}{
		"job00000": {Failed, "diverged", []int{1}},
		"job00001": {Done, "", []int{1, 2, 3}},
		"job00002": {GaveUp, "always (attempt 3 of 3)", []int{1, 2, 3}},
	}
	mu.Lock()
	defer mu.Unlock()
	for id, w := range want {
		got := l.final[id]
		if len(got) != 1 || got[0].Type != w.how || got[0].Error != w.text || fmt.Sprint(tries[id]) != fmt.Sprint(w.tries) {
			t.Errorf("%s: %+v after attempts %v; want %+v", id, got, tries[id], w)
		}
	}
	if l.trouble != 4 {
		t.Errorf("%d reports of trouble, want 4", l.trouble)
	}
}

func TestBackoff(t *testing.T) {
	o := Options{}.withDefaults()
	for attempt, want := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 5: 32 * time.Second, 60: 5 * time.Minute} {
		if got := o.backoff(attempt); got != want {
			t.Errorf("after attempt %d: %v, want %v", attempt, got, want)
		}
	}
}

func TestCancel(t *testing.T) {
	opt := quick(t)
	opt.AckWait = time.Minute // nothing here waits for a heartbeat
	_, c, b := local(t, opt)
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), jobs(3)...))
	started, stopped := make(chan string, 3), make(chan error, 3)
	work(t, b, WorkerOptions{}, func(ctx context.Context, task *Task) ([]byte, error) {
		if task.ID == "job00002" {
			return nil, nil
		}
		started <- task.ID
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	if id := next(t, "the first job", started); id != "job00000" {
		t.Fatalf("%s started first", id)
	}
	began := time.Now()
	must(t, c.Cancel(soon(t), "job00001", "job00000")) // one that waits, one under way
	if err := next(t, "the end of the cancelled job", stopped); !errors.Is(err, ErrLost) {
		t.Errorf("the task ended with %v, want ErrLost", err)
	}
	if d := time.Since(began); d > opt.beat()/2 {
		t.Errorf("the worker noticed after %v: from its heartbeat, not from the message", d)
	}
	l.wait(t, 1)
	if len(l.final["job00002"]) != 1 || len(started) != 0 {
		t.Errorf("ended: %v; a cancelled job started", l.final)
	}
}

func TestAWorkerThatStopsLeavesItsJobToOthersAtOnce(t *testing.T) {
	opt := quick(t)
	opt.AckWait = time.Minute // nothing here waits for a heartbeat
	_, c, b := local(t, opt)
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), jobs(1)...))
	started := make(chan struct{})
	stop := work(t, b, WorkerOptions{Name: "first"}, func(ctx context.Context, task *Task) ([]byte, error) {
		if err := task.SetState(ctx, []byte("epoch 3")); err != nil {
			return nil, err
		}
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	next(t, "the job's start", started)
	stop()
	work(t, b, WorkerOptions{Name: "second"}, func(ctx context.Context, task *Task) ([]byte, error) {
		return []byte(fmt.Sprintf("%s attempt %d", task.State, task.Attempt)), nil
	})
	l.wait(t, 1)
	if got := l.final["job00000"]; string(got[0].Data) != "epoch 3 attempt 1" || got[0].Worker != "second" {
		t.Errorf("%+v", got)
	}
}

func TestFreeLetsTheJobsOfADeadProcessGoAtOnce(t *testing.T) {
	opt := quick(t)
	opt.AckWait = time.Minute
	_, c, b := local(t, opt)
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), jobs(2)...))
	hang := make(chan struct{})
	defer close(hang)
	started := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go b.Work(ctx, WorkerOptions{Name: "dead"}, func(context.Context, *Task) ([]byte, error) {
		close(started)
		<-hang
		return nil, ErrLost
	})
	next(t, "the job's start", started)
	freed, err := c.Free(soon(t), func(w string) bool { return w == "dead" })
	if err != nil || fmt.Sprint(freed) != "[job00000]" {
		t.Fatalf("freed %v, %v", freed, err)
	}
	must(t, c.Submit(soon(t), jobs(2)...))
	work(t, b, WorkerOptions{Name: "new"}, echo)
	l.wait(t, 2)
}

// Messages that a coordinator had received when it died come first to the next one, before those sent since: acknowledging the later
// ones would include them.
func TestResultsInHandComeAgainInOrder(t *testing.T) {
	t.Parallel()
	_, c, b := local(t, quick(t))
	must(t, c.Submit(soon(t), Job{ID: "one"}))
	send := make(chan string)
	work(t, b, WorkerOptions{Slots: 1}, func(ctx context.Context, task *Task) ([]byte, error) {
		for {
			select {
			case text, more := <-send:
				if !more {
					return nil, nil
				}
				if err := task.Send(ctx, []byte(text)); err != nil {
					return nil, err
				}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	give(t, "have the first result sent", send, "first")
	dies := errors.New("dies with it in hand")
	if err := c.Receive(soon(t), func([]Message) error { return dies }); !errors.Is(err, dies) {
		t.Fatal(err)
	}
	give(t, "have the second result sent", send, "second")
	close(send)
	var got []string
	ctx, enough := context.WithTimeout(t.Context(), 20*time.Second)
	defer enough()
	err := c.Receive(ctx, func(list []Message) error {
		for _, m := range list {
			if m.Type == Data {
				got = append(got, string(m.Data))
				continue
			}
			enough()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || fmt.Sprint(got) != "[first second]" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestWhatWaitsComesTogether sends more than a batch while nobody receives: it arrives in one piece, in order, but bounded.
func TestWhatWaitsComesTogether(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ jobs, messages, size, first int }{
		{1, 5 * batch, 10, 5*batch + 1}, // including what ends the job
		{1, enough + 3*batch, 10, enough},
		{1, 2 * batch, enoughBytes / batch, batch},
		{enoughEnds + 2*batch, 0, 0, enoughEnds},
	} {
		_, c, b := local(t, quick(t))
		must(t, c.Submit(soon(t), jobs(test.jobs)...))
		stop := work(t, b, WorkerOptions{Slots: 4}, func(ctx context.Context, task *Task) ([]byte, error) {
			for i := range test.messages {
				if err := task.Send(ctx, fmt.Appendf(nil, "%0*d", test.size, i)); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		all := test.jobs * (test.messages + 1)
		over := time.Now().Add(left(t))
		for info := new(jetstream.StreamInfo); info.State.Msgs < uint64(all); time.Sleep(10 * time.Millisecond) {
			var err error
			info, err = c.results.Info(t.Context())
			must(t, err)
			if time.Now().After(over) {
				t.Fatalf("%d of %d results were sent within %v", info.State.Msgs, all, patience)
			}
		}
		stop()
		first, got := 0, 0
		everything := errors.New("everything")
		var answered time.Duration // the library waits a second for more
		began := time.Now()
		err := c.Receive(soon(t), func(list []Message) error {
			if got == 0 {
				first, answered = len(list), time.Since(began)
			}
			for _, m := range list {
				if m.Type == Data && string(m.Data) != fmt.Sprintf("%0*d", test.size, got) {
					t.Fatalf("message %d is %.20s", got, m.Data)
				}
				got++
			}
			if got < all {
				return nil
			}
			return everything
		})
		if answered > time.Second {
			t.Logf("%+v: the server brought the first %d results after %v; how many come together is not tested", test, first, answered)
			first = test.first
		}
		if !errors.Is(err, everything) || got != all || first != test.first {
			t.Errorf("%+v: %d at first, %d of %d in all, %v", test, first, got, all, err)
		}
	}
}

func TestReplayGivesWhatReceiveGave(t *testing.T) {
	t.Parallel()
	_, c, b := local(t, quick(t))
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), jobs(150)...)) // two messages each: more than one batch
	work(t, b, WorkerOptions{Slots: 4}, func(ctx context.Context, task *Task) ([]byte, error) {
		return nil, task.Send(ctx, []byte("row of "+task.ID))
	})
	l.wait(t, 150)
	again := newLedger()
	must(t, c.Replay(soon(t), func(list []Message) error { return again.apply(t.Context(), nil, list) }))
	if len(again.final) != 150 || fmt.Sprint(again.data) != fmt.Sprint(l.data) {
		t.Errorf("%d jobs, %d results", len(again.final), len(again.data))
	}
}

func TestTooLarge(t *testing.T) {
	_, c, b := local(t, quick(t))
	l := collectFrom(t, c)
	big := make([]byte, MaxMessage+1)
	var large *TooLargeError
	if err := c.Submit(soon(t), Job{ID: "big", Payload: big}); !errors.As(err, &large) {
		t.Errorf("submitting: %v", err)
	}
	must(t, c.Submit(soon(t), Job{ID: "fits", Payload: big[:MaxMessage]}))
	work(t, b, WorkerOptions{}, func(ctx context.Context, task *Task) ([]byte, error) {
		if err := task.Send(ctx, big); !errors.As(err, &large) {
			t.Errorf("sending: %v", err)
		}
		if err := task.SetState(ctx, big); !errors.As(err, &large) {
			t.Errorf("saving: %v", err)
		}
		return nil, errors.Join(task.Send(ctx, big[:MaxMessage]), task.SetState(ctx, big[:MaxMessage]))
	})
	l.wait(t, 1)
	if l.final["fits"][0].Type != Done || len(l.data["fits"][0]) != MaxMessage {
		t.Errorf("%v", l.final["fits"][0].Error)
	}
}

// unsettled is a cluster that lost a server: it answers some questions, and for a while not those about consumers.
type unsettled struct {
	jetstream.JetStream
	silent int
}

func (u *unsettled) Consumer(ctx context.Context, stream, name string) (jetstream.Consumer, error) {
	if u.silent--; u.silent >= 0 {
		return nil, context.DeadlineExceeded
	}
	return u.JetStream.Consumer(ctx, stream, name)
}

func TestAWorkerJoinsAClusterThatIsNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorkshop()
		s.kv.put(infoKey, []byte(`{"protocol":1,"version":"1","owner":"o","ack_wait":3000000000}`))
		s.w.b.js = &unsettled{s.post, 2}
		if err := s.w.join(t.Context()); err != nil || len(s.w.queues) != int(priorities) || slices.Contains(s.w.queues, nil) {
			t.Errorf("joined with %d queues: %v", len(s.w.queues), err)
		}
	})
}

func TestWatchShowsProgress(t *testing.T) {
	opt := quick(t)
	opt.AckWait = 150 * time.Millisecond
	_, c, b := local(t, opt)
	must(t, c.Submit(soon(t), jobs(1)...))
	work(t, b, WorkerOptions{Name: "w"}, func(ctx context.Context, task *Task) ([]byte, error) {
		task.Progress([]byte("epoch 7"))
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	seen := false
	c.Watch(ctx, func(cl Lease) {
		if string(cl.Progress) == "epoch 7" && cl.Held && cl.Worker == "w" && cl.Job == "job00000" && cl.Generation > 0 {
			seen = true
			cancel()
		}
	})
	if !seen {
		t.Error("no heartbeat carried the progress")
	}
}
