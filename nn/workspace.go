package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
)

// workspace lends buffers, each large enough for any map of a trunk. Gradients live in them during Backward, activations
// during an Eval Forward, and neither outlives the call. It allocates a buffer when none is free, so a second pass of the
// same kind allocates nothing.
type workspace[T kernel.Float] struct {
	perSample int // elements of the largest map
	lanes     int
	free      [][]T
	allocated int
	clock     *Clock // to which every stage reports
}

func (w *workspace[T]) fit(s mapShape) { w.perSample = max(w.perSample, s.size()) }

// take lends n elements with unspecified values.
func (w *workspace[T]) take(n int) []T {
	last := len(w.free) - 1
	if last < 0 {
		w.allocated++
		return memory.Alloc[T](w.perSample * w.lanes)[:n]
	}
	b := w.free[last]
	w.free = w.free[:last]
	return b[:n]
}

// give takes a buffer back.
func (w *workspace[T]) give(b []T) { w.free = append(w.free, b[:cap(b)]) }
