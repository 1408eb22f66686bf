package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"collapse/internal/faulttest"
	"collapse/internal/queue"
	"collapse/internal/store"
	"collapse/internal/version"
	"collapse/parallel"
	"collapse/train"
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

// trainedUpTo leaves a run in the lab as a process that ended after an epoch.
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

// stepByStep is a run with a checkpoint and measures after every epoch.
func stepByStep() train.Config {
	c := longer()
	c.Run.MeasureEvery, c.Run.CheckpointEvery = 1, 1
	return c
}

// TestNoGapAfterAWorkerElsewhere computes a run here up to epoch 50, then elsewhere from its start up to epoch 20, where worker and
// coordinator are killed, then here again: the checkpoint of epoch 50 is of epochs whose rows are gone.
func TestNoGapAfterAWorkerElsewhere(t *testing.T) {
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
	if n := newestOf(lab.RunDir(hash)); n != 0 {
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

// told keeps what an engine logs.
type told struct {
	sync.Mutex
	lines []string
}

func (l *told) logf(format string, args ...any) {
	l.Lock()
	defer l.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *told) holds(text string) bool {
	l.Lock()
	defer l.Unlock()
	return strings.Contains(strings.Join(l.lines, "\n"), text)
}

// coordinating is an engine that coordinates the lab's study s and receives nothing by itself. Its one run is in the queue.
func coordinating(t *testing.T, lab *store.Lab, item Item) (*engine, *told) {
	t.Helper()
	server, err := queue.StartServer(queue.ServerOptions{Dir: t.TempDir(), Logf: t.Logf})
	must(t, err)
	t.Cleanup(server.Close)
	opt := quickQueue()
	opt.Version, opt.Logf = version.Version, t.Logf
	broker, err := server.Connect(opt)
	must(t, err)
	t.Cleanup(broker.Close)
	log := &told{}
	e := &engine{lab: lab, o: Options{Logf: log.logf, Watch: func(Event) {}, Queue: opt}, names: []string{"s"}, server: server, broker: broker,
		open: map[string]*openRun{}, working: map[string]*openRun{}, remote: map[string]*remoteRun{}, emptied: make(chan struct{}, 1), started: time.Now()}
	for range 16 { // each writes to the claims, so that generations up to 16 can have been given out
		e.c, err = broker.Coordinate(t.Context(), "this lab")
		must(t, err)
	}
	must(t, e.load())
	must(t, e.c.Submit(t.Context(), e.open[item.Hash].job()))
	return e, log
}

// sentBy are messages of one attempt at a run by a worker elsewhere.
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

// rows are the messages of the epochs from first to last of the run in a lab.
func (s sentBy) rows(lab *store.Lab, first, last int64) (list []queue.Message) {
	s.t.Helper()
	epochs, err := lab.RowsAfter(s.hash, first-1)
	must(s.t, err)
	for _, e := range epochs {
		if e.Epoch <= last {
			for _, b := range encodeRows(e) {
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
	must(t, pack(&b, lab.RunDir(hash), keep))
	text, err := json.Marshal(manifest{Inline: b.Bytes()})
	must(t, err)
	return text
}

// TestADoneWithoutTheRunIsRefused says that a run is done when it is not: without rows, without some of them, without its files, with
// damaged ones. The lab does not take it, says why, and hands the run out again; the whole of it is taken.
func TestADoneWithoutTheRunIsRefused(t *testing.T) {
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
			lab := saved(t, configs)
			e, log := coordinating(t, lab, item)
			s := sentBy{t, item.Hash, 7}
			var list []queue.Message
			if test.from[0] < 0 {
				s.g = 0 // what a run has that nobody has begun elsewhere
			} else {
				list = append(list, s.data(begin{From: test.from[0], Rows: test.from[1]}.encode()))
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
					t.Errorf("%s, jobs %v, %q", run.Status, jobs, log.lines)
				}
				return
			}
			if run.Status == store.Done || run.Status == store.Failed || len(jobs) != 1 || !log.holds(test.log) {
				t.Errorf("%s, jobs %v, %q", run.Status, jobs, log.lines)
			}
			if left, _ := filepath.Glob(filepath.Join(lab.RunDir(item.Hash), ".g*")); len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
		})
	}
}

// TestAnAttemptOverAGapIsRefused begins an attempt that goes on from epochs whose rows the lab has not got. Nothing of it is taken, and
// the run is handed out again without the checkpoint that the queue kept.
func TestAnAttemptOverAGapIsRefused(t *testing.T) {
	configs := []train.Config{stepByStep()}
	item := itemsOf(t, configs)[0]
	lab, whole := saved(t, configs), directly(t, configs)
	e, log := coordinating(t, lab, item)
	first, second := sentBy{t, item.Hash, 7}, sentBy{t, item.Hash, 9}
	must(t, e.apply(t.Context(), append([]queue.Message{first.data(begin{Rows: 1}.encode())}, first.rows(whole, 1, 20)...)))
	must(t, e.apply(t.Context(), append([]queue.Message{second.data(begin{From: 50, Rows: 50}.encode())}, second.rows(whole, 50, 80)...)))
	if !log.holds("no rows of epoch 21–49;") {
		t.Errorf("told %q", log.lines)
	}
	run, err := lab.Run(item.Hash)
	if err != nil || run.LastEpoch != 20 || run.Status != store.Interrupted {
		t.Errorf("%s at epoch %d, %v", run.Status, run.LastEpoch, err)
	}
	if jobs, err := e.c.Jobs(t.Context()); err != nil || len(jobs) != 1 {
		t.Errorf("jobs %v, %v", jobs, err)
	}
	// One that brings the rows along, and one that goes on where the lab is, are taken.
	third, fourth := sentBy{t, item.Hash, 11}, sentBy{t, item.Hash, 13}
	must(t, e.apply(t.Context(), append([]queue.Message{third.data(begin{From: 50, Rows: 1}.encode())}, third.rows(whole, 1, 60)...)))
	must(t, e.apply(t.Context(), append([]queue.Message{fourth.data(begin{From: 61, Rows: 61}.encode())}, fourth.rows(whole, 61, 80)...)))
	if a, b := steady(t, lab, item.Hash), steady(t, whole, item.Hash); a != b {
		t.Errorf("the rows differ, first\n%s", firstDifference(a, b))
	}
}

// TestRowsOnTheirWayAreStoredBeforeATakeover has a worker elsewhere send rows and leave a checkpoint, and a slot of this process take the
// run over while nobody has read the rows yet.
func TestRowsOnTheirWayAreStoredBeforeATakeover(t *testing.T) {
	configs := []train.Config{stepByStep()}
	configs[0].Run.Keep = "all"
	item := itemsOf(t, configs)[0]
	lab := saved(t, configs)
	whole, err := store.Open(t.TempDir(), store.Options{}) // not the one of all tests, which has other checkpoints
	must(t, err)
	defer whole.Close()
	outcomes, err := Run(t.Context(), whole, configs, 1, 1, newCounter())
	must(t, errors.Join(err, Failures(outcomes)))
	e, log := coordinating(t, lab, item)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	left := make(chan error, 1)
	go e.broker.Work(ctx, queue.WorkerOptions{Name: "elsewhere"}, func(ctx context.Context, task *queue.Task) ([]byte, error) {
		s := sentBy{t, item.Hash, task.Generation}
		err := task.Send(ctx, begin{Rows: 1}.encode())
		for _, m := range s.rows(whole, 1, 20) {
			err = errors.Join(err, task.Send(ctx, m.Data))
		}
		objects, err1 := e.broker.Objects(ctx)
		_, err2 := saveCheckpoint(ctx, task, whole.RunDir(item.Hash), 21, objects, false)
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
	go e.broker.Work(here, queue.WorkerOptions{Name: localPrefix + "1"}, func(ctx context.Context, task *queue.Task) ([]byte, error) {
		close(taken)
		err := e.compute(ctx, task, team)
		ended <- err
		return nil, err
	})
	<-taken
	time.Sleep(200 * time.Millisecond) // whoever does not wait for the rows goes on without them
	go e.c.Receive(here, func(list []queue.Message) error { return e.apply(here, list) })
	must(t, <-ended)
	sameValues(t, lab, whole, configs)
	if e.mu.Lock(); len(log.lines) > 0 {
		t.Errorf("told %q", log.lines)
	}
	e.mu.Unlock()
	attempts, err := lab.Attempts(item.Hash)
	if err != nil || len(attempts) != 2 {
		t.Errorf("%d attempts, %v: the worker's and this process's", len(attempts), err)
	}
}

// contents are the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(b)
		return err
	}))
	return all
}

