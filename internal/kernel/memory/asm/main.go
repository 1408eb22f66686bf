// Command asm writes the loops of package memory for amd64: the go:generate line in memory_amd64.go runs it. read.go and
// fingerprint.go hold the generic versions that define them.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"collapse.example/collapse/internal/kernel/asm"
)

func main() {
	for _, t := range asm.Targets {
		fingerprint(t)
	}
	sum()
	prefetch()
	Generate()
}

// sum adds in 64 interleaved sums, as fast as memory delivers.
func sum() {
	asm.Begin("sumAVX2", "func(x *float32, n int) float32", "adds n elements, a positive multiple of 64, in 64 interleaved sums.")
	const sums = 8
	var acc [sums]reg.VecVirtual
	for i := range acc {
		acc[i] = YMM()
	}
	for _, a := range acc {
		VXORPS(a, a, a)
	}
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	for i, a := range acc {
		VADDPS(Mem{Base: x, Disp: 32 * i}, a, a)
	}
	ADDQ(U32(32*sums), x)
	SUBQ(Imm(8*sums), n)
	JNZ(LabelRef("loop"))
	for step := sums / 2; step > 0; step /= 2 {
		for i := range step {
			VADDPS(acc[i+step], acc[i], acc[i])
		}
	}
	low, high := XMM(), XMM()
	VEXTRACTF128(Imm(0), acc[0], low)
	VEXTRACTF128(Imm(1), acc[0], high)
	VADDPS(high, low, low)
	VHADDPS(low, low, low)
	VHADDPS(low, low, low)
	Store(low, ReturnIndex(0))
	asm.End()
}

// prefetch asks for n cache lines from x on.
func prefetch() {
	asm.Begin("prefetchLines", "func(n int, x *byte)", "asks for n cache lines, at least one, from x on.")
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	Label("line")
	PREFETCHT0(Mem{Base: x})
	ADDQ(Imm(64), x)
	DECQ(n)
	JNZ(LabelRef("line"))
	RET()
}
