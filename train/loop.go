package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"collapse/data"
	"collapse/internal/kernel"
	"collapse/nn"
)

// filler writes the inputs of a batch on all threads, eight rows a part.
type filler[T Float] struct {
	to      []T
	from    *data.Inputs
	samples []int32
	augment data.Augment // none in evaluation
	epoch   int
}

const fillRows = 8

func (f *filler[T]) Run(part int) {
	first := part * fillRows
	end := min(first+fillRows, len(f.samples))
	d := f.from.Dim()
	data.FillAugmented(f.to[first*d:end*d], f.from, f.samples[first:end], f.augment, f.epoch)
}

func (f *filler[T]) do(team *kernel.Team) {
	team.Do((len(f.samples)+fillRows-1)/fillRows, f)
}

// load puts the given training samples, as the epoch shows them, into x and their observed labels into labels.
func (s *session[T]) load(samples []int32, epoch int) {
	s.fill = filler[T]{to: s.x[:len(samples)*s.in.trainPixel.Dim()], from: s.in.trainPixel, samples: samples, augment: s.augment, epoch: epoch}
	s.fill.do(s.team)
	s.batch = len(samples)
	for i, n := range samples {
		s.labels[i] = s.in.train.Observed[n]
	}
}

// loaded gives the batch that load left.
func (s *session[T]) loaded() (x []T, labels []int32) {
	return s.x[:s.batch*s.in.trainPixel.Dim()], s.labels[:s.batch]
}

// forwardBackward computes the loss of the loaded batch, the objective (the loss and what weight decay adds to it beside the optimiser)
// and the objective's gradients. It allocates nothing. Gradients are left alone if the loss is not finite.
func (s *session[T]) forwardBackward() (loss, objective float64, out nn.Output[T]) {
	x, labels := s.loaded()
	out = s.net.Forward(x, s.batch, nn.Train)
	dlogits := s.dlogits[:len(out.Logits)]
	loss = s.loss.Gradient(out.Logits, labels, dlogits)
	if !finite(loss) {
		return loss, loss, out
	}
	penalty, dfeatures := s.decay.Features(out.Features, s.batch)
	s.net.BackwardFeatures(dlogits, dfeatures)
	return loss, loss + penalty + s.decay.Params(), out
}

// again is the closure of L-BFGS: the objective of the loaded batch at the present parameters.
func (s *session[T]) again() float64 {
	_, objective, _ := s.forwardBackward()
	return objective
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// tally sums the training passes of an epoch.
type tally struct {
	loss             float64 // summed over samples
	correct, samples int
}

func (t *tally) mean() (loss, accuracy float64) {
	n := float64(max(t.samples, 1))
	return t.loss / n, float64(t.correct) / n
}

// epoch trains one epoch, counted from 0. It returns between steps: when ctx ends, when the claim is lost, or when the loss is not
// finite.
func (s *session[T]) epoch(ctx context.Context, number int, w *watch, tr *tracer[T]) (tally, error) {
	lr := s.schedule.Rate(number)
	s.batches.Start(number)
	var sum tally
	inEpoch := 0
	for samples := s.batches.Next(); samples != nil; samples = s.batches.Next() {
		if err := w.stopped(ctx); err != nil {
			return sum, err
		}
		loss, err := s.one(samples, number, lr, &sum, tr)
		if err != nil {
			return sum, err
		}
		s.lastLoss = loss
		s.step++
		inEpoch++
		w.stepped(number, inEpoch, len(samples), &sum)
	}
	return sum, w.stopped(ctx)
}

// one is a training step on the given samples.
func (s *session[T]) one(samples []int32, epoch int, lr float64, sum *tally, tr *tracer[T]) (float64, error) {
	s.load(samples, epoch)
	traced := tr.wants(s.step)
	if traced {
		tr.before(s, samples, lr, epoch)
	}
	loss, objective, out := s.forwardBackward()
	if !finite(objective) {
		return loss, s.diverged(epoch, objective, lr)
	}
	x, labels := s.loaded()
	sum.loss += loss * float64(len(samples))
	sum.correct += nn.Correct(out.Logits, labels, s.net.Classes())
	sum.samples += len(samples)
	if s.collect {
		s.train.keep(s, samples, out, labels)
	}
	if traced {
		tr.middle(s, x, labels, out.Logits, loss)
	}
	s.opt.Step(lr, objective)
	if traced {
		return loss, tr.after(s)
	}
	return loss, nil
}

func (s *session[T]) diverged(epoch int, loss, lr float64) error {
	hint := "lower optim.lr, or raise run.batch"
	switch {
	case s.cfg.Net.Kind == nn.KindVGG13:
		hint = "lower optim.lr, or take net.kind = vgg13-bn"
	case s.cfg.Net.Kind == nn.KindMLP && !s.cfg.Net.BatchNorm:
		hint = "lower optim.lr, or set net.batch_norm = true"
	}
	if few := s.fewSamples(); few > 0 {
		hint = fmt.Sprintf("the last batch of an epoch has %d samples, and batch norm over so few values makes gradients explode: choose a run.batch that leaves more, or lower optim.lr", few)
	}
	return &DivergedError{Step: s.step, Epoch: epoch + 1, Loss: loss, LastGood: s.lastLoss, HasLast: s.step > 0, LR: lr, Hint: hint}
}

// fewValues is how many values of a channel batch norm needs at least not to make noise of them.
const fewValues = 8

// fewSamples is the size of an epoch's last batch where batch norm sees only so many values of a channel, too few; else 0.
func (s *session[T]) fewSamples() int {
	last := s.in.train.N() % s.net.MaxBatch()
	if lone := s.net.CheckBatch(1, nn.Train) != nil; !lone || last >= fewValues {
		return 0
	}
	return last
}

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
