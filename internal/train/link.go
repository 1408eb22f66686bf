package train

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/rundir"
)

// link is this side of a run's connection to the process that computes it, whatever the arithmetic.
type link struct {
	cfg     Plan
	in      inputs
	threads int
	pool    *engine.Pool
	seat    *engine.Seat
	ctx     context.Context // of the run: when it ends, the process stops what it does
	folder  engine.Folder
	here    Machine
	state   stateShape
	trained bool // an epoch has been trained

	batches *data.Batches
	augment data.Augment
	views   []int8
	trains  int       // number of trained parameters
	squares []float64 // from the last evaluation
}

// newLink finds a process and a device for the run.
func newLink(ctx context.Context, c Plan, in inputs, opts Options, want engine.Want) (*link, error) {
	if opts.Engines == nil {
		return nil, errNoEngines
	}
	l := &link{cfg: c, in: in, threads: opts.Team.Threads(), pool: opts.Engines, here: ThisMachine()}
	var err error
	if l.batches, err = data.NewBatches(in.train.N(), c.Run.Batch, false, c.Run.Seed); err != nil {
		return nil, err
	}
	if l.augment, err = data.AugmentNamed(c.Data.Augment, c.Run.Seed); err != nil {
		return nil, err
	}
	if l.seat, err = l.pool.Get(ctx, want); err != nil {
		return nil, err
	}
	if l.seat.Members() > 1 {
		l.threads = max(l.threads, opts.Ensemble.Threads)
	}
	l.here.Kernel = l.seat.Hello().Title() + ", " + l.seat.Device().Title // until the process says more
	return l, nil
}

// errNoEngines is returned for a run that needs an engine when Options have none.
var errNoEngines = errors.New("train: run.engine = torch needs a PyTorch process, which this command does not start; compute the run with collapse train, study run or worker")

func (l *link) machine() Machine { return l.here }

// cores implements backend: members share the threads of their process.
func (l *link) cores() float64 { return float64(l.threads) / float64(l.seat.Sharing()) }

func (l *link) penaltySquares() []float64 { return l.squares }

// do sends an order that is not about a single step.
func (l *link) do(name string, fields any, check func() error) (engine.Answer, error) {
	answer, err := l.seat.Do(l.ctx, name, fields, nil, check)
	if err != nil && l.ctx.Err() == nil {
		err = fmt.Errorf("train: %w", err)
	}
	return answer, err
}

// broken reports an impossible answer from the process. No further orders are sent to it.
func (l *link) broken(format string, args ...any) error {
	l.seat.Kill()
	return fmt.Errorf("train: %s: %s; the run can be resumed", l.seat.Hello().Title(), fmt.Sprintf(format, args...))
}

// train has the process train an epoch.
func (l *link) train(order engine.Epoch, stop func() error, tell func(sum *tally, stepsAdded, samplesAdded int)) (tally, error) {
	var err error
	if order.Views, err = l.deal(order.Epoch); err != nil {
		return tally{}, err
	}
	var shown tally
	answer, err := l.seat.Do(l.ctx, "epoch", order, func(s engine.Step) error { return l.stepped(tell, &shown, s) }, stop)
	if err != nil {
		if why := stop(); why != nil {
			return tally{}, why
		}
		return tally{}, fmt.Errorf("train: %w", err)
	}
	sum, err := l.sum(answer)
	if err != nil {
		return tally{}, err
	}
	l.trained = l.trained || sum.steps > 0
	tell(&sum, sum.steps-shown.steps, sum.samples-shown.samples)
	if answer.Bad != nil {
		return sum, errNotFinite
	}
	return sum, nil
}

// pass has the process pass a split in eval mode.
func (l *link) pass(order engine.Evaluate) error {
	answer, err := l.do("evaluate", order, nil)
	if err != nil {
		return err
	}
	if len(answer.PenaltySquares) != l.trains {
		return l.broken("it gives %d squared norms for %d trained parameters", len(answer.PenaltySquares), l.trains)
	}
	l.squares = l.squares[:0]
	for _, s := range answer.PenaltySquares {
		l.squares = append(l.squares, float64(s))
	}
	return nil
}

