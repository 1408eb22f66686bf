package train

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
)

// sampleArrays are a checkpoint's tensors that depend on the epoch.
func sampleArrays(epoch int) (model, optim []arrayfile.Array) {
	v := make([]float32, 300)
	for i := range v {
		v[i] = float32(epoch*1000 + i)
	}
	return []arrayfile.Array{arrayfile.Of("fc.weight", []int{3, 100}, v)}, []arrayfile.Array{arrayfile.Of("steps", nil, []int64{int64(epoch)})}
}

func saveSample(c *checkpoints, epoch int) error {
	model, optim := sampleArrays(epoch)
	if err := c.save(state{Format: stateFormat, Run: c.run, Epoch: epoch, Step: int64(epoch), Machine: ThisMachine()}, model, optim); err != nil {
		return err
	}
	return c.prune(epoch)
}

// mustHold checks that the newest complete checkpoint is of one of the given epochs and holds that epoch's tensors.
func mustHold(t *testing.T, c *checkpoints, when string, wanted ...int) int {
	t.Helper()
	s, notes, err := c.newest(math.MaxInt)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if s == nil || !slices.Contains(wanted, s.state.Epoch) {
		t.Fatalf("%s: the newest whole checkpoint is %+v, wanted one of epochs %v (%q)", when, s, wanted, notes)
	}
	v, err := s.model[0].Float32s()
	if err != nil || len(v) != 300 || v[299] != float32(s.state.Epoch*1000+299) {
		t.Fatalf("%s: checkpoint %d holds other numbers: %v %v", when, s.state.Epoch, v, err)
	}
	return s.state.Epoch
}

// TestEveryFailureOfACheckpointLosesNothing fails each call of the file system in turn, both as an error after which the program
// continues and as a crash of the machine, after which unsynced bytes and names are gone.
func TestEveryFailureOfACheckpointLosesNothing(t *testing.T) {
	for _, mode := range []struct {
		name  string
		fatal bool
		err   error
	}{{"full disk", false, errFull}, {"power off", true, errCrash}} {
		t.Run(mode.name, func(t *testing.T) {
			kinds := map[string]int{}
			for n := 1; ; n++ {
				dir := filepath.Join(t.TempDir(), "ckpt")
				for epoch := 1; epoch <= 2; epoch++ {
					if err := saveSample(&checkpoints{Writer: rundir.Dir(dir).Writer(newFaultFS(0, false, nil)), run: "r"}, epoch); err != nil {
						t.Fatal(err)
					}
				}
				fs := newFaultFS(n, mode.fatal, mode.err)
				c := &checkpoints{Writer: rundir.Dir(dir).Writer(fs), run: "r"}
				err := saveSample(c, 3)
				if fs.calls < n { // nothing failed: all calls were tried; the power goes off right after the last
					if err != nil {
						t.Fatal(err)
					}
					if err := fs.powerOff(); err != nil {
						t.Fatal(err)
					}
					mustHold(t, c, "after the last call", 3)
					break
				}
				when := fmt.Sprintf("call %d (%s)", n, fs.log[n-1])
				kinds[fs.log[n-1]]++
				if !errors.Is(err, mode.err) {
					t.Fatalf("%s: error is %v", when, err)
				}
				if !mode.fatal && !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("%s: the full disk is not in the error: %v", when, err)
				}
				if mode.fatal {
					if err := fs.powerOff(); err != nil {
						t.Fatal(err)
					}
				}
				mustHold(t, c, when, 2, 3)
				if err := saveSample(&checkpoints{Writer: rundir.Dir(dir).Writer(newFaultFS(0, false, nil)), run: "r"}, 3); err != nil {
					t.Fatalf("%s: saving again: %v", when, err)
				}
				mustHold(t, c, when+", saved again", 3)
			}
			for _, kind := range []string{"create", "write", "sync", "close", "rename", "sync folder", "mkdir", "remove"} {
				if kinds[kind] == 0 {
					t.Errorf("no %s was ever failed: %v", kind, kinds)
				}
			}
		})
	}
}

