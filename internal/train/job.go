package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/version"
)

const seriesEpoch = "epoch" // rows count epochs, from 1; from 0 with run.measure_start

// SpentKey names the cost of each epoch: seconds since the end of the previous epoch, times threads. It counts only epochs computed
// by this run, not those taken from a shorter run.
var SpentKey = store.Key{Series: "spent", Measure: "core_seconds"}

// job is a leased run under way: the session and everything that outlives it.
type job[T Float] struct {
	s     *session[T]
	cfg   Config // as the user gave it
	lease *store.Lease
	lab   *store.Lab
	spec  []byte // canonical configuration
	ckpt  *checkpoints
	files rundir.Writer
	opts  Options
	watch watch
	trace *tracer[T]

	safe    int      // last epoch with a checkpoint
	changes []change // kernel changes so far
	rows    []row    // of the newest measured epoch
	start   []row    // of epoch 0, until those of epoch 1 are written
	fresh   bool     // the session's evaluations are of the current weights

	unwritten []store.EpochRows // epochs that the lab does not have yet
	written   time.Time         // when it last got some

	checkpointed time.Time // the last checkpoint, or the start
}

// writeEvery bounds how often the rows of short epochs are written, since each write waits for the disk. Rows are never written after their checkpoint.
const writeEvery = 250 * time.Millisecond

// Without run.checkpoint_every there is a checkpoint when this much time has gone by since the last, and this many times what saving one took.
const (
	checkpointTime = 2 * time.Second
	savingShare    = 20
)

func newJob[T Float](s *session[T], lab *store.Lab, lease *store.Lease, opts Options) *job[T] {
	j := &job[T]{s: s, cfg: s.cfg.given, lease: lease, lab: lab, spec: s.in.canonical(s.cfg.given), files: rundir.Dir(lease.Dir).Writer(opts.FS), opts: opts}
	j.ckpt = &checkpoints{Writer: j.files, run: lease.Hash, keep: s.cfg.keep}
	j.watch = watch{sink: opts.Sink, lost: lease.Lost(), start: time.Now(), booked: time.Now(), left: j.left}
	j.checkpointed = j.watch.start
	return j
}

// run goes from the newest checkpoint to the end.
func (j *job[T]) run(ctx context.Context) (Result, error) {
	result := Result{Run: j.lease.Hash, Dir: j.lease.Dir}
	if err := j.files.Begin(PrintConfig(j.cfg)); err != nil {
		return result, fmt.Errorf("train: %w", err)
	}
	if err := j.s.engine.open(ctx, j.lease.Hash, j.files, j.opts.IgnoreMemory); err != nil {
		return result, err
	}
	if err := j.restore(); err != nil {
		return result, err
	}
	j.describe(&result)
	var err error
	if j.trace, err = newTracer(ctx, j.opts.FS, j.opts.Trace, j.s); err != nil {
		return result, err
	}
	j.started()
	if j.cfg.Run.MeasureStart && j.safe == 0 {
		if j.start, err = j.measureStart(ctx); err != nil {
			return result, err
		}
	}
	for e := j.safe; e < j.cfg.Run.Epochs; e++ {
		err := j.oneEpoch(ctx, e)
		j.describe(&result)
		if err != nil {
			return result, j.endEarly(err)
		}
		result.Epochs = e + 1
	}
	if j.s.keepTraining(false); !j.fresh || j.cfg.Run.MeasureFrom == fromTraining {
		if err := j.s.passBoth(); err != nil { // features.npz is of the final weights in eval mode
			return result, err
		}
	}
	if err := j.files.WriteFinalFeatures(featureArrays(j.s)); err != nil {
		return result, fmt.Errorf("train: %w", err)
	}
	result.Features = j.files.FinalFeatures()
	return result, j.complete()
}

// describe brings the result up to date.
func (j *job[T]) describe(r *Result) {
	r.Epochs = j.safe
	if j.safe > 0 {
		r.Checkpoint = j.files.Checkpoint(j.safe)
	}
	r.Values = map[string]float64{}
	for _, w := range j.rows {
		if w.Missing == "" {
			r.Values[valueName(w.Layer, w.Split, w.Measure)] = w.Value
		}
	}
}

// valueName is a measure's name in Result.Values.
func valueName(layer, split, measure string) string {
	if layer != "" {
		layer += "/"
	}
	return layer + split + "/" + measure
}

