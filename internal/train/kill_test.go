package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// Environment of the helper process: the lab, and the file-system call at which it kills itself.
const (
	killLab  = "COLLAPSE_TEST_KILL_LAB"
	killCall = "COLLAPSE_TEST_KILL_CALL"
	killKind = "COLLAPSE_TEST_KILL_OPTIMISER"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killLab); dir != "" {
		fmt.Println(runUntilKilled(dir))
		os.Exit(3) // it was to be killed
	}
	if os.Getenv(fakeRun) != "" {
		if err := playEngine(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if kind := os.Getenv(memoryKind); kind != "" {
		if err := foreseeAndHold(kind); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	defer faulttest.InMemory()()
	// PyTorch's threads, which wait in loops for each other, cost more than these small runs; whole tests have them.
	if _, chosen := os.LookupEnv("OMP_NUM_THREADS"); !chosen && !longtest.Whole() {
		os.Setenv("OMP_NUM_THREADS", "1")
	}
	m.Run() // the code it ends with is heeded by whoever called TestMain
}

func killConfig(optimiser string) Config {
	c := tinyConfig()
	c.Run.Epochs = 6
	switch c.Optim.Kind = optimiser; optimiser {
	case "adam":
		c.Optim.LR = 1e-3
	case "lbfgs":
		c.Optim.LBFGS.MaxIter = 4
	}
	return c
}

// runUntilKilled is the helper: the run, on real files, with kill -9 at one call.
func runUntilKilled(dir string) error {
	at, err := strconv.Atoi(os.Getenv(killCall))
	if err != nil {
		return err
	}
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	_, err = Run(context.Background(), killConfig(os.Getenv(killKind)), lab, Options{FS: &killFS{left: at}})
	return err
}

// killFS kills its own process when a number of calls are made.
type killFS struct {
	rundir.System
	left int
}

func (k *killFS) count() {
	if k.left--; k.left == 0 {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		panic(fmt.Sprintf("train: the helper could not be killed: %v", err))
	}
}

func (k *killFS) MkdirAll(dir string) error               { k.count(); return k.System.MkdirAll(dir) }
func (k *killFS) Create(path string) (rundir.File, error) { k.count(); return k.System.Create(path) }
func (k *killFS) SyncDir(dir string) error                { k.count(); return k.System.SyncDir(dir) }
func (k *killFS) Rename(from, to string) error            { k.count(); return k.System.Rename(from, to) }
func (k *killFS) RemoveAll(path string) error             { k.count(); return k.System.RemoveAll(path) }

// TestKilledProcessesLoseNothing kills a training process (kill -9) again and again in one lab, each a few calls after it took over
// the run, then lets one end: the files and the lab's rows are those of a run that was never killed.
func TestKilledProcessesLoseNothing(t *testing.T) {
	for _, optimiser := range longtest.Of([]string{"adam"}, []string{"sgd", "adam", "lbfgs"}) {
		t.Run(optimiser, func(t *testing.T) { killAgainAndAgain(t, optimiser) })
	}
}

func killAgainAndAgain(t *testing.T, optimiser string) {
	whole := newLab(t)
	wholeRun, err := Run(context.Background(), killConfig(optimiser), whole, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, wantValues := endFiles(t, wholeRun), epochValues(t, whole, wholeRun.Run)
	dir := t.TempDir()
	// 5 calls prepare the folder, 3 write a frame (the first, 4), 10 make an epoch durable, the 17th being its rename, the 19th to 21st the
	// removal of an old one.
	for _, at := range []int{2, 18, 18, 18, 19, 21, 17} {
		helper := exec.Command(os.Args[0], "-test.run=^$")
		helper.Env = append(os.Environ(), killLab+"="+dir, killCall+"="+strconv.Itoa(at), killKind+"="+optimiser)
		out, err := helper.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() == 3 {
			t.Fatalf("the helper was not killed at call %d: %v\n%s", at, err, out)
		}
	}
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	s := &recorder{}
	r, err := Run(context.Background(), killConfig(optimiser), lab, Options{Sink: s})
	if err != nil {
		t.Fatal(err)
	}
	if s.begun.FirstEpoch != 5 { // four renames were reached above
		t.Errorf("the last process began at epoch %d, wanted 5", s.begun.FirstEpoch)
	}
	sameFiles(t, "killed", want, endFiles(t, r))
	sameValues(t, "killed", wantValues, epochValues(t, lab, r.Run))
}
