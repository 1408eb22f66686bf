package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// elsewhere is a tiny run that an engine computes, with everything that crosses to it: batch norm, taps, views, a validation split.
func elsewhere() Config {
	c := tinyConfig()
	c.Run.Engine = engineTorch
	return c
}

func richElsewhere(dtype string) Config {
	c := elsewhere()
	c.Data.Augment, c.Data.Validation = "crop_flip", 0.1
	c.Run.Taps, c.Run.MeasureStart, c.Run.DType = stages, true, dtype
	return c
}

// sameAsNative compares a run of the fake engine with the run of our own kernels: both are computed on these, so all rows and tensors
// have the same bits.
func sameAsNative(t *testing.T, c Config) {
	t.Helper()
	own, other := newLab(t), newLab(t)
	pool, pids := fakePool(t, c, "")
	got := mustRun(t, c, other, Options{Engines: pool})
	c.Run.Engine = engineGo
	want := mustRun(t, c, own, Options{})
	if want.Run == got.Run {
		t.Error("run.engine is no part of a run's identity")
	}
	sameValues(t, "the fake engine", epochValues(t, own, want.Run), epochValues(t, other, got.Run))
	a, b := endFiles(t, want), endFiles(t, got)
	delete(a, "state")
	sameFiles(t, "the fake engine", a, b)
	var st state
	if err := json.Unmarshal(b["state"], &st); err != nil || st.Machine.Kernel != "fake engine, CPU" {
		t.Errorf("the checkpoint is of %+v, %v", st.Machine, err)
	}
	if run, err := other.Run(got.Run); err != nil || !strings.HasPrefix(run.Program.Kernel, "fake 1") {
		t.Errorf("the lab says %+v, %v", run.Program, err)
	}
	if left, err := rundir.Dir(got.Dir).Staging(); err != nil || len(left) > 0 {
		t.Errorf("the run left %v, %v", left, err)
	}
	if len(*pids) != 1 {
		t.Errorf("%d processes were started", len(*pids))
	}
}

func TestExternalEngineGivesTheRunsOfItsNumbers(t *testing.T) {
	sameAsNative(t, elsewhere())
	sameAsNative(t, richElsewhere("float32"))
	sameAsNative(t, richElsewhere("float64"))
	fromPass := richElsewhere("float32")
	fromPass.Run.MeasureFrom, fromPass.Run.MeasureEvery, fromPass.Run.SaveFeatures = fromTraining, 2, "1"
	sameAsNative(t, fromPass)
	peeled := elsewhere()
	peeled.Optim.Decay, peeled.Optim.Kind, peeled.Optim.LR, peeled.Optim.LBFGS.MaxIter = "peeled", "lbfgs", 0.5, 3
	peeled.Optim.Nesterov, peeled.Optim.Momentum, peeled.Net.Bias = Default().Optim.Nesterov, Default().Optim.Momentum, false
	sameAsNative(t, peeled)
	fixed := elsewhere()
	fixed.Net.Classifier, fixed.Optim.Kind, fixed.Optim.LR = "etf", "adam", 1e-3
	sameAsNative(t, fixed)
}

// TestExternalProcessStaysForTheNextRun computes two runs in one pool.
func TestExternalProcessStaysForTheNextRun(t *testing.T) {
	c := elsewhere()
	pool, pids := fakePool(t, c, "")
	mustRun(t, c, newLab(t), Options{Engines: pool})
	mustRun(t, c, newLab(t), Options{Engines: pool})
	if len(*pids) != 1 {
		t.Errorf("%d processes were started for two runs", len(*pids))
	}
	pool.Close()
	gone(t, *pids)
}

// gone fails unless the processes are.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

