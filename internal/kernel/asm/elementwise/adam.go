package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

func (t target) adam() {
	begin("adam"+t.suffix, "func(n int, p, grad, m, v *float32, decay, beta1, take1, beta2, take2, root, eps, rate float32)", "is adamGeneric.")
	p, g, m, v := Load(Param("p"), GP64()), Load(Param("grad"), GP64()), Load(Param("m"), GP64()), Load(Param("v"), GP64())
	decay, eps, root, rate := t.broadcast("decay"), t.broadcast("eps"), t.broadcast("root"), t.broadcast("rate")
	beta1, take1, beta2, take2 := t.broadcast("beta1"), t.broadcast("take1"), t.broadcast("beta2"), t.broadcast("take2")
	t.elements(func(i reg.Register) {
		value, d, first, second := t.load(at(p, i)), t.vector(), t.vector(), t.vector()
		VMULPS(decay, value, d)
		VADDPS(at(g, i), d, d)
		VMULPS(at(v, i), beta2, second)
		scaled := t.vector()
		VMULPS(take2, d, scaled)
		VMULPS(d, scaled, scaled)
		VADDPS(scaled, second, second)
		VMOVUPS(second, at(v, i))
		VMULPS(at(m, i), beta1, first)
		VMULPS(take1, d, d)
		VADDPS(d, first, first)
		VMOVUPS(first, at(m, i))
		VSQRTPS(second, second)
		VDIVPS(root, second, second)
		VADDPS(eps, second, second)
		VMULPS(rate, first, first)
		VDIVPS(second, first, first)
		VSUBPS(first, value, value)
		VMOVUPS(value, at(p, i))
	})
}
