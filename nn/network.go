package nn

import (
	"fmt"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
)

// Mode says which statistics batch norm uses.
type Mode uint8

const (
	// Eval uses running statistics and changes nothing in the network's state.
	Eval Mode = iota
	// Train uses batch statistics, updates running ones and prepares Backward.
	Train
)

// Output is what Forward computed. Both slices view the network's arena and are valid until the
// next Forward.
type Output[T kernel.Float] struct {
	Logits   []T // batch×K
	Features []T // batch×d, the input of the classifier fc
}

// layer is one fused stage of a network. Rows are samples.
type layer[T kernel.Float] interface {
	// forward maps x (rows×in) to its output (rows×out), which it owns and keeps for backward.
	forward(x []T, rows int, mode Mode) []T
	// backward takes dy (rows×out), which it may overwrite, sets the gradients of its own
	// parameters and returns dx (rows×in): dy's own memory, or spare's. Without needInput dx is
	// not formed and the result is nil.
	backward(dy, spare []T, rows int, needInput bool) []T
	// collect hands the layer's tensors to n, in PyTorch's order.
	collect(n *Network[T])
	// initialise draws the values of its parameters, all 0 before.
	initialise(seed uint64)
	// bytes returns the memory it will hold, parameters apart.
	bytes(mode Mode) Memory
	// watch has it report the time of its operations.
	watch(c *Clock)
}

// Network is a sequence of layers and the classifier fc on top of them. Build one with
// NewArch. It is used by one goroutine at a time.
type Network[T kernel.Float] struct {
	inputs, features, classes int
	maxBatch                  int

	layers  []layer[T]
	trunk   *trunk[T] // the only layer of an image network; nil in an MLP
	modules []Module  // of an MLP, below fc
	fc      *linear[T]

	params   []*Param[T]
	buffers  []*Buffer[T]
	counters []*Counter

	widest             int // outputs of the widest of layers
	gradPing, gradPong []T // maxBatch×widest, shared by all layers in Backward; allocated by the first
	ready              int // batch of the last Train Forward not yet followed by Backward, or 0
	lastBatch          int // of the last Forward
	// loneNorm says that a batch norm has one value per channel and sample, so that a batch of 1 has no variance.
	loneNorm bool

	taps      []Tap
	tapLayers []int // the layer or, in a trunk, stage whose output is taps[i]
	tapped    []tapped[T]
}

// Inputs returns the length of one input row.
func (n *Network[T]) Inputs() int { return n.inputs }

// FeatureDim returns d, the width of the features.
func (n *Network[T]) FeatureDim() int { return n.features }

// Classes returns K.
func (n *Network[T]) Classes() int { return n.classes }

// MaxBatch returns the largest batch the arenas hold.
func (n *Network[T]) MaxBatch() int { return n.maxBatch }

// Params returns all parameters in PyTorch's state_dict order (layers first, fc last).
func (n *Network[T]) Params() []*Param[T] { return n.params }

// Buffers returns running means and variances in PyTorch's order.
func (n *Network[T]) Buffers() []*Buffer[T] { return n.buffers }

// Counters returns the num_batches_tracked of every batch norm; set Value to restore one.
func (n *Network[T]) Counters() []*Counter { return n.counters }

// Classifier returns fc.weight (K×d) and fc.bias (K); the bias is nil if the network has none.
func (n *Network[T]) Classifier() (w, b *Param[T]) { return n.fc.weight, n.fc.bias }

// ClassifierRows returns W (K×d) with logits = W·features + b: fc.weight itself, or of a normalized classifier its rows at length τ, which
// hold until the next Forward.
func (n *Network[T]) ClassifierRows() []T { return n.fc.used(Eval) }

// BatchError says that Forward cannot take a batch.
type BatchError struct {
	Batch, MaxBatch int
	Mode            Mode
}

func (e *BatchError) Error() string {
	if e.Batch >= 1 && e.Batch <= e.MaxBatch {
		return "nn: a training batch of 1 sample: batch norm needs at least 2 values per channel to have a variance; " +
			"choose a batch size that does not leave a last batch of 1"
	}
	return fmt.Sprintf("nn: batch of %d samples, wanted 1 to %d (the size the network was built for)",
		e.Batch, e.MaxBatch)
}

// CheckBatch returns a *BatchError for a batch that Forward would panic on: empty, larger than
// MaxBatch, or a single sample in Train mode when a batch norm would see one value per channel
// (in an MLP always, among images where the map is 1×1). Call it on every batch size an epoch
// will have, before the epoch.
func (n *Network[T]) CheckBatch(batch int, mode Mode) error {
	if batch < 1 || batch > n.maxBatch || (batch == 1 && mode == Train && n.loneNorm) {
		return &BatchError{Batch: batch, MaxBatch: n.maxBatch, Mode: mode}
	}
	return nil
}

// Forward computes logits and features of x (batch×Inputs, row-major). In Train mode x must stay
// unchanged until Backward, which reads it.
//
// It panics if x has the wrong length or CheckBatch refuses the batch.
func (n *Network[T]) Forward(x []T, batch int, mode Mode) Output[T] {
	if n.CheckBatch(batch, mode) != nil {
		panic("nn: Forward: batch size that CheckBatch refuses")
	}
	if len(x) != batch*n.inputs {
		panic("nn: Forward: x is not batch×Inputs")
	}
	n.ready, n.lastBatch = 0, batch
	if mode == Train {
		n.ready = batch
	}
	h := x
	for i, l := range n.layers {
		h = l.forward(h, batch, mode)
		n.keepRows(i, h)
	}
	return Output[T]{Logits: n.fc.forward(h, batch, mode), Features: h}
}

// Backward takes the gradient of the loss with respect to the logits (batch×K) of the last Forward,
// which must have been in Train mode, and overwrites Grad of every parameter that is not frozen.
// dlogits does not change. The gradient with respect to the input is not formed.
func (n *Network[T]) Backward(dlogits []T) { n.BackwardFeatures(dlogits, nil) }

// BackwardFeatures is Backward for a loss that also depends on the features: dfeatures (batch×d), which does not change,
// is added to the gradient that reaches them from the logits. Peeled weight decay needs this. nil means Backward.
func (n *Network[T]) BackwardFeatures(dlogits, dfeatures []T) {
	batch := n.ready
	if batch == 0 {
		panic("nn: Backward without a Forward in Train mode before it")
	}
	if len(dlogits) != batch*n.classes || (dfeatures != nil && len(dfeatures) != batch*n.features) {
		panic("nn: Backward: dlogits is not batch×Classes or dfeatures not batch×FeatureDim")
	}
	n.ready = 0
	if n.gradPing == nil {
		n.gradPing, n.gradPong = memory.Alloc[T](n.maxBatch*n.widest), memory.Alloc[T](n.maxBatch*n.widest)
	}
	dy := n.fc.backward(dlogits, n.gradPing, batch, len(n.layers) > 0)
	if len(n.layers) > 0 {
		for i, g := range dfeatures {
			dy[i] += g
		}
	}
	for i := len(n.layers) - 1; i >= 0; i-- {
		spare := n.gradPing
		if &dy[0] == &spare[0] {
			spare = n.gradPong
		}
		dy = n.layers[i].backward(dy, spare, batch, i > 0)
	}
}
