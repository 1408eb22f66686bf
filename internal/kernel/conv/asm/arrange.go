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

// Fields of convTranspose, in order; the rows of source and result are 16 each.
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
func (t target) transpose() {
	args := t.function("convTranspose"+t.set, "convTranspose", "is transposeGeneric for float32.")
	src, srcGap, ahead := field(args, turnSrc), field(args, turnSrcGap), field(args, turnAhead)
	dst, dstGap := field(args, turnDst), field(args, turnDstGap)
	left := field(args, turnBlocks)
	ADDQ(src, ahead)
	Label("block")
	if t.width == 64 {
		t.turnBlock(args, src, ahead, dst)
	} else {
		t.turnQuarters(args, src, ahead, dst)
	}
	ADDQ(srcGap, src)
	ADDQ(srcGap, ahead)
	ADDQ(dstGap, dst)
	DECQ(left)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// turnBlock transposes a block whose rows fill registers. Each row is read once: rows that lie a power of two apart share a
// set of the first-level cache, which holds half of them.
func (t target) turnBlock(args, src, ahead, dst reg.Register) {
	var quads [4][4]reg.VecVirtual // quads[g][j] holds of rows 4g to 4g+3 columns j, j+4, j+8, j+12
	for g := range quads {
		rows := make([]reg.VecVirtual, 4)
		for i := range rows {
			row := GP64()
			MOVQ(Mem{Base: args, Disp: 8 * (turnSrcRows + 4*g + i)}, row)
			rows[i] = t.vector()
			t.move(Mem{Base: src, Index: row, Scale: 1}, rows[i])
			PREFETCHT0(Mem{Base: ahead, Index: row, Scale: 1})
		}
		copy(quads[g][:], t.interleave(rows))
	}
	for j := range 4 {
		even := [2]reg.VecVirtual{t.vector(), t.vector()}
		odd := [2]reg.VecVirtual{t.vector(), t.vector()}
		for half := range 2 {
			a, b := quads[2*half][j], quads[2*half+1][j]
			VSHUFF32X4(Imm(0x88), b, a, even[half])
			VSHUFF32X4(Imm(0xdd), b, a, odd[half])
		}
		for l, pair := range [][2]reg.VecVirtual{even, odd, even, odd} {
			v := t.vector()
			parts := uint64(0x88)
			if l >= 2 {
				parts = 0xdd
			}
			VSHUFF32X4(Imm(parts), pair[1], pair[0], v)
			t.putLine(args, dst, v, 4*l+j, 0)
		}
	}
}

// interleave turns four rows: result j holds column j of every 16 bytes.
func (t target) interleave(rows []reg.VecVirtual) []reg.VecVirtual {
	var pairs [4]reg.VecVirtual
	for i := range pairs {
		pairs[i] = t.vector()
	}
	VUNPCKLPS(rows[1], rows[0], pairs[0])
	VUNPCKLPS(rows[3], rows[2], pairs[1])
	VUNPCKHPS(rows[1], rows[0], pairs[2])
	VUNPCKHPS(rows[3], rows[2], pairs[3])
	out := make([]reg.VecVirtual, 4)
	for j := range out {
		out[j] = t.vector()
		a, b := pairs[j&2], pairs[j&2+1]
		if j%2 == 0 {
			VUNPCKLPD(b, a, out[j])
		} else {
			VUNPCKHPD(b, a, out[j])
		}
	}
	return out
}

// putLine stores elements from first on of a row of the result that is wanted.
func (t target) putLine(args, dst reg.Register, v reg.VecVirtual, line, first int) {
	skip := fmt.Sprintf("skip%d_%d", line, first)
	to := field(args, turnDstRows+line)
	TESTQ(to, to)
	JS(LabelRef(skip))
	t.move(v, Mem{Base: dst, Index: to, Scale: 1, Disp: 4 * first})
	Label(skip)
}

// turnQuarters transposes a block where registers hold half of a row. Quarters of 4 columns are turned one after the other,
// 8 rows at a time: a register gathers the quarters of rows four apart. The first quarter asks for the block ahead.
func (t target) turnQuarters(args, src, ahead, dst reg.Register) {
	row := GP64()
	for quarter := range 4 {
		for first := 0; first < 16; first += 8 {
			g := make([]reg.VecVirtual, 4) // g[i] holds rows first+i and first+i+4
			for i := range g {
				g[i] = t.vector()
				for half := range 2 {
					MOVQ(Mem{Base: args, Disp: 8 * (turnSrcRows + first + i + 4*half)}, row)
					from := Mem{Base: src, Index: row, Scale: 1, Disp: 16 * quarter}
					if half == 0 {
						VBROADCASTF128(from, g[i])
					} else {
						VINSERTF128(Imm(1), from, g[i], g[i])
					}
					if quarter == 0 {
						PREFETCHT0(Mem{Base: ahead, Index: row, Scale: 1})
					}
				}
			}
			for j, v := range t.interleave(g) {
				t.putLine(args, dst, v, 4*quarter+j, first)
			}
		}
	}
}