// TestARunThatChangesMachinesKeepsItsFiles kills a worker and has another go on: frames, saved features and kept checkpoints of the epochs
// before are in the lab, too.
func TestARunThatChangesMachinesKeepsItsFiles(t *testing.T) {
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
	got, want := contents(t, lab.RunDir(hash)), contents(t, directly(t, configs).RunDir(hash))
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

// TestSidePartsAreFewAndWhole leaves files with a checkpoint after each epoch: the parts have every file once, they are few, and what
// they cost in all is a small multiple of the files.
func TestSidePartsAreFewAndWhole(t *testing.T) {
	dir, blobs := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "frames"), 0o777))
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(train.PrintConfig(tiny())), 0o666))
	var parts []sidePart
	stored := int64(0)
	known := map[string]bool{}
	const epochs = 100
	for epoch := int64(1); epoch <= epochs; epoch++ {
		must(t, os.WriteFile(filepath.Join(dir, "frames", fmt.Sprintf("%d.npz", epoch)), bytes.Repeat([]byte{byte(epoch)}, 10_000), 0o666))
		must(t, os.WriteFile(filepath.Join(dir, "frames", fmt.Sprintf("%d.npz.tmp", epoch+1)), nil, 0o666))
		var err error
		parts, err = leaveBeside(t.Context(), queue.Folder(blobs), "job/g1", dir, epoch, parts)
		must(t, err)
		if len(parts) > 8 {
			t.Fatalf("%d parts at epoch %d", len(parts), epoch)
		}
		for _, p := range parts {
			if !known[p.Blob.Name] {
				known[p.Blob.Name] = true
				stored += p.Blob.Bytes
			}
		}
	}
	if same, err := leaveBeside(t.Context(), queue.Folder(blobs), "job/g1", dir, epochs, parts); err != nil || len(same) != len(parts) {
		t.Errorf("without anything new there are %d parts, not %d, %v", len(same), len(parts), err)
	}
	if stored > 8*epochs*11_000 {
		t.Errorf("%d bytes went for %d of files", stored, epochs*10_000)
	}
	all := filepath.Join(t.TempDir(), "all")
	for _, p := range parts {
		staging := filepath.Join(t.TempDir(), "part")
		must(t, fetch(t.Context(), queue.Folder(blobs), p.Blob, staging))
		for path := range contents(t, staging) {
			if _, err := os.Stat(filepath.Join(all, path)); err == nil {
				t.Errorf("%s is in two parts", path)
			}
		}
		must(t, mergeInto(staging, all))
	}
	got := contents(t, all)
	for epoch := 1; epoch <= epochs; epoch++ {
		if b := got[fmt.Sprintf("frames/%d.npz", epoch)]; len(b) != 10_000 || b[0] != byte(epoch) {
			t.Errorf("the frame of epoch %d has %d bytes", epoch, len(b))
		}
	}
	if len(got) != epochs {
		t.Errorf("%d files", len(got))
	}
}

