package train

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/engine"
)

// Environment of the fake engine: its run, and what it does wrong, as "order:fault" or "second order:fault".
const (
	fakeRun   = "COLLAPSE_TEST_ENGINE_RUN"
	fakeFault = "COLLAPSE_TEST_ENGINE_FAULT"
)

// fakeLaunch starts this binary as an engine that computes on our own kernels, so that a run's bits are those of run.engine = go.
func fakeLaunch(c Config, fault string, pids *[]int) func(context.Context) (*engine.Process, error) {
	return func(ctx context.Context) (*engine.Process, error) {
		env := append(os.Environ(), fakeRun+"="+Changes(c), fakeFault+"="+fault)
		limits := engine.Limits{Hello: time.Minute, Order: time.Minute}
		switch {
		case fault == "hello:silent":
			limits.Hello = 2 * time.Second
		case strings.HasSuffix(fault, ":silent"):
			limits.Order = 2 * time.Second
		}
		p, err := engine.Start(ctx, engine.Command{Args: []string{os.Args[0]}, Env: env}, limits)
		if err == nil && pids != nil {
			*pids = append(*pids, p.PID())
		}
		return p, err
	}
}

// fakePool is a pool of such engines, which the test's end closes.
func fakePool(t testing.TB, c Config, fault string) (*engine.Pool, *[]int) {
	pids := &[]int{}
	pool := &engine.Pool{Launch: fakeLaunch(c, fault, pids)}
	t.Cleanup(pool.Close)
	return pool, pids
}

// playEngine is the fake engine.
func playEngine() error {
	c, err := Load("run", []byte(os.Getenv(fakeRun)))
	if err != nil {
		return err
	}
	f := fakeOf(os.Stdout, c.Run.DType)
	f.order, f.fault, _ = strings.Cut(os.Getenv(fakeFault), ":")
	f.order, f.second = strings.CutPrefix(f.order, "second ")
	if f.order == idle {
		f.fake = &idleEngine{fakeEngine: fakeEngine[float32]{say: f.say}}
	}
	c.Run.Engine, c.Run.Precision = engineGo, "float32"
	f.setUp(c)
	if !f.goWrong("hello") {
		f.say(map[string]any{"hello": engine.Hello{Protocol: engine.Protocol, Engine: "fake", Torch: "1", Devices: []engine.Device{{Name: "cpu", Title: "CPU"}}}})
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var o fakeOrder
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			return err
		}
		if f.goWrong(o.Do) {
			continue
		}
		if err := f.do(o); err != nil {
			return err
		}
	}
	return in.Err()
}

type fakeOrder struct {
	Do           string
	Dir          string
	Model, Optim any // names; of open the optimiser
	Epoch        int
	LR           float64
	Keep, Layers bool
	Splits       []string
	Set, Samples int
}

// fake is the engine of one precision or the other.
type fake interface {
	setUp(Config)
	do(fakeOrder) (map[string]any, error)
}

func fakeOf(w io.Writer, dtype string) *fakeSaid {
	s := &fakeSaid{w: w}
	if dtype == "float64" {
		s.fake = &fakeEngine[float64]{say: s.say}
	} else {
		s.fake = &fakeEngine[float32]{say: s.say}
	}
	return s
}

// fakeSaid is what a fake engine says, right or wrong.
type fakeSaid struct {
	fake
	w            io.Writer
	order, fault string
	second       bool // the first such order is carried out, and those after the second
	seen         int
	dir          string
}

func (f *fakeSaid) say(what map[string]any) {
	text, err := json.Marshal(what)
	if err != nil {
		panic(err)
	}
	f.w.Write(append(text, '\n'))
}

func (f *fakeSaid) do(o fakeOrder) error {
	if o.Do == "open" {
		f.dir = o.Dir
	}
	done, err := f.fake.do(o)
	if err != nil {
		return err
	}
	if o.Do == f.order { // the program reads as soon as it has the answer
		f.spoil(o)
	}
	f.say(done)
	return nil
}

