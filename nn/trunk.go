package nn

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/conv"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// trunk is everything of an image network below fc: to Network one layer from rows of pixels to rows of features. Inside,
// tensors are images with the batch innermost (docs/internal/decisions/0006): channels × height × width × Lanes(batch).
type trunk[T kernel.Float] struct {
	net      *Network[T]
	team     *parallel.Team
	maxBatch int
	in       mapShape
	stages   []stage[T]
	images   *conv.Images[T]
	work     *workspace[T]
	input    []T        // images of the last Forward in Train mode, allocated by the first
	features []T        // maxBatch×d, allocated by the first Forward
	folds    *folder[T] // made by the first Forward in Eval mode
}

// mapShape is the shape of one sample's activations.
type mapShape struct{ channels, height, width int }

func (s mapShape) size() int   { return s.channels * s.height * s.width }
func (s mapShape) pixels() int { return s.height * s.width }

// stage is a part of a trunk: a convolution and what is fused with it, a pooling, a residual block.
type stage[T kernel.Float] interface {
	// train maps x to its output, which it owns; it borrows x until backward.
	train(x []T, batch int) []T
	// eval does so with running statistics and keeps nothing: x goes back to the workspace, the output comes from it.
	eval(x []T, batch int) []T
	// backward sets the gradients of its own parameters and turns dy into dx, both from the workspace. Without
	// needInput dx is not formed and the result is nil.
	backward(dy []T, batch int, needInput bool) []T
	out() mapShape
	// parts lists its convolutions, in PyTorch's order.
	parts() []*unit[T]
	// keeps returns the elements per sample it owns after train; buffers how many of the workspace's it works in.
	keeps() int
	buffers() int
}

// stack is a trunk, in either arithmetic, to which a kind of image network adds its stages from the input on. Each stage follows
// the last one; taps are the module names of its output.
type stack interface {
	last() mapShape // what the next stage gets
	conv(s unitSpec, taps ...Tap)
	maxPool(size, stride, pad int, taps ...Tap)
	basicBlock(s blockSpec, taps ...Tap)
}

func (t *trunk[T]) conv(s unitSpec, taps ...Tap) { t.add(newUnit(t, s), taps...) }
func (t *trunk[T]) maxPool(size, stride, pad int, taps ...Tap) {
	t.add(newMaxPool(t, size, stride, pad), taps...)
}
func (t *trunk[T]) basicBlock(s blockSpec, taps ...Tap) { t.add(newBlock(t, s), taps...) }

// newTrunk returns a trunk without stages for n.
func newTrunk[T kernel.Float](n *Network[T], in mapShape, team *parallel.Team) *trunk[T] {
	n.trunk = &trunk[T]{net: n, team: team, maxBatch: n.maxBatch, in: in, images: conv.NewImages[T](),
		work: &workspace[T]{lanes: conv.Lanes(n.maxBatch)}}
	return n.trunk
}

// addTrunk makes a complete trunk the network's layer.
func (n *Network[T]) addTrunk() {
	n.add(n.trunk)
	n.features = n.trunk.last().channels
	n.widest = n.features
}

// last returns the shape that the next stage gets.
func (t *trunk[T]) last() mapShape {
	if len(t.stages) == 0 {
		return t.in
	}
	return t.stages[len(t.stages)-1].out()
}

// add appends a stage whose output has the given module names.
func (t *trunk[T]) add(s stage[T], taps ...Tap) {
	t.stages = append(t.stages, s)
	shape := s.out()
	t.work.fit(t.in)
	t.work.fit(shape)
	for _, tap := range taps {
		tap.Channels, tap.Height, tap.Width = shape.channels, shape.height, shape.width
		t.net.taps = append(t.net.taps, tap)
		t.net.tapLayers = append(t.net.tapLayers, len(t.stages)-1)
	}
	if p, ok := s.(*maxPool[T]); ok && len(taps) > 0 {
		p.name = taps[0].Name
	}
	for _, u := range s.parts() {
		if u.norm != nil && u.conv.Shape().OutH()*u.conv.Shape().OutW() == 1 {
			t.net.loneNorm = true
		}
	}
}

