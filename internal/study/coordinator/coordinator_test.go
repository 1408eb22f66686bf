package coordinator

import (
	"context"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/train"
)

// Short names for what the tests of all packages share.
var (
	must            = studytest.Must
	openLab         = studytest.Lab
	saved           = studytest.Saved
	itemsOf         = studytest.Items
	tiny            = studytest.Tiny
	longer          = studytest.Longer
	stepByStep      = studytest.StepByStep
	smallGrid       = studytest.SmallGrid
	quickQueue      = studytest.QuickQueue
	directly        = studytest.Directly
	steady          = studytest.Steady
	sameRuns        = studytest.SameRuns
	sameValues      = studytest.SameValues
	firstDifference = studytest.FirstDifference
)

func options(t *testing.T, slots int) Options {
	return Options{Slots: slots, Threads: slots, Queue: quickQueue(), Logf: t.Logf}
}

// remoteOptions are the options of a coordinator that computes nothing itself.
func remoteOptions(t *testing.T) Options {
	o := options(t, 0)
	o.Listen, o.Token = "127.0.0.1:0", "secret"
	return o
}

func TestAStudyRunsWhatIsMissingOnce(t *testing.T) {
	configs := smallGrid()
	configs = append(configs, configs[0]) // the same run twice
	lab := saved(t, configs)
	direct := openLab(t)
	if _, err := demo.Run(t.Context(), direct, configs, 2, 2, studytest.Quiet{}); err != nil {
		t.Fatal(err)
	}
	var ended []Ended
	o := options(t, 2)
	o.Watch = func(e Event) {
		if e.Ended != nil {
			ended = append(ended, *e.Ended)
		}
	}
	s, err := Execute(t.Context(), lab, []string{"s"}, o)
	if err != nil || s != (Summary{Runs: 8, Done: 8}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameRuns(t, lab, direct, 8)
	if len(ended) != 8 || !strings.Contains(ended[0].Text, "NC1") || ended[0].Note == "" {
		t.Errorf("told of %d ends, first %+v", len(ended), ended[0])
	}
	// Another study shares five of its six runs.
	more := append(itemsOf(t, configs[:5]), itemsOf(t, []train.Config{func() train.Config { c := configs[0]; c.Run.Seed = 9; return c }()})...)
	n, err := study.Save(lab, "other", "", "", more)
	must(t, err)
	ended = nil
	s, err = Execute(t.Context(), lab, []string{"other"}, o)
	if err != nil || n != 6 || s != (Summary{Runs: 6, Done: 6}) || len(ended) != 1 {
		t.Errorf("%d runs, %+v, %d computed, %v", n, s, len(ended), err)
	}
	began := time.Now()
	if s, err = Execute(t.Context(), lab, []string{"s", "other"}, o); err != nil || s.Runs != 9 || s.Done != 9 || time.Since(began) > time.Second {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAFailedRunIsToldAndRetried(t *testing.T) {
	t.Parallel()
	configs := smallGrid()[:3]
	configs[1].Optim.LR = 1e38
	lab := saved(t, configs)
	s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 2))
	if err != nil || s != (Summary{Runs: 3, Done: 2, Failed: 1}) {
		t.Fatalf("%+v, %v", s, err)
	}
	failed, err := lab.StudyRuns("s", store.Failed)
	must(t, err)
	if len(failed) != 1 || failed[0].Position != 2 || !strings.Contains(failed[0].Error, "loss is") {
		t.Errorf("%+v", failed)
	}
	n, err := lab.RetryStudy("s")
	if err != nil || n != 1 {
		t.Fatalf("%d to retry, %v", n, err)
	}
	if s, err = Execute(t.Context(), lab, []string{"s"}, options(t, 2)); err != nil || s.Failed != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	run, err := lab.Run(failed[0].Hash)
	if err != nil || run.Generation != 2 {
		t.Errorf("leaseed %d times, want twice: %v", run.Generation, err)
	}
}

func TestWorkersElsewhereGiveTheSameLab(t *testing.T) {
	t.Parallel()
	configs := smallGrid()
	configs[3].Optim.LR = 1e38
	lab, direct := saved(t, configs), openLab(t)
	if _, err := demo.Run(t.Context(), direct, configs, 2, 2, studytest.Quiet{}); err != nil {
		t.Fatal(err)
	}
	o := remoteOptions(t)
	url := urlOf(&o)
	type result struct {
		s   Summary
		err error
	}
	ended := make(chan result, 1)
	go func() {
		s, err := Execute(t.Context(), lab, []string{"s"}, o)
		ended <- result{s, err}
	}()
	at := <-url
	var said studytest.Log
	stop := startWorker(t, at, worker.Options{Name: "one", Slots: 2, Logf: said.Add})
	stopped := startWorker(t, at, worker.Options{Name: "two", Logf: said.Add})
	r := <-ended
	stop()
	stopped()
	if text := said.Text(); strings.Count(text, ": done: ") != 7 || strings.Count(text, ": failed: ") != 1 {
		t.Errorf("the workers said %q", text)
	}
	if r.err != nil || r.s != (Summary{Runs: 8, Done: 7, Failed: 1}) {
		t.Fatalf("%+v", r)
	}
	sameRuns(t, lab, direct, 7)
	failed, err := lab.StudyRuns("s", store.Failed)
	must(t, err)
	want, err := direct.Run(failed[0].Hash)
	must(t, err)
	if failed[0].Error != strings.Join(strings.Fields(want.Error), " ") {
		t.Errorf("failed with %q, want %q", failed[0].Error, want.Error)
	}
}

// urlOf catches the address that a coordinator announces.
func urlOf(o *Options) (address <-chan string) {
	o.Logf, address = studytest.Announced(o.Logf)
	return address
}

// startWorker runs a worker elsewhere, in this process, until the test ends or stop is called.
func startWorker(t *testing.T, url string, o worker.Options) (stop func()) {
	t.Helper()
	if o.Scratch == "" {
		o.Scratch = t.TempDir()
	}
	if o.Logf == nil {
		o.Logf = t.Logf
	}
	o.Slots, o.Threads = max(1, o.Slots), max(1, o.Slots)
	return studytest.InBackground(t, url, func(ctx context.Context, b *queue.Broker) error { return worker.Work(ctx, b, o) })
}
