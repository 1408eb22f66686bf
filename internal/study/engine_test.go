package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"collapse/internal/queue"
	"collapse/internal/store"
	"collapse/internal/version"
	"collapse/train"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func itemsOf(t *testing.T, configs []train.Config) []Item {
	t.Helper()
	items := make([]Item, len(configs))
	for i, c := range configs {
		var err error
		items[i], err = TrainItem(c, Name(c))
		must(t, err)
	}
	return items
}

// saved is a lab with one study of the given configurations, named s.
func saved(t *testing.T, configs []train.Config) *store.Lab {
	t.Helper()
	lab := openLab(t)
	_, err := Save(lab, "s", "", "", itemsOf(t, configs))
	must(t, err)
	return lab
}

// quickQueue makes workers that fall silent known after a second.
func quickQueue() queue.Options {
	return queue.Options{AckWait: 900 * time.Millisecond, Backoff: 10 * time.Millisecond}
}

func options(t *testing.T, slots int) Options {
	return Options{Slots: slots, Threads: slots, Queue: quickQueue(), Logf: t.Logf}
}

// remoteOptions are those of a coordinator that computes nothing itself.
func remoteOptions(t *testing.T) Options {
	o := options(t, 0)
	o.Listen, o.Token = "127.0.0.1:0", "secret"
	return o
}

// urlOf catches the address that a coordinator announces.
func urlOf(o *Options) <-chan string {
	found := make(chan string, 1)
	logf := o.Logf
	o.Logf = func(format string, args ...any) {
		logf(format, args...)
		if strings.HasPrefix(format, "workers elsewhere") {
			select {
			case found <- args[0].(string):
			default: // it was told before
			}
		}
	}
	return found
}

// startWorker runs a worker elsewhere, in this process, until the test ends or stop is called.
func startWorker(t *testing.T, url string, o WorkerOptions) (stop func()) {
	t.Helper()
	b, err := queue.Connect(queue.Remote{URL: url, Token: "secret"}, queue.Options{Version: version.Version, Logf: t.Logf})
	must(t, err)
	if o.Scratch == "" {
		o.Scratch = t.TempDir()
	}
	o.Slots, o.Threads, o.Logf = max(1, o.Slots), max(1, o.Slots), t.Logf
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Work(ctx, b, o) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("worker: %v", err)
			}
			b.Close()
		})
	}
	t.Cleanup(stop)
	return stop
}

// sameRuns checks that two labs hold the same runs as done, with the same values, speeds left out.
func sameRuns(t *testing.T, got, want *store.Lab, runs int) {
	t.Helper()
	list, err := want.List(store.Filter{Statuses: []store.Status{store.Done}})
	must(t, err)
	if len(list) != runs {
		t.Fatalf("%d runs done, want %d", len(list), runs)
	}
	for _, run := range list {
		if other, err := got.Run(run.Hash); err != nil || other.Status != store.Done || other.LastEpoch != run.LastEpoch {
			t.Errorf("run %.12s: %s, epoch %d, %v", run.Hash, other.Status, other.LastEpoch, err)
		}
		a, b := steady(t, got, run.Hash), steady(t, want, run.Hash)
		if a != b || len(a) < 100 {
			t.Errorf("run %.12s: the values differ:\n%.300s\n%.300s", run.Hash, a, b)
		}
		for _, file := range []string{"features.npz", "config.toml", "ckpt/2/model.safetensors"} {
			x, errX := os.ReadFile(filepath.Join(got.RunDir(run.Hash), file))
			y, errY := os.ReadFile(filepath.Join(want.RunDir(run.Hash), file))
			if errX != nil || errY != nil || string(x) != string(y) {
				t.Errorf("run %.12s: %s: %d and %d bytes, %v, %v", run.Hash, file, len(x), len(y), errX, errY)
			}
		}
	}
}

func steady(t *testing.T, lab *store.Lab, hash string) string {
	t.Helper()
	values, err := lab.Values(hash)
	must(t, err)
	var b strings.Builder
	for _, v := range values {
		if v.Measure != "images_per_s" && v.Key != train.SpentKey {
			fmt.Fprintf(&b, "%v\n", v)
		}
	}
	return b.String()
}

func smallGrid() []train.Config {
	return Grid{Base: tiny(), Losses: []string{"ce", "mse"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
}

func TestAStudyRunsWhatIsMissingOnce(t *testing.T) {
	configs := smallGrid()
	configs = append(configs, configs[0]) // the same run twice
	lab := saved(t, configs)
	direct := openLab(t)
	if _, err := Run(t.Context(), direct, configs, 2, 2, newCounter()); err != nil {
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
	n, err := Save(lab, "other", "", "", more)
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
		t.Errorf("claimed %d times, want twice: %v", run.Generation, err)
	}
}

func TestWorkersElsewhereGiveTheSameLab(t *testing.T) {
	configs := smallGrid()
	configs[3].Optim.LR = 1e38
	lab, direct := saved(t, configs), openLab(t)
	if _, err := Run(t.Context(), direct, configs, 2, 2, newCounter()); err != nil {
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
	startWorker(t, at, WorkerOptions{Name: "one", Slots: 2})
	startWorker(t, at, WorkerOptions{Name: "two"})
	r := <-ended
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
