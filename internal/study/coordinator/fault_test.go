package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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

// TestMain lets the test binary play a coordinator or a worker that is killed. Most tests wait most of the time, so that many run side by side.
func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	faulttest.SideBySide(8)
	faulttest.Main(m, map[string]func([]string) error{"coordinator": roleCoordinator, "crowded": roleCrowded, "worker": roleWorker})
	studytest.RemoveReference()
}

// gate is a file. A process that reaches it waits while the file exists, so that the test can act in the middle of things, however
// slow the machine is.
type gate string

func newGate(t *testing.T) gate {
	t.Helper()
	g := gate(filepath.Join(t.TempDir(), "gate"))
	must(t, os.WriteFile(string(g), nil, 0o666))
	return g
}

func (g gate) open(t *testing.T) {
	t.Helper()
	must(t, os.Remove(string(g)))
}

func (g gate) pass() {
	for _, err := os.Stat(string(g)); err == nil; _, err = os.Stat(string(g)) {
		time.Sleep(5 * time.Millisecond)
	}
}

// roleCoordinator executes study s of the lab args[0], listening on args[1] without slots, or with two slots if that is "". It
// reaches the gate args[2], if given, when a run has ended; the others stop, too.
func roleCoordinator(args []string) error {
	lab, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	say := func(format string, a ...any) { fmt.Printf(format+"\n", a...) }
	o := Options{Slots: 2, Threads: 2, Queue: quickQueue(), Logf: say, Watch: func(e Event) {
		if e.Ended != nil {
			fmt.Println("ended", e.Ended.Hash)
			if len(args) > 2 {
				gate(args[2]).pass()
			}
		}
	}}
	if args[1] != "" {
		o.Slots, o.Listen, o.Token = 0, args[1], "secret"
	}
	_, err = Execute(context.Background(), lab, []string{"s"}, o)
	return err
}

// roleWorker works for args[0] with the scratch folder args[1]. It reaches the gate args[2], if given, at epoch 20.
func roleWorker(args []string) error {
	b, err := queue.Connect(queue.Remote{URL: args[0], Token: "secret"}, queue.Options{Version: version.ID()})
	if err != nil {
		return err
	}
	return worker.Work(context.Background(), b, worker.Options{Slots: 1, Threads: 1, Scratch: args[1], CheckpointEvery: time.Millisecond,
		Logf: func(f string, a ...any) { fmt.Fprintf(os.Stderr, f+"\n", a...) }, Watch: func(hash string, p study.Progress) {
			fmt.Println("epoch", p.Epoch)
			if len(args) > 2 && p.Epoch == 20 {
				gate(args[2]).pass()
			}
		}})
}

// waitForCheckpoint returns once the queue has a checkpoint of the run.
func waitForCheckpoint(t *testing.T, url, hash string) {
	t.Helper()
	conn, err := nats.Connect(url, nats.Token("secret"))
	must(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	must(t, err)
	leases, err := js.KeyValue(t.Context(), "collapse-claims")
	must(t, err)
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
		lease, err := leases.Get(t.Context(), "claim."+hash)
		must(t, err)
		if strings.Contains(string(lease.Value()), `"state":`) {
			return
		}
	}
	t.Fatal("no checkpoint reaches the queue")
}

func TestAKilledCoordinatorGoesOn(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: 3}.Configs()
	lab := saved(t, configs)
	first, out := faulttest.Play(t, "coordinator", lab.Dir(), "", string(newGate(t))) // killed while its slots are at runs, however fast these are
	faulttest.Heard(t, out, "ended")
	time.Sleep(100 * time.Millisecond)
	must(t, first.Process.Kill())
	first.Wait()
	o := options(t, 2)
	o.Queue.AckWait = time.Minute // dead slots are known to be dead: nothing waits for them to fall silent
	began := time.Now()
	s, err := Execute(t.Context(), lab, []string{"s"}, o)
	if err != nil || s != (Summary{Runs: 6, Done: 6}) {
		t.Fatalf("%+v, %v", s, err)
	}
	if d := time.Since(began); d > 45*time.Second {
		t.Errorf("going on took %v", d)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

// executing executes the study s of a lab in the background, and returns where workers join and, later, how it ended.
func executing(t *testing.T, lab *store.Lab, o *Options) (at string, ended chan error) {
	url := urlOf(o)
	ended = make(chan error, 1)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 4*time.Minute, errors.New("the study did not end within 4 minutes"))
	t.Cleanup(cancel)
	go func() {
		_, err := Execute(ctx, lab, []string{"s"}, *o)
		ended <- err
	}()
	select {
	case at = <-url:
	case err := <-ended:
		t.Fatalf("the study ended before a worker could join: %v", err)
	}
	return at, ended
}

