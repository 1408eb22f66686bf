// Package studytest is what tests of studies share: small configurations, labs, runs computed without a queue for comparison, and
// workers that run alongside a test.
package studytest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/version"
)

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Lab is an empty lab that is closed when the test ends.
func Lab(t *testing.T) *store.Lab {
	t.Helper()
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lab.Close() })
	return lab
}

// Tiny is a run of a few milliseconds.
func Tiny() train.Config {
	c := train.Default()
	c.Data.Name, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass, c.Data.Pipeline = "glyphs", 20, 10, "plain"
	c.Net.Depth, c.Net.Width = 1, 8
	c.Run.Epochs, c.Run.Batch = 2, 20
	return c
}

// Longer is a run of a second or two, with a checkpoint after every fifth epoch.
func Longer() train.Config {
	c := Tiny()
	c.Run.Epochs, c.Run.MeasureEvery, c.Run.CheckpointEvery = 80, 10, 5
	return c
}

// StepByStep is a run with a checkpoint and measures after every epoch.
func StepByStep() train.Config {
	c := Longer()
	c.Run.MeasureEvery, c.Run.CheckpointEvery = 1, 1
	return c
}

// SmallGrid is eight runs of a few milliseconds: two losses, two noise levels, two seeds.
func SmallGrid() []train.Config {
	return demo.Grid{Base: Tiny(), Losses: []string{"ce", "mse"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
}

// Items turns configurations into items of a study.
func Items(t *testing.T, configs []train.Config) []study.Item {
	t.Helper()
	items := make([]study.Item, len(configs))
	for i, c := range configs {
		var err error
		items[i], err = study.TrainItem(c, demo.Name(c))
		Must(t, err)
	}
	return items
}

// Saved is a lab with one study, named s, of the given configurations.
func Saved(t *testing.T, configs []train.Config) *store.Lab {
	t.Helper()
	lab := Lab(t)
	_, err := study.Save(lab, "s", "", "", Items(t, configs))
	Must(t, err)
	return lab
}

// QuickQueue makes silent workers count as lost after a second.
func QuickQueue() queue.Options {
	return queue.Options{AckWait: 900 * time.Millisecond, Backoff: 10 * time.Millisecond}
}

// Quiet is a sink that ignores everything.
type Quiet struct{}

func (Quiet) Epoch(int, train.EpochDone) {}
func (Quiet) Done(int, demo.Outcome)     {}

// undisturbed is a lab of runs that nothing happened to.
type undisturbed struct {
	sync.Mutex
	lab *store.Lab
}

// reference is shared by all tests: each configuration is computed once.
var reference undisturbed

func (u *undisturbed) open() error {
	if u.lab != nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "collapse-study-*")
	if err != nil {
		return err
	}
	u.lab, err = store.Open(dir, store.Options{})
	return err
}

func (u *undisturbed) remove() {
	if u.lab != nil {
		u.lab.Close()
		os.RemoveAll(u.lab.Dir())
	}
}

// Directly computes configurations without a queue, for comparison.
func Directly(t *testing.T, configs []train.Config) *store.Lab {
	t.Helper()
	reference.Lock()
	defer reference.Unlock()
	Must(t, reference.open())
	outcomes, err := demo.Run(t.Context(), reference.lab, configs, 2, 2, Quiet{})
	Must(t, errors.Join(err, demo.Failures(outcomes)))
	return reference.lab
}

// Steady returns a run's values as text, without those that depend on the machine's speed.
func Steady(t *testing.T, lab *store.Lab, hash string) string {
	t.Helper()
	values, err := lab.Values(hash)
	Must(t, err)
	var b strings.Builder
	for _, v := range values {
		if v.Measure != "images_per_s" && v.Key != train.SpentKey {
			fmt.Fprintf(&b, "%v\n", v)
		}
	}
	return b.String()
}

// FirstDifference returns the first line that differs between two texts, as both have it.
func FirstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return "one ends before the other"
}

