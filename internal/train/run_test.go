package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/parallel"
)

// tinyConfig is a run of a fraction of a second that still has label noise, a last batch of another size, and every split.
func tinyConfig() Config {
	c := Default()
	c.Run.CheckpointEvery = 1
	c.Data.Name, c.Data.Classes, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = "glyphs", 2, 40, 20
	c.Data.Pipeline, c.Data.Noise = "plain", 0.2
	c.Net.Depth, c.Net.Width = 2, 16
	c.Run.Epochs, c.Run.Batch = 3, 32
	c.Optim.Schedule.Every = 2
	return c
}

var drawn sync.Map // data.Source and data.Split → func() (*data.Set, error)

// openOnce draws each set once for all tests.
func openOnce(src data.Source, split data.Split) (*data.Set, error) {
	type key struct {
		data.Source
		data.Split
	}
	f, _ := drawn.LoadOrStore(key{src, split}, sync.OnceValues(func() (*data.Set, error) { return data.Open(src, split) }))
	return f.(func() (*data.Set, error))()
}

func newLab(t *testing.T) *store.Lab {
	t.Helper()
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

func mustRun(t *testing.T, c Config, lab *store.Lab, opts Options) Result {
	t.Helper()
	opts.Open = openOnce
	r, err := Run(context.Background(), c, lab, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// endFiles are the bytes that must not depend on threads, kills or folders: the last checkpoint and the features.
func endFiles(t *testing.T, r Result) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for name, path := range map[string]string{
		"model": filepath.Join(r.Checkpoint, rundir.Model), "optim": filepath.Join(r.Checkpoint, rundir.Optim),
		"state": filepath.Join(r.Checkpoint, rundir.State), "features": r.Features,
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = b
	}
	return files
}

func sameFiles(t *testing.T, when string, want, got map[string][]byte) {
	t.Helper()
	for name := range want {
		if len(want[name]) == 0 || !bytes.Equal(want[name], got[name]) {
			t.Errorf("%s: %s differs (%d and %d bytes)", when, name, len(want[name]), len(got[name]))
		}
	}
}

// epochValues are the lab's rows but for times.
func epochValues(t *testing.T, lab *store.Lab, hash string) []store.Value {
	t.Helper()
	all, err := lab.Values(hash)
	if err != nil {
		t.Fatal(err)
	}
	var list []store.Value
	for _, v := range all {
		if v.Measure != "images_per_s" && v.Key != SpentKey {
			list = append(list, v)
		}
	}
	return list
}

func TestTinyRunLearnsAndIsKept(t *testing.T) {
	c := tinyConfig()
	c.Data.Noise, c.Run.Epochs, c.Run.MeasureEvery = 0, 12, 5
	c.Optim.Schedule.Every = 10
	lab := newLab(t)
	sink := &recorder{}
	r := mustRun(t, c, lab, Options{Sink: sink, Label: "tiny"})
	// Chance is log 2 = 0.69; two digits are told apart within a few epochs.
	if loss := r.Values["train/loss"]; !(loss < 0.2) {
		t.Errorf("training loss after %d epochs is %v, wanted below 0.2", r.Epochs, loss)
	}
	if accuracy := r.Values["test/accuracy"]; !(accuracy > 0.7) {
		t.Errorf("test accuracy %v, wanted above 0.7", accuracy)
	}
	for _, key := range []string{"train/nc1_pinv", "test/nc1_pinv", "test/dilation", "train/accuracy", "test/loss", "/lr", "train/running_loss"} {
		if _, ok := r.Values[key]; !ok {
			t.Errorf("no value for %s among %v", key, r.Values)
		}
	}
	run, err := lab.Run(r.Run)
	if err != nil || run.Status != store.Done || run.LastEpoch != 12 || run.Label != "tiny" {
		t.Errorf("the lab says %+v, %v", run, err)
	}
	points, err := lab.Series(r.Run, store.Key{Series: "epoch", Split: "train", Measure: "loss"})
	var steps []int64
	for _, p := range points {
		steps = append(steps, p.Step)
	}
	if fmt.Sprint(steps) != "[5 10 12]" || err != nil {
		t.Errorf("measured at epochs %v (%v), wanted 5, 10 and the last", steps, err)
	}
	if got := strings.Join(sink.kinds, " "); got != "started"+strings.Repeat(" epoch", 12) {
		t.Errorf("events: %s", got)
	}

	again := mustRun(t, c, lab, Options{})
	if !again.AlreadyDone || again.Values["train/loss"] != r.Values["train/loss"] || again.Checkpoint != r.Checkpoint {
		t.Errorf("the second run of the same configuration: %+v", again)
	}
	want := endFiles(t, r)
	anew := mustRun(t, c, lab, Options{Again: true})
	if anew.AlreadyDone {
		t.Error("--again computed nothing")
	}
	sameFiles(t, "again", want, endFiles(t, anew))
}

// recorder remembers the events of a run, steps left out: their number depends on the clock.
type recorder struct {
	kinds  []string
	notes  []string
	epochs []EpochDone
	onStep func()
	begun  Started
}

func (r *recorder) Started(s Started) { r.kinds, r.begun = append(r.kinds, "started"), s }
func (r *recorder) Epoch(e EpochDone) {
	r.kinds, r.epochs = append(r.kinds, "epoch"), append(r.epochs, e)
}
func (r *recorder) Note(n string) { r.notes = append(r.notes, n) }
func (r *recorder) Step(StepDone) {
	if r.onStep != nil {
		r.onStep()
	}
}

func TestSameBitsForAnyTeam(t *testing.T) {
	var want map[string][]byte
	for _, threads := range []int{0, 1, 2, 5} {
		for _, procs := range []int{1, 2} {
			old := runtime.GOMAXPROCS(procs)
			var team *parallel.Team
			if threads > 0 {
				team = parallel.NewTeam(threads)
			}
			c := tinyConfig()
			c.Net.Width = 70 // several tiles and a remainder
			got := endFiles(t, mustRun(t, c, newLab(t), Options{Team: team}))
			team.Close()
			runtime.GOMAXPROCS(old)
			if want == nil {
				want = got
			}
			sameFiles(t, fmt.Sprintf("%d threads, GOMAXPROCS %d", threads, procs), want, got)
		}
	}
}

func sameValues(t *testing.T, when string, want, got []store.Value) {
	t.Helper()
	if len(want) == 0 || len(want) != len(got) {
		t.Fatalf("%s: %d values, wanted %d", when, len(got), len(want))
	}
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("%s: value %d is %+v, wanted %+v", when, i, got[i], want[i])
		}
	}
}

