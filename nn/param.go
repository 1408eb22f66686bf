package nn

import "collapse.example/collapse/internal/kernel"

// Param is a trainable tensor and its gradient, named and laid out as PyTorch does: a Linear
// weight is (out×in), row-major.
type Param[T kernel.Float] struct {
	Name  string
	Shape []int
	Value []T // length is the product of Shape
	Grad  []T // same length; written by Network.Backward, never accumulated into
	// Frozen parameters keep their value: Backward leaves their Grad alone and optimisers skip
	// them, weight decay included.
	Frozen bool
}

// wanted returns where Backward writes the gradient, nil if the parameter is frozen.
func (p *Param[T]) wanted() []T {
	if p.Frozen {
		return nil
	}
	return p.Grad
}

// Buffer is a tensor that belongs to the model but is not trained: a batch norm's running_mean
// or running_var.
type Buffer[T kernel.Float] struct {
	Name  string
	Shape []int
	Value []T
}

// Counter is a scalar integer buffer: a batch norm's num_batches_tracked, I64 in checkpoints.
type Counter struct {
	Name  string
	Value int64
}
