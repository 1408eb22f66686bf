package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/parallel"
)

// family are runs that differ in all that members of an ensemble may differ in.
func family() (list []Config) {
	for i := range 5 {
		c := elsewhere()
		c.Run.Seed, c.Run.Epochs, c.Optim.LR = uint64(i+1), 3+i%2, .01*float64(i+1)
		c.Data.Noise = .1 * float64(i)
		switch i {
		case 1:
			c.Loss.Kind, c.Loss.Smoothing = "ls", .1
		case 2:
			c.Loss.Kind = "mse"
		case 3:
			c.Run.MeasureStart = true
		}
		list = append(list, c)
	}
	return list
}

// computed computes runs side by side in a lab.
func computed(ctx context.Context, lab *store.Lab, opts Options, runs ...Config) (results []Result, errs []error) {
	results, errs = make([]Result, len(runs)), make([]error, len(runs))
	var wait sync.WaitGroup
	for i, c := range runs {
		wait.Go(func() {
			opts := opts
			opts.Team, opts.Open = parallel.NewTeam(1), openOnce
			defer opts.Team.Close()
			results[i], errs[i] = Run(ctx, c, lab, opts)
		})
	}
	wait.Wait()
	return results, errs
}

// TestRunsTogether: a run of an ensemble gives the rows of our own kernels, and the same bits in any company, after an interruption, and
// beside runs that diverge. What it is computed with is part of its machine, and is kept.
func TestRunsTogether(t *testing.T) {
	longtest.Only(t)
	runs, lab := family(), newLab(t)
	opts := Options{Engines: torchPool(t), Ensemble: Ensemble{Members: 4, Threads: 2}}
	results, errs := computed(t.Context(), lab, opts, runs...)
	var want []map[string][]byte
	for i, r := range results {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		want = append(want, endFiles(t, r))
		var st state
		if err := json.Unmarshal(want[i]["state"], &st); err != nil || !strings.HasSuffix(st.Machine.Kernel, "threads 2, members 4") {
			t.Errorf("%q, %v", st.Machine.Kernel, err)
		}
	}
	alone := newLab(t)
	for i, c := range runs {
		got := mustRun(t, c, alone, opts)
		sameValues(t, "alone", epochValues(t, lab, results[i].Run), epochValues(t, alone, got.Run))
		sameFiles(t, "alone", want[i], endFiles(t, got))
		c.Run.Engine = engineGo
		own := newLab(t)
		nearValues(t, fmt.Sprint("run ", i), epochValues(t, own, mustRun(t, c, own, Options{}).Run), epochValues(t, alone, got.Run), 2e-2)
	}
	t.Run("interrupted", func(t *testing.T) {
		lab := newLab(t)
		ctx, cancel := context.WithCancel(t.Context())
		stopping := opts
		stopping.Sink = &stopAfter{epochs: 2, cancel: cancel}
		_, errs := computed(ctx, lab, stopping, runs[1:4]...)
		var stopped *InterruptedError
		for _, err := range errs {
			if err != nil && !errors.As(err, &stopped) {
				t.Errorf("%v", err)
			}
		}
		other := opts
		other.Ensemble.Members = 2 // which those that are begun do not take
		got, errs := computed(t.Context(), lab, other, runs[3], runs[1])
		for k, i := range []int{3, 1} {
			if errs[k] != nil {
				t.Fatal(errs[k])
			}
			sameFiles(t, fmt.Sprint("resumed ", i), want[i], endFiles(t, got[k]))
		}
	})
	t.Run("beside one that diverges", func(t *testing.T) {
		wild := runs[2]
		wild.Optim.LR = 1e30
		got, errs := computed(t.Context(), newLab(t), opts, runs[0], wild, runs[4])
		var diverged *DivergedError
		if !errors.As(errs[1], &diverged) {
			t.Errorf("%v", errs[1])
		}
		for k, i := range map[int]int{0: 0, 2: 4} {
			if errs[k] != nil {
				t.Fatal(errs[k])
			}
			sameFiles(t, fmt.Sprint("beside ", i), want[i], endFiles(t, got[k]))
		}
	})
}

