package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copyVectors writes the copy of n pieces of some vectors from one spacing to another.
func (t target) copyVectors(vectors int) {
	name := fmt.Sprintf("%sx%d", t.name("convCopy"), vectors)
	elem := map[bool]string{false: "float32", true: "float64"}[t.double]
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *%s, dstStep int, src *%s, srcStep, n int)", elem, elem))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s copies n pieces of %d vectors; steps are in bytes, n is positive.", name, vectors))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	dstStep, srcStep, n := Load(Param("dstStep"), GP64()), Load(Param("srcStep"), GP64()), Load(Param("n"), GP64())
	Label("piece")
	for v := range vectors {
		x := t.vector()
		t.move(Mem{Base: src, Disp: v * t.width}, x)
		t.move(x, Mem{Base: dst, Disp: v * t.width})
	}
	ADDQ(srcStep, src)
	ADDQ(dstStep, dst)
	DECQ(n)
	JNZ(LabelRef("piece"))
	VZEROUPPER()
	RET()
}

// Fields of kernel.convTranspose, in order; the rows of source and result are 16 each.
const (
	turnDst = iota
	turnDstGap
	turnSrc
	turnSrcGap
	turnBlocks
	turnAhead
	turnSrcRows
	turnDstRows = turnSrcRows + 16
)

// transpose writes the transposition of blocks of 16 rows of 16 float32.
//
// Quarters of 4 columns are turned one after the other. A register first gathers the quarters of rows four apart,
// two of them or four, so that interleaving pairs and pairs of pairs of registers, which works within 16
// bytes, leaves columns.
func (t target) transpose() {
	name := "convTranspose" + t.set
	TEXT(name, NOSPLIT, "func(a *convTranspose)")
	Pragma("noescape")
	Doc(name + " is transposeGeneric for float32.")
	args := Load(Param("a"), GP64())
	src, srcGap, ahead := field(args, turnSrc), field(args, turnSrcGap), field(args, turnAhead)
	dst, dstGap := field(args, turnDst), field(args, turnDstGap)
	left := field(args, turnBlocks)
	ADDQ(src, ahead)
	Label("block")
	for quarter := range 4 {
		for first := 0; first < 16; first += t.width / 4 {
			t.turn(args, src, ahead, dst, quarter, first)
		}
	}
	ADDQ(srcGap, src)
	ADDQ(srcGap, ahead)
	ADDQ(dstGap, dst)
	DECQ(left)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// turn transposes a quarter of as many rows as a vector has elements, from row first on. The first quarter
// asks for the rows of the block ahead.
func (t target) turn(args, src, ahead, dst reg.Register, quarter, first int) {
	g := make([]reg.VecVirtual, 4) // g[i] holds rows first+i, first+i+4, …
	row := GP64()
	for i := range g {
		g[i] = t.vector()
		for j := range t.width / 16 {
			MOVQ(Mem{Base: args, Disp: 8 * (turnSrcRows + first + i + 4*j)}, row)
			t.gather(Mem{Base: src, Index: row, Scale: 1, Disp: 16 * quarter}, j, g[i])
			if quarter == 0 {
				PREFETCHT0(Mem{Base: ahead, Index: row, Scale: 1})
			}
		}
	}
	low0, low1, high0, high1 := t.vector(), t.vector(), t.vector(), t.vector()
	VUNPCKLPS(g[1], g[0], low0)
	VUNPCKLPS(g[3], g[2], low1)
	VUNPCKHPS(g[1], g[0], high0)
	VUNPCKHPS(g[3], g[2], high1)
	line := 4 * quarter
	put := func(v reg.VecVirtual) {
		skip := fmt.Sprintf("skip%d_%d", line, first)
		to := field(args, turnDstRows+line)
		TESTQ(to, to)
		JS(LabelRef(skip))
		VMOVUPS(v, Mem{Base: dst, Index: to, Scale: 1, Disp: 4 * first})
		Label(skip)
		line++
	}
	for _, pair := range [][2]reg.VecVirtual{{low0, low1}, {high0, high1}} {
		one, other := t.vector(), t.vector()
		VUNPCKLPD(pair[1], pair[0], one)
		VUNPCKHPD(pair[1], pair[0], other)
		put(one)
		put(other)
	}
}

// gather loads 16 bytes into part j of v; the first goes to every part.
func (t target) gather(from Mem, j int, v reg.VecVirtual) {
	switch {
	case j == 0 && t.width == 64:
		VBROADCASTF32X4(from, v)
	case j == 0:
		VBROADCASTF128(from, v)
	case t.width == 64:
		VINSERTF32X4(Imm(uint64(j)), from, v, v)
	default:
		VINSERTF128(Imm(uint64(j)), from, v, v)
	}
}