// restore loads the newest complete checkpoint, if any, and makes the lab's rows agree with it.
func (j *job[T]) restore() error {
	saved, err := j.newest()
	if err != nil {
		return err
	}
	adopted := saved == nil && j.opts.From != ""
	if adopted {
		var why string
		if saved, why, err = j.adopt(); err != nil {
			return err
		}
		if saved == nil {
			j.note(fmt.Sprintf("not continuing run %s: %s", short(j.opts.From), why))
		}
	}
	if saved == nil {
		return j.lease.DeleteAfter(-1)
	}
	st := saved.state
	if err := j.acceptMachine(&st); err != nil {
		if !j.opts.StartOver || !j.cfg.External() {
			return err
		}
		j.note(fmt.Sprintf("not continuing from the checkpoint of epoch %d: it was made by %s, and this is %s", st.Epoch, st.Machine, j.s.engine.machine()))
		return j.lease.DeleteAfter(-1)
	}
	if err := j.s.engine.load(saved.model, saved.optim); err != nil {
		return err
	}
	j.s.step, j.s.lastLoss = st.Step, st.Loss
	j.changes, j.rows = st.Changes, st.Rows
	if adopted {
		if err := j.checkpoint(st.Epoch, st.Rows); err != nil {
			return err
		}
	}
	j.safe = st.Epoch
	if err := j.lease.DeleteAfter(int64(st.Epoch)); err != nil {
		return err
	}
	return j.lease.AppendEpoch(int64(st.Epoch), append(values(0, st.Start), values(st.Epoch, st.Rows)...))
}

// acceptMachine compares the machine of a checkpoint with the one that continues, and records in the state and for the user where
// bits may differ; without permission to change the kernel it refuses.
func (j *job[T]) acceptMachine(st *state) error {
	if here := j.s.engine.machine(); st.Machine != here {
		if !j.opts.AllowKernelChange {
			return &MachineError{Run: j.lease.Hash, Was: st.Machine, Here: here, Engine: j.cfg.Run.Engine}
		}
		st.Changes = append(st.Changes, change{AfterEpoch: st.Epoch, From: st.Machine, To: here})
		j.note(fmt.Sprintf("continuing with %s after %s: the bits differ from those of an uninterrupted run", here, st.Machine))
	}
	if st.Version != version.ID() {
		j.note(fmt.Sprintf("started by build %s, continuing with %s: the bits may differ from those of an uninterrupted run", st.Version, version.ID()))
	}
	return nil
}

// oneEpoch trains epoch e (from 0), measures, saves, and adds the rows, in this order.
func (j *job[T]) oneEpoch(ctx context.Context, e int) error {
	w := &j.watch
	w.epochAt = time.Now()
	measured, saved := j.cfg.measures(e+1), j.s.cfg.saved.holds(e+1, j.cfg.Run.Epochs)
	j.s.keepTraining(measured || saved)
	sum, err := j.s.epoch(ctx, e, w, j.trace)
	if err != nil {
		return err
	}
	w.training, w.epochAt = w.spent(time.Now()), time.Time{}
	j.fresh = false
	rows := epochRows(&sum, j.s.cfg.Schedule.Rate(e))
	if measured {
		start := time.Now()
		found, err := j.measureEpoch(e)
		if err != nil {
			return err
		}
		rows = append(rows, found...)
		if j.opts.Features != nil {
			j.opts.Features(e+1, j.s.copied())
		}
		if err := j.saveFrame(e + 1); err != nil {
			return err
		}
		w.measured = time.Since(start)
	}
	if saved {
		if err := j.saveFeatures(e+1, measured); err != nil {
			return err
		}
	}
	start := time.Now()
	if err := j.save(e+1, rows); err != nil {
		return err
	}
	if j.safe == e+1 {
		w.saved = time.Since(start)
	}
	j.finishedEpoch(e+1, measured, &sum, rows)
	return nil
}

// epochRows are the rows that come from training itself.
func epochRows(sum *tally, lr float64) []row {
	loss, accuracy := sum.mean()
	return []row{number("", "lr", lr), number(splitTrain, "running_accuracy", accuracy), number(splitTrain, "running_loss", loss)}
}

func (c Config) measures(epoch int) bool {
	return epoch%c.Run.MeasureEvery == 0 || epoch == c.Run.Epochs
}