// TestWhoSharesABatch: runs whose networks or sizes differ have other keys, those of one study the same; L-BFGS and image networks are alone.
func TestWhoSharesABatch(t *testing.T) {
	key := func(change func(*Config)) string {
		c := elsewhere()
		change(&c)
		plan, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		in, err := openInputs(plan, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := in.prepare(plan.Data.Pipeline); err != nil {
			t.Fatal(err)
		}
		witness, err := newNative[float32](plan.audited(), in, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&external[float32]{witness: witness}).key(plan, in)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	base := key(func(*Config) {})
	for name, change := range map[string]func(*Config){
		"seed": func(c *Config) { c.Run.Seed++ }, "noise": func(c *Config) { c.Data.Noise = .3 }, "rate": func(c *Config) { c.Optim.LR /= 2 }, "epochs": func(c *Config) { c.Run.Epochs++ },
		"loss": func(c *Config) { c.Loss.Kind, c.Loss.Smoothing = "ls", .2 }, "decay": func(c *Config) { c.Optim.WeightDecay *= 3 }, "momentum": func(c *Config) { c.Optim.Momentum = .5 },
		"measures": func(c *Config) { c.Run.MeasureEvery = 2 },
	} {
		if key(change) != base {
			t.Errorf("%s: another key", name)
		}
	}
	for name, change := range map[string]func(*Config){
		"width": func(c *Config) { c.Net.Width++ }, "batch": func(c *Config) { c.Run.Batch++ }, "momentum": func(c *Config) { c.Optim.Momentum = 0; c.Optim.Nesterov = false },
		"nesterov": func(c *Config) { c.Optim.Nesterov = !c.Optim.Nesterov }, "adam": func(c *Config) { c.Optim.Kind = "adam" }, "dtype": func(c *Config) { c.Run.DType = "float64" },
		"classifier": func(c *Config) { c.Net.Classifier = "etf" }, "samples": func(c *Config) { c.Data.SamplesPerClass++ }, "augment": func(c *Config) { c.Data.Augment = "crop_flip" },
		"decay": func(c *Config) { c.Optim.Decay = "peeled" }, "bf16": func(c *Config) { c.Run.Precision = "bf16" }, "test": func(c *Config) { c.Data.TestSamplesPerClass++ },
		"held": func(c *Config) { c.Data.Validation = .1 }, "norm": func(c *Config) { c.Net.BatchNorm = false },
	} {
		if key(change) == base {
			t.Errorf("%s: the same key", name)
		}
	}
	plain := func(c *Config) { c.Optim.Nesterov = false }
	if key(plain) == key(func(c *Config) { plain(c); c.Optim.Momentum = 0 }) {
		t.Error("momentum or none: the same key")
	}
	for name, change := range map[string]func(*Config){
		"": func(*Config) {}, "lbfgs": func(c *Config) { c.Optim.Kind = "lbfgs" }, "image": func(c *Config) { c.Net.Kind = "resnet18-adapt" }, "go": func(c *Config) { c.Run.Engine = engineGo },
	} {
		c := elsewhere()
		if change(&c); c.Shares() != (name == "") {
			t.Errorf("%s: %t", name, c.Shares())
		}
	}
}

// TestWhoSaysHowManyShareABatch: a checkpoint before the caller, who may ask for exactly so many, before what fits.
func TestWhoSaysHowManyShareABatch(t *testing.T) {
	plan, err := elsewhere().Plan()
	if err != nil {
		t.Fatal(err)
	}
	in, err := openInputs(plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.prepare(plan.Data.Pipeline); err != nil {
		t.Fatal(err)
	}
	witness, err := newNative[float32](plan.audited(), in, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	full := engine.Device{Name: "cuda:0", Bytes: 1}
	for _, c := range []struct {
		asked Ensemble
		want  int // 0: alone
	}{{Ensemble{}, 0}, {Ensemble{Members: 1}, 0}, {Ensemble{Members: 6}, 1}, {Ensemble{Members: 6, Exactly: true}, 6}, {Ensemble{Members: 6, Exactly: true, before: 3}, 3}, {Ensemble{before: 3}, 3}, {Ensemble{Members: 6, before: 1}, 0}} {
		want, err := (&external[float32]{witness: witness}).wants(plan, in, Options{Engines: &engine.Pool{}, Ensemble: c.asked})
		if err != nil || (want.Members == nil) != (c.want == 0) || want.Members != nil && want.Members(full) != c.want {
			t.Errorf("%+v: %+v, %v", c.asked, want, err)
		}
	}
}

// TestHowManyShareABatch: as many as asked for and fit; on a processor, small networks alone.
func TestHowManyShareABatch(t *testing.T) {
	cpu, gpu := engine.Device{Name: "cpu", Bytes: 8 << 30}, engine.Device{Name: "cuda:0", Bytes: 8 << 30}
	small, large := Outlook{MACs: 1 << 17, Batch: 64}, Outlook{MACs: 32 << 20, Batch: 512}
	heavy := small
	heavy.Memory.Parts = []Part{{"x", 600 << 20, ""}}
	for _, c := range []struct {
		o      Outlook
		d      engine.Device
		ask, n int
	}{{small, cpu, 16, 16}, {large, cpu, 16, 1}, {Outlook{MACs: 1 << 18, Batch: 64}, cpu, 16, 16}, {Outlook{MACs: 1 << 18, Batch: 128}, cpu, 16, 1}, {large, gpu, 16, 16}, {heavy, cpu, 16, 4}, {heavy, gpu, 3, 3}, {small, engine.Device{Name: "mps"}, 5, 5}, {small, cpu, 1, 1}, {small, cpu, 0, 1}} {
		if got := c.o.Members(c.d, c.ask); got != c.n {
			t.Errorf("%+v on %s, %d asked for: %d, want %d", c.o, c.d.Name, c.ask, got, c.n)
		}
	}
	for text, want := range map[string]int{"torch 2, CPU x, threads 2, members 16": 16, "torch 2, CPU x, threads 2": 1, "avx512": 1, "x, members 0": 1, "x, members -3": 1, "x, members 9999999": 1, "x, members y": 1} {
		if got := membersIn(Machine{Kernel: text}); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
