package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/conv"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// maxPool is nn.MaxPool2d.
type maxPool[T kernel.Float] struct {
	name  string // of the module; for the clock
	shape conv.PoolShape
	pool  *conv.MaxPool[T]
	team  *parallel.Team
	work  *workspace[T]
	lanes int
	x, y  []T
}

func newMaxPool[T kernel.Float](t *trunk[T], size, stride, pad int) *maxPool[T] {
	in := t.last()
	shape := conv.PoolShape{Channels: in.channels, H: in.height, W: in.width, Size: size, Stride: stride, Pad: pad}
	return &maxPool[T]{shape: shape, pool: conv.NewMaxPool[T](shape), team: t.team, work: t.work, lanes: conv.Lanes(t.maxBatch)}
}

func (p *maxPool[T]) out() mapShape {
	return mapShape{p.shape.Channels, p.shape.OutH(), p.shape.OutW()}
}

func (p *maxPool[T]) parts() []*unit[T] { return nil }
func (p *maxPool[T]) keeps() int        { return p.out().size() }
func (p *maxPool[T]) buffers() int      { return 2 }

func (p *maxPool[T]) train(x []T, batch int) []T {
	if p.y == nil {
		p.y = memory.Alloc[T](p.out().size() * p.lanes)
	}
	p.x = x
	y := p.y[:p.out().size()*conv.Lanes(batch)]
	p.pool.Forward(p.team, batch, x, y)
	p.work.clock.Lap(p.name, OpPool)
	return y
}

func (p *maxPool[T]) eval(x []T, batch int) []T {
	y := p.work.take(p.out().size() * conv.Lanes(batch))
	p.pool.Forward(p.team, batch, x, y)
	p.work.clock.Lap(p.name, OpPool)
	p.work.give(x)
	return y
}

func (p *maxPool[T]) backward(dy []T, batch int, needInput bool) []T {
	if !needInput {
		p.work.give(dy)
		return nil
	}
	dx := p.work.take(len(p.x))
	p.pool.Backward(p.team, batch, p.x, dy, dx)
	p.work.clock.Lap(p.name, OpPoolGrad)
	p.work.give(dy)
	return dx
}
