package optim

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
)

// Constants of torch.optim.LBFGS's _strong_wolfe (PyTorch 1.13; the same in 2.x), which comes from
// minFunc's WolfeLineSearch. The conditions' are wolfeDecrease and wolfeCurvature.
const (
	searchLimit  = 25   // max_ls
	searchWidth  = 1e-9 // tolerance_change: a bracket whose largest move is less is not searched
	searchMargin = 0.1  // share of the bracket that a trial must keep from its ends
)

// torchWolfe is torch's line search for MinibatchLBFGS. It differs from wolfe, the search of the
// full-batch method, in what it accepts, in its extrapolation and in its behaviour near a bracket's
// ends; the counts of evaluations are torch's.
type torchWolfe[T kernel.Float] struct {
	l       *MinibatchLBFGS[T]
	start   []T    // the parameters at step 0
	buffers [3][]T // gradients: of both ends of the bracket, and of the trial
	// Of this search: value and slope at step 0, and the largest entry of the direction.
	f0, slope, reach float64
}

// searched is a trial with the gradient there.
type searched[T kernel.Float] struct {
	trial
	grad []T
}

func newTorchWolfe[T kernel.Float](l *MinibatchLBFGS[T], n int) *torchWolfe[T] {
	w := &torchWolfe[T]{l: l, start: memory.Alloc[T](n)}
	for i := range w.buffers {
		w.buffers[i] = memory.Alloc[T](n)
	}
	return w
}

// run searches along l.direction from the present parameters, first at step t. They are left at the
// last trial: place moves them to the step found.
func (w *torchWolfe[T]) run(t, loss, slope float64) searched[T] {
	w.f0, w.slope, w.reach = loss, slope, w.l.ops.maxAbs(w.l.direction)
	rest := w.start
	for _, p := range w.l.params {
		rest = rest[copy(rest, p.Value):]
	}
	start := searched[T]{trial{0, loss, slope}, w.l.previous}
	previous, now := start, w.at(t, start, start)
	for i := range searchLimit {
		switch {
		case w.tooHigh(now.trial) || i > 1 && now.value >= previous.value:
			return w.zoom([2]searched[T]{previous, now}, i)
		case w.flat(now.trial):
			return now
		case now.slope >= 0:
			return w.zoom([2]searched[T]{previous, now}, i)
		}
		low, high := now.step+0.01*(now.step-previous.step), 10*now.step
		next := w.at(clampedMinimum(previous.trial, now.trial, low, high), now, now)
		previous, now = now, next
	}
	if start.value <= now.value {
		return start
	}
	return now
}

// zoom narrows a bracket after used trials.
func (w *torchWolfe[T]) zoom(ends [2]searched[T], used int) searched[T] {
	low := 0
	if !(ends[0].value <= ends[1].value) {
		low = 1
	}
	stuck := false // the last trial was near an end
	for ; used < searchLimit && !(math.Abs(ends[1].step-ends[0].step)*w.reach < searchWidth); used++ {
		var t float64
		t, stuck = inside(ends[0].trial, ends[1].trial, stuck)
		now := w.at(t, ends[0], ends[1])
		if w.tooHigh(now.trial) || now.value >= ends[low].value {
			ends[1-low] = now
			if low = 0; !(ends[0].value <= ends[1].value) {
				low = 1
			}
			continue
		}
		done := w.flat(now.trial)
		if !done && now.slope*(ends[1-low].step-ends[low].step) >= 0 {
			ends[1-low] = ends[low]
		}
		ends[low] = now
		if done {
			break
		}
	}
	return ends[low]
}

// inside is the next trial between a and b. A trial near an end is accepted once; after that, or on
// an end, it is moved searchMargin of the bracket away from it.
func inside(a, b trial, stuck bool) (t float64, near bool) {
	low, high := math.Min(a.step, b.step), math.Max(a.step, b.step)
	t = clampedMinimum(a, b, low, high)
	margin := searchMargin * (high - low)
	if !(math.Min(high-t, t-low) < margin) {
		return t, false
	}
	if !stuck && t < high && t > low {
		return t, true
	}
	if math.Abs(t-high) < math.Abs(t-low) {
		return high - margin, false
	}
	return low + margin, false
}

// clampedMinimum is the cubic's minimum clamped to [low, high], or the middle if there is none.
func clampedMinimum(a, b trial, low, high float64) float64 {
	t, ok := cubicMinimum(a, b)
	if !ok {
		return (low + high) / 2
	}
	return math.Min(math.Max(t, low), high)
}

func (w *torchWolfe[T]) tooHigh(t trial) bool {
	return t.value > w.f0+wolfeDecrease*t.step*w.slope
}

func (w *torchWolfe[T]) flat(t trial) bool {
	return math.Abs(t.slope) <= -wolfeCurvature*w.slope
}

// at evaluates a step; its gradient goes to the buffer that neither a nor b uses.
func (w *torchWolfe[T]) at(step float64, a, b searched[T]) searched[T] {
	i := 0
	for &w.buffers[i][0] == &a.grad[0] || &w.buffers[i][0] == &b.grad[0] {
		i++
	}
	w.place(step)
	value := w.l.evaluate(w.buffers[i])
	return searched[T]{trial{step, value, w.l.ops.inner(w.buffers[i], w.l.direction)}, w.buffers[i]}
}

// place moves the parameters to start + step·direction.
func (w *torchWolfe[T]) place(step float64) {
	offset := 0
	for _, p := range w.l.params {
		end := offset + len(p.Value)
		w.l.ops.move(p.Value, w.start[offset:end], step, w.l.direction[offset:end])
		offset = end
	}
}
