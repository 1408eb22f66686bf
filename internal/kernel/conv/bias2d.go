package conv

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// Bias2D differentiates y = max(x + bias, 0) over image tensors, the epilogue of a convolution without batch norm. It
// allocates nothing; one goroutine uses it at a time.
type Bias2D[T kernel.Float] struct {
	sums        []runSums
	run         int
	dy, y, grad []T
}

// NewBias2D returns a Bias2D of the given channels.
func NewBias2D[T kernel.Float](channels int) *Bias2D[T] {
	return &Bias2D[T]{sums: make([]runSums, channels)}
}

// Backward sets dy = 0 where the ReLU cut off y (for a NaN dy passes); with a nil y, for no ReLU, it leaves dy alone. Unless nil,
// grad becomes the sum over each channel, accumulated in float64. dy and y are channels×pixels×Lanes(batch), padding lanes of dy 0.
func (b *Bias2D[T]) Backward(tm *parallel.Team, dy, y, grad []T) {
	channels := len(b.sums)
	if len(dy)%channels != 0 || len(dy)/channels%LaneBlock != 0 || len(dy) == 0 || (y != nil && len(y) != len(dy)) || (grad != nil && len(grad) != channels) {
		panic("conv: Bias2D: dy or y does not have channels×pixels×lanes elements, or grad does not have channels")
	}
	b.run, b.dy, b.y, b.grad = len(dy)/channels, dy, y, grad
	tm.Do(kernel.CeilDiv(channels, channelsPerPart(b.run)), b)
	b.dy, b.y, b.grad = nil, nil, nil
}

// Run works on the channels of one part; Backward calls it through the team.
func (b *Bias2D[T]) Run(part int) {
	perPart := channelsPerPart(b.run)
	var none normConstants[T]
	for c := part * perPart; c < min((part+1)*perPart, len(b.sums)); c++ {
		dy, mask, y := b.dy[c*b.run:(c+1)*b.run], maskNone, []T(nil)
		if b.y != nil {
			mask, y = maskCut, b.y[c*b.run:(c+1)*b.run]
		}
		b.sums[c] = runSums{}
		runGradientSums(mask, dy, y, dy, &none, &b.sums[c])
		if b.grad != nil {
			sum, _ := b.sums[c].total()
			b.grad[c] = T(sum)
		}
	}
}