func TestDamagedCheckpointsArePassedOver(t *testing.T) {
	damage := map[string]func(dir string) error{
		"a flipped bit": func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, rundir.Model))
			if err != nil {
				return err
			}
			b[len(b)-5] ^= 1
			return os.WriteFile(filepath.Join(dir, rundir.Model), b, 0o666)
		},
		"a cut file":      func(dir string) error { return os.Truncate(filepath.Join(dir, rundir.Optim), 20) },
		"no state":        func(dir string) error { return os.Remove(filepath.Join(dir, rundir.State)) },
		"half a state":    func(dir string) error { return os.Truncate(filepath.Join(dir, rundir.State), 30) },
		"no model":        func(dir string) error { return os.Remove(filepath.Join(dir, rundir.Model)) },
		"an empty folder": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)) },
		"another's folder": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Rename(filepath.Join(filepath.Dir(dir), "1"), dir))
		},
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			c := &checkpoints{Writer: rundir.Dir(t.TempDir()).Writer(nil), run: "r", keep: keepRule{every: 1}}
			for epoch := 1; epoch <= 3; epoch++ {
				if err := saveSample(c, epoch); err != nil {
					t.Fatal(err)
				}
			}
			if err := do(c.Checkpoint(3)); err != nil {
				t.Fatal(err)
			}
			mustHold(t, c, name, 2)
			if err := saveSample(c, 3); err != nil {
				t.Fatal(err)
			}
			mustHold(t, c, "after saving again", 3)
		})
	}
	c := &checkpoints{Writer: rundir.Dir(t.TempDir()).Writer(nil), run: "r"}
	if err := saveSample(c, 1); err != nil {
		t.Fatal(err)
	}
	c.run = "another run"
	if s, notes, err := c.newest(math.MaxInt); s != nil || len(notes) != 1 || err != nil {
		t.Errorf("a checkpoint of another run was taken: %v %q %v", s, notes, err)
	}
}

// slowFS can be observed while it removes a folder, when part of it is gone.
type slowFS struct {
	rundir.System
	seen func()
}

func (f slowFS) RemoveAll(path string) error {
	if err := os.Remove(filepath.Join(path, rundir.Model)); err == nil {
		f.seen()
	}
	return f.System.RemoveAll(path)
}

// TestACheckpointGoesWhole: a process that reads the folder while an old checkpoint is being removed finds no partial ones.
func TestACheckpointGoesWhole(t *testing.T) {
	c := &checkpoints{Writer: rundir.Dir(t.TempDir()).Writer(nil), run: "r", keep: keepRule{every: 0}}
	removals := 0
	c.FS = slowFS{seen: func() {
		removals++
		list, err := c.Checkpoints()
		if err != nil {
			t.Error(err)
		}
		for _, epoch := range list {
			if _, err := c.read(epoch); err != nil {
				t.Errorf("checkpoint %d: %v", epoch, err)
			}
		}
	}}
	for epoch := 1; epoch <= 4; epoch++ {
		if err := saveSample(c, epoch); err != nil {
			t.Fatal(err)
		}
	}
	if removals != 2 {
		t.Errorf("%d checkpoints were removed", removals)
	}
}

func TestKeepRules(t *testing.T) {
	for rule, want := range map[string][]int{"last": {6, 7}, "all": {1, 2, 3, 4, 5, 6, 7}, "every=3": {3, 6, 7}, "every=2": {2, 4, 6, 7}} {
		keep, err := parseKeep(rule)
		if err != nil {
			t.Fatal(err)
		}
		c := &checkpoints{Writer: rundir.Dir(t.TempDir()).Writer(nil), run: "r", keep: keep}
		for epoch := 1; epoch <= 7; epoch++ {
			if err := saveSample(c, epoch); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := c.Checkpoints(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s keeps %v (%v), wanted %v", rule, got, err, want)
		}
	}
}