// engineFaults are what an engine can do wrong: the order at which it does, and words of the message.
var engineFaults = map[string]string{
	"hello:garbage":        "not an answer of collapse-engine 1",
	"hello:silent":         "has said nothing for 2s",
	"hello:exit":           "the device is gone",
	"hello:long":           "a line of more than 1048576 bytes",
	"hello:refused":        "this is why",
	"open:refused":         "this is why",
	"open:memory":          "use a smaller run.batch",
	"open:short-of-memory": "2097152 MB on CPU, and 1024 MB are free",
	"open:machine":         "printable",
	"load:input":           "this is why",
	"epoch:garbage":        `\x1b[31m`,
	"epoch:array":          "not an answer of",
	"epoch:long":           "a line of more than",
	"epoch:silent":         "has said nothing for 2s",
	"epoch:exit":           "exit status 7",
	"epoch:failed":         "RuntimeError: this is a traceback",
	"epoch:other":          "answer is one to something else",
	"epoch:nan-sum":        "sums losses to NaN",
	"epoch:count":          "81 correct",
	"epoch:steps":          "step 4 of an epoch of 3",
	"evaluate:exit":        "it ended before it answered",
	"evaluate:short":       "bytes of numbers, wanted",
	"evaluate:gone":        "no such file",
	"evaluate:link":        "not a regular file",
	"evaluate:pipe":        "not a regular file",
	"evaluate:shape":       "shape [3 2]",
	"evaluate:huge":        "type F64, wanted [80 2] and F32",
	"evaluate:head":        "safetensors",
	"save:hash":            "the digests differ",
	"save:large":           "at most",
	"save:silent":          "has said nothing for 2s",
	"save:full":            "No space left on device",
}

// TestEngineFaultsAreErrorsInWords: each ends the attempt, names what was wrong, leaves no process, and does not fail the run.
func TestEngineFaultsAreErrorsInWords(t *testing.T) {
	c := elsewhere()
	want := endFiles(t, mustRun(t, c, newLab(t), Options{Engines: first(fakePool(t, c, ""))}))
	for _, fault := range someFaults() {
		words := engineFaults[fault]
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			lab := newLab(t)
			pool, pids := fakePool(t, c, fault)
			r, err := Run(t.Context(), c, lab, Options{Engines: pool, Open: openOnce})
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Fatalf("wanted %q, got: %v", words, err)
			}
			if strings.HasSuffix(fault, ":full") && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("a full disk is not told: %v", err)
			}
			pool.Close()
			gone(t, *pids)
			if strings.HasPrefix(fault, "hello:") {
				return // nothing was leased
			}
			run, err := lab.Run(r.Run)
			if err != nil || run.Status != store.Interrupted {
				t.Fatalf("the run is %v, %v", run.Status, err)
			}
			pool, _ = fakePool(t, c, "")
			sameFiles(t, "resumed", want, endFiles(t, mustRun(t, c, lab, Options{Engines: pool})))
		})
	}
}

// someFaults are the names of all engineFaults or, as a share, of a half that is always the same.
func someFaults() []string {
	all := slices.Sorted(maps.Keys(engineFaults))
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:longtest.Of(len(all)/2, len(all))]
}

func first[A, B any](a A, _ B) A { return a }

// TestMemoryThatRunsOutOnTheWay: the epochs before are kept, a smaller batch is suggested, and the process can continue the run from there.
func TestMemoryThatRunsOutOnTheWay(t *testing.T) {
	c := elsewhere()
	want := endFiles(t, mustRun(t, c, newLab(t), Options{Engines: first(fakePool(t, c, ""))}))
	lab := newLab(t)
	pool, pids := fakePool(t, c, "second epoch:memory")
	r, err := Run(t.Context(), c, lab, Options{Engines: pool, Open: openOnce})
	if err == nil || !EngineTrouble(err) || !strings.Contains(err.Error(), "use a smaller run.batch, or another --device") {
		t.Fatalf("%v", err)
	}
	run, err := lab.Run(r.Run)
	if err != nil || run.Status != store.Interrupted {
		t.Fatalf("the run is %v, %v", run.Status, err)
	}
	if newest := rundir.Dir(lab.RunDir(r.Run)).NewestCheckpoint(c.Run.Epochs); newest != 1 {
		t.Errorf("the newest checkpoint is of epoch %d", newest)
	}
	sameFiles(t, "gone on", want, endFiles(t, mustRun(t, c, lab, Options{Engines: pool})))
	if len(*pids) != 1 {
		t.Errorf("%d processes were started", len(*pids))
	}
}