func TestAKilledWorkersRunGoesOnFromItsCheckpoint(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{longer()}
	lab := saved(t, configs)
	o := remoteOptions(t)
	at, ended := executing(t, lab, &o)
	first, out := faulttest.Play(t, "worker", at, t.TempDir(), string(newGate(t)))
	faulttest.Heard(t, out, "epoch 20")
	waitForCheckpoint(t, at, itemsOf(t, configs)[0].Hash)
	must(t, first.Process.Kill())
	_, out = faulttest.Play(t, "worker", at, t.TempDir())
	var from int
	_, err := fmt.Sscanf(faulttest.Heard(t, out, "epoch"), "epoch %d", &from)
	must(t, err)
	if from == 0 {
		t.Error("the second worker started from nothing")
	}
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs), configs)
	attempts, err := lab.Attempts(itemsOf(t, configs)[0].Hash)
	if err != nil || len(attempts) != 2 {
		t.Errorf("%d attempts, %v", len(attempts), err)
	}
}

func TestAWorkerGoesOnWhileTheCoordinatorIsAway(t *testing.T) {
	t.Parallel()
	configs := []train.Config{longer()}
	lab := saved(t, configs)
	first, out := faulttest.Play(t, "coordinator", lab.Dir(), "127.0.0.1:0")
	line := faulttest.Heard(t, out, "workers elsewhere")
	at := strings.Fields(line[strings.Index(line, "nats://"):])[0]
	gate := newGate(t)
	_, work := faulttest.Play(t, "worker", at, t.TempDir(), string(gate))
	faulttest.Heard(t, work, "epoch 20")
	must(t, first.Process.Kill())
	first.Wait()
	gate.open(t)
	faulttest.Heard(t, work, "epoch 80") // nobody hears of it yet
	o := options(t, 0)
	o.Listen, o.Token = strings.TrimPrefix(at, "nats://"), "secret"
	s, err := Execute(t.Context(), lab, []string{"s"}, o)
	if err != nil || s != (Summary{Runs: 1, Done: 1}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

func TestASecondCoordinatorFollowsTheFirst(t *testing.T) {
	t.Parallel()
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
	lab := saved(t, configs)
	gate := newGate(t)
	first, out := faulttest.Play(t, "coordinator", lab.Dir(), "", string(gate))
	faulttest.Heard(t, out, "ended")
	o := options(t, 2)
	lines := make(chan string, 100)
	o.Logf = func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		lines <- line
		if strings.Contains(line, "coordinates this lab") {
			gate.open(t)
		}
	}
	s, err := Execute(t.Context(), lab, []string{"s"}, o)
	if err != nil || s != (Summary{Runs: 4, Done: 4}) {
		t.Fatalf("%+v, %v", s, err)
	}
	// Between two of its runs a lab shows none under way; TestAProcessThatWaitsSaysForWhat has the words.
	want := regexp.MustCompile(fmt.Sprintf(`^process %d on .* coordinates this lab( for s \([0-3] of 4 runs done\))?; waiting`, first.Process.Pid))
	if line := <-lines; !want.MatchString(line) {
		t.Errorf("told %q, wanted %v", line, want)
	}
	for _, it := range itemsOf(t, configs) {
		if run, err := lab.Run(it.Hash); err != nil || run.Generation != 1 {
			t.Errorf("%s was started %d times, %v", it.Note, run.Generation, err)
		}
	}
}

func TestASecondCoordinatorTakesOver(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
	lab := saved(t, configs)
	first, out := faulttest.Play(t, "coordinator", lab.Dir(), "", string(newGate(t)))
	faulttest.Heard(t, out, "ended")
	o := options(t, 2)
	o.Logf = func(format string, args ...any) {
		if strings.Contains(fmt.Sprintf(format, args...), "coordinates this lab") {
			first.Process.Kill()
		}
	}
	s, err := Execute(t.Context(), lab, []string{"s"}, o)
	if err != nil || s != (Summary{Runs: 4, Done: 4}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

func TestCancelStopsWhatRunsAndResumeGoesOn(t *testing.T) {
	t.Parallel()
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
	lab := saved(t, configs)
	o := options(t, 2)
	o.Watch = func(e Event) {
		if e.Ended != nil {
			lab.CancelStudy("s")
			time.Sleep(4 * lookEvery) // it is seen; the other runs come to a halt meanwhile
		}
	}
	s, err := Execute(t.Context(), lab, []string{"s"}, o)
	if err != nil || !s.Cancelled || s.Done == 0 || s.Done == 4 {
		t.Fatalf("%+v, %v", s, err)
	}
	study, err := lab.Study("s")
	must(t, err)
	if study.Counts[store.Running] != 0 || study.Counts[store.Interrupted] == 0 {
		t.Errorf("%v", study.Counts)
	}
	must(t, lab.OpenStudy("s"))
	s, err = Execute(t.Context(), lab, []string{"s"}, options(t, 2))
	if err != nil || s != (Summary{Runs: 4, Done: 4}) {
		t.Errorf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

func TestInterruptedAndResumed(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
	lab := saved(t, configs)
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, 2)
	o.Watch = func(e Event) {
		if e.Ended != nil {
			cancel()
		}
	}
	if _, err := Execute(ctx, lab, []string{"s"}, o); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "collapse study resume s") {
		t.Fatalf("%v", err)
	}
	s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 2))
	if err != nil || s != (Summary{Runs: 4, Done: 4}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

// TestALostLabIsRebuilt gives a new lab the queue of another one.
func TestALostLabIsRebuilt(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := smallGrid()
	lab := saved(t, configs)
	o := remoteOptions(t)
	url := urlOf(&o)
	ended := make(chan error, 1)
	go func() {
		_, err := Execute(t.Context(), lab, []string{"s"}, o)
		ended <- err
	}()
	stop := startWorker(t, <-url, worker.Options{Slots: 2})
	must(t, <-ended)
	stop()
	again := saved(t, configs)
	must(t, os.CopyFS(filepath.Join(again.Dir(), "queue"), os.DirFS(filepath.Join(lab.Dir(), "queue"))))
	o = options(t, 0)
	o.Listen, o.Token, o.Rebuild = "127.0.0.1:0", "secret", true
	s, err := Execute(t.Context(), again, []string{"s"}, o)
	if err != nil || s != (Summary{Runs: 8, Done: 8}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameRuns(t, again, lab, 8)
}

func TestARunThatAnotherProcessComputesIsLeftToIt(t *testing.T) {
	t.Parallel()
	configs := []train.Config{longer(), tiny()}
	lab := saved(t, configs)
	other, err := store.Open(lab.Dir(), store.Options{})
	must(t, err)
	defer other.Close()
	trained := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		_, err := train.Run(t.Context(), configs[0], other, train.Options{Sink: firstStep{began}})
		trained <- err
	}()
	<-began
	s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 1))
	if err != nil || s != (Summary{Runs: 2, Done: 2}) {
		t.Fatalf("%+v, %v", s, err)
	}
	must(t, <-trained)
	if run, err := lab.Run(itemsOf(t, configs)[0].Hash); err != nil || run.Generation != 1 {
		t.Errorf("leaseed %d times, %v", run.Generation, err)
	}
}

// firstStep reports when a run has started.
type firstStep struct{ began chan struct{} }

func (f firstStep) Started(train.Started) { close(f.began) }
func (firstStep) Step(train.StepDone)     {}
func (firstStep) Epoch(train.EpochDone)   {}
func (firstStep) Note(string)             {}

// TestClocksThatJump runs a study on a lab whose clock jumps by days, in both directions, at every look.
func TestClocksThatJump(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	lab, err := store.Open(t.TempDir(), store.Options{Now: func() time.Time {
		n := looks.Add(1)
		return time.Now().Add(time.Duration(n%7-3) * 36 * time.Hour)
	}})
	must(t, err)
	defer lab.Close()
	configs := smallGrid()
	_, err = study.Save(lab, "s", "", "", itemsOf(t, configs))
	must(t, err)
	o := remoteOptions(t)
	o.Slots, o.Threads = 1, 1
	url := urlOf(&o)
	ended := make(chan error, 1)
	go func() {
		s, err := Execute(t.Context(), lab, []string{"s"}, o)
		if err == nil && s != (Summary{Runs: 8, Done: 8}) {
			err = fmt.Errorf("%+v", s)
		}
		ended <- err
	}()
	startWorker(t, <-url, worker.Options{})
	must(t, <-ended)
	for _, it := range itemsOf(t, configs) {
		if run, err := lab.Run(it.Hash); err != nil || run.Status != store.Done || run.Generation != 1 {
			t.Errorf("%s: %s after %d leases, %v", it.Note, run.Status, run.Generation, err)
		}
	}
	if looks.Load() < 50 {
		t.Errorf("the clock was looked at %d times: it is not the lab's", looks.Load())
	}
}