// SameValues is SameRuns for runs of any length.
func SameValues(t *testing.T, got, want *store.Lab, configs []train.Config) {
	t.Helper()
	for _, it := range Items(t, configs) {
		run, err := got.Run(it.Hash)
		if err != nil || run.Status != store.Done {
			t.Errorf("%s: %s, %v", it.Note, run.Status, err)
			continue
		}
		if a, b := Steady(t, got, it.Hash), Steady(t, want, it.Hash); a != b || len(a) < 1000 {
			t.Errorf("%s: the values differ from those of an undisturbed run: %d and %d bytes, first\n%s", it.Note, len(a), len(b), FirstDifference(a, b))
		}
		last := fmt.Sprintf("ckpt/%d/model.safetensors", configs[0].Run.Epochs)
		x, errX := os.ReadFile(filepath.Join(got.RunDir(it.Hash), last))
		y, errY := os.ReadFile(filepath.Join(want.RunDir(it.Hash), last))
		if errX != nil || errY != nil || string(x) != string(y) {
			t.Errorf("%s: the models differ: %v, %v", it.Note, errX, errY)
		}
	}
}

// SameRuns checks that two labs hold the same finished runs with the same values, apart from speeds.
func SameRuns(t *testing.T, got, want *store.Lab, runs int) {
	t.Helper()
	list, err := want.List(store.Filter{Statuses: []store.Status{store.Done}})
	Must(t, err)
	if len(list) != runs {
		t.Fatalf("%d runs done, want %d", len(list), runs)
	}
	for _, run := range list {
		if other, err := got.Run(run.Hash); err != nil || other.Status != store.Done || other.LastEpoch != run.LastEpoch {
			t.Errorf("run %.12s: %s, epoch %d, %v", run.Hash, other.Status, other.LastEpoch, err)
		}
		a, b := Steady(t, got, run.Hash), Steady(t, want, run.Hash)
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

// Contents are the files below a folder.
func Contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	Must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(b)
		return err
	}))
	return all
}

// Log keeps what was logged.
type Log struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *Log) Add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.b, format+"\n", args...)
}

func (l *Log) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Announced catches the address that a coordinator announces in its log.
func Announced(logf func(format string, args ...any)) (log func(format string, args ...any), address <-chan string) {
	found := make(chan string, 1)
	return func(format string, args ...any) {
		logf(format, args...)
		if strings.HasPrefix(format, "workers elsewhere") {
			select {
			case found <- args[0].(string):
			default: // already announced
			}
		}
	}, found
}

// InBackground runs work with a connection of its own, in this process, until the test ends or stop is called.
func InBackground(t *testing.T, url string, work func(context.Context, *queue.Broker) error) (stop func()) {
	t.Helper()
	b, err := queue.Connect(queue.Remote{URL: url, Token: "secret"}, queue.Options{Version: version.ID(), Logf: t.Logf})
	Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, b) }()
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

// GridFile is a study of twelve small runs.
const GridFile = `
[study]
name = "noise"
title = "Noise"
seeds = 2

[base]
data.name = "glyphs"
data.samples_per_class = 20
data.test_samples_per_class = 10
data.pipeline = "plain"
net.depth = 1
net.width = 8
run.epochs = 2
run.batch = 20

[grid]
loss.kind = ["ce", "ls"]
data.noise = [0, 0.2, 0.4]
`

// SearchFile is a study with a search in each of two places.
const SearchFile = `
[study]
title = "A tiny search"
[base]
data = { name = "glyphs", samples_per_class = 40, test_samples_per_class = 20, pipeline = "plain", validation = 0.25 }
net = { depth = 1, width = 8 }
run = { batch = 20, epochs = 9 }
[grid]
"loss.kind" = ["ce", "ls"]
[search]
sampler = "bayes"
schedule = "hyperband"
trials = 7
min_epochs = 1
eta = 3
metric = "validation.loss"
goal = "min"
compare = true
[search.space]
"optim.lr" = { log_uniform = [1e-4, 0.5] }
"optim.schedule.gamma" = { choice = [0.1, 0.5] }
"loss.smoothing" = { uniform = [0.01, 0.25], when = { "loss.kind" = ["ls", "lr"] } }
[search.final]
"run.epochs" = [2, 3]
`

// RemoveReference removes the lab of Directly; a TestMain calls it.
func RemoveReference() { reference.remove() }