// If the last batch is so small that batch norm turns it into noise, the error says so.
func TestDivergenceAfterATinyBatch(t *testing.T) {
	c := tinyConfig()
	c.Loss.Kind, c.Optim.LR = "mse", 1e30
	n := c.Data.Classes * c.Data.SamplesPerClass
	for c.Run.Batch = 4; n%c.Run.Batch != 2; c.Run.Batch++ {
	}
	_, err := Run(context.Background(), c, newLab(t), Options{Open: openOnce})
	if err == nil || !strings.Contains(err.Error(), "the last batch of an epoch has 2 samples") {
		t.Errorf("error is %v", err)
	}
}

func TestDivergenceStopsAndIsNotRetried(t *testing.T) {
	c, lab := tinyConfig(), newLab(t)
	c.Net.BatchNorm, c.Loss.Kind, c.Optim.LR = false, "mse", 1e8
	_, err := Run(context.Background(), c, lab, Options{Open: openOnce})
	var d *DivergedError
	if !errors.As(err, &d) {
		t.Fatalf("error is %T: %v", err, err)
	}
	want := fmt.Sprintf("train: step %d (epoch %d): loss is %v (%.6g at step %d); lower optim.lr, or set net.batch_norm = true; optim.lr is 1e+08",
		d.Step, d.Epoch, d.Loss, d.LastGood, d.Step-1)
	if err.Error() != want || d.Step < 1 || d.Step > 2 { // the first epoch has steps 0 to 2
		t.Errorf("message is\n%v\nwanted\n%v", err, want)
	}
	runs, err := lab.List(store.Filter{})
	if err != nil || len(runs) != 1 || runs[0].Status != store.Failed || !strings.Contains(runs[0].Error, "loss is") {
		t.Fatalf("the lab holds %+v, %v", runs, err)
	}
	var known *FailedError
	if _, err := Run(context.Background(), c, lab, Options{Open: openOnce}); !errors.As(err, &known) {
		t.Errorf("the second run: %v; wanted *FailedError", err)
	}
	if _, err := Run(context.Background(), c, lab, Options{Open: openOnce, Again: true}); !errors.As(err, &d) {
		t.Errorf("with --again: %v; wanted *DivergedError", err)
	}
	// With one step an epoch, the weights are lost after step 0 and the epoch's evaluation is the first to see it.
	c.Run.Batch, c.Optim.LR = 80, 1e30
	if _, err := Run(context.Background(), c, lab, Options{Open: openOnce}); !errors.As(err, &d) || d.Step != 1 || !d.HasLast {
		t.Errorf("weights lost in the last step of an epoch: %v", err)
	}
}

