// Package conv convolves images and their gradients, directly (direct.go, weightgrad.go) or by Winograd's algorithm (winograd.go explains it,
// winograd_generic.go transforms a tile, winograd_image.go and winograd_weight.go use them), pools them (pool2d.go), normalises them
// (norm2d.go; its loops in norm2d_loops.go) and moves them between rows and image layout (images.go), which has the batch innermost.
//
// Read conv.go first. table.go lists the functions that exist in SIMD; generic.go, winograd_generic.go, norm2d_loops.go and
// pool2d.go have their generic twins, and conv_amd64.go says which are used when.
package conv

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// LaneBlock is the multiple to which the batch is padded in image layout: one float32 vector of the widest instruction set.
const LaneBlock = 16

// Lanes returns the innermost extent of an image tensor of batch samples: batch rounded up to a
// multiple of LaneBlock.
func Lanes(batch int) int { return kernel.RoundUp(batch, LaneBlock) }

// Shape describes a two-dimensional convolution as torch.nn.Conv2d does (without groups and
// dilation): In channels of H×W pixels become Out channels of OutH×OutW.
type Shape struct {
	In, Out int
	H, W    int // of the input
	KH, KW  int // of the filter
	Stride  int
	Pad     int // zeros on each side
}

// OutH returns the rows of the output.
func (s Shape) OutH() int { return (s.H+2*s.Pad-s.KH)/s.Stride + 1 }

// OutW returns the columns of the output.
func (s Shape) OutW() int { return (s.W+2*s.Pad-s.KW)/s.Stride + 1 }

// MACs returns the multiply-adds of one pass over batch samples, counting every tap, including those that see only padding: the
// count that papers and PyTorch use.
func (s Shape) MACs(batch int) int64 {
	return int64(batch) * int64(s.In) * int64(s.Out) * int64(s.OutH()*s.OutW()) * int64(s.KH*s.KW)
}

// UsefulMACs returns the multiply-adds whose tap sees a pixel of the input.
func (s Shape) UsefulMACs(batch int) int64 {
	taps := func(axis [][]tap) (n int64) {
		for _, seen := range axis {
			n += int64(len(seen))
		}
		return n
	}
	y, x := forwardTaps(s.H, s.OutH(), s.KH, s.Stride, s.Pad), forwardTaps(s.W, s.OutW(), s.KW, s.Stride, s.Pad)
	return int64(batch) * int64(s.In) * int64(s.Out) * taps(y) * taps(x)
}

func (s Shape) check() {
	if s.In <= 0 || s.Out <= 0 || s.H <= 0 || s.W <= 0 || s.KH <= 0 || s.KW <= 0 || s.Stride <= 0 || s.Pad < 0 {
		panic("conv: Shape: an extent is not positive")
	}
	if s.H+2*s.Pad < s.KH || s.W+2*s.Pad < s.KW {
		panic("conv: Shape: the filter is larger than the padded image")
	}
}

// tap is one position of a filter along one axis and the input coordinate it sees.
type tap struct{ at, from int }

// forwardTaps lists, for each output coordinate, the taps that see a pixel of the input.
func forwardTaps(in, out, size, stride, pad int) [][]tap {
	axis := make([][]tap, out)
	for o := range axis {
		for k := range size {
			if i := o*stride + k - pad; i >= 0 && i < in {
				axis[o] = append(axis[o], tap{k, i})
			}
		}
	}
	return axis
}

// backwardTaps lists, for each input coordinate, the taps through which outputs saw it.
func backwardTaps(in, out, size, stride, pad int) [][]tap {
	axis := make([][]tap, in)
	for o, seen := range forwardTaps(in, out, size, stride, pad) {
		for _, t := range seen {
			axis[t.from] = append(axis[t.from], tap{t.at, o})
		}
	}
	return axis
}

