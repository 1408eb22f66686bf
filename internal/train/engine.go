package train

import (
	"context"
	"errors"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/nn"
)

// Float is the number type of a run's arithmetic.
type Float interface{ float32 | float64 }

// backend computes a run. It holds the network, the optimiser and the images, and carries out orders. The session and the job give
// the orders and use the numbers: they choose learning rates, compute losses and measures, and keep rows and checkpoints. native
// uses this program's own kernels, external another process.
type backend[T Float] interface {
	// open begins a run that has been leased, with initial weights; before it, only machine and close are called. files is the
	// run's folder, where the engine may keep files that it removes on close. The end of ctx also ends every later call. With
	// ignoreMemory, open begins even if a device seems to have too little memory.
	open(ctx context.Context, run string, files rundir.Writer, ignoreMemory bool) error
	// machine says what the bits of the engine's numbers depend on, besides the configuration and the program's version.
	machine() Machine
	// cores is how many threads compute the run; a fraction where several runs share them.
	cores() float64
	// epoch makes the steps of one epoch. The tally counts the steps made, even with an error: that of e.stop, or errNotFinite.
	epoch(e epochOrder[T]) (tally, error)
	// settle passes the training set through the network in training mode, without a step, until the running statistics of batch
	// norm are those of the weights. Use the engine's save and load to undo what it changes.
	settle(stop func() error) error
	// evaluate passes a split through the network in eval mode, without augmentation, and hands over the outputs, including the
	// tapped layers if requested.
	evaluate(split string, tapped bool, take taker[T]) error
	// head returns the current classifier: weight (K×d) and bias (K), nil if there is none.
	head() (weight, bias *nn.Param[T])
	// penaltySquares returns the current squared norms of the trained parameters, in the network's order.
	penaltySquares() []float64
	// save returns what a checkpoint must hold. The arrays are views: write them before the next step.
	save() (model, optim []arrayfile.Array, err error)
	// load restores what save returned. The error names every tensor that does not fit.
	load(model, optim []arrayfile.Array) error
	// close releases what the engine holds.
	close()
}

// epochOrder says how to train an epoch.
type epochOrder[T Float] struct {
	number  int   // from 0
	first   int64 // number of its first step in the run
	lr      float64
	keep    taker[T]                                       // receives what each step computed for its batch; may be nil
	stop    func() error                                   // called before each step: returns why to stop now, or nil
	stepped func(sum *tally, stepsAdded, samplesAdded int) // called after some steps
	trace   *tracer[T]                                     // may be nil. Only native writes traces
}

// taker receives the network's outputs for some samples of a split, given by index. The slices are valid until it returns.
type taker[T Float] func(samples []int32, out outputs[T])

// outputs have one row per sample.
type outputs[T Float] struct {
	logits, features []T
	layers           [][]T // one per tapped layer; none if not requested
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
