// Package param is the trainable tensor that networks (package nn) have and optimisers (package optim) update. Neither needs the other.
package param

import "collapse.example/collapse/internal/kernel"

// Param is a trainable tensor and its gradient, named and laid out as PyTorch does: a Linear
// weight is (out×in), row-major.
type Param[T kernel.Float] struct {
	Name  string
	Shape []int
	Value []T // length is the product of Shape
	Grad  []T // same length; written by nn's Network.Backward, never accumulated into
	// Frozen parameters keep their value: Backward leaves their Grad alone and optimisers skip
	// them, weight decay included.
	Frozen bool
}

// Size is the product of the shape, which a layout has before its values.
func (p *Param[T]) Size() int {
	n := 1
	for _, s := range p.Shape {
		n *= s
	}
	return n
}
