package parity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
	"collapse.example/collapse/python"
)

// TestMain ends the engines of all tests. PyTorch's threads, which wait in loops for each other, cost more than these small runs; whole
// tests have them.
func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	if _, chosen := os.LookupEnv("OMP_NUM_THREADS"); !chosen && !longtest.Whole() {
		os.Setenv("OMP_NUM_THREADS", "1")
	}
	m.Run() // the code it ends with is heeded by whoever called TestMain
	if k := shared.checker; k != nil {
		k.Engines.Close()
		k.Team.Close()
		os.RemoveAll(k.Dir)
	}
}

// shared is what all tests use: an engine takes seconds to import PyTorch.
var shared struct {
	sync.Once
	checker *Checker
}

// checker has PyTorch on the processor. The test is skipped where there is none.
func checker(t *testing.T) *Checker {
	t.Helper()
	shared.Do(func() {
		for _, interpreter := range []string{"/usr/bin/python3", "python3"} {
			// Asking where PyTorch is takes a hundredth of the time of importing it.
			if exec.Command(interpreter, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)").Run() != nil {
				continue
			}
			dir, err := os.MkdirTemp("", "collapse-parity-*")
			if err != nil {
				t.Fatal(err)
			}
			p := &engine.Python{Interpreter: interpreter, Files: python.Files(), Version: python.Version()}
			shared.checker = &Checker{Engines: &engine.Pool{Launch: p.Launch, Devices: []string{"cpu"}}, Team: parallel.NewTeam(2), Dir: dir}
			return
		}
	})
	if shared.checker == nil {
		t.Skip("no python3 with PyTorch (Debian: python3-torch)")
	}
	return shared.checker
}

// TestTorchComputesWhatOurKernelsCompute is the pairwise cover, without the networks with millions of weights, which take seconds to
// minutes: COLLAPSE_PARITY=heavy compares those, COLLAPSE_PARITY=all every combination; -run TorchComputes/vgg13 those of a network. Each
// choice is in the share that every `go test` compares, though not with every other one.
func TestTorchComputesWhatOurKernelsCompute(t *testing.T) {
	longtest.Only(t)
	k := checker(t)
	which := os.Getenv("COLLAPSE_PARITY")
	cases := Cases(which == "all")
	if which == "" && !longtest.Whole() {
		cases = someOf(cases)
	}
	for _, c := range cases {
		if which != "all" && c.Heavy != (which == "heavy") {
			t.Logf("not compared with COLLAPSE_PARITY=%q: %s", which, c.Name)
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			o, err := k.Compare(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if !o.OK() {
				t.Errorf("off by %.3g, allowed %g, at %s: %s", o.Worst, o.Tolerance, o.Where, o.Error)
			}
			t.Logf("%.2g %s, nudge %d", o.Worst, o.Where, o.Nudge)
		})
	}
}

// someOf picks cases at random, though the same ones each time, as long as they bring a choice that none before has.
func someOf(cases []Case) (some []Case) {
	seen := map[string]bool{}
	for _, i := range rand.New(rand.NewPCG(1, 0)).Perm(len(cases)) {
		fresh := false
		for _, setting := range cases[i].Settings {
			fresh = fresh || !seen[setting]
		}
		if c := cases[i]; fresh && !c.Heavy {
			some = append(some, c)
			for _, setting := range c.Settings {
				seen[setting] = true
			}
		}
	}
	return some
}

func TestTorchResumesInTheSameBits(t *testing.T) {
	longtest.Only(t)
	k := checker(t)
	// Each starts a process. The share is Adam's, whose state is the largest.
	for _, c := range longtest.Of(Resumed()[1:2], Resumed()) {
		if o, err := k.Resume(t.Context(), c); err != nil || !o.OK() {
			t.Errorf("%+v, %v", o, err)
		}
	}
}

// TestEveryPairMeets counts the pairs that the cases cover, before those that no run can have are left out.
func TestEveryPairMeets(t *testing.T) {
	axes := axes()
	rows := pairwise(axes)
	for a := range axes {
		for b := a + 1; b < len(axes); b++ {
			for _, x := range axes[a] {
				if x.heavy && b != optimisers {
					continue
				}
				for _, y := range axes[b] {
					met := false
					for _, row := range rows {
						met = met || row[a].name == x.name && row[b].name == y.name
					}
					if !met {
						t.Errorf("%s never meets %s", x.name, y.name)
					}
				}
			}
		}
	}
	t.Logf("%d rows, %d cases", len(rows), len(Cases(false)))
	if cases := Cases(false); len(cases) < len(rows)*2/3 || len(cases) > 80 {
		t.Errorf("%d cases of %d rows", len(cases), len(rows))
	}
}