// goWrong does something wrong instead of an order, if it is that order's turn.
func (f *fakeSaid) goWrong(order string) bool {
	if order != f.order {
		return false
	}
	if f.seen++; f.second && f.seen != 2 {
		return false
	}
	switch f.fault {
	case "garbage":
		fmt.Fprintln(f.w, "Traceback: this is no JSON \x1b[31m")
	case "array":
		fmt.Fprintln(f.w, "[1, 2]")
	case "long":
		f.w.Write([]byte(strings.Repeat("x", 2<<20)))
	case "silent":
		time.Sleep(time.Hour)
	case "exit":
		fmt.Fprintln(os.Stderr, "the device is gone")
		os.Exit(7)
	case "other":
		f.say(map[string]any{"done": "something else"})
	case "refused", "memory", "input", "failed":
		f.say(map[string]any{"error": map[string]any{"kind": f.fault, "message": "this is why"}})
		if f.fault == "failed" {
			fmt.Fprintln(os.Stderr, "RuntimeError: this is a traceback")
			os.Exit(1)
		}
	case "full":
		f.say(map[string]any{"error": map[string]any{"kind": "input", "message": "[Errno 28] No space left on device: 'x'"}})
	case "nan":
		f.say(map[string]any{"done": "epoch", "loss_sum": 0.0, "correct": 0, "samples": 0, "steps": 0, "last": 0, "bad": "nan"})
	case "nan-sum":
		f.say(map[string]any{"done": "epoch", "loss_sum": "nan", "correct": 0, "samples": 80, "steps": 3, "last": 0.5, "bad": nil})
	case "count":
		f.say(map[string]any{"done": "epoch", "loss_sum": 1, "correct": 81, "samples": 80, "steps": 3, "last": 0.5, "bad": nil})
	case "steps":
		for i := 1; ; i++ {
			f.say(map[string]any{"step": i, "loss": 0.5})
		}
	case "short-of-memory":
		f.say(map[string]any{"done": "open", "machine": "fake", "bytes": int64(2) << 40, "free": 1 << 30})
	case "machine":
		f.say(map[string]any{"done": "open", "machine": "a\x1b[31mb\n"})
	case "flood":
		for range 3000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("warning: this goes on and on ", 100))
		}
		return false
	default:
		return false // a fault of files
	}
	return true
}

// spoil damages the files that an order has left.
func (f *fakeSaid) spoil(o fakeOrder) {
	at := func(name string) string { return filepath.Join(f.dir, name) }
	features := at(fmt.Sprintf("train.%d.features.npy", o.Set))
	write := func(name string, a arrayfile.Array) {
		file, err := os.Create(name)
		if err == nil {
			err = arrayfile.WriteNPY(file, a)
		}
		if err != nil {
			panic(err)
		}
	}
	switch f.fault {
	case "short":
		os.Truncate(features, 200)
	case "gone":
		os.Remove(features)
	case "link":
		os.Rename(features, at("elsewhere"))
		os.Symlink("elsewhere", features)
	case "pipe":
		os.Remove(features)
		exec.Command("mkfifo", features).Run()
	case "shape":
		write(features, arrayfile.Of("", []int{3, 2}, make([]float32, 6)))
	case "huge":
		write(features, arrayfile.Of("", []int{80, 2}, make([]float64, 160)))
	case "head":
		os.WriteFile(at("head.0.safetensors"), []byte("\xff\xff\xff\xff\xff\xff\xff\x7f{}"), 0o600)
	case "hash":
		b, _ := os.ReadFile(at(o.Model.(string)))
		b[len(b)-1] ^= 1
		os.WriteFile(at(o.Model.(string)), b, 0o600)
	case "large":
		os.Truncate(at(o.Model.(string)), 1<<40)
	}
}

// fakeEngine computes on our own kernels.
type fakeEngine[T Float] struct {
	say    func(map[string]any)
	n      *native[T]
	folder engine.Folder
	steps  int64
}

func (f *fakeEngine[T]) setUp(c Config) {
	plan, err := c.Plan()
	if err != nil {
		panic(err)
	}
	in, err := openInputs(plan, Options{})
	if err == nil {
		err = in.prepare(c.Data.Pipeline)
	}
	if err != nil {
		panic(err)
	}
	s, err := newSession[T](context.Background(), plan, in, Options{})
	if err != nil {
		panic(err)
	}
	f.n = s.engine.(*native[T])
}

