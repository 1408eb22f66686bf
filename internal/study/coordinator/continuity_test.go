package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/parallel"
)

// stopAt ends a run's context after an epoch.
type stopAt struct {
	firstStep
	epoch int
	stop  func()
}

func (stopAt) Started(train.Started) {}

func (s stopAt) Epoch(e train.EpochDone) {
	if e.Epoch == s.epoch {
		s.stop()
	}
}

// trainedUpTo leaves a run in the lab as if its process had ended after an epoch.
func trainedUpTo(t *testing.T, lab *store.Lab, c train.Config, epoch int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if _, err := train.Run(ctx, c, lab, train.Options{Sink: stopAt{epoch: epoch, stop: stop}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run is to stop at epoch %d: %v", epoch, err)
	}
}

// waitForEpoch returns once the lab has rows of a run up to an epoch.
func waitForEpoch(t *testing.T, lab *store.Lab, hash string, epoch int64) {
	t.Helper()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(5 * time.Millisecond) {
		run, err := lab.Run(hash)
		must(t, err)
		if run.LastEpoch >= epoch {
			return
		}
	}
	t.Fatalf("the rows of epoch %d do not reach the lab", epoch)
}

// TestNoGapAfterAWorkerElsewhere computes a run here up to epoch 50, then elsewhere from the start up to epoch 20, where worker and
// coordinator are killed, then here again: the checkpoint of epoch 50 comes after epochs whose rows are gone.
func TestNoGapAfterAWorkerElsewhere(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{stepByStep()}
	hash := itemsOf(t, configs)[0].Hash
	lab := saved(t, configs)
	trainedUpTo(t, lab, configs[0], 50)
	coordinator, out := faulttest.Play(t, "coordinator", lab.Dir(), "127.0.0.1:0")
	line := faulttest.Heard(t, out, "workers elsewhere")
	at := strings.Fields(line[strings.Index(line, "nats://"):])[0]
	worker, work := faulttest.Play(t, "worker", at, t.TempDir(), string(newGate(t)))
	faulttest.Heard(t, work, "epoch 20")
	waitForEpoch(t, lab, hash, 20)
	if n := wire.NewestOf(lab.RunDir(hash)); n != 0 {
		t.Errorf("the checkpoint of epoch %d stays while the run is computed anew", n)
	}
	must(t, coordinator.Process.Kill())
	must(t, worker.Process.Kill())
	coordinator.Wait()
	s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 1))
	if err != nil || s != (Summary{Runs: 1, Done: 1}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

// TestInterruptedRunsGoFirst: a run that was interrupted comes before those that nobody has begun, if its place in the queue is the last, and
// if the queue does not know it.
func TestInterruptedRunsGoFirst(t *testing.T) {
	t.Parallel()
	for name, queued := range map[string]bool{"in the queue": true, "in the lab alone": false} {
		configs := smallGrid()
		lab := saved(t, configs)
		ctx, stop := context.WithCancel(t.Context())
		if o := options(t, 1); queued {
			o.Watch = func(e Event) {
				if e.Ended != nil {
					stop()
				}
			}
			if _, err := Execute(ctx, lab, []string{"s"}, o); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		stop()
		last := configs[len(configs)-1]
		trainedUpTo(t, lab, last, 1)
		begun, err := lab.StudyRuns("s", store.Interrupted)
		must(t, err)
		var order []string
		o := options(t, 1)
		o.Watch = func(e Event) {
			if e.Ended != nil {
				order = append(order, e.Ended.Hash)
			}
		}
		if s, err := Execute(t.Context(), lab, []string{"s"}, o); err != nil || s.Done != len(configs) {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
		if first := order[:len(begun)]; !slices.Contains(first, itemsOf(t, []train.Config{last})[0].Hash) || len(order) <= len(begun) {
			t.Errorf("%s: of %d runs %d were interrupted, and were not the first", name, len(order), len(begun))
		}
	}
}

// coordinating is a coordinator of the lab's study s but receives nothing by itself. Its one run is in the queue.
func coordinating(t *testing.T, lab *store.Lab, item study.Item) (*coordinator, *studytest.Log) {
	t.Helper()
	server, err := queue.StartServer(queue.ServerOptions{Dir: t.TempDir(), Logf: t.Logf})
	must(t, err)
	t.Cleanup(server.Close)
	opt := quickQueue()
	opt.Version, opt.Logf = version.ID(), t.Logf
	broker, err := server.Connect(opt)
	must(t, err)
	t.Cleanup(broker.Close)
	log := &studytest.Log{}
	e := &coordinator{lab: lab, o: Options{Logf: log.Add, Watch: func(Event) {}, Queue: opt}, names: []string{"s"}, server: server, broker: broker,
		open: map[string]*openRun{}, working: map[string]*openRun{}, remote: map[string]*remoteRun{}, emptied: make(chan struct{}, 1), started: time.Now()}
	for range 16 { // each writes to the leases, so that generations up to 16 can have been given out
		e.c, err = broker.Coordinate(t.Context(), "this lab")
		must(t, err)
	}
	must(t, e.load())
	must(t, e.c.Submit(t.Context(), e.open[item.Hash].job()))
	return e, log
}

// sentBy are the messages of one attempt at a run by a worker elsewhere.
type sentBy struct {
	t    *testing.T
	hash string
	g    uint64
}

func (s sentBy) data(b []byte) queue.Message {
	return queue.Message{Job: s.hash, Type: queue.Data, Generation: s.g, Attempt: 1, Worker: "elsewhere", Data: b}
}

func (s sentBy) done(files []byte) queue.Message {
	m := s.data(files)
	m.Type = queue.Done
	return m
}

// rows are the messages for epochs first to last of the run in a lab.
func (s sentBy) rows(lab *store.Lab, first, last int64) (list []queue.Message) {
	s.t.Helper()
	epochs, err := lab.RowsAfter(s.hash, first-1)
	must(s.t, err)
	for _, e := range epochs {
		if e.Epoch <= last {
			for _, b := range wire.EncodeRows(e) {
				list = append(list, s.data(b))
			}
		}
	}
	return list
}

// filesFrom is the last message of a run that ended in a lab, with the files that keep wants.
func filesFrom(t *testing.T, lab *store.Lab, hash string, keep func(path string) bool) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, wire.Pack(&b, lab.RunDir(hash), keep))
	text, err := json.Marshal(wire.Manifest{Inline: b.Bytes()})
	must(t, err)
	return text
}

// TestADoneWithoutTheRunIsRefused reports a run as done when it is not: without rows, without some of them, without its files, or
// with damaged ones. The lab does not accept it, says why, and submits the run again; the complete run is accepted.
func TestADoneWithoutTheRunIsRefused(t *testing.T) {
	t.Parallel()
	configs := []train.Config{longer()}
	item := itemsOf(t, configs)[0]
	whole := directly(t, configs)
	all := func(string) bool { return true }
	without := func(part string) func(string) bool {
		return func(path string) bool { return !strings.Contains(path, part) }
	}
	for name, test := range map[string]struct {
		from, rows [2]int64 // begin; first and last epoch that are sent
		files      func(path string) bool
		log        string // "": it is taken
	}{
		"nothing at all":       {[2]int64{-1}, [2]int64{1, 0}, all, "no rows of epoch 1–80"},
		"no rows":              {[2]int64{0, 1}, [2]int64{1, 0}, all, "no rows of epoch 1–80"},
		"the first rows":       {[2]int64{0, 1}, [2]int64{1, 79}, all, "no rows of epoch 80"},
		"the last rows":        {[2]int64{0, 1}, [2]int64{31, 80}, all, "no rows of epoch 1–30"},
		"rows of nothing":      {[2]int64{79, 80}, [2]int64{80, 80}, all, "no rows of epoch 1–79"},
		"no files":             {[2]int64{0, 1}, [2]int64{1, 80}, without(""), "checkpoint 80"},
		"no features":          {[2]int64{0, 1}, [2]int64{1, 80}, without("features.npz"), "features.npz"},
		"no last checkpoint":   {[2]int64{0, 1}, [2]int64{1, 80}, without("ckpt/80"), "checkpoint 80"},
		"half a checkpoint":    {[2]int64{0, 1}, [2]int64{1, 80}, without("ckpt/80/optim"), "checkpoint 80"},
		"a checkpoint no more": {[2]int64{0, 1}, [2]int64{1, 80}, without("80/state"), "checkpoint 80"},
		"everything":           {[2]int64{0, 1}, [2]int64{1, 80}, all, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := saved(t, configs)
			e, log := coordinating(t, lab, item)
			s := sentBy{t, item.Hash, 7}
			var list []queue.Message
			if test.from[0] < 0 {
				s.g = 0 // what a run has that nobody has begun elsewhere
			} else {
				list = append(list, s.data(wire.Begin{From: test.from[0], Rows: test.from[1]}.Encode()))
			}
			list = append(list, s.rows(whole, test.rows[0], test.rows[1])...)
			list = append(list, s.done(filesFrom(t, whole, item.Hash, test.files)))
			must(t, e.apply(t.Context(), list))
			run, err := lab.Run(item.Hash)
			must(t, err)
			jobs, err := e.c.Jobs(t.Context())
			must(t, err)
			if test.log == "" {
				if run.Status != store.Done || len(jobs) != 0 || steady(t, lab, item.Hash) != steady(t, whole, item.Hash) {
					t.Errorf("%s, jobs %v, %q", run.Status, jobs, log.Text())
				}
				return
			}
			if run.Status == store.Done || run.Status == store.Failed || len(jobs) != 1 || !strings.Contains(log.Text(), test.log) {
				t.Errorf("%s, jobs %v, %q", run.Status, jobs, log.Text())
			}
			if left, _ := filepath.Glob(filepath.Join(lab.RunDir(item.Hash), ".g*")); len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
		})
	}
}

