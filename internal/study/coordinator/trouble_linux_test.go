package coordinator

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/version"
)

// strictWorker starts a worker that allows not a single failed attempt.
func strictWorker(t *testing.T, url string, o worker.Options) (told *studytest.Log) {
	t.Helper()
	told = &studytest.Log{}
	b, err := queue.Connect(queue.Remote{URL: url, Token: "secret"}, queue.Options{Version: version.ID(), MaxAttempts: 1, Logf: told.Add})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	o.Slots, o.Threads, o.Logf = 1, 1, told.Add
	go func() { ended <- worker.Work(ctx, b, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "cancel") {
			t.Errorf("worker: %v", err)
		}
		b.Close()
	})
	return told
}

// waitsAt returns once the lab's health says that the worker waits for the given reason.
func waitsAt(t *testing.T, lab *store.Lab, worker, why string) Health {
	t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		h, err := ReadHealth(lab.Dir())
		must(t, err)
		for _, w := range h.Waiting {
			if w.Worker == worker && strings.Contains(w.Why, why) {
				return h
			}
		}
		if time.Since(start) > 60*time.Second {
			t.Fatalf("worker %s does not wait for %q: %+v", worker, why, h)
		}
	}
}

// TestAWorkerWhoseDiskIsFullLeavesTheRunsToOthers has one worker with a full scratch disk, from the start or from the middle of a
// run, and then a healthy one. No attempt may be counted, since none is to spare.
func TestAWorkerWhoseDiskIsFullLeavesTheRunsToOthers(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"from the start", "in the midst"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			scratch := t.TempDir()
			faulttest.SmallDisk(t, scratch)
			configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: longtest.Of(1, 2)}.Configs()
			lab := saved(t, configs)
			o := remoteOptions(t)
			told := &studytest.Log{}
			o.Logf = told.Add
			url := urlOf(&o)
			ended := make(chan error, 1)
			go func() {
				s, err := Execute(t.Context(), lab, []string{"s"}, o)
				if n := len(configs); err == nil && s != (Summary{Runs: n, Done: n}) {
					err = fmt.Errorf("%+v", s)
				}
				ended <- err
			}()
			at := <-url
			w := worker.Options{Name: "full", Scratch: scratch, CheckpointEvery: time.Millisecond, Retry: 50 * time.Millisecond}
			if when == "from the start" {
				faulttest.FillDisk(t, scratch)
			} else {
				filled := false
				w.Watch = func(_ string, p study.Progress) {
					if p.Epoch == 20 && !filled {
						filled = true
						faulttest.FillDisk(t, scratch)
					}
				}
			}
			said := strictWorker(t, at, w)
			h := waitsAt(t, lab, "full", "disk full at "+scratch)
			for start := time.Now(); !h.Stuck; time.Sleep(20 * time.Millisecond) {
				h = waitsAt(t, lab, "full", "disk full")
				if time.Since(start) > 60*time.Second {
					t.Fatal("nobody says that no worker can go on")
				}
			}
			strictWorker(t, at, worker.Options{Name: "well", Scratch: t.TempDir()})
			must(t, <-ended)
			sameValues(t, lab, directly(t, configs), configs)
			if text := told.Text(); !strings.Contains(text, "worker full waits: disk full at "+scratch) || !strings.Contains(text, "all known workers wait") || strings.Contains(text, "attempt") {
				t.Errorf("the coordinator told:\n%s", text)
			}
			if text := said.Text(); strings.Count(text, "can do no work now") != 1 || !strings.Contains(text, "disk full at "+scratch) {
				t.Errorf("the worker told:\n%s", text)
			}
			if failed, err := lab.StudyRuns("s", store.Failed); err != nil || len(failed) != 0 {
				t.Errorf("%d failed, %v", len(failed), err)
			}
		})
	}
}

// TestAWorkerGoesOnWhenItsDiskHasSpaceAgain needs no other worker.
func TestAWorkerGoesOnWhenItsDiskHasSpaceAgain(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	scratch := t.TempDir()
	faulttest.SmallDisk(t, scratch)
	configs := []train.Config{longer()}
	lab := saved(t, configs)
	o := remoteOptions(t)
	url := urlOf(&o)
	ended := make(chan error, 1)
	go func() {
		_, err := Execute(t.Context(), lab, []string{"s"}, o)
		ended <- err
	}()
	release := make(chan func(), 1)
	filled := false
	// The scratch lab's lease cannot be given up on a full disk: the worker waits until it is stale.
	strictWorker(t, <-url, worker.Options{Name: "full", Scratch: scratch, Stale: 2 * time.Second, Retry: 50 * time.Millisecond, Watch: func(_ string, p study.Progress) {
		if p.Epoch == 20 && !filled {
			filled = true
			release <- faulttest.FillDisk(t, scratch)
		}
	}})
	waitsAt(t, lab, "full", "disk full at "+scratch)
	(<-release)()
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs), configs)
	if h, err := ReadHealth(lab.Dir()); err != nil || len(h.Waiting) != 0 || h.Stuck {
		t.Errorf("after the study: %+v, %v", h, err)
	}
}

