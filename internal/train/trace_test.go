package train

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/longtest"
)

// traced runs a configuration with ten traced steps and returns the folder.
func traced(t *testing.T, c Config, steps int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trace")
	mustRun(t, c, newLab(t), Options{Trace: Trace{Dir: dir, Steps: FirstSteps(steps)}})
	return dir
}

func readTrace(t *testing.T, dir string) (traceInfo, []map[string]arrayfile.Array) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, traceMeta))
	if err != nil {
		t.Fatal(err)
	}
	var info traceInfo
	if err := json.Unmarshal(text, &info); err != nil {
		t.Fatal(err)
	}
	var steps []map[string]arrayfile.Array
	for _, s := range info.Steps {
		b, err := os.ReadFile(filepath.Join(dir, s.File))
		if err != nil {
			t.Fatal(err)
		}
		arrays, _, err := arrayfile.ParseSafetensors(b)
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]arrayfile.Array{}
		for _, a := range arrays {
			byName[a.Name] = a
		}
		steps = append(steps, byName)
	}
	return info, steps
}

// TestTraceHoldsWholeSteps repeats the optimiser's rule on the traced gradients and checks that each step starts where the one
// before ended.
func TestTraceHoldsWholeSteps(t *testing.T) {
	c := tinyConfig()
	c.Run.DType = "float64"
	info, steps := readTrace(t, traced(t, c, 5))
	if len(steps) != 5 || info.Steps[4].Step != 4 || info.Steps[4].Epoch != 2 {
		t.Fatalf("traced steps: %+v", info.Steps)
	}
	values := func(step int, name string) []float64 {
		a, ok := steps[step][name]
		if !ok {
			t.Fatalf("step %d has no %s", step, name)
		}
		v, err := a.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	o, parameters := info.Optim, 0
	for i := range steps {
		for name := range steps[i] {
			rest, found := strings.CutPrefix(name, "before")
			if found && i > 0 && string(steps[i][name].Data) != string(steps[i-1]["after"+rest].Data) {
				t.Errorf("step %d does not start with the %s that step %d left", i, name, i-1)
			}
			p, found := strings.CutPrefix(name, "grad.")
			if !found {
				continue
			}
			parameters++
			g, before, after, buffer := values(i, name), values(i, "before."+p), values(i, "after."+p), values(i, "before_optim."+p+".momentum_buffer")
			for j := range g {
				d := g[j] + o.WeightDecay*before[j]
				v := o.Momentum*buffer[j] + d
				want := before[j] - info.Steps[i].LR*(d+o.Momentum*v)
				if !(math.Abs(after[j]-want) <= 1e-14*(1+math.Abs(want))) {
					t.Fatalf("step %d: %s[%d] became %v, wanted %v", i, p, j, after[j], want)
				}
			}
		}
	}
	if parameters != 5*14 { // 3 blocks of weight, bias, γ, β and the classifier's two
		t.Errorf("%d gradients in 5 steps, wanted 70", parameters)
	}
}

// TestTraceHoldsTheConfiguredBatches checks every traced batch against the data: inputs of the pipeline, observed labels, each
// sample once an epoch in an order of its own, and the learning rate of the schedule.
func TestTraceHoldsTheConfiguredBatches(t *testing.T) {
	c := tinyConfig()
	info, steps := readTrace(t, traced(t, c, 9)) // three epochs of three steps
	s := tinySession[float32](t, c, nil)
	orders := make([][]int64, 3)
	lr, gamma := 0.1, 0.1 // variables: constants would be multiplied exactly
	row := make([]float32, s.in.trainPixel.Dim())
	for i, step := range steps {
		if want := []float64{lr, lr, lr * gamma}[i/3]; info.Steps[i].LR != want {
			t.Errorf("step %d has learning rate %v, wanted %v", i, info.Steps[i].LR, want)
		}
		indices, err1 := step["batch.indices"].Int64s()
		labels, err2 := step["batch.labels"].Int64s()
		x, err3 := step["batch.x"].Float32s()
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		for b, n := range indices {
			if labels[b] != int64(s.in.train.Observed[n]) {
				t.Errorf("step %d: sample %d has label %d, wanted the observed %d", i, n, labels[b], s.in.train.Observed[n])
			}
			data.FillRange(row, s.in.trainPixel, int(n), int(n)+1)
			if !slices.Equal(row, x[b*len(row):(b+1)*len(row)]) {
				t.Errorf("step %d: the inputs of sample %d are others", i, n)
			}
		}
		orders[i/3] = append(orders[i/3], indices...)
	}
	if slices.Equal(orders[0], orders[1]) || slices.Equal(orders[1], orders[2]) {
		t.Error("two epochs have the same order")
	}
	for _, order := range orders {
		slices.Sort(order)
		for i, n := range order {
			if len(order) != 80 || n != int64(i) {
				t.Fatalf("an epoch deals %v", order)
			}
		}
	}
}

func TestTraceOfStepsThatAreOver(t *testing.T) {
	lab := newLab(t)
	mustRun(t, tinyConfig(), lab, Options{})
	trace := Trace{Dir: t.TempDir(), Steps: FirstSteps(2)}
	if _, err := Run(t.Context(), tinyConfig(), lab, Options{Open: openOnce, Trace: trace}); err == nil || !strings.Contains(err.Error(), "--again") {
		t.Errorf("a trace of a finished run: %v", err)
	}
	trace.Steps = []int64{3, 99}
	if _, err := Run(t.Context(), tinyConfig(), lab, Options{Open: openOnce, Again: true, Trace: trace}); err == nil || !strings.Contains(err.Error(), "steps 0 to 8") {
		t.Errorf("a trace of a step that will not come: %v", err)
	}
}

// TestTraceThroughAPipe: a named pipe gets the files of a folder, meta.json before each step with the steps so far.
func TestTraceThroughAPipe(t *testing.T) {
	folder := traced(t, tinyConfig(), 3)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("no named pipes here: %v %s", err, out)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := Run(context.Background(), tinyConfig(), newLab(t), Options{Open: openOnce, Trace: Trace{Dir: pipe, Steps: FirstSteps(3)}})
		failed <- err
	}()
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stream := tar.NewReader(f)
	for step := range 3 {
		for _, name := range []string{traceMeta, fmt.Sprintf("step-%d.safetensors", step)} {
			header, err := stream.Next()
			if err != nil || header.Name != name {
				t.Fatalf("step %d: %v, %v; wanted %s", step, header, err, name)
			}
			got, err := io.ReadAll(stream)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if name == traceMeta && step < 2 {
				var info traceInfo
				if err := json.Unmarshal(got, &info); err != nil || len(info.Steps) != step+1 {
					t.Errorf("meta.json before step %d lists %d steps: %v", step, len(info.Steps), err)
				}
				continue
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs between pipe and folder", name)
			}
		}
	}
	if _, err := stream.Next(); err != io.EOF {
		t.Errorf("after the last step: %v", err)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// TestTraceEndsWithItsContext interrupts a run whose trace goes to a pipe that nobody opens, or that nobody reads.
func TestTraceEndsWithItsContext(t *testing.T) {
	for _, opened := range []bool{false, true} {
		pipe := filepath.Join(t.TempDir(), "pipe")
		if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
			t.Skipf("no named pipes here: %v %s", err, out)
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			c := tinyConfig()
			c.Net.Width = 200 // a step is more than a pipe holds
			_, err := Run(ctx, c, newLab(t), Options{Open: openOnce, Trace: Trace{Dir: pipe, Steps: FirstSteps(3)}})
			failed <- err
		}()
		if opened {
			f, err := os.Open(pipe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		time.AfterFunc(100*time.Millisecond, cancel)
		select {
		case err := <-failed:
			var interrupted *InterruptedError
			if !errors.As(err, &interrupted) {
				t.Errorf("opened %v: %v, want that it was interrupted", opened, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("opened %v: the run goes on", opened)
		}
	}
}

// TestTraceOfLBFGS is refused: a step is up to 25 evaluations.
func TestTraceOfLBFGS(t *testing.T) {
	c := tinyConfig()
	c.Optim.Kind = "lbfgs"
	_, err := Run(t.Context(), c, newLab(t), Options{Open: openOnce, Trace: Trace{Dir: t.TempDir(), Steps: FirstSteps(1)}})
	if err == nil || !strings.Contains(err.Error(), "L-BFGS") {
		t.Errorf("a trace of L-BFGS: %v", err)
	}
}

// TestPyTorchRepeatsTracedSteps gives traces under every loss to scripts/replay_trace.py, and a falsified one, which it must refuse.
func TestPyTorchRepeatsTracedSteps(t *testing.T) {
	longtest.Only(t)
	python := torchPython(t)
	dirs := tracesToRepeat(t)
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := os.CopyFS(wrong, os.DirFS(dirs[0])); err != nil {
		t.Fatal(err)
	}
	info, _ := readTrace(t, wrong)
	info.Steps[7].LR *= 1.001
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(wrong, traceMeta), text, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := replayed(python, append(dirs, wrong)...) // in one process, since importing PyTorch takes seconds
	good, bad, found := strings.Cut(out, wrong)
	if err == nil || !found || strings.Count(good, "steps, loss") != len(dirs) || strings.Contains(good, "FAILED") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", good)
	if !strings.Contains(bad, "FAILED parameter step 7") || !strings.HasSuffix(bad, "FAILED\n") {
		t.Errorf("a learning rate wrong by a thousandth passed:\n%s", bad)
	}
	if !longtest.Whole() {
		return
	}
	if out, err := replayed(python, dirs...); err != nil || strings.Count(out, "steps, loss") != len(dirs) || !strings.HasSuffix(out, "ok\n") {
		t.Errorf("without the falsified one: %v\n%s", err, out)
	}
}

// tracesToRepeat are of every loss, both kinds of numbers, every optimiser that has steps, and convolutions. In the share, all but the
// first have four steps.
func tracesToRepeat(t *testing.T) []string {
	t.Helper()
	var dirs []string
	few, more := longtest.Of(4, 5), 10
	for _, loss := range []string{"ce", "ls", "lr", "mse", "rescaled_mse"} {
		c := tinyConfig()
		c.Data.Classes, c.Loss.Kind, c.Loss.Alpha, c.Loss.M, c.Run.Epochs = 3, loss, 5, 2, 5
		if loss == "rescaled_mse" {
			c.Optim.LR = 0.01
		}
		dirs = append(dirs, traced(t, c, more))
		more = longtest.Of(few, 10)
	}
	c := tinyConfig()
	c.Run.DType, c.Net.Activation, c.Optim.Nesterov, c.Loss.Kind, c.Loss.Reduction = "float64", "sigmoid", false, "mse", "paper"
	dirs = append(dirs, traced(t, c, few))
	c.Run.DType, c.Net.BatchNorm, c.Net.Bias, c.Optim.Momentum = "float32", false, false, 0
	dirs = append(dirs, traced(t, c, few))
	for _, decay := range []string{"all", "peeled"} {
		c := tinyConfig()
		c.Optim.Kind, c.Optim.LR, c.Optim.Decay, c.Data.Classes, c.Net.FeatureDim = "adam", 0.01, decay, 3, 8
		if decay == "peeled" {
			c.Optim.LambdaH = 1e-3
		}
		dirs = append(dirs, traced(t, c, few))
	}
	c = tinyConfig()
	c.Net = Default().Net
	c.Net.Kind, c.Net.StemWidth, c.Net.Classifier = "resnet18-adapt", 2, "etf"
	return append(dirs, traced(t, c, 2))
}

// replayed is the output of scripts/replay_trace.py.
func replayed(python string, dirs ...string) (string, error) {
	out, err := exec.Command(python, append([]string{filepath.Join("..", "..", "scripts", "replay_trace.py")}, dirs...)...).CombinedOutput()
	return string(out), err
}

// torchPython finds a Python with PyTorch.
func torchPython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		// Asking where PyTorch is takes a hundredth of the time of importing it.
		if exec.Command(python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)").Run() == nil {
			return python
		}
	}
	t.Skip("no python3 with PyTorch (Debian: python3-torch)")
	return ""
}

func ExampleFirstSteps() {
	fmt.Println(FirstSteps(3))
	// Output: [0 1 2]
}
