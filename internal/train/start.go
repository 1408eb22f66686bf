package train

import (
	"context"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/nn"
)

// measureStart takes every measure of the network before its first step. Fresh running statistics of batch norm (mean 0, variance 1)
// do not match any weights, so they are computed from the training set first, and restored afterwards: training is the same with and
// without.
func (j *job[T]) measureStart(ctx context.Context) ([]row, error) {
	model, optim, err := j.s.engine.save()
	if err != nil {
		return nil, err
	}
	fresh := copied(model)
	j.s.keepTraining(false)
	if err := j.s.engine.settle(func() error { return context.Cause(ctx) }); err != nil {
		return nil, err
	}
	if err := j.s.passBoth(); err != nil {
		return nil, err
	}
	rows, err := j.s.measurePassed()
	if err != nil {
		return nil, err
	}
	return rows, j.s.engine.load(fresh, optim)
}

// copied returns arrays that keep their numbers when the network's change.
func copied(views []arrayfile.Array) []arrayfile.Array {
	out := slices.Clone(views)
	for i := range out {
		out[i].Data = slices.Clone(out[i].Data)
	}
	return out
}

// settlingBatches is the number of batches after which the initial running statistics no longer matter: each batch keeps nine tenths.
const settlingBatches = 100

// settle implements backend.
func (n *native[T]) settle(stop func() error) error {
	if !slices.ContainsFunc(n.net.State(), func(t nn.Tensor[T]) bool { return t.Count != nil }) {
		return nil // no batch norm
	}
	n.tap(false)
	for done := 0; done < settlingBatches; {
		n.batches.Start(0)
		for samples := n.batches.Next(); samples != nil; samples = n.batches.Next() {
			if err := stop(); err != nil {
				return err
			}
			n.loadBatch(samples, 0)
			x, _ := n.loaded()
			n.net.Forward(x, n.batch, nn.Train)
			done++
		}
	}
	return nil
}