func TestARunHasOneOwner(t *testing.T) {
	lab := newLab(t)
	var inner error
	tried := false
	s := &startHook{do: func() {
		tried = true
		_, inner = Run(context.Background(), tinyConfig(), lab, Options{Open: openOnce})
	}}
	mustRun(t, tinyConfig(), lab, Options{Sink: s})
	var held *store.HeldError
	if !tried || !errors.As(inner, &held) {
		t.Errorf("a second run beside the first: %v; wanted *store.HeldError", inner)
	}
}

type startHook struct {
	recorder
	do func()
}

func (s *startHook) Started(Started) { s.do() }

func TestIdentityIsTheContentNotThePath(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	writeIDX(t, first, 7)
	writeIDX(t, second, 7)
	c := tinyConfig()
	c.Data.Name, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass, c.Data.Dir = "mnist", 0, 0, first
	lab := newLab(t)
	r, err := Run(context.Background(), c, lab, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Data.Dir = second
	moved, err := Run(context.Background(), c, lab, Options{})
	if err != nil || !moved.AlreadyDone || moved.Run != r.Run {
		t.Errorf("the same images in another folder: %+v, %v", moved, err)
	}
	writeIDX(t, second, 8)
	other, err := Run(context.Background(), c, lab, Options{})
	if err != nil || other.Run == r.Run {
		t.Errorf("other images in the same folder: %+v, %v", other, err)
	}
}

// writeIDX makes MNIST's four files with a few images that depend on the seed.
func writeIDX(t *testing.T, root string, seed byte) {
	t.Helper()
	dir := filepath.Join(root, "mnist")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, split := range []struct {
		name string
		n    byte
	}{{"train", 60}, {"t10k", 20}} {
		images := []byte{0, 0, 8, 3, 0, 0, 0, split.n, 0, 0, 0, 28, 0, 0, 0, 28}
		labels := []byte{0, 0, 8, 1, 0, 0, 0, split.n}
		for i := range int(split.n) {
			labels = append(labels, byte(i%2))
			for p := range 28 * 28 {
				images = append(images, byte(i%2*100+(p*int(seed)+i*31)%90))
			}
		}
		for file, content := range map[string][]byte{"-images-idx3-ubyte": images, "-labels-idx1-ubyte": labels} {
			if err := os.WriteFile(filepath.Join(dir, split.name+file), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestALastBatchOfOneIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	c := tinyConfig()
	c.Run.Batch = 79
	lab := newLab(t)
	if _, err := Run(context.Background(), c, lab, Options{Open: openOnce}); err == nil || !strings.Contains(err.Error(), "last batch of 1") {
		t.Errorf("80 samples in batches of 79: %v", err)
	}
	if runs, err := lab.List(store.Filter{}); err != nil || len(runs) != 0 {
		t.Errorf("the lab holds %+v, %v", runs, err)
	}
}
