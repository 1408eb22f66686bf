package train

import (
	"math"

	"collapse.example/collapse/data"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// epoch trains one epoch.
func (n *native[T]) epoch(e epochOrder[T]) (tally, error) {
	n.tap(e.keep != nil)
	n.batches.Start(e.number)
	var sum tally
	for samples := n.batches.Next(); samples != nil; samples = n.batches.Next() {
		if err := e.stop(); err != nil {
			return sum, err
		}
		if err := n.trainStep(samples, &e, &sum); err != nil {
			return sum, err
		}
		e.stepped(&sum, 1, len(samples))
	}
	return sum, e.stop()
}

// trainStep does a training step on the given samples.
func (n *native[T]) trainStep(samples []int32, e *epochOrder[T], sum *tally) error {
	n.loadBatch(samples, e.number)
	step := e.first + int64(sum.steps)
	traced := e.trace.wants(step)
	if traced {
		e.trace.before(n, samples, traceStep{Step: step, Epoch: e.number + 1, LR: e.lr})
	}
	loss, objective, out := n.forwardBackward()
	if !finite(objective) {
		sum.bad = objective
		return errNotFinite
	}
	x, labels := n.loaded()
	sum.loss += loss * float64(len(samples))
	sum.correct += nn.Correct(out.Logits, labels, n.net.Classes())
	sum.samples += len(samples)
	if e.keep != nil {
		e.keep(samples, n.outputs(out))
	}
	if traced {
		e.trace.middle(n, x, labels, out.Logits, loss)
	}
	n.opt.Step(e.lr, objective)
	sum.last = loss
	sum.steps++
	if traced {
		return e.trace.after(n)
	}
	return nil
}

// evaluate passes a split in chunks of a training batch.
func (n *native[T]) evaluate(split string, tapped bool, take taker[T]) error {
	n.tap(tapped)
	pixels := n.in.pixels(split)
	order := make([]int32, n.net.MaxBatch())
	for first := 0; first < pixels.N(); first += len(order) {
		samples := order[:min(len(order), pixels.N()-first)]
		for i := range samples {
			samples[i] = int32(first + i)
		}
		take(samples, n.outputs(n.pass(split, samples)))
	}
	return nil
}

// pass does a pass in eval mode over samples of a split, at most a batch.
func (n *native[T]) pass(split string, samples []int32) nn.Output[T] {
	pixels := n.in.pixels(split)
	x := n.x[:len(samples)*pixels.Dim()]
	n.fill = filler[T]{to: x, from: pixels, samples: samples}
	n.fill.do(n.team)
	return n.net.Forward(x, len(samples), nn.Eval)
}

// outputs is the result of a forward pass, including the layers that are currently tapped.
func (n *native[T]) outputs(out nn.Output[T]) outputs[T] {
	n.layers = n.layers[:0]
	if n.tapped {
		for i := range n.taps {
			n.layers = append(n.layers, n.net.Tapped(i))
		}
	}
	return outputs[T]{logits: out.Logits, features: out.Features, layers: n.layers}
}

// filler writes the inputs of a batch on all threads, eight rows per part.
type filler[T Float] struct {
	to      []T
	from    *data.Inputs
	samples []int32
	augment data.Augment // none during evaluation
	epoch   int
}

const fillRows = 8

func (f *filler[T]) Run(part int) {
	first := part * fillRows
	end := min(first+fillRows, len(f.samples))
	d := f.from.Dim()
	data.FillAugmented(f.to[first*d:end*d], f.from, f.samples[first:end], f.augment, f.epoch)
}

func (f *filler[T]) do(team *parallel.Team) {
	team.Do((len(f.samples)+fillRows-1)/fillRows, f)
}

// loadBatch puts the given training samples, as the epoch augments them, into x and their observed labels into labels.
func (n *native[T]) loadBatch(samples []int32, epoch int) {
	n.fill = filler[T]{to: n.x[:len(samples)*n.in.trainPixel.Dim()], from: n.in.trainPixel, samples: samples, augment: n.augment, epoch: epoch}
	n.fill.do(n.team)
	n.batch = len(samples)
	for i, at := range samples {
		n.labels[i] = n.in.train.Observed[at]
	}
}

// loaded returns the batch that loadBatch loaded.
func (n *native[T]) loaded() (x []T, labels []int32) {
	return n.x[:n.batch*n.in.trainPixel.Dim()], n.labels[:n.batch]
}

// forwardBackward computes the loss of the loaded batch, the objective (the loss and the weight decay that is not part of the
// optimiser) and the objective's gradients. It allocates nothing. If the loss is not finite, gradients are left unchanged.
func (n *native[T]) forwardBackward() (loss, objective float64, out nn.Output[T]) {
	x, labels := n.loaded()
	out = n.net.Forward(x, n.batch, nn.Train)
	dlogits := n.dlogits[:len(out.Logits)]
	loss = n.loss.Gradient(out.Logits, labels, dlogits)
	if !finite(loss) {
		return loss, loss, out
	}
	penalty, dfeatures := n.decay.Features(out.Features, n.batch)
	n.net.BackwardFeatures(dlogits, dfeatures)
	return loss, loss + penalty + n.decay.Params(), out
}

// closure is the function that L-BFGS calls: the objective of the loaded batch at the current parameters.
func (n *native[T]) closure() float64 {
	_, objective, _ := n.forwardBackward()
	return objective
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
