package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/nn"
)

// TestARunThatDoesNotFitIsRefusedBeforeItAllocates asks for a network that no machine holds.
func TestARunThatDoesNotFitIsRefusedBeforeItAllocates(t *testing.T) {
	if _, known := freeMemory(); !known {
		t.Skip("what is free is not known on this system")
	}
	c, lab := tinyConfig(), newLab(t)
	c.Net.Width, c.Net.Depth = 1_000_000, 3
	_, err := Run(context.Background(), c, lab, Options{Open: openOnce})
	var e *MemoryError
	if !errors.As(err, &e) || e.Total() < 2*2*4e12 || e.Free <= 0 {
		t.Fatalf("weights of 8 TB: %v", err)
	}
	for _, want := range []string{"the run needs about", "network ", "are free; use a smaller network", "--ignore-memory"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if runs, err := lab.List(store.Filter{}); err != nil || len(runs) != 0 {
		t.Errorf("the lab holds %+v, %v", runs, err)
	}
}

// memoryKind is the environment of the helper process: which run to foresee and to hold.
const memoryKind = "COLLAPSE_TEST_MEMORY_KIND"

var memoryKinds = map[string]func(*Config){
	"mlp, adam": func(c *Config) { c.Net.Depth, c.Net.Width, c.Optim.Kind = 2, 1500, "adam" },
	"resnet18-adapt": func(c *Config) {
		adapt(c)
		c.Net.StemWidth, c.Run.Batch = 8, 64
	},
	"lbfgs": func(c *Config) {
		c.Net.Depth, c.Net.Width, c.Optim.Kind, c.Optim.LBFGS.LineSearch = 2, 500, "lbfgs", "strong_wolfe"
		c.Optim.LBFGS.MaxIter, c.Optim.LBFGS.History = 3, 2 // pairs take memory when they are first used
	},
}

// TestTheFootprintIsWhatARunTakes compares the estimate with the growth of a separate process: in this one, memory freed by earlier
// tests would be reused unnoticed.
func TestTheFootprintIsWhatARunTakes(t *testing.T) {
	longtest.Only(t)
	if testing.Short() {
		t.Skip("-short: the race detector, which runs with it, takes memory of its own")
	}
	if residentBytes() == 0 {
		t.Skip("/proc/self/status does not say what is resident")
	}
	for kind := range memoryKinds {
		helper := exec.Command(os.Args[0], "-test.run=^$")
		helper.Env = append(os.Environ(), memoryKind+"="+kind)
		out, err := helper.CombinedOutput()
		var need, grown int64
		if _, scan := fmt.Sscan(string(out), &need, &grown); err != nil || scan != nil {
			t.Fatalf("%s: %v, %v\n%s", kind, err, scan, out)
		}
		if ratio := float64(need) / float64(grown); !(ratio > 0.8 && ratio < 1.6) {
			t.Errorf("%s: the estimate is %s, the process grew by %s", kind, megabytes(need), megabytes(grown))
		}
	}
}

// foreseeAndHold is the helper: it prints the estimate of a run and what its session took.
func foreseeAndHold(kind string) error {
	c := tinyConfig()
	memoryKinds[kind](&c)
	plan, err := c.Plan()
	if err != nil {
		return err
	}
	in, err := openInputs(plan, Options{})
	if err != nil {
		return err
	}
	if err := in.prepare(c.Data.Pipeline); err != nil {
		return err
	}
	need, err := footprint[float32](plan, in.sizes())
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	before := residentBytes()
	s, err := newSession[float32](context.Background(), plan, in, Options{})
	if err != nil {
		return err
	}
	var sum tally
	n, e := nativeOf(s), s.order(0)
	e.lr = 1e-3
	n.batches.Start(0)
	for range 2 {
		if err := n.trainStep(n.batches.Next(), &e, &sum); err != nil {
			return err
		}
	}
	if err := s.passBoth(); err != nil {
		return err
	}
	fmt.Println(need.Total(), residentBytes()-before)
	runtime.KeepAlive(s)
	return nil
}

func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

func TestControlGroupsLimitWhatIsFree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("control groups are Linux's")
	}
	write := func(root string, files map[string]string) {
		for name, text := range files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, membership string
		files            map[string]string
		want             int64
		found            bool
	}{
		{"version 2, the parent is tighter", "0::/a/b\n", map[string]string{"a/memory.max": "1000\n", "a/memory.current": "600\n",
			"a/memory.stat": "anon 5\ninactive_file 100\n", "a/b/memory.max": "max\n"}, 500, true},
		{"version 2, no limit", "0::/\n", map[string]string{"memory.current": "600\n"}, 0, false},
		{"version 1", "3:memory:/x\n1:cpu:/y\n", map[string]string{"memory/x/memory.limit_in_bytes": "900\n", "memory/x/memory.usage_in_bytes": "300\n",
			"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "1\n"}, 600, true},
		{"nonsense", "what is this\n", map[string]string{"memory.max": "100\n"}, 0, false},
	} {
		root := t.TempDir()
		write(root, c.files)
		write(root, map[string]string{"self": c.membership})
		got, found := groupLeft(filepath.Join(root, "self"), root)
		if found != c.found || found && got != c.want {
			t.Errorf("%s: %d, %v; wanted %d, %v", c.name, got, found, c.want, c.found)
		}
	}
	if free, known := freeMemory(); !known || free < 1<<20 || free > math.MaxInt64/2 {
		t.Errorf("free memory of this machine: %d, %v", free, known)
	}
}

// TestImageNetworksRefuseWhatTheyCannotTake looks at the refusals that only data can cause, all before anything is written.
func TestImageNetworksRefuseWhatTheyCannotTake(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"are too small for the five poolings": func(c *Config) { c.Net.Kind, c.Data.Pipeline = nn.KindVGG13, "plain" },
		"no simplex ETF of K = 10 vectors exists in d = 8": func(c *Config) {
			adapt(c)
			c.Net.Classifier, c.Net.StemWidth, c.Data.Classes = nn.ClassifierETF, 1, 10
		},
		"a training batch of 1 sample": func(c *Config) { c.Net.Kind, c.Net.Depth, c.Net.Width, c.Run.Batch = nn.KindResNet18, 0, 0, 79 },
	} {
		c, lab := tinyConfig(), newLab(t)
		c.Net.Depth, c.Net.Width = 0, 0
		change(&c)
		if _, err := Run(context.Background(), c, lab, Options{Open: openOnce}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; wanted %q", err, want)
		}
		if runs, err := lab.List(store.Filter{}); err != nil || len(runs) != 0 {
			t.Errorf("the lab holds %+v, %v", runs, err)
		}
	}
}
