package train

import (
	"context"
	"errors"
	"fmt"

	"collapse.example/collapse/measure"
	"collapse.example/collapse/nn"
)

// session is a run in memory: the engine that computes it, and everything derived from its numbers.
type session[T Float] struct {
	cfg     Plan
	in      inputs
	engine  backend[T]
	outline nn.Outline
	dim     int // d
	classes int // of the network; with latent noise classes twice the data's

	taps        []nn.Tap // layers measured besides the features
	loss        *nn.Loss[T]
	train, test evaluation[T]
	held        evaluation[T]   // the validation split, if there is one
	means       *measure.Report // of the training features, with class means; nil before the first measured epoch
	onTrain     *measure.Engine[T]
	onClean     *measure.Engine[T]
	onTest      *measure.Engine[T]
	onLayer     *measure.Engine[T]
	weight      []float64 // the classifier being measured
	bias        []float64
	collect     bool // the training pass keeps its features for the measures

	optimum   optimum // of the objective over free features, once solved
	solved    bool
	noOptimum string // why there is none

	need     Footprint
	step     int64 // finished steps of the run
	lastLoss float64
}

// newSession checks what depends on the data, and builds the engine and everything that measuring needs.
func newSession[T Float](ctx context.Context, c Plan, in inputs, opts Options) (*session[T], error) {
	team := opts.Team
	a := c.arch(in.sizes())
	s := &session[T]{cfg: c, in: in, dim: a.Features(), classes: a.Classes}
	var err error
	if s.outline, err = nn.Outlined(a); err != nil {
		return nil, err
	}
	if err := s.checkBatches(); err != nil {
		return nil, err
	}
	if s.taps, err = c.tapped(s.outline.Taps); err != nil {
		return nil, err
	}
	if s.loss, err = nn.NewLoss[T](c.Loss, s.classes); err != nil {
		return nil, err
	}
	asked := measure.Options{Team: team, Measures: opts.Measures}
	if opts.Measures == nil {
		asked.Without = notEveryEpoch
	}
	for _, e := range []**measure.Engine[T]{&s.onTrain, &s.onClean, &s.onTest, &s.onLayer} {
		asked.KeepMeans = e == &s.onTrain
		if *e, err = measure.NewEngine[T](asked); err != nil {
			return nil, err
		}
	}
	if c.External() {
		s.engine, err = newExternal[T](ctx, c, in, s.taps, opts)
	} else {
		s.engine, err = newNative[T](c, in, team, s.taps)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkBatches refuses, before the first epoch, a batch size whose last batch the network cannot process.
func (s *session[T]) checkBatches() error {
	n, batch := s.in.train.N(), s.cfg.batch(s.in.sizes())
	if s.outline.LoneNorm && (batch == 1 || n%batch == 1) {
		return fmt.Errorf("train: %d samples in batches of %d (run.batch): %w", n, batch, &nn.BatchError{Batch: 1, MaxBatch: batch, Mode: nn.Train})
	}
	return nil
}

// stepsPerEpoch counts batches, the last of which may be smaller.
func (s *session[T]) stepsPerEpoch() int {
	batch := s.cfg.batch(s.in.sizes())
	return (s.in.train.N() + batch - 1) / batch
}

// order returns the order for an epoch of the run, counted from 0, in its current state.
func (s *session[T]) order(number int) epochOrder[T] {
	e := epochOrder[T]{number: number, first: s.step, lr: s.cfg.Schedule.Rate(number)}
	if s.collect {
		e.keep = func(samples []int32, out outputs[T]) { s.train.keep(s, samples, out, s.in.train.Observed) }
	}
	return e
}

// epoch trains one epoch, counted from 0. It returns between steps when ctx ends, when the lease is lost, or when the loss is not
// finite.
func (s *session[T]) epoch(ctx context.Context, number int, w *watch, tr *tracer[T]) (tally, error) {
	e := s.order(number)
	e.trace = tr
	e.stop = func() error { return w.stopped(ctx) }
	e.stepped = func(sum *tally, steps, samples int) { w.stepped(number, steps, samples, sum) }
	sum, err := s.engine.epoch(e)
	if sum.steps > 0 {
		s.step, s.lastLoss = s.step+int64(sum.steps), sum.last
	}
	if errors.Is(err, errNotFinite) {
		err = s.diverged(number, sum.bad, e.lr)
	}
	return sum, err
}

func (s *session[T]) diverged(epoch int, loss, lr float64) error {
	hint := "lower optim.lr, or raise run.batch"
	switch {
	case s.cfg.Net.Kind == nn.KindVGG13:
		hint = "lower optim.lr, or use net.kind = vgg13-bn"
	case s.cfg.reads("net.batch_norm") && !s.cfg.Net.BatchNorm:
		hint = "lower optim.lr, or set net.batch_norm = true"
	}
	if few := s.fewSamples(); few > 0 {
		hint = fmt.Sprintf("the last batch of an epoch has %d samples, and batch norm over so few values makes gradients explode: choose a run.batch that leaves more, or lower optim.lr", few)
	}
	return &DivergedError{Step: s.step, Epoch: epoch + 1, Loss: loss, LastGood: s.lastLoss, HasLast: s.step > 0, LR: lr, Hint: hint}
}

// fewValues is the least number of values per channel with which batch norm is more than noise.
const fewValues = 8

// fewSamples is the size of an epoch's last batch if it gives batch norm too few values per channel; else 0.
func (s *session[T]) fewSamples() int {
	last := s.in.train.N() % s.cfg.batch(s.in.sizes())
	if !s.outline.LoneNorm || last >= fewValues {
		return 0
	}
	return last
}

// notEveryEpoch are the measures that take as long as all others together. Measuring saved features, or checkpoints later, yields them.
var notEveryEpoch = func() (keys []string) {
	for _, d := range measure.Definitions() {
		if d.Costly {
			keys = append(keys, d.Key)
		}
	}
	return keys
}()
