package train

import (
	"context"
	"errors"

	"collapse/arrayfile"
	"collapse/internal/rundir"
	"collapse/nn"
)

// Float is the arithmetic of a run.
type Float interface{ float32 | float64 }

// backend computes a run. It holds the network, the optimiser and the images, and turns orders into numbers. The session and the job
// give the orders and use the numbers: they choose learning rates, compute losses and measures, and keep rows and checkpoints. native
// is the engine of this program's own kernels, external one in another process.
type backend[T Float] interface {
	// open begins a run that is claimed, with initial weights; before, only machine and close are called. files is the run's folder, where
	// the engine may keep what it removes on close. What ctx ends breaks off every later call. ignoreMemory has it begin though the memory
	// of a device seems to be short.
	open(ctx context.Context, run string, files rundir.Writer, ignoreMemory bool) error
	// machine says what the bits of its numbers depend on besides the configuration and the program's version.
	machine() Machine
	// epoch makes the steps of one epoch. The tally counts the steps made, even with an error: e.stop's, or errNotFinite.
	epoch(e epochOrder[T]) (tally, error)
	// settle passes the training set through the network in training mode, without a step, until the running statistics of batch norm are
	// those of the weights. The engine's save and load take what it changes back.
	settle(stop func() error) error
	// evaluate passes a split through the network in eval mode, without augmentation, and hands over the outputs, with the tapped
	// layers if requested.
	evaluate(split string, tapped bool, take taker[T]) error
	// head is the classifier now: weight (K×d) and bias (K), which is nil if there is none.
	head() (weight, bias *nn.Param[T])
	// penaltySquares are the squared norms of the trained parameters now, in the network's order.
	penaltySquares() []float64
	// save gives what a checkpoint must hold. The arrays are views: write them before the next step.
	save() (model, optim []arrayfile.Array, err error)
	// load puts back what save gave. The error names every tensor that does not fit.
	load(model, optim []arrayfile.Array) error
	// close gives back what the engine holds.
	close()
}

// epochOrder says how an epoch is trained.
type epochOrder[T Float] struct {
	number  int   // from 0
	first   int64 // number of its first step in the run
	lr      float64
	keep    taker[T]                                       // takes what each step computed of its batch; nil: nobody wants it
	stop    func() error                                   // asked before each step: why to stop now, or nil
	stepped func(sum *tally, stepsAdded, samplesAdded int) // told after some steps
	trace   *tracer[T]                                     // nil: none. Only native has traces
}

// taker takes what the network made of some samples of a split, by their indices. The slices hold until it returns.
type taker[T Float] func(samples []int32, out outputs[T])

// outputs are rows, one for each sample.
type outputs[T Float] struct {
	logits, features []T
	layers           [][]T // of each tapped layer; none if they were not asked for
}

// tally sums the training passes of an epoch.
type tally struct {
	loss             float64 // summed over samples
	correct, samples int
	steps            int
	last             float64 // loss of the last step
	bad              float64 // with errNotFinite: the objective that is not finite
}

func (t *tally) mean() (loss, accuracy float64) {
	n := float64(max(t.samples, 1))
	return t.loss / n, float64(t.correct) / n
}

// errNotFinite ends an epoch before the step whose objective is not finite.
var errNotFinite = errors.New("train: the objective is not finite")
