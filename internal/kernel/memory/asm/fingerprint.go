package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"collapse.example/collapse/internal/kernel/asm"
)

// fingerprint hashes n blocks of 64 bytes into 16 lanes of 64 bits: the sum of the words, and the sum of the products of
// their halves after a mask that moves on by step with every block (as NH of Black et al. 1999 does).
func fingerprint(t asm.Target) {
	asm.Begin("fingerprint"+t.Suffix, "func(n int, x *byte, mask, step, sums *uint64)", "adds to sums[:8] and sums[8:] what fingerprintGeneric does.")
	p := asm.Pointers("n", "x", "mask", "step", "sums")
	from := t.Steps()
	var mask, step, plain, product []reg.VecVirtual
	for _, at := range from {
		mask = append(mask, t.Load(Mem{Base: p["mask"], Disp: at}))
		step = append(step, t.Load(Mem{Base: p["step"], Disp: at}))
		plain = append(plain, t.Load(Mem{Base: p["sums"], Disp: at}))
		product = append(product, t.Load(Mem{Base: p["sums"], Disp: 64 + at}))
	}
	Label("block")
	for i, at := range from {
		v, high := t.Load(Mem{Base: p["x"], Disp: at}), t.Vector()
		VPADDQ(v, plain[i], plain[i])
		if t.Wide {
			VPXORQ(mask[i], v, v)
		} else {
			VPXOR(mask[i], v, v)
		}
		VPSRLQ(Imm(32), v, high)
		VPMULUDQ(high, v, v)
		VPADDQ(v, product[i], product[i])
		VPADDQ(step[i], mask[i], mask[i])
	}
	ADDQ(Imm(64), p["x"])
	DECQ(p["n"])
	JNZ(LabelRef("block"))
	for i, at := range from {
		VMOVUPS(plain[i], Mem{Base: p["sums"], Disp: at})
		VMOVUPS(product[i], Mem{Base: p["sums"], Disp: 64 + at})
	}
	asm.End()
}
