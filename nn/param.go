package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/nn/param"
)

// Param is a trainable tensor and its gradient.
type Param[T kernel.Float] = param.Param[T]

// wanted returns where Backward writes the gradient of p, nil if it is frozen.
func wanted[T kernel.Float](p *Param[T]) []T {
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
