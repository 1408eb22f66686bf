package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Fields of convTile, in order.
const (
	tileA = iota
	tileB
	tileC
	tileRuns
	tileRunCount
	tileK
	tileARow
	tileACol
	tileBRow
	tileCRow
	tileBias
	tileAdd
	tileAddRow
	tileReLU
	tileStream
	tileCount
	tileANext
	tileBNext
	tileCNext
)

// tile writes the product of rows×vectors sums; convTile tells what it computes.
func (t target) tile(rows, vectors int) {
	args := t.function(fmt.Sprintf("%sx%dx%d", t.name("convTile"), rows, vectors), "convTile",
		fmt.Sprintf("computes tiles of %d rows and %d vectors.", rows, vectors))
	Label("tile")
	sums := make([][]reg.VecVirtual, rows)
	for r := range sums {
		for range vectors {
			v := t.vector()
			t.zero(v)
			sums[r] = append(sums[r], v)
		}
	}
	t.runs(args, sums)
	t.finishTile(args, sums)
	DECQ(Mem{Base: args, Disp: 8 * tileCount})
	JLE(LabelRef("last"))
	for _, f := range [][2]int{{tileA, tileANext}, {tileB, tileBNext}, {tileC, tileCNext}} {
		ADDQ(field(args, f[1]), Mem{Base: args, Disp: 8 * f[0]})
	}
	JMP(LabelRef("tile"))
	Label("last")
	VZEROUPPER()
	RET()
}

// runs adds up the outer products of every run.
func (t target) runs(args reg.Register, sums [][]reg.VecVirtual) {
	run, left := field(args, tileRuns), field(args, tileRunCount)
	aRow, aCol, bRow := field(args, tileARow), field(args, tileACol), field(args, tileBRow)
	TESTQ(left, left)
	JZ(LabelRef("done"))
	Label("run")
	a, b, k := field(args, tileA), field(args, tileB), field(args, tileK)
	ADDQ(Mem{Base: run}, a)
	ADDQ(Mem{Base: run, Disp: 8}, b)
	base := []reg.Register{a}
	for g := 1; g*3 < len(sums); g++ { // one pointer for every three rows
		next := GP64()
		LEAQ(Mem{Base: base[g-1], Index: aRow, Scale: 2}, next)
		ADDQ(aRow, next)
		base = append(base, next)
	}
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(32)}})
	Label("product")
	cols := make([]reg.VecVirtual, len(sums[0]))
	for v := range cols {
		cols[v] = t.vector()
		t.move(Mem{Base: b, Disp: v * t.width}, cols[v])
	}
	for r, row := range sums {
		from := Mem{Base: base[r/3]}
		if r%3 > 0 {
			from.Index, from.Scale = aRow, uint8(r%3)
		}
		t.outer(from, cols, row)
	}
	for _, p := range base {
		ADDQ(aCol, p)
	}
	ADDQ(bRow, b)
	DECQ(k)
	JNZ(LabelRef("product"))
	ADDQ(Imm(16), run)
	DECQ(left)
	JNZ(LabelRef("run"))
	Label("done")
}

// outer adds one factor times the columns to a row of sums.
func (t target) outer(from Mem, cols, row []reg.VecVirtual) {
	if t.width == 64 {
		for v, y := range cols {
			t.fmaBroadcast(from, y, row[v])
		}
		return
	}
	x := YMM()
	t.broadcast(from, x)
	for v, y := range cols {
		t.fma(x, y, row[v])
	}
}

// finishTile applies the epilogue and stores the sums.
func (t target) finishTile(args reg.Register, sums [][]reg.VecVirtual) {
	t.optional(field(args, tileBias), "biased", func(bias reg.Register) {
		for r, row := range sums {
			x := t.vector()
			t.broadcast(Mem{Base: bias, Disp: r * t.size()}, x)
			for _, s := range row {
				t.add(x, s, s)
			}
		}
	})
	t.optional(field(args, tileAdd), "added", func(add reg.Register) {
		step := field(args, tileAddRow)
		for r, row := range sums {
			for v, s := range row {
				t.add(Mem{Base: add, Disp: v * t.width}, s, s)
			}
			if r < len(sums)-1 {
				ADDQ(step, add)
			}
		}
	})
	t.optional(field(args, tileReLU), "rectified", func(reg.Register) {
		z := t.vector()
		t.zero(z)
		for _, row := range sums {
			for _, s := range row {
				t.relu(s, z)
			}
		}
	})
	if t.width < 64 {
		t.storeTile(args, sums, t.move)
		return
	}
	stream := field(args, tileStream)
	TESTQ(stream, stream)
	JZ(LabelRef("kept"))
	t.storeTile(args, sums, t.stream)
	JMP(LabelRef("stored"))
	Label("kept")
	t.storeTile(args, sums, t.move)
	Label("stored")
}

func (t target) storeTile(args reg.Register, sums [][]reg.VecVirtual, move func(from, to Op)) {
	c, step := field(args, tileC), field(args, tileCRow)
	for r, row := range sums {
		for v, s := range row {
			move(s, Mem{Base: c, Disp: v * t.width})
		}
		if r < len(sums)-1 {
			ADDQ(step, c)
		}
	}
}

// optional writes body so that it is skipped when r is zero.
func (t target) optional(r reg.Register, label string, body func(reg.Register)) {
	TESTQ(r, r)
	JZ(LabelRef(label))
	body(r)
	Label(label)
}