// TestDeviceThatIsNotThere: nothing is leased, the message lists the existing devices, and the process stays for other runs.
func TestDeviceThatIsNotThere(t *testing.T) {
	c, lab := elsewhere(), newLab(t)
	pool, pids := fakePool(t, c, "")
	pool.Devices = []string{"cuda:7"}
	_, err := Run(t.Context(), c, lab, Options{Engines: pool, Open: openOnce})
	if err == nil || !EngineTrouble(err) || !strings.Contains(err.Error(), `fake 1 has no device "cuda:7" here; --device takes cpu`) {
		t.Errorf("%v", err)
	}
	if runs, err := lab.List(store.Filter{}); err != nil || len(runs) != 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	pool.Devices = []string{"cpu"}
	mustRun(t, c, lab, Options{Engines: pool})
	if len(*pids) != 1 {
		t.Errorf("%d processes were started", len(*pids))
	}
}

// TestEngineThatFindsNaN: a run that diverges there counts as diverged.
func TestEngineThatFindsNaN(t *testing.T) {
	c := elsewhere()
	pool, _ := fakePool(t, c, "epoch:nan")
	_, err := Run(t.Context(), c, newLab(t), Options{Engines: pool, Open: openOnce})
	var diverged *DivergedError
	if !errors.As(err, &diverged) || diverged.Step != 0 {
		t.Errorf("%v", err)
	}
}

// TestEngineThatFloodsStderr: output that nobody reads must not stop it.
func TestEngineThatFloodsStderr(t *testing.T) {
	c := elsewhere()
	pool, _ := fakePool(t, c, "epoch:flood")
	mustRun(t, c, newLab(t), Options{Engines: pool})
}

// TestEngineOfOtherNumbersIsRefused: our own kernels detect that an engine computes another network.
func TestEngineOfOtherNumbersIsRefused(t *testing.T) {
	c := elsewhere()
	other := c
	other.Net.Activation = "sigmoid"
	pool, _ := fakePool(t, other, "")
	_, err := Run(t.Context(), c, newLab(t), Options{Engines: pool, Open: openOnce})
	var audit *AuditError
	if !errors.As(err, &audit) || audit.When != "before training" || !EngineTrouble(err) {
		t.Errorf("%v", err)
	}
}

// TestRunOfAnEngineIsInterrupted: the process leaves between two steps, and the run goes on from its checkpoint.
func TestRunOfAnEngineIsInterrupted(t *testing.T) {
	c := elsewhere()
	pool, pids := fakePool(t, c, "")
	want := endFiles(t, mustRun(t, c, newLab(t), Options{Engines: pool}))
	lab := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Run(ctx, c, lab, Options{Engines: pool, Open: openOnce, Sink: &stopAfter{epochs: 2, cancel: cancel}})
	var stopped *InterruptedError
	if !errors.As(err, &stopped) || stopped.Epoch != 2 {
		t.Fatalf("%v", err)
	}
	back, err := Resume(t.Context(), lab, r.Run, Options{Engines: pool, Open: openOnce})
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "resumed", want, endFiles(t, back))
	pool.Close()
	gone(t, *pids)
}