// TestAnotherQueueTakesUpALab computes a run whose lab has a generation of a queue that is gone: those of a new queue begin at one again.
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
	startWorker(t, <-url, WorkerOptions{})
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs), configs)
}

// TestAResultWithoutItsBeginningIsNotKept gives a worker a run again that its scratch lab has as done, without the rows of its first epochs:
// they are of use only while the queue has the checkpoint that they began with.
func TestAResultWithoutItsBeginningIsNotKept(t *testing.T) {
	configs := []train.Config{longer()}
	item := itemsOf(t, configs)[0]
	whole := directly(t, configs)
	e, _ := coordinating(t, saved(t, configs), item)
	w, err := newRemoteWorker(e.broker, WorkerOptions{Slots: 1, Threads: 1, Scratch: t.TempDir(), Logf: t.Logf})
	must(t, err)
	defer w.close()
	claim, _, err := w.scratch.Claim(item.Spec)
	must(t, err)
	rows, err := whole.RowsAfter(item.Hash, 29)
	must(t, err)
	must(t, claim.AppendEpochs(rows))
	must(t, os.MkdirAll(filepath.Join(claim.Dir, "ckpt", "80"), 0o777))
	must(t, claim.Finish())
	state := checkpointState{Machine: train.ThisMachine(), Epoch: 30}
	task := &queue.Task{Job: queue.Job{ID: item.Hash, Kind: string(item.Spec.Kind), State: state.encode()}}
	if s, elsewhere, err := w.prepare(t.Context(), task, kinds[item.Spec.Kind]); err != nil || elsewhere != 29 || s.Epoch != 30 {
		t.Errorf("%+v, rows up to %d elsewhere, %v", s, elsewhere, err)
	}
	if run, err := w.scratch.Run(item.Hash); err != nil || run.Status != store.Done {
		t.Errorf("with the checkpoint the run is %s, %v", run.Status, err)
	}
	task.State = nil
	if _, elsewhere, err := w.prepare(t.Context(), task, kinds[item.Spec.Kind]); err != nil || elsewhere != 0 {
		t.Errorf("rows up to %d elsewhere, %v", elsewhere, err)
	}
	if run, err := w.scratch.Run(item.Hash); !isUnknown(err) {
		t.Errorf("without the checkpoint the run is %s, %v", run.Status, err)
	}
}