func (f *fakeEngine[T]) do(o fakeOrder) (map[string]any, error) {
	done := map[string]any{"done": o.Do}
	switch o.Do {
	case "open":
		f.folder = engine.Folder(o.Dir)
		done["machine"] = "fake engine, CPU"
	case "load":
		model, err := f.folder.Tensors(o.Model.(string), 1<<30, nil)
		if err != nil {
			return nil, err
		}
		state, err := f.folder.Tensors(o.Optim.(string), 1<<30, nil)
		if err != nil {
			return nil, err
		}
		if err := f.n.load(model, state); err != nil {
			return nil, err
		}
	case "settle":
		if err := f.n.settle(func() error { return nil }); err != nil {
			return nil, err
		}
	case "save":
		model, state, err := f.n.save()
		if err != nil {
			return nil, err
		}
		done["model"], done["optim"] = f.put(o.Model.(string), model), f.put(o.Optim.(string), state)
	case "epoch":
		if err := f.epoch(o, done); err != nil {
			return nil, err
		}
	case "evaluate":
		for _, split := range o.Splits {
			if err := f.pass(split, o); err != nil {
				return nil, err
			}
		}
		done["penalty_squares"] = f.n.penaltySquares()
	}
	return done, nil
}

func (f *fakeEngine[T]) put(name string, arrays []arrayfile.Array) engine.Sum {
	if err := f.folder.PutTensors(name, arrays); err != nil {
		panic(err)
	}
	b, err := os.ReadFile(filepath.Join(string(f.folder), name))
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	return engine.Sum{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(b))}
}

func (f *fakeEngine[T]) epoch(o fakeOrder, done map[string]any) error {
	rows := f.rows(f.n.in.train.N(), true)
	e := epochOrder[T]{number: o.Epoch, first: f.steps, lr: o.LR, stop: func() error { return nil }}
	e.stepped = func(sum *tally, _, _ int) {
		loss, _ := sum.mean()
		f.say(map[string]any{"step": sum.steps, "loss": loss, "correct": sum.correct})
	}
	if o.Keep {
		e.keep = rows.take
	}
	sum, err := f.n.epoch(e)
	f.steps += int64(sum.steps)
	done["loss_sum"], done["correct"], done["samples"], done["steps"], done["last"] = sum.loss, sum.correct, sum.samples, sum.steps, sum.last
	if err == errNotFinite {
		done["bad"], err = engine.Number(sum.bad), nil
	}
	if o.Keep && err == nil {
		rows.put(f.folder, "train.pass")
	}
	return err
}

func (f *fakeEngine[T]) pass(split string, o fakeOrder) error {
	n := f.n.in.pixels(split).N()
	rows := f.rows(n, o.Layers)
	if err := f.n.evaluate(split, o.Layers, rows.take); err != nil {
		return err
	}
	if o.Samples > 0 {
		rows.n = min(n, o.Samples)
	}
	rows.put(f.folder, fmt.Sprintf("%s.%d", split, o.Set))
	w, b := f.n.head()
	head := []arrayfile.Array{arrayfile.Of(w.Name, w.Shape, w.Value)}
	if b != nil {
		head = append(head, arrayfile.Of(b.Name, b.Shape, b.Value))
	}
	f.put(fmt.Sprintf("head.%d.safetensors", o.Set), head)
	return nil
}

// fakeRows gathers what a pass hands over.
type fakeRows[T Float] struct {
	n      int
	widths []int
	rows   [][]T
}

func (f *fakeEngine[T]) rows(n int, layers bool) *fakeRows[T] {
	w, _ := f.n.head()
	r := &fakeRows[T]{n: n, widths: []int{w.Shape[1], w.Shape[0]}}
	if layers {
		for _, t := range f.n.taps {
			r.widths = append(r.widths, t.Dim(f.n.cfg.flatten()))
		}
	}
	for _, w := range r.widths {
		r.rows = append(r.rows, make([]T, n*w))
	}
	return r
}

func (r *fakeRows[T]) take(samples []int32, out outputs[T]) {
	for i, from := range append([][]T{out.features, out.logits}, out.layers...) {
		w := r.widths[i]
		for s, at := range samples {
			copy(r.rows[i][int(at)*w:], from[s*w:(s+1)*w])
		}
	}
}

func (r *fakeRows[T]) put(to engine.Folder, name string) {
	for i, w := range r.widths {
		file := fmt.Sprintf("%s.layer.%d.npy", name, i-2)
		if i < 2 {
			file = name + []string{".features.npy", ".logits.npy"}[i]
		}
		if err := to.PutArray(file, arrayfile.Of("", []int{r.n, w}, r.rows[i][:r.n*w])); err != nil {
			panic(err)
		}
	}
}
