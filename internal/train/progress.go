package train

import (
	"context"
	"math"
	"time"

	"collapse.example/collapse/measure"
)

// watch measures the time of a run and reports to the sink.
type watch struct {
	sink     Sink
	lost     <-chan struct{} // closed when another process has taken the run over
	start    time.Time
	shown    time.Time
	booked   time.Time     // time up to here is in the lab
	samples  int           // number trained on here
	training time.Duration // spent in finished epochs
	epochAt  time.Time     // start of the epoch under way
	measured time.Duration // time of the last measurement
	saved    time.Duration // time of the last checkpoint
	steps    int           // finished here
	left     func(epoch, step int) (steps, measurements, checkpoints int)
}

// stopped returns why training must stop now, or nil.
func (w *watch) stopped(ctx context.Context) error {
	select {
	case <-w.lost:
		return errLost
	default:
		return ctx.Err()
	}
}

const showEvery = 100 * time.Millisecond

// stepped records that some more steps were made, with the given number of samples; sum is of the epoch.
func (w *watch) stepped(epoch, steps, samples int, sum *tally) {
	w.samples += samples
	w.steps += steps
	now := time.Now()
	if w.sink == nil || now.Sub(w.shown) < showEvery {
		return
	}
	w.shown = now
	loss, accuracy := sum.mean()
	w.sink.Step(StepDone{Epoch: epoch + 1, Step: sum.steps, Loss: loss, Accuracy: accuracy,
		ImagesPerSecond: w.rate(now), Left: w.remaining(now, epoch, sum.steps)})
}

// rate is training samples per second, not counting measuring and saving.
func (w *watch) rate(now time.Time) float64 {
	spent := w.spent(now)
	if spent <= 0 {
		return 0
	}
	return float64(w.samples) / spent.Seconds()
}

func (w *watch) spent(now time.Time) time.Duration {
	if w.epochAt.IsZero() {
		return w.training
	}
	return w.training + now.Sub(w.epochAt)
}

func (w *watch) remaining(now time.Time, epoch, step int) time.Duration {
	if w.steps == 0 {
		return 0
	}
	steps, measurements, checkpoints := w.left(epoch, step)
	return time.Duration(float64(steps)*float64(w.spent(now))/float64(w.steps)) + time.Duration(measurements)*w.measured + time.Duration(checkpoints)*w.saved
}

// left counts what remains after the given step of the given epoch, both from 0.
func (j *job[T]) left(epoch, step int) (steps, measurements, checkpoints int) {
	r := &j.cfg.Run
	return (r.Epochs-epoch)*j.s.stepsPerEpoch() - step, due(r.Epochs, epoch, r.MeasureEvery), due(r.Epochs, epoch, r.CheckpointEvery)
}

// due is how often something falls due in the epochs after the given one, every so many epochs and in the last; 0: in the last alone, or as seldom
// that it costs little.
func due(epochs, epoch, every int) int {
	if epoch == epochs {
		return 0
	}
	if every == 0 {
		return 1
	}
	return (epochs+every-1)/every - epoch/every
}

func (j *job[T]) note(text string) {
	if j.opts.Sink != nil {
		j.opts.Sink.Note(text)
	}
}

func (j *job[T]) started() {
	if j.opts.Sink == nil {
		return
	}
	j.opts.Sink.Started(Started{Run: j.lease.Hash, Dir: j.lease.Dir, Epochs: j.cfg.Run.Epochs, StepsPerEpoch: j.s.stepsPerEpoch(),
		FirstEpoch: j.safe + 1, TrainSamples: j.s.in.train.N(), TestSamples: j.s.in.test.N(), Parameters: j.s.outline.Parameters, Memory: j.s.need,
		Kernel: j.s.engine.machine().Kernel, Threads: j.opts.Team.Threads()})
}

func (j *job[T]) finishedEpoch(epoch int, measured bool, sum *tally, rows []row) {
	if measured {
		j.rows = rows
	}
	if j.opts.Sink == nil {
		return
	}
	e := EpochDone{Epoch: epoch, Measured: measured, LR: j.s.cfg.Schedule.Rate(epoch - 1), NC1: math.NaN(),
		ImagesPerSecond: j.watch.rate(time.Now()), Left: j.watch.remaining(time.Now(), epoch, 0)}
	e.RunningLoss, e.RunningAccuracy = sum.mean()
	shown := map[string]*float64{
		valueName("", splitTrain, "loss"): &e.TrainLoss, valueName("", splitTrain, measure.KeyAccuracy): &e.TrainAccuracy,
		valueName("", splitTest, "loss"): &e.TestLoss, valueName("", splitTest, measure.KeyAccuracy): &e.TestAccuracy,
		valueName("", splitTrain, measure.KeyNC1Pinv): &e.NC1,
	}
	for _, r := range rows {
		if to := shown[valueName(r.Layer, r.Split, r.Measure)]; to != nil && r.Missing == "" {
			*to = r.Value
		}
	}
	j.opts.Sink.Epoch(e)
}
