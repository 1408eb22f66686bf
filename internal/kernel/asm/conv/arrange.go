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

// transpose16 writes the transposition of blocks of 16 rows of 16 float32 for AVX-512.
//
// Each register first gathers one quarter of four rows four apart, so that interleaving pairs and
// pairs of pairs of registers, which works within quarters, leaves whole columns.
func transpose16() {
	TEXT("convTransposeAVX512", NOSPLIT, "func(a *convTranspose)")
	Pragma("noescape")
	Doc("convTransposeAVX512 is transposeGeneric for float32.")
	args := Load(Param("a"), GP64())
	src, srcGap, ahead := field(args, turnSrc), field(args, turnSrcGap), field(args, turnAhead)
	dst, dstGap := field(args, turnDst), field(args, turnDstGap)
	left := field(args, turnBlocks)
	ADDQ(src, ahead)
	Label("block")
	for quarter := range 4 {
		turnQuarter(args, src, ahead, dst, quarter)
	}
	ADDQ(srcGap, src)
	ADDQ(srcGap, ahead)
	ADDQ(dstGap, dst)
	DECQ(left)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// turnQuarter transposes columns 4·quarter … 4·quarter+3 of a block into four rows of the result. The
// first quarter asks for the rows of the block ahead.
func turnQuarter(args, src, ahead, dst reg.Register, quarter int) {
	g := make([]reg.VecVirtual, 4) // g[i] holds rows i, i+4, i+8, i+12
	row := GP64()
	for i := range g {
		g[i] = ZMM()
		for j := range 4 {
			MOVQ(Mem{Base: args, Disp: 8 * (turnSrcRows + i + 4*j)}, row)
			from := Mem{Base: src, Index: row, Scale: 1, Disp: 16 * quarter}
			if j == 0 {
				VMOVUPS(from, g[i].AsX())
			} else {
				VINSERTF32X4(Imm(uint64(j)), from, g[i], g[i])
			}
			if quarter == 0 {
				PREFETCHT0(Mem{Base: ahead, Index: row, Scale: 1})
			}
		}
	}
	low0, low1, high0, high1 := ZMM(), ZMM(), ZMM(), ZMM()
	VUNPCKLPS(g[1], g[0], low0)
	VUNPCKLPS(g[3], g[2], low1)
	VUNPCKHPS(g[1], g[0], high0)
	VUNPCKHPS(g[3], g[2], high1)
	line := 4 * quarter
	put := func(v reg.VecVirtual) {
		skip := fmt.Sprint("skip", line)
		to := field(args, turnDstRows+line)
		TESTQ(to, to)
		JS(LabelRef(skip))
		VMOVUPS(v, Mem{Base: dst, Index: to, Scale: 1})
		Label(skip)
		line++
	}
	for _, pair := range [][2]reg.VecVirtual{{low0, low1}, {high0, high1}} {
		first, second := ZMM(), ZMM()
		VUNPCKLPD(pair[1], pair[0], first)
		VUNPCKHPD(pair[1], pair[0], second)
		put(first)
		put(second)
	}
}
