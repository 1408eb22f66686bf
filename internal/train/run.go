package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/version"
)

var errLost = fmt.Errorf("train: %w", store.ErrLost)

// Run computes one run in the lab: it leases it, resumes from its newest complete checkpoint if there is one, and leaves
// rows, checkpoints and features.npz. A configuration that the lab holds as done is not computed again unless opts.Again.
//
// Errors: *ConfigError, *store.HeldError (another process works on it), *FailedError, *MachineError, *DivergedError (the run is
// marked failed), *InterruptedError (ctx ended); others name the file or data at fault, and leave a run that can be resumed.
func Run(ctx context.Context, cfg Config, lab *store.Lab, opts Options) (Result, error) {
	plan, err := cfg.Plan()
	if err != nil {
		return Result{}, err
	}
	in, err := openInputs(plan, opts)
	if err != nil {
		return Result{}, err
	}
	spec := store.Spec{Kind: store.Train, Config: in.canonical(cfg), Label: opts.Label, Tags: opts.Tags, Program: ThisProgram()}
	hash, _, err := in.identity(cfg)
	if err != nil {
		return Result{}, err
	}
	if done, err := alreadyDone(lab, hash, opts); done || err != nil {
		return finished(lab, hash, plan, opts, err)
	}
	if plan.Shares() {
		opts.Ensemble.before = membersBefore(lab.Reader, hash, opts.From)
	}
	if err := in.prepare(plan.Data.Pipeline); err != nil {
		return Result{}, err
	}
	if plan.Run.DType == "float64" {
		return compute[float64](ctx, plan, in, lab, spec, opts)
	}
	return compute[float32](ctx, plan, in, lab, spec, opts)
}

// Resume resumes the run of the lab whose hash starts with prefix. Overrides may change what is not part of its identity, such as
// "data.dir=…" when the files have moved.
func Resume(ctx context.Context, lab *store.Lab, prefix string, opts Options, overrides ...string) (Result, error) {
	run, err := lab.Find(prefix)
	if err != nil {
		return Result{}, err
	}
	if run.Kind != store.Train {
		return Result{}, fmt.Errorf("train: run %s is of kind %s; only training runs can be resumed", short(run.Hash), run.Kind)
	}
	cfg, err := ConfigOf(lab.RunDir(run.Hash), overrides...)
	if err != nil {
		return Result{}, err
	}
	hash, _, err := Identify(cfg, opts.Open)
	if err != nil {
		return Result{}, err
	}
	if hash != run.Hash {
		return Result{}, fmt.Errorf("train: run %s: the data files or the overrides now give another run; "+
			"resume with the data it started from, or start a new run", short(run.Hash))
	}
	if opts.Label == "" && opts.Tags == nil {
		opts.Label, opts.Tags = run.Label, run.Tags
	}
	return Run(ctx, cfg, lab, opts)
}

// ThisProgram describes the running program for the lab.
func ThisProgram() store.Program {
	b, m := version.Current(), ThisMachine()
	return store.Program{Version: b.ID, Kernel: m.Kernel, GOOS: b.OS, GOARCH: m.GOARCH, GOAMD64: m.GOAMD64, CPU: version.CPU()}
}

// alreadyDone reports whether the run is done in the lab, and refuses one that is known to fail.
func alreadyDone(lab *store.Lab, hash string, opts Options) (done bool, err error) {
	run, err := lab.Run(hash)
	var unknown *store.NotFoundError
	switch {
	case errors.As(err, &unknown) || err == nil && opts.Again:
		return false, nil
	case err != nil:
		return false, err
	case run.Status == store.Failed:
		return false, &FailedError{Run: hash, Why: run.Error}
	}
	return run.Status == store.Done, nil
}

// finished returns the result of a run that is done in the lab.
func finished(lab *store.Lab, hash string, plan Plan, opts Options, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	if opts.Trace.Dir != "" {
		return Result{}, fmt.Errorf("train: run %s is done, so it has no steps left to trace; add --again", short(hash))
	}
	values, err := lab.Values(hash)
	if err != nil {
		return Result{}, err
	}
	dir := rundir.Dir(lab.RunDir(hash))
	r := Result{Run: hash, Dir: string(dir), AlreadyDone: true, Values: map[string]float64{}, Features: dir.FinalFeatures()}
	for _, v := range values { // ordered by key, then step: the last one of a key wins
		if v.Series == seriesEpoch && v.Missing == "" {
			r.Values[valueName(v.Layer, v.Split, v.Measure)] = v.Value
			r.Epochs = max(r.Epochs, int(v.Step))
		}
	}
	if epoch := dir.NewestCheckpoint(math.MaxInt); epoch > 0 {
		r.Checkpoint = dir.Checkpoint(epoch)
	}
	if opts.Sink != nil {
		opts.Sink.Note(fmt.Sprintf("run %s is already in the lab; nothing to compute (--again computes it again)", short(hash)))
		if missing := plan.unsaved(r.Dir); missing != "" {
			opts.Sink.Note(fmt.Sprintf("it was computed without saving the features of epoch %s (run.save_features); --again saves them", missing))
		}
	}
	return r, nil
}

// compute builds the run in memory, leases it, and settles it however it ends.
func compute[T Float](ctx context.Context, plan Plan, in inputs, lab *store.Lab, spec store.Spec, opts Options) (Result, error) {
	if plan.External() && opts.Trace.Dir != "" {
		return Result{}, fmt.Errorf("train: run.engine = %s has no traces: its steps are made in another process; leave out --trace", plan.Run.Engine)
	}
	s, err := fittingSession[T](ctx, plan, in, opts)
	if err != nil {
		return Result{}, err
	}
	leave := sync.OnceFunc(s.engine.close)
	defer leave()
	spec.Program.Kernel = s.engine.machine().Kernel
	take := lab.Lease
	if opts.Again {
		take = lab.Again
	}
	lease, run, err := take(spec)
	if errors.Is(err, store.ErrDone) { // another process has finished it meanwhile
		return finished(lab, run.Hash, plan, opts, nil)
	}
	if err != nil {
		return Result{}, err
	}
	stop := lease.KeepBeating()
	j := newJob(s, lab, lease, opts)
	result, err := j.run(ctx)
	leave() // while the lease is held: what the engine leaves in the run's folder goes before anybody else begins
	stop()
	return j.settle(result, err)
}

// fittingSession is newSession for a run that fits into the memory that is free.
func fittingSession[T Float](ctx context.Context, plan Plan, in inputs, opts Options) (*session[T], error) {
	need, err := footprint[T](plan, in.sizes())
	if err != nil {
		return nil, err
	}
	if free, known := freeMemory(); known && need.Total() > free && !opts.IgnoreMemory {
		return nil, &MemoryError{Footprint: need, Free: free}
	}
	s, err := newSession[T](ctx, plan, in, opts)
	if err == nil {
		s.need = need
	}
	return s, err
}

// settle records in the lab how the run ended.
func (j *job[T]) settle(result Result, err error) (Result, error) {
	var diverged *DivergedError
	switch {
	case err == nil:
		return result, j.lease.Finish()
	case errors.Is(err, store.ErrLost):
		return result, err
	case errors.As(err, &diverged):
		return result, errors.Join(err, j.lease.Fail(err))
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		err = &InterruptedError{Run: j.lease.Hash, Epoch: j.safe, Checkpoint: result.Checkpoint, Cause: err}
	default:
		err = fmt.Errorf("%w; epoch %d is safe; continue with: collapse train --resume %s", err, j.safe, short(j.lease.Hash))
	}
	return result, errors.Join(err, j.lease.Interrupt())
}