func (t *trunk[T]) forward(x []T, rows int, mode Mode) []T {
	if t.features == nil {
		t.features = memory.Alloc[T](t.maxBatch * t.last().channels)
	}
	size := t.in.size() * conv.Lanes(rows)
	var h []T
	if mode == Train {
		if t.input == nil {
			t.input = memory.Alloc[T](t.in.size() * conv.Lanes(t.maxBatch))
		}
		h = t.input[:size]
	} else {
		if t.folds == nil {
			t.folds = &folder[T]{}
			t.folds.prepare(t.units())
		}
		t.folds.refresh(t.team)
		h = t.work.take(size)
	}
	t.images.FromRows(t.team, rows, t.in.size(), x, h)
	t.work.clock.Lap("input", OpLayout)
	for i, s := range t.stages {
		if mode == Train {
			h = s.train(h, rows)
		} else {
			h = s.eval(h, rows)
		}
		t.keepTapped(i, h, rows)
	}
	features := t.features[:rows*t.last().channels]
	t.images.Mean(t.team, rows, t.last().channels, t.last().pixels(), h, features)
	t.work.clock.Lap("features", OpLayout)
	if mode == Eval {
		t.work.give(h)
	}
	return features
}

// keepTapped copies the output of a stage to the taps that want it.
func (t *trunk[T]) keepTapped(stage int, h []T, rows int) {
	for i := range t.net.tapped {
		tap := &t.net.tapped[i]
		if t.net.tapLayers[tap.at] != stage {
			continue
		}
		shape := t.stages[stage].out()
		if tap.flatten {
			t.images.ToRows(t.team, rows, shape.size(), h, tap.rows[:rows*shape.size()])
		} else {
			t.images.Mean(t.team, rows, shape.channels, shape.pixels(), h, tap.rows[:rows*shape.channels])
		}
	}
}

// backward differentiates the features, means over each channel's last map, and then every stage. The gradient of the
// pixels is never formed.
func (t *trunk[T]) backward(dy, _ []T, rows int, _ bool) []T {
	dh := t.work.take(t.last().size() * conv.Lanes(rows))
	t.images.Spread(t.team, rows, t.last().channels, t.last().pixels(), dy, dh)
	t.work.clock.Lap("features", OpLayout)
	for i := len(t.stages) - 1; i >= 0; i-- {
		dh = t.stages[i].backward(dh, rows, i > 0)
	}
	return nil
}

func (t *trunk[T]) watch(c *Clock) { t.work.clock = c }

func (t *trunk[T]) units() []*unit[T] {
	var all []*unit[T]
	for _, s := range t.stages {
		all = append(all, s.parts()...)
	}
	return all
}

func (t *trunk[T]) collect(n *Network[T]) {
	for _, u := range t.units() {
		u.collect(n)
	}
}

func (t *trunk[T]) initialise(seed uint64) {
	for _, u := range t.units() {
		u.initialise(seed)
	}
}

func (t *trunk[T]) bytes(mode Mode) Memory {
	kept, buffers := 0, 1
	var m Memory
	for _, s := range t.stages {
		kept += s.keeps()
		buffers = max(buffers, s.buffers())
		for _, u := range s.parts() {
			m.Scratch = max(m.Scratch, u.conv.ScratchBytes()) // shared by all convolutions
			m.Activations += sizeOf[T](u.foldSize())
		}
	}
	lanes := conv.Lanes(t.maxBatch)
	m.Activations += sizeOf[T](t.maxBatch*t.last().channels + buffers*t.work.perSample*lanes)
	if mode == Train {
		m.Activations += sizeOf[T]((kept + t.in.size()) * lanes)
	}
	return m
}

// ConvInfo describes a convolution of a network.
type ConvInfo struct {
	Name      string // of its module: "layer1.0.conv1"
	Shape     conv.Shape
	Algorithm string // see conv.Conv.Algorithm
}

// Convs lists the convolutions, in PyTorch's order; none in an MLP.
func (n *Network[T]) Convs() []ConvInfo {
	if n.trunk == nil {
		return nil
	}
	var list []ConvInfo
	for _, u := range n.trunk.units() {
		list = append(list, ConvInfo{u.name, u.conv.Shape(), u.conv.Algorithm()})
	}
	return list
}
