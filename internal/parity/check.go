package parity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// Checker compares an engine with our kernels. Its runs go into a folder that is its own.
type Checker struct {
	Engines *engine.Pool
	Team    *parallel.Team
	Dir     string
	Members int // of runs that are timed in one batch, for Like at most as many as are useful; up to 1: each alone

	runs int
	sets sync.Map
}

// Outcome is how far a case is off.
type Outcome struct {
	Case      string  `json:"case"`
	Worst     float64 `json:"worst"` // relative difference of a row
	Tolerance float64 `json:"tolerance"`
	Where     string  `json:"where"`           // that row
	Nudge     int     `json:"nudge,omitempty"` // units in the last place by which the learning rate of our run differs: see nudges
	Error     string  `json:"error,omitempty"` // why there is no number, or what is wrong
}

// OK says that the case holds.
func (o Outcome) OK() bool { return o.Error == "" && o.Worst <= o.Tolerance }

// nudges are relative changes of the learning rate, in units of 2⁻⁵², that a line search is tried with. Its extrapolations multiply a
// rounding by up to 10⁵ each, and a few of them in a row can carry the weights to the other side of a kink of a ReLU, where the
// gradient is another one. Then both sides are right: the engine must have one of those that our kernels reach from a rate a rounding
// away.
var nudges = []int{4, -16, 16, -64, 64, -256, 256}

// Compare computes a case with both and compares every row of every epoch. The error is ctx's.
func (k *Checker) Compare(ctx context.Context, c Case) (Outcome, error) {
	o := Outcome{Case: c.Name, Tolerance: c.Tolerance}
	got, _, err := k.rows(ctx, c, "torch")
	if err == nil {
		o.Worst, o.Where, err = k.distance(ctx, c, got)
	}
	if err == nil && c.LineSearch && !o.OK() {
		err = k.nudge(ctx, c, got, &o)
	}
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	if err != nil {
		o.Error = err.Error()
	}
	return o, nil
}

// distance is how far rows are from a case on our kernels.
func (k *Checker) distance(ctx context.Context, c Case, got []store.Value) (worst float64, where string, err error) {
	want, _, err := k.rows(ctx, c, "go")
	if err != nil {
		return 0, "", err
	}
	return furthest(want, got)
}

// nudge compares rows with our runs at the nudged rates, until one is near, and keeps the nearest in o.
func (k *Checker) nudge(ctx context.Context, c Case, got []store.Value, o *Outcome) error {
	cfg, err := c.config("go")
	if err != nil {
		return err
	}
	for _, n := range nudges {
		near := c
		near.Settings = append(slices.Clone(c.Settings), fmt.Sprintf("optim.lr=%v", cfg.Optim.LR*(1+float64(n)*0x1p-52)))
		worst, where, err := k.distance(ctx, near, got)
		if err != nil {
			return err
		}
		if worst < o.Worst {
			o.Worst, o.Where, o.Nudge = worst, where, n
		}
		if o.OK() {
			return nil
		}
	}
	return nil
}

// rows computes a case on an engine and returns its rows but for times, with its files.
func (k *Checker) rows(ctx context.Context, c Case, engine string) ([]store.Value, train.Result, error) {
	cfg, err := c.config(engine)
	if err != nil {
		return nil, train.Result{}, err
	}
	var rows []store.Value
	var result train.Result
	err = k.inLab(func(lab *store.Lab) error {
		if result, err = train.Run(ctx, cfg, lab, k.options()); err != nil {
			return err
		}
		rows, err = lab.Values(result.Run)
		return err
	})
	return rows, result, err
}

func (k *Checker) options() train.Options {
	return train.Options{Team: k.Team, Engines: k.Engines, Open: k.open}
}

// open draws each set once.
func (k *Checker) open(src data.Source, split data.Split) (*data.Set, error) {
	type name struct {
		data.Source
		data.Split
	}
	if set, ok := k.sets.Load(name{src, split}); ok {
		return set.(*data.Set), nil
	}
	set, err := data.Open(src, split)
	if err == nil {
		k.sets.Store(name{src, split}, set)
	}
	return set, err
}

