package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peakSums is how many independent sums the peak loop keeps: more than latency × units of any machine.
const peakSums = 12

// writePeak writes the loop that measures the limit of fused multiply-adds: registers only.
func writePeak(ctx *Context, s shape) {
	name := "peak" + s.set + s.elem.name
	ctx.Function(name)
	ctx.Attributes(NOSPLIT)
	ctx.SignatureExpr("func(rounds int)")
	ctx.Doc(fmt.Sprintf("%s does %d floating-point operations a round; rounds is positive.",
		name, 2*peakSums*s.width/s.elem.size))
	t := tile{ctx: ctx, shape: s, rows: peakSums, vectors: 1}
	t.clear()
	x := s.vector(ctx)
	if s.width == 64 {
		ctx.VPXORD(x, x, x)
	} else {
		ctx.VXORPS(x, x, x)
	}
	rounds := ctx.Load(ctx.Param("rounds"), ctx.GP64())
	ctx.Instruction(align(32))
	ctx.Label("loop")
	for _, row := range t.sum {
		if s.elem == f32 {
			ctx.VFMADD231PS(x, x, row[0])
		} else {
			ctx.VFMADD231PD(x, x, row[0])
		}
	}
	ctx.DECQ(rounds)
	ctx.JNZ(LabelRef("loop"))
	end(ctx)
}

// writeSum writes the sum that measures how fast memory is read.
func writeSum(ctx *Context) {
	begin(ctx, "sumAVX2", "func(x *float32, n int) float32",
		"adds n elements, a positive multiple of 64, in 64 interleaved sums.")
	const sums = 8
	acc := ymms(ctx, sums)
	for _, a := range acc {
		ctx.VXORPS(a, a, a)
	}
	x, n := ctx.Load(ctx.Param("x"), ctx.GP64()), ctx.Load(ctx.Param("n"), ctx.GP64())
	ctx.Label("loop")
	for i, a := range acc {
		ctx.VADDPS(Mem{Base: x, Disp: 32 * i}, a, a)
	}
	ctx.ADDQ(U32(32*sums), x)
	ctx.SUBQ(Imm(8*sums), n)
	ctx.JNZ(LabelRef("loop"))
	for step := sums / 2; step > 0; step /= 2 {
		for i := range step {
			ctx.VADDPS(acc[i+step], acc[i], acc[i])
		}
	}
	low, high := ctx.XMM(), ctx.XMM()
	ctx.VEXTRACTF128(Imm(0), acc[0], low)
	ctx.VEXTRACTF128(Imm(1), acc[0], high)
	ctx.VADDPS(high, low, low)
	ctx.VHADDPS(low, low, low)
	ctx.VHADDPS(low, low, low)
	ctx.Store(low, ctx.ReturnIndex(0))
	end(ctx)
}