// TestAnAttemptOverAGapIsRefused begins an attempt that continues after epochs whose rows the lab lacks. Nothing of it is accepted,
// and the run is submitted again without the checkpoint in the queue.
func TestAnAttemptOverAGapIsRefused(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{stepByStep()}
	item := itemsOf(t, configs)[0]
	lab, whole := saved(t, configs), directly(t, configs)
	e, log := coordinating(t, lab, item)
	first, second := sentBy{t, item.Hash, 7}, sentBy{t, item.Hash, 9}
	must(t, e.apply(t.Context(), append([]queue.Message{first.data(wire.Begin{Rows: 1}.Encode())}, first.rows(whole, 1, 20)...)))
	must(t, e.apply(t.Context(), append([]queue.Message{second.data(wire.Begin{From: 50, Rows: 50}.Encode())}, second.rows(whole, 50, 80)...)))
	if !strings.Contains(log.Text(), "no rows of epoch 21–49;") {
		t.Errorf("told %q", log.Text())
	}
	run, err := lab.Run(item.Hash)
	if err != nil || run.LastEpoch != 20 || run.Status != store.Interrupted {
		t.Errorf("%s at epoch %d, %v", run.Status, run.LastEpoch, err)
	}
	if jobs, err := e.c.Jobs(t.Context()); err != nil || len(jobs) != 1 {
		t.Errorf("jobs %v, %v", jobs, err)
	}
	// An attempt that brings the rows along, and one that continues where the lab is, are accepted.
	third, fourth := sentBy{t, item.Hash, 11}, sentBy{t, item.Hash, 13}
	must(t, e.apply(t.Context(), append([]queue.Message{third.data(wire.Begin{From: 50, Rows: 1}.Encode())}, third.rows(whole, 1, 60)...)))
	must(t, e.apply(t.Context(), append([]queue.Message{fourth.data(wire.Begin{From: 61, Rows: 61}.Encode())}, fourth.rows(whole, 61, 80)...)))
	if a, b := steady(t, lab, item.Hash), steady(t, whole, item.Hash); a != b {
		t.Errorf("the rows differ, first\n%s", firstDifference(a, b))
	}
}

