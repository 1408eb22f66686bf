package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// align makes the next instruction start at a multiple of n bytes.
func align(n uint64) *ir.Instruction {
	return &ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(n)}}
}

// begin starts a function; doc goes on from its name.
func begin(ctx *Context, name, signature, doc string) {
	ctx.Function(name)
	ctx.Attributes(NOSPLIT)
	ctx.Pragma("noescape")
	ctx.SignatureExpr(signature)
	ctx.Doc(name + " " + doc)
}

// end returns.
func end(ctx *Context) {
	ctx.VZEROUPPER()
	ctx.RET()
}

// scaled loads a stride in elements as bytes.
func scaled(ctx *Context, param string, e element) Register {
	r := ctx.Load(ctx.Param(param), ctx.GP64())
	ctx.SHLQ(Imm(map[int]uint64{4: 2, 8: 3}[e.size]), r)
	return r
}

// writeTranspose writes ops.transpose4 with AVX: vectors of 4 rows become 4-element rows.
func writeTranspose(ctx *Context, e element) {
	begin(ctx, "transpose4AVX2"+e.name, fmt.Sprintf("func(dst *%s, dstRow int, src *%s, srcRow, k int)", e.goType, e.goType),
		fmt.Sprintf("copies 4 rows of k elements into k rows of 4; k is a multiple of %d.", 32/e.size))

	dst, src := ctx.Load(ctx.Param("dst"), ctx.GP64()), ctx.Load(ctx.Param("src"), ctx.GP64())
	dstRow, srcRow := scaled(ctx, "dstRow", e), scaled(ctx, "srcRow", e)
	k := ctx.Load(ctx.Param("k"), ctx.GP64())
	src3 := ctx.GP64()
	ctx.LEAQ(Mem{Base: src, Index: srcRow, Scale: 2}, src3)
	ctx.ADDQ(srcRow, src3)
	ctx.Label("loop")
	rows := make([]Register, 4)
	for r := range rows {
		rows[r] = ctx.YMM()
		m := Mem{Base: src}
		if r == 3 {
			m.Base = src3
		} else if r > 0 {
			m.Index, m.Scale = srcRow, uint8(r)
		}
		ctx.VMOVUPS(m, rows[r])
	}
	put := func(store func(Mem)) {
		store(Mem{Base: dst})
		ctx.ADDQ(dstRow, dst)
	}
	if e == f64 {
		transpose64(ctx, rows, put)
	} else {
		transpose32(ctx, rows, put)
	}
	ctx.ADDQ(Imm(32), src)
	ctx.ADDQ(Imm(32), src3)
	ctx.SUBQ(Imm(uint64(32/e.size)), k)
	ctx.JNZ(LabelRef("loop"))
	end(ctx)
}

// transpose32 turns 4 rows of 8 into 8 rows of 4. Within each half of a vector, interleaving pairs and
// then pairs of pairs transposes 4×4; the low halves hold the first four rows.
func transpose32(ctx *Context, r []Register, put func(func(Mem))) {
	t, u := ymms(ctx, 4), ymms(ctx, 4)
	ctx.VUNPCKLPS(r[1], r[0], t[0])
	ctx.VUNPCKHPS(r[1], r[0], t[1])
	ctx.VUNPCKLPS(r[3], r[2], t[2])
	ctx.VUNPCKHPS(r[3], r[2], t[3])
	ctx.VUNPCKLPD(t[2], t[0], u[0])
	ctx.VUNPCKHPD(t[2], t[0], u[1])
	ctx.VUNPCKLPD(t[3], t[1], u[2])
	ctx.VUNPCKHPD(t[3], t[1], u[3])
	for _, y := range u {
		put(func(m Mem) { ctx.VMOVUPS(y.(Vec).AsX(), m) })
	}
	for _, y := range u {
		put(func(m Mem) { ctx.VEXTRACTF128(Imm(1), y, m) })
	}
}

// transpose64 transposes 4 rows of 4.
func transpose64(ctx *Context, r []Register, put func(func(Mem))) {
	t, u := ymms(ctx, 4), ymms(ctx, 4)
	ctx.VUNPCKLPD(r[1], r[0], t[0])
	ctx.VUNPCKHPD(r[1], r[0], t[1])
	ctx.VUNPCKLPD(r[3], r[2], t[2])
	ctx.VUNPCKHPD(r[3], r[2], t[3])
	ctx.VPERM2F128(Imm(0x20), t[2], t[0], u[0])
	ctx.VPERM2F128(Imm(0x20), t[3], t[1], u[1])
	ctx.VPERM2F128(Imm(0x31), t[2], t[0], u[2])
	ctx.VPERM2F128(Imm(0x31), t[3], t[1], u[3])
	for _, y := range u {
		put(func(m Mem) { ctx.VMOVUPD(y, m) })
	}
}

func ymms(ctx *Context, n int) []Register {
	rs := make([]Register, n)
	for i := range rs {
		rs[i] = ctx.YMM()
	}
	return rs
}

// writeCopyRows writes ops.copyRows: pieces of 64 bytes, then of 16.
func writeCopyRows(ctx *Context, e element) {
	begin(ctx, "copyRowsAVX2"+e.name, fmt.Sprintf("func(dst *%s, dstRow int, src *%s, srcRow, width, k int)", e.goType, e.goType),
		"copies k rows of width elements; width is a multiple of 4.")

	dst, src := ctx.Load(ctx.Param("dst"), ctx.GP64()), ctx.Load(ctx.Param("src"), ctx.GP64())
	dstRow, srcRow := scaled(ctx, "dstRow", e), scaled(ctx, "srcRow", e)
	width, k := scaled(ctx, "width", e), ctx.Load(ctx.Param("k"), ctx.GP64())
	at, left := ctx.GP64(), ctx.GP64()
	ctx.Label("row")
	ctx.XORQ(at, at)
	ctx.PREFETCHT0(Mem{Base: src, Index: srcRow, Scale: 8})
	ctx.PREFETCHT0(Mem{Base: src, Index: srcRow, Scale: 8, Disp: 64})
	ctx.MOVQ(width, left)
	ctx.SUBQ(Imm(64), left)
	ctx.JB(LabelRef("narrow"))
	ctx.Label("wide")
	y := ymms(ctx, 2)
	for i, v := range y {
		ctx.VMOVUPS(Mem{Base: src, Index: at, Scale: 1, Disp: 32 * i}, v)
	}
	for i, v := range y {
		ctx.VMOVUPS(v, Mem{Base: dst, Index: at, Scale: 1, Disp: 32 * i})
	}
	ctx.ADDQ(Imm(64), at)
	ctx.SUBQ(Imm(64), left)
	ctx.JAE(LabelRef("wide"))
	ctx.Label("narrow")
	ctx.ADDQ(Imm(64), left)
	ctx.JZ(LabelRef("next"))
	x := ctx.XMM()
	ctx.Label("piece")
	ctx.VMOVUPS(Mem{Base: src, Index: at, Scale: 1}, x)
	ctx.VMOVUPS(x, Mem{Base: dst, Index: at, Scale: 1})
	ctx.ADDQ(Imm(16), at)
	ctx.SUBQ(Imm(16), left)
	ctx.JNZ(LabelRef("piece"))
	ctx.Label("next")
	ctx.ADDQ(srcRow, src)
	ctx.ADDQ(dstRow, dst)
	ctx.DECQ(k)
	ctx.JNZ(LabelRef("row"))
	end(ctx)
}