// Epilogue says what happens to the output of a convolution before it is stored, in this order.
type Epilogue[T kernel.Float] struct {
	Bias     []T  // added to every pixel of a channel; length Out, or nil for none
	Residual []T  // added; shape of y, or nil for none
	ReLU     bool // y = max(y, 0); NaN stays NaN

	// Cold says that y is not in the caches and will not be read soon: it may be stored past them, which avoids reading it into them first.
	Cold bool
}

// Conv computes a two-dimensional convolution and its gradients on image tensors with the batch
// innermost (docs/internal/decisions/0006): x[c][y][x][b], b padded to L = Lanes(batch).
//
// Lanes from batch on must hold finite numbers in activations and zeros in gradients; the gradients computed here then hold zeros
// there, too. The algorithm depends only on the shape and the largest batch; the bits depend on these, the batch and the kernel in
// use, never on the team. A Conv is used by one goroutine at a time and allocates nothing once warm.
type Conv[T kernel.Float] struct {
	shape    Shape
	maxBatch int
	winograd bool

	forward, inputGrad imageSums[T]
	weightGrad         filterSums[T]
	direct             *pixelSums[T] // forward, unless that is Winograd's algorithm
}

// imageSums computes an image from another image and weights.
type imageSums[T kernel.Float] interface {
	compute(tm *parallel.Team, lanes int, from, w, to []T, ep Epilogue[T])
	needs(lanes int) convNeed
}

// filterSums computes the gradient of weights.
type filterSums[T kernel.Float] interface {
	compute(tm *parallel.Team, lanes int, x, dy, dw []T)
	needs(lanes int) convNeed
}

// New plans a convolution for batches up to maxBatch. It panics if the shape makes no sense.
func New[T kernel.Float](shape Shape, maxBatch int) *Conv[T] {
	shape.check()
	if maxBatch <= 0 {
		panic("conv: New: maxBatch is not positive")
	}
	return newConv[T](shape, maxBatch, winogradPays(shape, maxBatch))
}

// newConv is New with the algorithm chosen by the caller, as tests do.
func newConv[T kernel.Float](shape Shape, maxBatch int, winograd bool) *Conv[T] {
	c := &Conv[T]{shape: shape, maxBatch: maxBatch, winograd: winograd}
	if winograd {
		c.forward, c.inputGrad, c.weightGrad = newWinogradSums[T](shape, false), newWinogradSums[T](shape, true), newWinogradWeights[T](shape)
	} else {
		c.direct = newPixelSums[T](shape, false)
		c.forward, c.inputGrad, c.weightGrad = c.direct, newPixelSums[T](shape, true), newWeightSums[T](shape)
	}
	return c
}

// Shape returns the shape the convolution was made for.
func (c *Conv[T]) Shape() Shape { return c.shape }

// Algorithm names how the products are formed: "direct", or "winograd4" for F(4×4, 3×3).
func (c *Conv[T]) Algorithm() string {
	if c.winograd {
		return "winograd4"
	}
	return "direct"
}

// ScratchBytes returns the memory that the convolution needs besides its operands, for its largest batch on one thread with the
// kernel in use. All convolutions of the process share this memory: a network needs somewhat more than the maximum over its
// convolutions, not their sum.
func (c *Conv[T]) ScratchBytes() int64 {
	lanes := Lanes(c.maxBatch)
	need := c.forward.needs(lanes).with(c.inputGrad.needs(lanes)).with(c.weightGrad.needs(lanes))
	return int64(kernel.Size[T]()) * int64(need.elements())
}

// check panics unless the operands have the lengths that the shape requires.
func (c *Conv[T]) check(batch int, x, w, y []T) {
	c.checkImages(batch, x, y)
	c.checkWeights(w)
}

func (c *Conv[T]) checkImages(batch int, x, y []T) {
	s := c.shape
	if batch <= 0 || batch > c.maxBatch {
		panic("conv: batch is not in 1…maxBatch")
	}
	lanes := Lanes(batch)
	if len(x) != s.In*s.H*s.W*lanes || len(y) != s.Out*s.OutH()*s.OutW()*lanes {
		panic("conv: a tensor does not have channels×height×width×lanes elements")
	}
}

