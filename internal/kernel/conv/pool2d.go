package conv

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// PoolShape describes a max pooling as torch.nn.MaxPool2d does (no dilation, floor mode).
type PoolShape struct{ Channels, H, W, Size, Stride, Pad int }

// OutH returns the rows of the output.
func (s PoolShape) OutH() int { return (s.H+2*s.Pad-s.Size)/s.Stride + 1 }

// OutW returns the columns of the output.
func (s PoolShape) OutW() int { return (s.W+2*s.Pad-s.Size)/s.Stride + 1 }

// MaxPool takes the largest value of each window of image tensors. It keeps nothing between the passes: Backward finds the winners
// again. One goroutine uses it at a time; it allocates nothing.
type MaxPool[T kernel.Float] struct {
	shape   PoolShape
	lanes   int
	perPart int
	x, y    []T
	dy, dx  []T // nil in Forward
}

// NewMaxPool returns a MaxPool. It panics unless 2·Pad ≤ Size, so that every window holds a pixel, and the window fits.
func NewMaxPool[T kernel.Float](shape PoolShape) *MaxPool[T] {
	s := shape
	if s.Channels < 1 || s.H < 1 || s.W < 1 || s.Size < 1 || s.Stride < 1 || s.Pad < 0 || 2*s.Pad > s.Size {
		panic("conv: PoolShape: an extent is not positive or the padding more than half the window")
	}
	if s.H+2*s.Pad < s.Size || s.W+2*s.Pad < s.Size {
		panic("conv: PoolShape: the window is larger than the padded image")
	}
	return &MaxPool[T]{shape: shape}
}

// Forward sets y (Channels×OutH×OutW×L) from x (Channels×H×W×L), L = Lanes(batch). NaN is larger than any number.
func (p *MaxPool[T]) Forward(tm *parallel.Team, batch int, x, y []T) {
	p.check(batch, x, y)
	p.x, p.y = x, y
	p.do(tm)
}

// Backward sets dx from dy and the x of Forward: each dy goes to the first pixel, in row order, that has its window's
// largest value, as PyTorch's.
func (p *MaxPool[T]) Backward(tm *parallel.Team, batch int, x, dy, dx []T) {
	p.check(batch, x, dy)
	p.check(batch, dx, dy)
	p.x, p.dy, p.dx = x, dy, dx
	p.do(tm)
}

func (p *MaxPool[T]) check(batch int, x, y []T) {
	s := p.shape
	p.lanes = Lanes(batch)
	if batch < 1 || len(x) != s.Channels*s.H*s.W*p.lanes || len(y) != s.Channels*s.OutH()*s.OutW()*p.lanes {
		panic("conv: MaxPool: a tensor does not have channels×height×width×lanes elements")
	}
}

func (p *MaxPool[T]) do(tm *parallel.Team) {
	p.perPart = channelsPerPart(p.shape.H * p.shape.W * p.lanes)
	tm.Do(kernel.CeilDiv(p.shape.Channels, p.perPart), p)
	p.x, p.y, p.dy, p.dx = nil, nil, nil, nil
}

// Run works on the channels of one part; the passes call it through the team.
func (p *MaxPool[T]) Run(part int) {
	s := p.shape
	in, out := s.H*s.W*p.lanes, s.OutH()*s.OutW()*p.lanes
	for c := part * p.perPart; c < min((part+1)*p.perPart, s.Channels); c++ {
		x := p.x[c*in : (c+1)*in]
		if p.dx != nil {
			dx := p.dx[c*in : (c+1)*in]
			clear(dx)
			p.channel(func(w window, at int) { maxWindowGradient(&w, x, p.dy[c*out+at:][:p.lanes], dx) })
			continue
		}
		p.channel(func(w window, at int) { maxWindow(&w, x, p.y[c*out+at:][:p.lanes]) })
	}
}

// channel walks the windows of a channel with the offset of each output pixel.
func (p *MaxPool[T]) channel(visit func(w window, at int)) {
	s, at := p.shape, 0
	for oy := range s.OutH() {
		top, bottom := max(0, oy*s.Stride-s.Pad), min(s.H, oy*s.Stride-s.Pad+s.Size)
		for ox := range s.OutW() {
			left, right := max(0, ox*s.Stride-s.Pad), min(s.W, ox*s.Stride-s.Pad+s.Size)
			visit(window{first: (top*s.W + left) * p.lanes, h: bottom - top, w: right - left,
				across: p.lanes, down: s.W * p.lanes}, at)
			at += p.lanes
		}
	}
}

// window is the part of a pooling window inside the image: h×w pixels from offset first, across and down apart.
type window struct{ first, h, w, across, down int }

// maxWindow sets y, one pixel of all lanes, to the largest value of the window.
func maxWindow[T kernel.Float](w *window, x, y []T) {
	simd := imagesOf[T]()
	if simd == nil {
		maxWindowGeneric(w, x, y)
		return
	}
	simd.maxWindow(len(y), w.h, w.w, w.across, w.down, kernel.First32(x[w.first:]), kernel.First32(y))
}

func maxWindowGeneric[T kernel.Float](w *window, x, y []T) {
	for lane := range y {
		y[lane] = x[winner(w, x, lane)]
	}
}

// maxWindowGradient adds dy to the pixel of dx that maxWindow chose, for all lanes.
func maxWindowGradient[T kernel.Float](w *window, x, dy, dx []T) {
	simd := imagesOf[T]()
	if simd == nil {
		maxWindowGradientGeneric(w, x, dy, dx)
		return
	}
	simd.maxWindowGradient(len(dy), w.h, w.w, w.across, w.down, kernel.First32(x[w.first:]), kernel.First32(dy), kernel.First32(dx[w.first:]))
}

func maxWindowGradientGeneric[T kernel.Float](w *window, x, dy, dx []T) {
	for lane, g := range dy {
		dx[winner(w, x, lane)] += g
	}
}

// winner returns the offset of the window's first largest value in a lane; a NaN is larger than all numbers, and the last NaN counts.
func winner[T kernel.Float](w *window, x []T, lane int) int {
	best := w.first + lane
	for i := range w.h {
		for j := range w.w {
			at := w.first + lane + i*w.down + j*w.across
			if v := x[at]; v > x[best] || v != v {
				best = at
			}
		}
	}
	return best
}
