package train

import (
	"context"
	"fmt"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// NothingKeptError says that a finished run has kept nothing of which more could be measured, and what to do about it.
type NothingKeptError struct{ Why, Do string }

func (e *NothingKeptError) Error() string { return e.Why + "; " + e.Do }

// Later measures opts.Measures of the checkpoints that a finished run keeps, and returns their rows. Nothing is trained, and neither
// the run nor the lab is changed. What the measures of an epoch are taken of is computed again from its checkpoint, as while training.
//
// Errors: *NothingKeptError, *ConfigError; others name the file or data at fault.
func Later(ctx context.Context, lab *store.Reader, run store.Run, opts Options) ([]store.Value, error) {
	dir := lab.RunDir(run.Hash)
	cfg, err := ConfigOf(dir)
	if err != nil {
		return nil, err
	}
	if cfg.Run.MeasureFrom == fromTraining {
		return nil, &NothingKeptError{"its measures are of features that training passes computed, which are gone",
			"train it with run.measure_from = eval"}
	}
	plan, err := cfg.Plan()
	if err != nil {
		return nil, err
	}
	in, err := openInputs(plan, opts)
	if err != nil {
		return nil, err
	}
	if hash, _, err := in.identity(cfg); err != nil || hash != run.Hash {
		return nil, fmt.Errorf("train: run %s: the data files are no longer those it was trained on (%v)", short(run.Hash), err)
	}
	if err := in.prepare(plan.Data.Pipeline); err != nil {
		return nil, err
	}
	if plan.Run.DType == "float64" {
		return later[float64](ctx, plan, in, run.Hash, dir, opts)
	}
	return later[float32](ctx, plan, in, run.Hash, dir, opts)
}

func later[T Float](ctx context.Context, plan Plan, in inputs, hash, dir string, opts Options) ([]store.Value, error) {
	s, err := fittingSession[T](ctx, plan, in, opts)
	if err != nil {
		return nil, err
	}
	defer s.engine.close()
	c := &checkpoints{Writer: rundir.Dir(dir).Writer(opts.FS), run: hash}
	epochs, err := plan.kept(c.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.engine.open(ctx, hash, c.Writer, opts.IgnoreMemory); err != nil {
		return nil, err
	}
	var all []store.Value
	for _, epoch := range epochs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := s.checkpointRows(c, epoch)
		if err != nil {
			return nil, fmt.Errorf("train: checkpoint %d of run %s: %w", epoch, short(hash), err)
		}
		all = append(all, values(epoch, rows)...)
	}
	return all, nil
}

// kept lists the measured epochs whose checkpoints the run is to keep; one more may be there.
func (c Plan) kept(dir rundir.Dir) (epochs []int, err error) {
	list, err := dir.Checkpoints()
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	for _, epoch := range list {
		if c.measures(epoch) && (c.keep.keeps(epoch) || epoch == c.Run.Epochs) {
			epochs = append(epochs, epoch)
		}
	}
	if len(epochs) == 0 {
		return nil, &NothingKeptError{"its folder has no checkpoint of a measured epoch", "collapse runs check says what is missing, and --repair has it computed again"}
	}
	return epochs, nil
}

// checkpointRows are the rows of an epoch, measured of its checkpoint.
func (s *session[T]) checkpointRows(c *checkpoints, epoch int) ([]row, error) {
	saved, err := c.read(epoch)
	if err == nil {
		err = s.engine.load(saved.model, saved.optim)
	}
	if err == nil {
		err = s.passBoth()
	}
	if err != nil {
		return nil, err
	}
	return s.measurePassed()
}