// TestRowsOnTheirWayAreStoredBeforeATakeover has a worker elsewhere send rows and store a checkpoint, and a slot of this process
// take over the run before anybody has read the rows.
func TestRowsOnTheirWayAreStoredBeforeATakeover(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{stepByStep()}
	configs[0].Run.Keep = "all"
	item := itemsOf(t, configs)[0]
	lab := saved(t, configs)
	whole, err := store.Open(t.TempDir(), store.Options{}) // not the one of all tests, which has other checkpoints
	must(t, err)
	defer whole.Close()
	outcomes, err := demo.Run(t.Context(), whole, configs, 1, 1, studytest.Quiet{})
	must(t, errors.Join(err, demo.Failures(outcomes)))
	e, log := coordinating(t, lab, item)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	left := make(chan error, 1)
	go e.broker.Work(ctx, queue.WorkerOptions{Name: "elsewhere"}, func(ctx context.Context, task *queue.Task) ([]byte, error) {
		s := sentBy{t, item.Hash, task.Generation}
		err := task.Send(ctx, wire.Begin{Rows: 1}.Encode())
		for _, m := range s.rows(whole, 1, 20) {
			err = errors.Join(err, task.Send(ctx, m.Data))
		}
		objects, err1 := e.broker.Objects(ctx)
		_, err2 := wire.SaveCheckpoint(ctx, task, whole.RunDir(item.Hash), 21, objects, false)
		left <- errors.Join(err, err1, err2)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	must(t, <-left)
	stop()
	team := parallel.NewTeam(1)
	defer team.Close()
	taken, ended := make(chan struct{}), make(chan error, 1)
	here, halt := context.WithCancel(t.Context())
	defer halt()
	go e.broker.Work(here, queue.WorkerOptions{Name: wire.LocalPrefix + "1"}, func(ctx context.Context, task *queue.Task) ([]byte, error) {
		close(taken)
		err := e.compute(ctx, task, team)
		ended <- err
		return nil, err
	})
	<-taken
	time.Sleep(200 * time.Millisecond) // a process that does not wait for the rows continues without them
	go e.c.Receive(here, func(list []queue.Message) error { return e.apply(here, list) })
	must(t, <-ended)
	sameValues(t, lab, whole, configs)
	if e.mu.Lock(); log.Text() != "" {
		t.Errorf("told %q", log.Text())
	}
	e.mu.Unlock()
	attempts, err := lab.Attempts(item.Hash)
	if err != nil || len(attempts) != 2 {
		t.Errorf("%d attempts, %v: the worker's and this process's", len(attempts), err)
	}
}

// TestARunThatChangesMachinesKeepsItsFiles kills a worker and has another continue: frames, saved features and kept checkpoints of
// the epochs before are in the lab, too.
func TestARunThatChangesMachinesKeepsItsFiles(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{stepByStep()}
	configs[0].Run.Epochs, configs[0].Run.Keep, configs[0].Run.SaveFeatures = 60, "every=8", "every=7"
	hash := itemsOf(t, configs)[0].Hash
	lab := saved(t, configs)
	o := remoteOptions(t)
	at, ended := executing(t, lab, &o)
	first, out := faulttest.Play(t, "worker", at, t.TempDir(), string(newGate(t)))
	faulttest.Heard(t, out, "epoch 20")
	waitForCheckpoint(t, at, hash)
	must(t, first.Process.Kill())
	_, out = faulttest.Play(t, "worker", at, t.TempDir())
	if line := faulttest.Heard(t, out, "epoch"); line == "epoch 0" {
		t.Error("the second worker started from nothing")
	}
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs), configs)
	got, want := studytest.Contents(t, lab.RunDir(hash)), studytest.Contents(t, directly(t, configs).RunDir(hash))
	for path, text := range want {
		if other, ok := got[path]; !strings.HasPrefix(path, "ckpt/59/") && (!ok || other != text) {
			t.Errorf("%s: there: %v; %d and %d bytes", path, ok, len(other), len(text))
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s is more than an undisturbed run has", path)
		}
	}
	if len(want) < 60+8*3+3 {
		t.Errorf("only %d files are compared", len(want))
	}
}

