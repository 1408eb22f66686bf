package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"

	"collapse.example/collapse/internal/kernel/asm"
)

func (t target) adam() {
	asm.Begin("adam"+t.Suffix, "func(n int, p, grad, m, v *float32, decay, beta1, take1, beta2, take2, root, eps, rate float32)", "is adamGeneric.")
	p, g, m, v := Load(Param("p"), GP64()), Load(Param("grad"), GP64()), Load(Param("m"), GP64()), Load(Param("v"), GP64())
	decay, eps, root, rate := t.Broadcast("decay"), t.Broadcast("eps"), t.Broadcast("root"), t.Broadcast("rate")
	beta1, take1, beta2, take2 := t.Broadcast("beta1"), t.Broadcast("take1"), t.Broadcast("beta2"), t.Broadcast("take2")
	t.Elements(func(i reg.Register) {
		value, d, first, second := t.Load(asm.At(p, i)), t.Vector(), t.Vector(), t.Vector()
		VMULPS(decay, value, d)
		VADDPS(asm.At(g, i), d, d)
		VMULPS(asm.At(v, i), beta2, second)
		scaled := t.Vector()
		VMULPS(take2, d, scaled)
		VMULPS(d, scaled, scaled)
		VADDPS(scaled, second, second)
		VMOVUPS(second, asm.At(v, i))
		VMULPS(asm.At(m, i), beta1, first)
		VMULPS(take1, d, d)
		VADDPS(d, first, first)
		VMOVUPS(first, asm.At(m, i))
		VSQRTPS(second, second)
		VDIVPS(root, second, second)
		VADDPS(eps, second, second)
		VMULPS(rate, first, first)
		VDIVPS(second, first, first)
		VSUBPS(first, value, value)
		VMOVUPS(value, asm.At(p, i))
	})
}
