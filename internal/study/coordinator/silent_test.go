package coordinator

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/version"
)

// TestASilentWorkerIsTold: that a worker has gone without a word is logged, and where status looks, though no other worker is there; the next one
// takes its run.
func TestASilentWorkerIsTold(t *testing.T) {
	t.Parallel()
	configs := []train.Config{tiny()}
	lab := saved(t, configs)
	hash := itemsOf(t, configs)[0].Hash
	url := openServer(t)
	told := &studytest.Log{}
	o := options(t, 0)
	o.Remote, o.Logf = &queue.Remote{URL: url}, told.Add
	ended := make(chan error, 1)
	go func() {
		_, err := Execute(t.Context(), lab, []string{"s"}, o)
		ended <- err
	}()
	until := func(what string, is func() bool) {
		t.Helper()
		for start := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > 30*time.Second {
				t.Fatalf("never: %s; %s", what, told.Text())
			}
		}
	}
	status := func(want store.Status) func() bool {
		return func() bool {
			run, err := lab.Run(hash)
			return err == nil && run.Status == want
		}
	}
	opt := quickQueue()
	opt.Version, opt.Logf = version.ID(), func(string, ...any) {}
	b, err := queue.Connect(queue.Remote{URL: url}, opt)
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var once sync.Once
	gone := make(chan struct{})
	go worker.Work(ctx, b, worker.Options{Name: "gone", Slots: 1, Threads: 1, Scratch: t.TempDir(), Watch: func(string, study.Progress) {
		once.Do(func() { close(gone) })
		<-ctx.Done() // as a killed process, it computes no further
	}})
	<-gone
	until("running", status(store.Running))
	if h, err := ReadHealth(lab.Dir()); err != nil || len(h.Silent) > 0 {
		t.Errorf("nobody is silent yet: %+v, %v", h.Silent, err)
	}
	b.Close() // nor is it heard of
	until("silent", func() bool {
		h, err := ReadHealth(lab.Dir())
		return err == nil && len(h.Silent) == 1 && h.Silent[0].Worker == "gone" && h.Silent[0].Run == hash && time.Since(h.Silent[0].Since) < time.Minute
	})
	if strings.Count(told.Text(), "worker gone has been silent for 900ms; the run waits for another, or for this one") != 1 {
		t.Error(told.Text())
	}
	stop()
	startWorker(t, url, worker.Options{})
	must(t, <-ended)
	if h, err := ReadHealth(lab.Dir()); !status(store.Done)() || err != nil || len(h.Silent) > 0 {
		t.Errorf("the run is not done, or somebody is silent: %+v, %v", h.Silent, err)
	}
}

// TestThisProcessIsNotSilent while it computes an epoch that takes longer than a worker elsewhere may be silent.
func TestThisProcessIsNotSilent(t *testing.T) {
	t.Parallel()
	lab := saved(t, []train.Config{tiny()})
	told := &studytest.Log{}
	o := options(t, 1)
	var once sync.Once
	o.Logf, o.Watch = told.Add, func(e Event) {
		if e.Ended == nil && len(e.Working) > 0 {
			once.Do(func() { time.Sleep(o.Queue.AckWait + 2*healthEvery) })
		}
	}
	_, err := Execute(t.Context(), lab, []string{"s"}, o)
	must(t, err)
	if strings.Contains(told.Text(), "silent") {
		t.Error(told.Text())
	}
}

// TestARunThatIsGivenBackIsTold: after its worker has stopped in order, nobody computes the run until another worker comes.
func TestARunThatIsGivenBackIsTold(t *testing.T) {
	t.Parallel()
	configs := []train.Config{tiny()}
	lab := saved(t, configs)
	hash := itemsOf(t, configs)[0].Hash
	url := openServer(t)
	o := options(t, 0)
	o.Remote = &queue.Remote{URL: url}
	ended := make(chan error, 1)
	go func() {
		_, err := Execute(t.Context(), lab, []string{"s"}, o)
		ended <- err
	}()
	opt := quickQueue()
	opt.Version, opt.Logf = version.ID(), func(string, ...any) {}
	b, err := queue.Connect(queue.Remote{URL: url}, opt)
	must(t, err)
	defer b.Close()
	ctx, stop := context.WithCancel(t.Context())
	var once sync.Once
	begun, left := make(chan struct{}), make(chan error, 1)
	go func() {
		left <- worker.Work(ctx, b, worker.Options{Name: "leaves", Slots: 1, Threads: 1, Scratch: t.TempDir(), Watch: func(string, study.Progress) {
			once.Do(func() { close(begun) })
			time.Sleep(20 * time.Millisecond)
		}})
	}()
	<-begun
	idle := func(want bool) {
		t.Helper()
		for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			h, err := ReadHealth(lab.Dir())
			run, err2 := lab.Run(hash)
			if err == nil && err2 == nil && (len(h.Idle) == 1 && h.Idle[0] == hash) == want && (!want || run.Status == store.Running) {
				return
			}
			if time.Since(start) > 30*time.Second {
				t.Fatalf("wanted %v: %+v, %s, %v", want, h, run.Status, err)
			}
		}
	}
	stop()
	<-left
	idle(true)
	startWorker(t, url, worker.Options{})
	must(t, <-ended)
	idle(false)
}