// TestAWorkerWhoseScratchCannotBeWrittenLeavesTheRunsToOthers makes the disk read-only in the middle of a run.
func TestAWorkerWhoseScratchCannotBeWrittenLeavesTheRunsToOthers(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	scratch := t.TempDir()
	faulttest.SmallDisk(t, scratch)
	configs := []train.Config{longer(), tiny()}
	lab := saved(t, configs)
	o := remoteOptions(t)
	url := urlOf(&o)
	ended := make(chan error, 1)
	go func() {
		s, err := Execute(t.Context(), lab, []string{"s"}, o)
		if err == nil && s != (Summary{Runs: 2, Done: 2}) {
			err = fmt.Errorf("%+v", s)
		}
		ended <- err
	}()
	at := <-url
	hindered := false
	strictWorker(t, at, worker.Options{Name: "locked", Scratch: scratch, Retry: 50 * time.Millisecond, Watch: func(_ string, p study.Progress) {
		if p.Epoch == 20 && !hindered {
			hindered = true
			hinder(t, filepath.Join(scratch, "0", "runs"))
		}
	}})
	waitsAt(t, lab, "locked", "")
	strictWorker(t, at, worker.Options{Name: "well", Scratch: t.TempDir()})
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs[:1]), configs[:1])
}

// TestARunThatIsTooLargeForAWorkerIsNoObstacle: the only worker has too little memory for the run that comes first. Meanwhile it
// does the others, and in between says why it waits.
func TestARunThatIsTooLargeForAWorkerIsNoObstacle(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	large := tiny()
	large.Net.Depth, large.Net.Width = 3, 400_000 // 640 GB a layer
	configs := append([]train.Config{large}, smallGrid()[:3]...)
	lab := saved(t, configs)
	o := remoteOptions(t)
	told := &studytest.Log{}
	o.Logf = told.Add
	url := urlOf(&o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	o.Watch = func(e Event) {
		if e.Failed > 0 || e.Done == 3 {
			done <- e.Failed
			cancel()
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := Execute(ctx, lab, []string{"s"}, o)
		ended <- err
	}()
	strictWorker(t, <-url, worker.Options{Name: "small", Scratch: t.TempDir(), Retry: 50 * time.Millisecond})
	select {
	case failed := <-done:
		if failed != 0 {
			t.Error("the large run counts as failed")
		}
	case <-time.After(2 * time.Minute):
		t.Errorf("the others are not done; told:\n%s", told.Text())
	}
	cancel()
	<-ended
	if text := told.Text(); !strings.Contains(text, "worker small waits: train: the run needs about") || strings.Contains(text, "attempt") {
		t.Errorf("told:\n%s", text)
	}
}

// hinder mounts a read-only disk over every run's checkpoints.
func hinder(t *testing.T, runs string) {
	list, err := filepath.Glob(filepath.Join(runs, "*", "ckpt"))
	if err != nil || len(list) == 0 {
		t.Errorf("no checkpoints below %s, %v", runs, err)
	}
	for _, dir := range list {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, ""); err != nil {
			t.Error(err)
		}
		t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
}

// TestASuspendedWorkerComesBack stops a worker's process until another one has its run, and resumes it: nothing that it still does
// counts. When it has done another run, which nobody else can take, it has found out.
func TestASuspendedWorkerComesBack(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{longer(), tiny()}
	items := itemsOf(t, configs)
	lab := saved(t, configs[:1])
	o := remoteOptions(t)
	another := make(chan struct{})
	o.Watch = func(e Event) {
		if e.Ended != nil && e.Ended.Hash == items[1].Hash {
			close(another)
		}
	}
	at, ended := executing(t, lab, &o)
	hold := newGate(t)
	first, out := faulttest.Play(t, "worker", at, t.TempDir(), string(hold))
	faulttest.Heard(t, out, "epoch 20")
	waitForEpoch(t, lab, items[0].Hash, 1)
	must(t, first.Process.Signal(syscall.SIGSTOP))
	hold.open(t)
	wait := newGate(t)
	_, second := faulttest.Play(t, "worker", at, t.TempDir(), string(wait))
	faulttest.Heard(t, second, "epoch 20")
	_, err := study.Save(lab, "s", "", "", items)
	must(t, err)
	must(t, first.Process.Signal(syscall.SIGCONT))
	select {
	case <-another:
	case err := <-ended:
		t.Fatalf("the study ends without the other run: %v", err)
	}
	if run, err := lab.Run(items[0].Hash); err != nil || run.Status != store.Running {
		t.Errorf("while the second worker is at it the run is %s, %v", run.Status, err)
	}
	wait.open(t)
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs[:1]), configs[:1])
	if attempts, err := lab.Attempts(items[0].Hash); err != nil || len(attempts) != 2 {
		t.Errorf("%d attempts, %v", len(attempts), err)
	}
}
