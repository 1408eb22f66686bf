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