// fetch has the process write a checkpoint and reads it back, so that only checked data enters a checkpoint.
func (l *link) fetch() (model, optim []arrayfile.Array, err error) {
	answer, err := l.do("save", engine.Load{Model: rundir.Model, Optim: rundir.Optim}, nil)
	if err != nil {
		return nil, nil, err
	}
	if model, err = l.folder.Tensors(rundir.Model, l.state.limit(1), &answer.Model); err != nil {
		return nil, nil, err
	}
	if optim, err = l.folder.Tensors(rundir.Optim, l.state.limit(l.cfg.Rule.Copies()), &answer.Optim); err != nil {
		return nil, nil, err
	}
	if model, optim, err = l.state.check(model, optim); err != nil {
		return nil, nil, l.broken("%v", err)
	}
	return model, optim, nil
}

// give has the process restore a checkpoint.
func (l *link) give(model, optim []arrayfile.Array) error {
	if err := l.folder.PutTensors(rundir.Model, model); err != nil {
		return err
	}
	if err := l.folder.PutTensors(rundir.Optim, optim); err != nil {
		return err
	}
	_, err := l.do("load", engine.Load{Model: rundir.Model, Optim: rundir.Optim}, nil)
	return err
}

// deal writes the order of the samples in an epoch, and the augmented views of its images, if any.
func (l *link) deal(epoch int) (views bool, err error) {
	l.batches.Start(epoch)
	order := l.batches.Order()
	if err := l.folder.PutArray("order.npy", arrayfile.Of("", []int{len(order)}, order)); err != nil || l.augment.None() {
		return false, err
	}
	l.views = l.augment.Views(l.views[:0], order, epoch)
	return true, l.folder.PutArray("views.npy", arrayfile.Of("", []int{len(order), 3}, l.views))
}

// samples counts the samples in an epoch's first steps.
func (l *link) samples(steps int) int {
	return min(steps*l.cfg.batch(l.in.sizes()), l.in.train.N())
}

// stepped reports the progress of an epoch.
func (l *link) stepped(tell func(sum *tally, stepsAdded, samplesAdded int), shown *tally, s engine.Step) error {
	if s.Step > l.batches.Steps() {
		return fmt.Errorf("it counts step %d of an epoch of %d", s.Step, l.batches.Steps())
	}
	before := *shown
	shown.steps, shown.samples = s.Step, l.samples(s.Step)
	shown.loss, shown.correct = float64(s.Loss)*float64(shown.samples), max(0, min(s.Correct, shown.samples))
	tell(shown, shown.steps-before.steps, shown.samples-before.samples)
	return nil
}

// sum checks what the process reports about an epoch.
func (l *link) sum(a engine.Answer) (tally, error) {
	sum := tally{loss: float64(a.LossSum), correct: a.Correct, samples: a.Samples, steps: a.Steps, last: float64(a.Last)}
	all := l.batches.Steps()
	whole := a.Steps == all && a.Bad == nil || a.Steps >= 0 && a.Steps < all && a.Bad != nil
	if !whole || a.Samples != l.samples(a.Steps) || a.Correct < 0 || a.Correct > a.Samples {
		return tally{}, l.broken("it counts %d steps, %d samples and %d correct ones in an epoch of %d and %d", a.Steps, a.Samples, a.Correct, all, l.in.train.N())
	}
	if a.Bad != nil {
		sum.bad = float64(*a.Bad)
	}
	if !finite(sum.loss) || !finite(sum.last) || a.Bad != nil && finite(sum.bad) {
		return tally{}, l.broken("it sums losses to %g, the last is %g, and calls %g not finite", sum.loss, sum.last, sum.bad)
	}
	return sum, nil
}

// settle implements backend.
func (l *link) settle(stop func() error) error {
	if !l.state.counts {
		return nil // no batch norm
	}
	views, err := l.deal(0)
	if err != nil {
		return err
	}
	passes := (settlingBatches + l.batches.Steps() - 1) / l.batches.Steps()
	if _, err = l.do("settle", engine.Settle{Passes: passes, Views: views}, stop); err != nil {
		if why := stop(); why != nil {
			return why
		}
	}
	return err
}

// close implements backend: the process stays for the next run.
func (l *link) close() {
	l.pool.Put(l.seat)
	if l.folder != "" {
		l.folder.Remove() // the next attempt removes what is left
	}
}

// machineText checks how a process describes itself, for people and files.
func machineText(said string) (string, error) {
	if said == "" || len(said) > 200 || strings.ContainsFunc(said, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", fmt.Errorf("it calls its machine %.100q; wanted up to 200 printable characters", said)
	}
	return said, nil
}
