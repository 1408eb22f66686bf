package nn

import (
	"fmt"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/conv"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// The residual networks.
const (
	KindResNet18 = "resnet18"       // BasicBlocks 2-2-2-2 of 64, 128, 256 and 512 channels (He et al. 2016)
	KindAdapt    = "resnet18-adapt" // the same at width k: k, 2k, 4k, 8k channels behind a 3×3 stem (Zhu et al. 2021)
)

// The stems of resnet18.
const (
	StemDefault = "default" // 7×7 convolution of stride 2 and 3×3 max pooling of stride 2
	StemCIFAR   = "cifar"   // 3×3 convolution of stride 1
)

var resnet18Kind = netKind{
	Kind: Kind{Name: KindResNet18, Title: "ResNet18", Doc: "BasicBlocks 2-2-2-2 of 64, 128, 256 and 512 channels (He et al. 2016)",
		Uses: []string{"stem", "feature_dim"}},
	features: func(Arch) int { return 512 },
	check:    func(a Arch, c *complaints) { c.oneOf("stem", a.stem(), StemDefault, StemCIFAR) },
	images: func(s stack, a Arch) {
		r := resNet{width: 64, law: lawKaiming, size: 3, stride: 1, d: a.FeatureDim}
		if a.stem() == StemDefault {
			r.size, r.stride = 7, 2
		}
		r.lay(s)
	},
	sizes: []Size{{"resnet18", 128, tenClasses(Arch{})}, {"resnet18-cifar", 64, tenClasses(Arch{Stem: StemCIFAR})}},
}

var adaptKind = netKind{
	Kind: Kind{Name: KindAdapt, Title: "ResNet18 of width k", Doc: "ResNet18 with k, 2k, 4k, 8k channels behind a 3x3 stem (Zhu et al. 2021)",
		Uses: []string{"stem_width", "feature_dim"}},
	features: func(a Arch) int { return 8 * a.StemWidth },
	check:    func(a Arch, c *complaints) { c.least("stem width", a.StemWidth, 1) },
	images: func(s stack, a Arch) {
		resNet{width: a.StemWidth, law: lawTorch, size: 3, stride: 1, d: a.FeatureDim}.lay(s)
	},
	sizes: []Size{{"resnet18-adapt", 64, tenClasses(Arch{StemWidth: 8})}},
	widen: func(a *Arch, k int) { a.StemWidth = k },
}

// tenClasses is a for 3×32×32 inputs in ten classes.
func tenClasses(a Arch) Arch {
	a.Channels, a.Height, a.Width, a.Classes = 3, 32, 32, 10
	return a
}

func (a Arch) stem() string {
	if a.Stem == "" {
		return StemDefault
	}
	return a.Stem
}

// block is a BasicBlock of He et al. 2016: relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)), where the shortcut is x
// itself or, if shapes differ, a 1×1 convolution with batch norm.
type block[T kernel.Float] struct {
	first, second *unit[T]
	shortcut      *unit[T] // nil for x itself
	team          *parallel.Team
	work          *workspace[T]
	y             []T // output of the last train
}

// blockSpec says what a block is.
type blockSpec struct {
	name       string // of the module
	width, out int    // channels between its convolutions and behind them
	stride     int    // of the first convolution
	project    bool   // the shortcut is a convolution even if x itself would fit
	law        initLaw
}

// newBlock returns a block on the trunk's last map.
func newBlock[T kernel.Float](t *trunk[T], s blockSpec) *block[T] {
	in := t.last()
	unitOf := func(part, norm string, from mapShape, out, size, stride int, relu bool) *unit[T] {
		return newUnit(t, unitSpec{name: s.name + part, normName: s.name + norm, relu: relu, law: s.law,
			shape: conv.Shape{In: from.channels, Out: out, H: from.height, W: from.width, KH: size, KW: size, Stride: stride, Pad: size / 2}})
	}
	b := &block[T]{team: t.team, work: t.work}
	b.first = unitOf(".conv1", ".bn1", in, s.width, 3, s.stride, true)
	b.second = unitOf(".conv2", ".bn2", b.first.out(), s.out, 3, 1, true)
	if s.project || s.stride != 1 || in.channels != s.out {
		b.shortcut = unitOf(".downsample.0", ".downsample.1", in, s.out, 1, s.stride, false)
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
	size := b.out().size() * conv.Lanes(batch)
	if b.second.own == nil {
		b.second.own = memory.Alloc[T](b.out().size() * b.second.lanes)
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
	h := b.work.take(b.first.out().size() * conv.Lanes(batch))
	b.first.evalInto(x, nil, h, batch)
	y := x
	if b.shortcut != nil {
		y = b.work.take(b.out().size() * conv.Lanes(batch))
		b.shortcut.evalInto(x, nil, y, batch)
		b.work.give(x)
	}
	b.second.evalInto(h, y, y, batch)
	b.work.give(h)
	return y
}

// backward works in three buffers. dy becomes the gradient at the shortcut's output, which is already the gradient of x if
// x itself was added; the first convolution's input gradient is added to the shortcut's.
func (b *block[T]) backward(dy []T, batch int, _ bool) []T {
	dz := b.work.take(len(dy))
	b.second.backwardWeights(dy, b.y, dz, batch)
	dh := b.work.take(b.first.out().size() * conv.Lanes(batch))
	b.second.conv.InputGrad(b.team, batch, dz, b.second.weight.Value, dh, false)
	b.work.clock.Lap(b.second.name, OpInputGrad)
	b.work.give(dz)
	b.first.backwardWeights(dh, nil, dh, batch)
	dx := dy
	if b.shortcut != nil {
		b.shortcut.backwardWeights(dy, nil, dy, batch)
		dx = b.work.take(b.first.in().size() * conv.Lanes(batch))
		b.shortcut.conv.InputGrad(b.team, batch, dy, b.shortcut.weight.Value, dx, false)
		b.work.clock.Lap(b.shortcut.name, OpInputGrad)
		b.work.give(dy)
	}
	b.first.conv.InputGrad(b.team, batch, dh, b.first.weight.Value, dx, true)
	b.work.clock.Lap(b.first.name, OpInputGrad)
	b.work.give(dh)
	return dx
}

// resNet is a ResNet18 of any width.
type resNet struct {
	width        int // k: the stages have k, 2k, 4k, 8k channels
	law          initLaw
	size, stride int // of the stem's convolution; a max pooling follows a 7×7 one
	d            int // of the features, which makes the last shortcut a convolution even if x itself would fit; 0: 8k
}

func (r resNet) lay(s stack) {
	in := s.last()
	s.conv(unitSpec{name: "conv1", normName: "bn1", relu: true, law: r.law,
		shape: conv.Shape{In: in.channels, Out: r.width, H: in.height, W: in.width, KH: r.size, KW: r.size, Stride: r.stride, Pad: r.size / 2}},
		Tap{Name: "relu"})
	if r.size == 7 {
		s.maxPool(3, 2, 1, Tap{Name: "maxpool"})
	}
	for layer := range 4 {
		name, channels := fmt.Sprintf("layer%d", layer+1), r.width<<layer
		first := blockSpec{name: name + ".0", width: channels, out: channels, stride: min(layer+1, 2), law: r.law}
		second := blockSpec{name: name + ".1", width: channels, out: channels, stride: 1, law: r.law}
		if layer == 3 && r.d != 0 {
			second.out, second.project = r.d, true
		}
		s.basicBlock(first, Tap{Name: first.name})
		s.basicBlock(second, Tap{Name: second.name}, Tap{Name: name, Stage: true})
	}
}
