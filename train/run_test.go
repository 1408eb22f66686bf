package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"collapse/arrayfile"
	"collapse/data"
	"collapse/internal/kernel"
	"collapse/internal/store"
	"collapse/measure"
	"collapse/nn"
)

// tinyConfig is a run of a fraction of a second that still has label noise, a last batch of another size, and every split.
func tinyConfig() Config {
	c := Default()
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
		"model": filepath.Join(r.Checkpoint, modelFile), "optim": filepath.Join(r.Checkpoint, optimFile),
		"state": filepath.Join(r.Checkpoint, stateFile), "features": r.Features,
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
		if v.Measure != "images_per_s" {
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

func TestFeaturesFile(t *testing.T) {
	lab := newLab(t)
	r := mustRun(t, tinyConfig(), lab, Options{})
	f, err := arrayfile.Open(r.Features)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shapes := map[string]string{}
	for _, h := range f.Headers() {
		shapes[h.Name] = fmt.Sprint(h.DType, h.Shape)
	}
	want := map[string]string{"train_h": "F32 [80 2]", "train_observed": "I32 [80]", "train_true": "I32 [80]", "train_redrawn": "U8 [80]",
		"test_h": "F32 [40 2]", "test_true": "I32 [40]", "weight": "F32 [2 2]", "bias": "F32 [2]", "train_samples": "I64 []", "test_samples": "I64 []"}
	for name, shape := range want {
		if shapes[name] != shape {
			t.Errorf("%s is %q, wanted %q", name, shapes[name], shape)
		}
	}
	read := func(name string) []float64 {
		a, err := f.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// Loss and accuracy of every split follow from the saved features and classifier, in float64 by the textbook formula.
	w, b := read("weight"), read("bias")
	trainLabels, truth := read("train_observed"), read("train_true")
	clean := func(i int) bool { return trainLabels[i] == truth[i] }
	all := func(int) bool { return true }
	for _, split := range []struct {
		name      string
		h, labels []float64
		only      func(int) bool
	}{{"train", read("train_h"), trainLabels, all}, {"clean", read("train_h"), trainLabels, clean}, {"test", read("test_h"), read("test_true"), all}} {
		var loss, right, n float64
		var h []float32
		var labels []int32
		for i, y := range split.labels {
			if !split.only(i) {
				continue
			}
			x := split.h[2*i : 2*i+2]
			margin := x[0]*(w[2]-w[0]) + x[1]*(w[3]-w[1]) + b[1] - b[0] // logit 1 minus logit 0
			loss += math.Log(1 + math.Exp(margin*(1-2*y)))
			if (margin > 0) == (y == 1) {
				right++
			}
			n++
			h, labels = append(h, float32(x[0]), float32(x[1])), append(labels, int32(y))
		}
		if got, want := r.Values[split.name+"/loss"], loss/n; !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("%s: loss is %v, the saved features give %v", split.name, got, want)
		}
		if got, want := r.Values[split.name+"/accuracy"], right/n; got != want {
			t.Errorf("%s: accuracy is %v, the saved features give %v", split.name, got, want)
		}
		report, err := measure.Measure(measure.Input[float32]{Classes: 2, Train: measure.Memory(h, 2, labels)}, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Values[split.name+"/nc1_pinv"], report.Measures[measure.KeyNC1Pinv]; !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("%s: NC1 is %v, the saved features give %v", split.name, got, want)
		}
	}
	if r.Values["clean/loss"] == r.Values["train/loss"] || !(r.Values["train/memorization_flipped"] > 0) ||
		!(r.Values["train/memorization_redrawn"] >= r.Values["train/memorization_flipped"]) {
		t.Errorf("label noise shows nowhere: %v", r.Values)
	}
}

// TestPassEvaluatesEverySample compares chunks of a batch with samples one at a time.
func TestPassEvaluatesEverySample(t *testing.T) {
	s := tinySession[float64](t, tinyConfig(), nil)
	s.passBoth()
	d := s.net.FeatureDim()
	for _, split := range []struct {
		e      *evaluation[float64]
		pixels *data.Inputs
	}{{&s.train, s.in.trainPixel}, {&s.test, s.in.testPixel}} {
		x := make([]float64, split.pixels.Dim())
		for i := range split.pixels.N() {
			data.FillRange(x, split.pixels, i, i+1)
			for j, want := range s.net.Forward(x, 1, nn.Eval).Features {
				if got := split.e.features[i*d+j]; !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
					t.Fatalf("sample %d of %d: feature %d is %v, alone %v", i, split.pixels.N(), j, got, want)
				}
			}
		}
	}
}

func TestSameBitsForAnyTeam(t *testing.T) {
	var want map[string][]byte
	for _, threads := range []int{0, 1, 2, 5} {
		for _, procs := range []int{1, 2} {
			old := runtime.GOMAXPROCS(procs)
			var team *kernel.Team
			if threads > 0 {
				team = kernel.NewTeam(threads)
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

func TestInterruptedRunEndsInTheSameBits(t *testing.T) {
	c := tinyConfig()
	whole := newLab(t)
	want := mustRun(t, c, whole, Options{})
	lab := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	s := &stopAfter{epochs: 2, cancel: cancel}
	r, err := Run(ctx, c, lab, Options{Sink: s, Open: openOnce})
	var stopped *InterruptedError
	if !errors.As(err, &stopped) || stopped.Epoch != 2 || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "train --resume "+r.Run[:12]) {
		t.Fatalf("interrupted run: %v", err)
	}
	if run, err := lab.Run(r.Run); err != nil || run.Status != store.Interrupted {
		t.Fatalf("the lab says %v, %v", run.Status, err)
	}
	back, err := Resume(context.Background(), lab, r.Run[:8], Options{Open: openOnce})
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "resumed", endFiles(t, want), endFiles(t, back))
	sameValues(t, "resumed", epochValues(t, whole, want.Run), epochValues(t, lab, back.Run))
}

// TestRowsLaterThanTheCheckpointGo interrupts between checkpoints: what the lab holds when the run goes on is what its checkpoint holds.
func TestRowsLaterThanTheCheckpointGo(t *testing.T) {
	for stop, safe := range map[int]int{1: 0, 3: 2} {
		c := tinyConfig()
		c.Run.Epochs, c.Run.CheckpointEvery = 4, 2
		lab := newLab(t)
		ctx, cancel := context.WithCancel(context.Background())
		r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: stop, cancel: cancel}, Open: openOnce})
		var stopped *InterruptedError
		if !errors.As(err, &stopped) || stopped.Epoch != safe {
			t.Fatalf("stopped after epoch %d: %v", stop, err)
		}
		newest := func() (last int64) {
			for _, v := range epochValues(t, lab, r.Run) {
				last = max(last, v.Step)
			}
			return last
		}
		if newest() != int64(stop) {
			t.Errorf("rows up to epoch %d, wanted %d", newest(), stop)
		}
		s := &startHook{do: func() {
			if newest() != int64(safe) {
				t.Errorf("going on from epoch %d with rows up to %d", safe, newest())
			}
		}}
		if _, err := Resume(context.Background(), lab, r.Run, Options{Open: openOnce, Sink: s}); err != nil {
			t.Fatal(err)
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

// stopAfter cancels once an epoch is done.
type stopAfter struct {
	recorder
	epochs int
	cancel func()
}

func (s *stopAfter) Epoch(e EpochDone) {
	if e.Epoch == s.epochs {
		s.cancel()
	}
}

// TestEveryFailureOfARunLosesNothing fails every call that a whole run makes, as a full disk and as a power cut, and runs again.
func TestEveryFailureOfARunLosesNothing(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs = 2
	whole := newLab(t)
	wholeRun := mustRun(t, c, whole, Options{})
	want, wantValues := endFiles(t, wholeRun), epochValues(t, whole, wholeRun.Run)
	lab := newLab(t)
	for _, fatal := range []bool{false, true} {
		failures := 0
		for n := 1; ; n++ {
			fs := newFaultFS(n, fatal, errFull)
			_, err := Run(context.Background(), c, lab, Options{FS: fs, Open: openOnce, Again: true})
			if fs.calls < n {
				break
			}
			when := fmt.Sprintf("call %d (%s), fatal %v", n, fs.log[n-1], fatal)
			if !errors.Is(err, errFull.Err) {
				t.Fatalf("%s: error is %v", when, err)
			}
			failures++
			if fatal {
				if err := fs.powerOff(); err != nil {
					t.Fatal(err)
				}
			}
			r := mustRun(t, c, lab, Options{FS: newFaultFS(0, false, nil)})
			sameFiles(t, when, want, endFiles(t, r))
			sameValues(t, when, wantValues, epochValues(t, lab, r.Run))
		}
		if failures < 40 {
			t.Errorf("only %d calls were failed", failures)
		}
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

func TestAnotherMachineIsRefusedOrRecorded(t *testing.T) {
	c := tinyConfig()
	lab := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: 1, cancel: cancel}, Open: openOnce})
	if r.Checkpoint == "" {
		t.Fatal(err)
	}
	file := filepath.Join(r.Checkpoint, stateFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	here := ThisMachine()
	old := fmt.Sprintf(`"kernel": %q`, here.Kernel)
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s does not name the kernel:\n%s", stateFile, text)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte(old), []byte(`"kernel": "abacus"`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	var other *MachineError
	if _, err = Resume(context.Background(), lab, r.Run, Options{Open: openOnce}); !errors.As(err, &other) || other.Was.Kernel != "abacus" {
		t.Fatalf("resumed under another kernel: %v", err)
	}
	s := &recorder{}
	if r, err = Resume(context.Background(), lab, r.Run, Options{Open: openOnce, AllowKernelChange: true, Sink: s}); err != nil {
		t.Fatal(err)
	}
	ckpt := &checkpoints{fs: systemFS{}, dir: filepath.Dir(r.Checkpoint), run: r.Run}
	saved, err := ckpt.read(3)
	if err != nil || len(saved.state.Changes) != 1 || saved.state.Changes[0].From.Kernel != "abacus" || saved.state.Changes[0].To != here || saved.state.Changes[0].AfterEpoch != 1 {
		t.Errorf("the change is not recorded: %+v, %v", saved, err)
	}
	if len(s.notes) != 1 || !strings.Contains(s.notes[0], "abacus") {
		t.Errorf("notes: %q", s.notes)
	}
}

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

func TestStepAllocatesNothing(t *testing.T) {
	for _, threads := range []int{0, 2} {
		var team *kernel.Team
		if threads > 0 {
			team = kernel.NewTeam(threads)
		}
		s := tinySession[float32](t, tinyConfig(), team)
		var sum tally
		samples := []int32{3, 1, 4, 15, 9, 26, 5, 35}
		step := func() {
			if _, err := s.one(samples, 0, 0.01, &sum, nil); err != nil {
				t.Fatal(err)
			}
		}
		step()
		if n := testing.AllocsPerRun(50, step); n != 0 {
			t.Errorf("%d threads: a step makes %v heap allocations", threads, n)
		}
		team.Close()
	}
}

func tinySession[T Float](t *testing.T, c Config, team *kernel.Team) *session[T] {
	t.Helper()
	c = c.Resolved()
	in, err := openInputs(c, Options{Open: openOnce})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.prepare(c.Data.Pipeline); err != nil {
		t.Fatal(err)
	}
	s, err := newSession[T](c, in, team)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPapersNetworkOnMNIST trains the paper's ten layers, narrower, on real digits with label noise.
func TestPapersNetworkOnMNIST(t *testing.T) {
	if os.Getenv(data.RootVariable) == "" {
		t.Skip("COLLAPSE_DATA is not set: a folder with mnist/ is needed")
	}
	for _, loss := range []string{"ce", "ls"} {
		c := Default()
		c.Data.SamplesPerClass, c.Data.Noise, c.Loss.Kind = 400, 0.1, loss
		c.Net.Width, c.Run.Epochs, c.Run.Batch, c.Optim.Schedule.Every = 64, 4, 64, 3
		team := kernel.NewTeam(0)
		r := mustRun(t, c, newLab(t), Options{Team: team})
		team.Close()
		if a := r.Values["test/accuracy"]; !(a > 0.95) {
			t.Errorf("%s: test accuracy of zeros against ones is %v, wanted above 0.95", loss, a)
		}
		for _, key := range []string{"clean/nc1_pinv", "train/memorization_flipped", "test/dilation"} {
			if v, ok := r.Values[key]; !ok || !(v > 0) {
				t.Errorf("%s: %s is %v (%v), wanted above 0", loss, key, v, ok)
			}
		}
	}
}
