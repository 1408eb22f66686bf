package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writeRoundInt16 is for AVX-512 alone: only there products of 16-bit numbers are faster than of floats.
func writeRoundInt16(ctx *Context) {
	begin(ctx, "roundInt16AVX512", "func(n int, dst *int32, x *float32, scale float32)", "is roundInt16Generic of n elements, a positive multiple of 16.")
	dst, x, scale := ctx.Load(ctx.Param("dst"), ctx.GP64()), ctx.Load(ctx.Param("x"), ctx.GP64()), ctx.ZMM()
	ctx.VBROADCASTSS(ctx.Load(ctx.Param("scale"), ctx.XMM()), scale)
	n, i := ctx.Load(ctx.Param("n"), ctx.GP64()), ctx.GP64()
	ctx.XORQ(i, i)
	ctx.Label("loop")
	v := ctx.ZMM()
	ctx.VMULPS(Mem{Base: x, Index: i, Scale: 4}, scale, v)
	ctx.VCVTPS2DQ(v, v)
	ctx.VPMOVSDW(v, Mem{Base: dst, Index: i, Scale: 2})
	ctx.ADDQ(Imm(16), i)
	ctx.CMPQ(i, n)
	ctx.JLT(LabelRef("loop"))
	end(ctx)
}