func (c *Conv[T]) checkWeights(w []T) {
	if s := c.shape; len(w) != s.Out*s.In*s.KH*s.KW {
		panic("conv: the weights do not have Out×In×KH×KW elements")
	}
}

func (c *Conv[T]) checkForward(batch int, x, y []T, ep Epilogue[T]) {
	c.checkImages(batch, x, y)
	if ep.Bias != nil && len(ep.Bias) != c.shape.Out {
		panic("conv: the bias does not have one element per channel")
	}
	if ep.Residual != nil && len(ep.Residual) != len(y) {
		panic("conv: the residual does not have the shape of the output")
	}
}

// ArrangedSize returns the elements of weights as Arrange writes them, 0 if the forward pass has no use for such: the filters that
// Winograd's algorithm transforms are four times as long as the weights, and reading them takes longer than making them.
func (c *Conv[T]) ArrangedSize() int {
	if c.direct == nil {
		return 0
	}
	return c.direct.order.size()
}

// Arrange writes w, PyTorch's [Out][In][KH][KW], into dst of ArrangedSize elements in the order of the forward pass, on the calling thread.
// It pays for weights that serve several batches.
func (c *Conv[T]) Arrange(w, dst []T) {
	c.checkWeights(w)
	c.checkArranged(dst)
	c.direct.arrange(nil, w, dst)
}

// ForwardArranged is Forward with weights that Arrange wrote. The bits are the same.
func (c *Conv[T]) ForwardArranged(tm *parallel.Team, batch int, x, arranged, y []T, ep Epilogue[T]) {
	c.checkForward(batch, x, y, ep)
	c.checkArranged(arranged)
	c.direct.computeArranged(tm, Lanes(batch), x, arranged, y, ep)
}

func (c *Conv[T]) checkArranged(arranged []T) {
	if len(arranged) == 0 || len(arranged) != c.ArrangedSize() {
		panic("conv: arranged weights do not have ArrangedSize elements, or there are none for this shape")
	}
}

// Forward computes y = conv(x, w) and applies ep. w is PyTorch's [Out][In][KH][KW], x is In×H×W×L
// and y Out×OutH×OutW×L:
//
//	y[o][p][q][b] = Σ_{c,i,j} w[o][c][i][j] · x[c][p·Stride+i−Pad][q·Stride+j−Pad][b]
//
// y must not overlap x or w; it may be ep.Residual.
func (c *Conv[T]) Forward(tm *parallel.Team, batch int, x, w, y []T, ep Epilogue[T]) {
	c.checkForward(batch, x, y, ep)
	c.checkWeights(w)
	c.forward.compute(tm, Lanes(batch), x, w, y, ep)
}

// InputGrad computes the gradient with respect to x from dy, the one with respect to y, and stores it
// in dx or, if accumulate, adds it:
//
//	dx[c][p·Stride+i−Pad][q·Stride+j−Pad][b] += w[o][c][i][j] · dy[o][p][q][b]
func (c *Conv[T]) InputGrad(tm *parallel.Team, batch int, dy, w, dx []T, accumulate bool) {
	c.check(batch, dx, w, dy)
	var ep Epilogue[T]
	if accumulate {
		ep.Residual = dx
	}
	c.inputGrad.compute(tm, Lanes(batch), dy, w, dx, ep)
}

// WeightGrad computes the gradient with respect to w into dw:
//
//	dw[o][c][i][j] = Σ_{p,q,b} dy[o][p][q][b] · x[c][p·Stride+i−Pad][q·Stride+j−Pad][b]
func (c *Conv[T]) WeightGrad(tm *parallel.Team, batch int, x, dy, dw []T) {
	c.check(batch, x, dw, dy)
	c.weightGrad.compute(tm, Lanes(batch), x, dy, dw)
}
