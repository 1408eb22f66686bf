package train

import (
	"context"
	"time"
)

// watch keeps the time of a run and tells the sink.
type watch struct {
	sink     Sink
	lost     <-chan struct{} // closed when another process has taken the run over
	start    time.Time
	shown    time.Time
	booked   time.Time     // up to here the time is in the lab
	samples  int           // trained on here
	training time.Duration // spent in finished epochs
	epochAt  time.Time     // start of the epoch under way
	measured time.Duration // spent in the last measurement
	steps    int           // finished here
	left     func(epoch, step int) (steps, measurements int)
}

// stopped says why training must stop now, or nil.
func (w *watch) stopped(ctx context.Context) error {
	select {
	case <-w.lost:
		return errLost
	default:
		return ctx.Err()
	}
}

const showEvery = 100 * time.Millisecond

func (w *watch) stepped(epoch, step, samples int, sum *tally) {
	w.samples += samples
	w.steps++
	now := time.Now()
	if w.sink == nil || now.Sub(w.shown) < showEvery {
		return
	}
	w.shown = now
	loss, accuracy := sum.mean()
	w.sink.Step(StepDone{Epoch: epoch + 1, Step: step, Loss: loss, Accuracy: accuracy,
		ImagesPerSecond: w.rate(now), Left: w.remaining(now, epoch, step)})
}

// rate is training samples per second, measuring and saving left out.
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
	steps, measurements := w.left(epoch, step)
	return time.Duration(float64(steps)*float64(w.spent(now))/float64(w.steps)) + time.Duration(measurements)*w.measured
}
