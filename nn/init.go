package nn

import (
	"math"
	"math/rand/v2"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/elementwise"
	"collapse.example/collapse/internal/kernel/memory"
)

// allocateParams carves values and gradients of all parameters out of two arenas, every tensor
// on a 64-byte boundary.
func (n *Network[T]) allocateParams() {
	const align = 16 // elements: 64 bytes of float32, 128 of float64
	total := 0
	for _, p := range n.params {
		total += (p.Size() + align - 1) / align * align
	}
	values, grads := memory.Alloc[T](total), memory.Alloc[T](total)
	for _, p := range n.params {
		size := p.Size()
		p.Value, p.Grad = values[:size:size], grads[:size:size]
		step := (size + align - 1) / align * align
		values, grads = values[step:], grads[step:]
	}
}

// size is the product of the shape, since a layout has no values yet.
func (b *Buffer[T]) size() int {
	n := 1
	for _, s := range b.Shape {
		n *= s
	}
	return n
}

// initialise draws every parameter by its layer's law.
func (n *Network[T]) initialise(seed uint64) {
	for _, l := range n.layers {
		l.initialise(seed)
	}
	n.fc.initialise(seed)
}

// initialise draws PyTorch's default law: weight and bias from U(−b, b) with b = 1/√fan_in; or the weight from
// N(0, deviation²).
func (l *linear[T]) initialise(seed uint64) {
	if l.bias != nil {
		l.biasGrad = elementwise.NewColSums[T](l.out)
	}
	if l.deviation > 0 {
		normal(l.weight, l.deviation, seed)
		return
	}
	bound := 1 / math.Sqrt(float64(l.in))
	uniform(l.weight, bound, seed)
	if l.bias != nil {
		uniform(l.bias, bound, seed)
	}
}

// uniform fills p from its own stream: PCG of math/rand/v2 with state (seed, FNV-1a of the
// parameter's name), so that a tensor's values depend only on its name, its size and the seed. u =
// (x>>11)·2⁻⁵³ for each 64-bit draw x, and the value is (2u − 1)·bound in float64, rounded once to
// T: 2u − 1 is exact, so no target's fused multiply-add changes a bit.
func uniform[T kernel.Float](p *Param[T], bound float64, seed uint64) {
	stream := rand.NewPCG(seed, fnv1a(p.Name))
	for i := range p.Value {
		u := float64(stream.Uint64()>>11) * 0x1p-53
		p.Value[i] = T((2*u - 1) * bound)
	}
}

// normal fills p from its own stream, as uniform does, with N(0, deviation²): pairs of normal numbers by the polar method
// (Marsaglia and Bray 1964), computed in float64 and rounded once.
func normal[T kernel.Float](p *Param[T], deviation float64, seed uint64) {
	stream := rand.NewPCG(seed, fnv1a(p.Name))
	draw := func() float64 { return 2*(float64(stream.Uint64()>>11)*0x1p-53) - 1 }
	for i := 0; i < len(p.Value); i += 2 {
		u, v, s := 0.0, 0.0, 0.0
		for s == 0 || s >= 1 {
			u, v = draw(), draw()
			s = float64(u*u) + float64(v*v)
		}
		scale := deviation * math.Sqrt(-2*math.Log(s)/s)
		p.Value[i] = T(u * scale)
		if i+1 < len(p.Value) {
			p.Value[i+1] = T(v * scale)
		}
	}
}

// fnv1a is the 64-bit FNV-1a hash.
func fnv1a(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
