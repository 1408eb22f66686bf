package nn

import (
	"fmt"

	"collapse/internal/kernel"
)

// block is a BasicBlock of He et al. 2016: relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)), where the shortcut is x
// itself or, if shapes differ, a 1×1 convolution with batch norm.
type block[T kernel.Float] struct {
	first, second *unit[T]
	shortcut      *unit[T] // nil for x itself
	team          *kernel.Team
	work          *workspace[T]
	y             []T // output of the last train
}

// newBlock returns a block that goes from the trunk's last map to out channels at the given stride. With project the
// shortcut is a convolution even where x itself would fit.
func newBlock[T kernel.Float](t *trunk[T], name string, width, out, stride int, project bool, law initLaw) *block[T] {
	in := t.last()
	conv := func(part, norm string, from mapShape, out, size, stride int, relu bool) *unit[T] {
		return newUnit(t, unitSpec{name: name + part, normName: name + norm, relu: relu, law: law,
			shape: kernel.ConvShape{In: from.channels, Out: out, H: from.height, W: from.width, KH: size, KW: size, Stride: stride, Pad: size / 2}})
	}
	b := &block[T]{team: t.team, work: t.work}
	b.first = conv(".conv1", ".bn1", in, width, 3, stride, true)
	b.second = conv(".conv2", ".bn2", b.first.out(), out, 3, 1, true)
	if project || stride != 1 || in.channels != out {
		b.shortcut = conv(".downsample.0", ".downsample.1", in, out, 1, stride, false)
	}
	return b
}

func (b *block[T]) out() mapShape { return b.second.out() }
func (b *block[T]) buffers() int  { return 3 }

func (b *block[T]) parts() []*unit[T] {
	if b.shortcut == nil {
		return []*unit[T]{b.first, b.second}
	}
	return []*unit[T]{b.first, b.second, b.shortcut}
}

func (b *block[T]) keeps() int {
	kept := b.first.keeps() + b.second.keeps()
	if b.shortcut != nil {
		kept += b.shortcut.out().size() // its output lives in the second unit's
	}
	return kept
}

func (b *block[T]) train(x []T, batch int) []T {
	h := b.first.train(x, batch)
	size := b.out().size() * kernel.Lanes(batch)
	if b.second.own == nil {
		b.second.own = kernel.Alloc[T](b.out().size() * b.second.lanes)
	}
	y, residual := b.second.own[:size], x
	if b.shortcut != nil {
		residual = b.shortcut.trainInto(x, nil, y, batch)
	}
	b.y = b.second.trainInto(h, residual, y, batch)
	return b.y
}

// eval adds the second convolution to the shortcut in place.
func (b *block[T]) eval(x []T, batch int) []T {
	h := b.work.take(b.first.out().size() * kernel.Lanes(batch))
	b.first.evalInto(x, nil, h, batch)
	y := x
	if b.shortcut != nil {
		y = b.work.take(b.out().size() * kernel.Lanes(batch))
		b.shortcut.evalInto(x, nil, y, batch)
		b.work.give(x)
	}
	b.second.evalInto(h, y, y, batch)
	b.work.give(h)
	return y
}

// backward works in three buffers. dy becomes the gradient at the shortcut's output, where x itself was added the gradient
// of x already; the first convolution's input gradient is added to the shortcut's.
func (b *block[T]) backward(dy []T, batch int, _ bool) []T {
	dz := b.work.take(len(dy))
	b.second.backwardWeights(dy, b.y, dz, batch)
	dh := b.work.take(b.first.out().size() * kernel.Lanes(batch))
	b.second.conv.InputGrad(b.team, batch, dz, b.second.weight.Value, dh, false)
	b.work.clock.Lap(b.second.name, OpInputGrad)
	b.work.give(dz)
	b.first.backwardWeights(dh, nil, dh, batch)
	dx := dy
	if b.shortcut != nil {
		b.shortcut.backwardWeights(dy, nil, dy, batch)
		dx = b.work.take(b.first.in().size() * kernel.Lanes(batch))
		b.shortcut.conv.InputGrad(b.team, batch, dy, b.shortcut.weight.Value, dx, false)
		b.work.clock.Lap(b.shortcut.name, OpInputGrad)
		b.work.give(dy)
	}
	b.first.conv.InputGrad(b.team, batch, dh, b.first.weight.Value, dx, true)
	b.work.clock.Lap(b.first.name, OpInputGrad)
	b.work.give(dh)
	return dx
}

// addResNet lays out resnet18 (He et al. 2016, or with the stem for small images) or resnet18-adapt (Zhu et al. 2021).
func (t *trunk[T]) addResNet(a Arch) {
	width, law, size, stride := 64, lawKaiming, 3, 1
	switch {
	case a.Kind == KindAdapt:
		width, law = a.StemWidth, lawTorch
	case a.stem() == StemDefault:
		size, stride = 7, 2
	}
	t.add(newUnit(t, unitSpec{name: "conv1", normName: "bn1", relu: true, law: law,
		shape: kernel.ConvShape{In: a.Channels, Out: width, H: a.Height, W: a.Width, KH: size, KW: size, Stride: stride, Pad: size / 2}}),
		Tap{Name: "relu"})
	if size == 7 {
		t.add(newMaxPool(t, 3, 2, 1), Tap{Name: "maxpool"})
	}
	for layer := range 4 {
		channels, stride := width<<layer, min(layer+1, 2)
		for i := range 2 {
			out, last := channels, layer == 3 && i == 1
			if last {
				out = a.Features()
			}
			name := fmt.Sprintf("layer%d", layer+1)
			taps := []Tap{{Name: fmt.Sprintf("%s.%d", name, i)}}
			if i == 1 {
				taps = append(taps, Tap{Name: name, Stage: true})
				stride = 1
			}
			t.add(newBlock(t, taps[0].Name, channels, out, stride, last && a.FeatureDim != 0, law), taps...)
		}
	}
}
