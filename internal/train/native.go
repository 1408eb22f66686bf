package train

import (
	"context"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
	"collapse.example/collapse/parallel"
)

// native is the engine with this program's own kernels: everything a step reads and writes, allocated once. loop.go has the epoch,
// optimiser.go weight decay and the optimiser, tensors.go what checkpoints hold.
type native[T Float] struct {
	cfg  Plan
	in   inputs
	team *parallel.Team

	net     *nn.Network[T]
	loss    *nn.Loss[T]
	decay   *optim.Decay[T]
	opt     optim.Optimizer[T]
	batches *data.Batches

	augment data.Augment
	fill    filler[T]
	x       []T // batch×inputs
	labels  []int32
	batch   int // samples of the loaded batch
	dlogits []T // batch×K

	taps   []nn.Tap // layers that can be returned besides the features
	tapped bool     // they are being kept
	layers [][]T    // those of the last pass
}

// newNative builds the network and everything a step needs.
func newNative[T Float](c Plan, in inputs, team *parallel.Team, taps []nn.Tap) (*native[T], error) {
	n := &native[T]{cfg: c, in: in, team: team, taps: taps}
	var err error
	if n.net, err = nn.NewArch[T](c.arch(in.sizes()), team, c.batch(in.sizes()), c.Run.Seed); err != nil {
		return nil, err
	}
	if n.loss, err = nn.NewLoss[T](c.Loss, in.train.Classes); err != nil {
		return nil, err
	}
	if err := n.newOptimiser(); err != nil {
		return nil, err
	}
	if n.batches, err = data.NewBatches(in.train.N(), c.Run.Batch, false, c.Run.Seed); err != nil {
		return nil, err
	}
	if n.augment, err = data.AugmentNamed(c.Data.Augment, c.Run.Seed); err != nil {
		return nil, err
	}
	n.x = memory.Alloc[T](c.batch(in.sizes()) * in.trainPixel.Dim())
	n.labels = make([]int32, c.batch(in.sizes()))
	n.dlogits = make([]T, c.batch(in.sizes())*in.train.Classes)
	return n, nil
}

// open does nothing: newNative has built everything.
func (n *native[T]) open(context.Context, string, rundir.Writer, bool) error { return nil }

func (n *native[T]) machine() Machine { return ThisMachine() }

func (n *native[T]) cores() float64 { return float64(n.team.Threads()) }

func (n *native[T]) head() (weight, bias *nn.Param[T]) {
	w, b := n.net.Classifier()
	used := *w
	used.Value = n.net.ClassifierRows()
	return &used, b
}

func (n *native[T]) save() (model, optim []arrayfile.Array, err error) {
	return modelArrays(n.net), optimArrays(n.opt.State()), nil
}

func (n *native[T]) load(model, optim []arrayfile.Array) error {
	if err := loadModel(n.net, model); err != nil {
		return err
	}
	return loadOptim(n.opt, optim)
}

func (n *native[T]) close() {}