// TestTheLastEpochHasItsOwnRate: an epoch of 100 images in 10 s, and one in 2 s.
func TestTheLastEpochHasItsOwnRate(t *testing.T) {
	l := &lastRate{}
	l.Started(train.Started{TrainSamples: 100})
	l.Epoch(train.EpochDone{Epoch: 1, ImagesPerSecond: 10})
	l.Epoch(train.EpochDone{Epoch: 2, ImagesPerSecond: 200. / 12})
	if math.Abs(l.rate-50) > 1e-9 {
		t.Errorf("%g images a second", l.rate)
	}
}

// TestEveryRecipeHasAShortRun: what is timed in the place of a run is a run, of the same network, of two epochs.
func TestEveryRecipeHasAShortRun(t *testing.T) {
	longtest.Only(t)
	for _, r := range recipe.List() {
		if !r.Trains() {
			continue
		}
		loaded, err := recipe.Load(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := loaded.Foresee(recipe.Choice{Scale: "paper", Seeds: 1})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[train.NetConfig]bool{} // one of each network is enough
		for _, run := range runs {
			if seen[run.Config.Net] {
				continue
			}
			seen[run.Config.Net] = true
			s := short(run.Config)
			if err := s.Check(); err != nil {
				t.Fatalf("%s: %v", r.ID, err)
			}
			if s.Run.Epochs != 2 || s.Run.Batch != run.Config.Run.Batch || s.Net != run.Config.Net || s.Optim.Kind != run.Config.Optim.Kind {
				t.Fatalf("%s: %+v of %+v", r.ID, s, run.Config)
			}
		}
	}
}

// TestRatesOfPyTorch: a short run has a rate, and arithmetic to match: 784·8 + 8·2 + 2·2 multiply-adds three times for each image, twice 2 operations.
func TestRatesOfPyTorch(t *testing.T) {
	longtest.Only(t)
	k := checker(t)
	settings := []string{"data.name=glyphs", "data.classes=2", "data.samples_per_class=40", "data.test_samples_per_class=1", "data.pipeline=plain", "net.depth=1", "net.width=8",
		"run.epochs=2", "run.batch=20", "run.engine=torch"}
	rate, gflops, err := k.Speed(t.Context(), settings)
	if err != nil || !(rate > 0) || math.Abs(gflops/rate*1e9/(6*(784*8+8*2+2*2))-1) > 1e-9 {
		t.Errorf("%g images/s, %g GFLOP/s, %v", rate, gflops, err)
	}
	cfg, err := train.LoadShared(append(settings, "run.epochs=50", "run.save_features=all")...)
	if err != nil {
		t.Fatal(err)
	}
	if rate, err := k.Like(t.Context(), cfg); err != nil || !(rate > 0) {
		t.Errorf("%g images/s, %v", rate, err)
	}
}

// TestALineSearchMayBeARoundingAway: rows of a run whose rate is 16 units in the last place lower are found, in all their digits; those of
// another rate are not.
func TestALineSearchMayBeARoundingAway(t *testing.T) {
	longtest.Only(t)
	team := parallel.NewTeam(2)
	t.Cleanup(team.Close)
	k := &Checker{Team: team, Dir: t.TempDir()}
	c := Case{Settings: []string{"net.kind=mlp", "net.depth=1", "net.width=8", "net.feature_dim=4", "optim.kind=lbfgs", "optim.lbfgs.line_search=strong_wolfe", "optim.lr=0.1"}, LineSearch: true}
	for rate, want := range map[float64]int{0.1: 0, 0.1 * (1 - 0x1p-48): -16, 0.1 * (1 + 0x1p-20): 0} {
		other := c
		other.Settings = append(slices.Clone(c.Settings), fmt.Sprintf("optim.lr=%v", rate))
		got, _, err := k.rows(t.Context(), other, "go")
		if err != nil {
			t.Fatal(err)
		}
		o := Outcome{}
		if o.Worst, o.Where, err = k.distance(t.Context(), c, got); err == nil && !o.OK() {
			err = k.nudge(t.Context(), c, got, &o)
		}
		if near := rate-0.1 < 1e-12; err != nil || o.OK() != near || near && o.Nudge != want {
			t.Errorf("rate %v: %+v, %v", rate, o, err)
		}
	}
}

func TestFurthestFindsWhatDiffers(t *testing.T) {
	row := func(measure string, value float64, missing string) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: "test", Measure: measure}, Step: 2, Value: value, Missing: missing}
	}
	want := []store.Value{row("loss", 2, ""), row("nc1", 0, "too few"), row("images_per_s", 5, "")}
	if worst, where, err := furthest(want, []store.Value{row("nc1", 0, "too few"), row("loss", 2.002, "")}); err != nil || worst < 0.0009 || worst > 0.0011 || !strings.Contains(where, "test loss") {
		t.Errorf("%g at %s, %v", worst, where, err)
	}
	for _, got := range [][]store.Value{{row("loss", 2, "")}, {row("loss", 2, ""), row("nc1", 0, "")}, {row("loss", 2, ""), row("nc2", 0, "too few")}} {
		if _, _, err := furthest(want, got); err == nil {
			t.Errorf("%+v passes", got)
		}
	}
}