// TestAnotherQueueTakesUpALab computes a run whose lab has recorded a generation of a queue that is gone: those of a new queue start at one again.
func TestAnotherQueueTakesUpALab(t *testing.T) {
	t.Parallel()
	configs := []train.Config{tiny()}
	lab := saved(t, configs)
	must(t, lab.SetRemote(itemsOf(t, configs)[0].Hash, 1<<40))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := remoteOptions(t)
	url := urlOf(&o)
	ended := make(chan error, 1)
	go func() {
		_, err := Execute(ctx, lab, []string{"s"}, o)
		ended <- err
	}()
	startWorker(t, <-url, worker.Options{})
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs), configs)
}

// TestWaitingScriptsFollowTheirFile: what a study's file says of scripts, and is no part of their identity, holds for runs that have waited in the
// queue since it said something else.
func TestWaitingScriptsFollowTheirFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "train.sh"), []byte(`echo "$*" >> log
echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": 1, \"values\": {\"loss\": 1}}" >> "$COLLAPSE_EVENTS"
echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}" >> "$COLLAPSE_EVENTS"
`), 0o666))
	lab, err := store.Open(t.TempDir(), store.Options{})
	must(t, err)
	t.Cleanup(func() { lab.Close() })
	save := func(more string) {
		t.Helper()
		f, err := study.ParseFile(filepath.Join(folder, "s.toml"), []byte("[trainer]\ncommand = [\"sh\", \"train.sh\"]\nepochs = 1\n"+more+"[grid]\nlr = [1, 2, 3]\n"), nil, 0)
		must(t, err)
		items, err := f.Items(nil)
		must(t, err)
		_, err = study.Save(lab, "s", "", f.Source, items)
		must(t, err)
	}
	save("")
	ctx, stop := context.WithCancel(t.Context())
	o := options(t, 1)
	o.Scripts, o.Watch = folder, func(e Event) {
		if e.Ended != nil {
			stop()
		}
	}
	if _, err := Execute(ctx, lab, []string{"s"}, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	save("args = \"flags\"\n")
	o = options(t, 1)
	o.Scripts = folder
	if s, err := Execute(t.Context(), lab, []string{"s"}, o); err != nil || s.Done != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "log"))
	must(t, err)
	if lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"); len(lines) < 3 || lines[0] != "" || lines[len(lines)-1] != "--lr 3" || !slices.Contains(lines, "--lr 2") {
		t.Errorf("%q", text)
	}
}