// TestRunWithoutEngines: a program that starts no processes refuses the run, which does not count as a failure of it.
func TestRunWithoutEngines(t *testing.T) {
	_, err := Run(t.Context(), elsewhere(), newLab(t), Options{Open: openOnce})
	if err == nil || !EngineTrouble(err) {
		t.Errorf("%v", err)
	}
	c := elsewhere()
	if _, err = Run(t.Context(), c, newLab(t), Options{Open: openOnce, Trace: Trace{Dir: t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "no traces") {
		t.Errorf("a trace: %v", err)
	}
}

// TestEngineSettingsAreIdentity: at their defaults they are left out, so that runs keep their identities; other values are part of it.
func TestEngineSettingsAreIdentity(t *testing.T) {
	if text := Canonical(tinyConfig(), "a", "b"); bytes.Contains(text, []byte("engine")) || bytes.Contains(text, []byte("precision")) {
		t.Errorf("%s", text)
	}
	c := elsewhere()
	c.Run.Precision = "bf16"
	if text := string(Canonical(c, "a", "b")); !strings.Contains(text, `"engine":"torch"`) || !strings.Contains(text, `"precision":"bf16"`) {
		t.Errorf("%s", text)
	}
	for _, wrong := range []func(*Config){
		func(c *Config) { c.Run.Engine = engineGo },
		func(c *Config) { c.Run.DType = "float64" },
	} {
		c := c
		wrong(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), "run.precision: is") {
			t.Errorf("%v", err)
		}
	}
}

// TestRunGoesOnWithAnotherEngine gives a run of an engine a checkpoint of our own kernels: that is another machine's, which is
// refused or noted, and the tensors are the same.
func TestRunGoesOnWithAnotherEngine(t *testing.T) {
	c := elsewhere()
	pool, _ := fakePool(t, c, "")
	want := mustRun(t, c, newLab(t), Options{Engines: pool})
	lab := newLab(t)
	beginWithNative(t, c, lab, 2)
	var machine *MachineError
	_, err := Run(t.Context(), c, lab, Options{Engines: pool, Open: openOnce})
	if !errors.As(err, &machine) || strings.Contains(err.Error(), "COLLAPSE_KERNEL") {
		t.Fatalf("%v", err)
	}
	got := mustRun(t, c, lab, Options{Engines: pool, AllowKernelChange: true})
	a, b := endFiles(t, want), endFiles(t, got)
	if !bytes.Contains(b["state"], []byte(`"after_epoch": 2`)) {
		t.Errorf("the change is not recorded: %.300s", b["state"])
	}
	delete(a, "state")
	sameFiles(t, "gone on", a, b)
}

// beginWithNative computes the first epochs of a run on our own kernels, whatever its run.engine, and leaves it interrupted.
func beginWithNative(t *testing.T, c Config, lab *store.Lab, epochs int) {
	t.Helper()
	hash, canonical, err := Identify(c, openOnce)
	if err != nil {
		t.Fatal(err)
	}
	own := c
	own.Run.Engine = engineGo
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ownLab := newLab(t)
	r, err := Run(ctx, own, ownLab, Options{Open: openOnce, Sink: &stopAfter{epochs: epochs, cancel: cancel}})
	var stopped *InterruptedError
	if !errors.As(err, &stopped) {
		t.Fatal(err)
	}
	lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Config: json.RawMessage(canonical)})
	if err != nil {
		t.Fatal(err)
	}
	theirs := &checkpoints{Writer: rundir.Dir(r.Dir).Writer(nil), run: r.Run}
	saved, err := theirs.read(epochs)
	if err != nil {
		t.Fatal(err)
	}
	saved.state.Run = hash
	ours := &checkpoints{Writer: rundir.Dir(lease.Dir).Writer(nil), run: hash}
	if err := errors.Join(os.MkdirAll(filepath.Join(lease.Dir, "ckpt"), 0o777), ours.save(saved.state, saved.model, saved.optim)); err != nil {
		t.Fatal(err)
	}
	for e := 1; e <= epochs; e++ {
		if err := lease.AppendEpoch(int64(e), rowsOf(t, ownLab, r.Run, e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := lease.Interrupt(); err != nil {
		t.Fatal(err)
	}
}

// rowsOf are a run's rows of an epoch.
func rowsOf(t *testing.T, lab *store.Lab, hash string, epoch int) (list []store.Value) {
	t.Helper()
	all, err := lab.Values(hash)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if v.Series == seriesEpoch && v.Step == int64(epoch) {
			list = append(list, v)
		}
	}
	return list
}