// inLab gives do a lab that is removed afterwards.
func (k *Checker) inLab(do func(*store.Lab) error) error {
	k.runs++
	dir := filepath.Join(k.Dir, fmt.Sprint(k.runs))
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(lab), lab.Close(), os.RemoveAll(dir))
}

// smallest is what a row is compared with at least, so that numbers near 0 need not agree to many digits.
const smallest = 1e-3

// furthest is the largest relative difference of two runs' rows. The error names a row that one of them lacks.
func furthest(want, got []store.Value) (worst float64, where string, err error) {
	ours, theirs := comparable(want), comparable(got)
	if len(ours) == 0 || len(ours) != len(theirs) {
		return 0, "", fmt.Errorf("%d rows, wanted %d", len(theirs), len(ours))
	}
	for at, w := range ours {
		g, found := theirs[at]
		if !found || (g.Missing == "") != (w.Missing == "") {
			return 0, "", fmt.Errorf("%s: is %q, wanted %q", at, g.Missing, w.Missing)
		}
		if d := math.Abs(w.Value-g.Value) / math.Max(smallest, math.Abs(w.Value)); !(d <= worst) {
			worst, where = d, at
		}
	}
	return worst, where, nil
}

// comparable are the rows of a run, by name, without those about time.
func comparable(rows []store.Value) map[string]store.Value {
	list := map[string]store.Value{}
	for _, v := range rows {
		if v.Measure != "images_per_s" && v.Key != train.SpentKey {
			list[fmt.Sprintf("epoch %d, %s %s %s", v.Step, v.Layer, v.Split, v.Measure)] = v
		}
	}
	return list
}

// Resume says whether a run that was stopped after its first epoch, and went on in another process, ends in the bits of one that was
// not. The engine's pool must start a new process for that, so its idle ones are ended.
func (k *Checker) Resume(ctx context.Context, c Case) (Outcome, error) {
	o := Outcome{Case: "bits after a resume: " + c.Name}
	whole, err := k.files(ctx, c, false)
	if err == nil {
		var resumed [][]byte
		resumed, err = k.files(ctx, c, true)
		for i := range whole {
			if err == nil && !bytes.Equal(whole[i], resumed[i]) {
				err = fmt.Errorf("%s of the last checkpoint differs", []string{rundir.Model, rundir.Optim}[i])
			}
		}
	}
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	if err != nil {
		o.Error = err.Error()
	}
	return o, nil
}

// files computes a case on the engine and returns the tensors of its last checkpoint.
func (k *Checker) files(ctx context.Context, c Case, stopped bool) (files [][]byte, err error) {
	cfg, err := c.config("torch")
	if err != nil {
		return nil, err
	}
	cfg.Run.DType = "float32"
	err = k.inLab(func(lab *store.Lab) error {
		if stopped {
			if err := k.firstEpoch(ctx, cfg, lab); err != nil {
				return err
			}
			k.Engines.Close()
		}
		r, err := train.Run(ctx, cfg, lab, k.options())
		if err != nil {
			return err
		}
		for _, name := range []string{rundir.Model, rundir.Optim} {
			b, err := os.ReadFile(filepath.Join(r.Checkpoint, name))
			if err != nil {
				return err
			}
			files = append(files, b)
		}
		return nil
	})
	return files, err
}

// firstEpoch begins a run and stops it after an epoch.
func (k *Checker) firstEpoch(ctx context.Context, cfg train.Config, lab *store.Lab) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	opts := k.options()
	opts.Sink = afterEpoch(stop)
	cfg.Run.CheckpointEvery = 1 // no part of the run's identity
	_, err := train.Run(ctx, cfg, lab, opts)
	var interrupted *train.InterruptedError
	if errors.As(err, &interrupted) && interrupted.Epoch == 1 {
		return nil
	}
	return errors.Join(errors.New("parity: the run did not stop after its first epoch"), err)
}

// afterEpoch is called after every epoch.
type afterEpoch func()

func (afterEpoch) Started(train.Started)   {}
func (afterEpoch) Step(train.StepDone)     {}
func (afterEpoch) Note(string)             {}
func (f afterEpoch) Epoch(train.EpochDone) { f() }