// measureEpoch takes every measure. If the epoch's last step made weights infinite, that shows here first.
func (j *job[T]) measureEpoch(e int) ([]row, error) {
	if err := j.s.passBoth(); err != nil {
		return nil, err
	}
	rows, err := j.s.measurePassed()
	for _, split := range []*evaluation[T]{&j.s.train, &j.s.test} {
		if loss, _ := split.mean(nil); !finite(loss) {
			return nil, j.s.diverged(e, loss, j.s.cfg.Schedule.Rate(e))
		}
	}
	j.fresh = err == nil
	return rows, err
}

// endEarly writes what a run that ends early has found.
func (j *job[T]) endEarly(why error) error {
	if errors.Is(why, store.ErrLost) {
		return why
	}
	if err := j.write(); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// write makes the rows of epochs durable, in one transaction.
func (j *job[T]) write() error {
	epochs := j.unwritten
	j.unwritten, j.written = nil, time.Now()
	return j.lease.AppendEpochs(epochs)
}

// save makes the epoch durable: first the rows of epochs before, then the checkpoint, then its own rows; then old checkpoints are
// removed. Between checkpoints the rows of short epochs are written together: without a checkpoint they would be computed again
// anyway.
func (j *job[T]) save(epoch int, rows []row) error {
	due := j.checkpointDue(epoch)
	if due {
		if err := j.write(); err != nil { // a process that continues from the checkpoint knows only the rows of its own epoch
			return err
		}
		if err := j.files.SettleFrames(); err != nil {
			return fmt.Errorf("train: %w", err)
		}
		if err := j.checkpoint(epoch, rows); err != nil {
			return fmt.Errorf("%w; the checkpoint of epoch %d could not be written", err, epoch)
		}
		j.safe, j.checkpointed = epoch, time.Now()
	}
	now := time.Now()
	timed := append(append(values(0, j.start), values(epoch, rows)...),
		store.Value{Key: store.Key{Series: seriesEpoch, Measure: "images_per_s"}, Step: int64(epoch), Value: j.watch.rate(now)},
		store.Value{Key: SpentKey, Step: int64(epoch), Value: now.Sub(j.watch.booked).Seconds() * j.s.engine.cores()})
	j.watch.booked, j.start = now, nil
	j.unwritten = append(j.unwritten, store.EpochRows{Epoch: int64(epoch), Rows: timed})
	if due || now.Sub(j.written) >= writeEvery {
		if err := j.write(); err != nil {
			return err
		}
	}
	if due {
		return j.ckpt.prune(epoch)
	}
	return nil
}

// checkpointDue reports whether a checkpoint follows an epoch: the last has one, and those that the configuration counts off or, if it counts
// none, those to keep and whenever enough time has gone by that saving costs little.
func (j *job[T]) checkpointDue(epoch int) bool {
	switch every := j.cfg.Run.CheckpointEvery; {
	case epoch == j.cfg.Run.Epochs:
		return true
	case every > 0:
		return epoch%every == 0
	}
	return j.ckpt.keep.keeps(epoch) || time.Since(j.checkpointed) >= max(checkpointTime, savingShare*j.watch.saved)
}

// checkpoint makes the engine's state after an epoch durable.
func (j *job[T]) checkpoint(epoch int, rows []row) error {
	model, optim, err := j.s.engine.save()
	if err != nil {
		return err
	}
	return j.ckpt.save(j.state(epoch, rows), model, optim)
}

func (j *job[T]) state(epoch int, rows []row) state {
	c := j.s.cfg
	return state{Format: stateFormat, Run: j.lease.Hash, Epoch: epoch, Step: j.s.step, Loss: j.s.lastLoss,
		Random:  randomState{Seed: c.Run.Seed, NoiseSeed: c.Data.NoiseSeed, NextEpoch: epoch},
		Version: version.ID(), Machine: j.s.engine.machine(), Changes: j.changes, Rows: rows, Start: j.start}
}

// values turns rows into the lab's values.
func values(epoch int, rows []row) []store.Value {
	list := make([]store.Value, len(rows))
	for i, r := range rows {
		list[i] = store.Value{Key: store.Key{Series: seriesEpoch, Split: r.Split, Layer: r.Layer, Measure: r.Measure}, Step: int64(epoch),
			Value: r.Value, Missing: r.Missing}
	}
	return list
}
