package main

import (
	"fmt"
	"io"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// element is a floating-point type, or int32 for pairs of 16-bit words.
type element struct {
	name, goType string
	size         int
}

var (
	f32 = element{"F32", "float32", 4}
	f64 = element{"F64", "float64", 8}

	int16s = element{"Int16", "int32", 4}
)

// shape is the full tile of an instruction set: rows×vectors registers of sums.
type shape struct {
	set     string
	elem    element
	width   int // bytes of a vector
	rows    int
	vectors int
}

// AVX-512 has 32 registers: 24 sums, 2 vectors of B, factors of A broadcast by the instruction itself.
// AVX2 has 16: 12 sums, 3 vectors of B, one broadcast factor. 24 and 12 sums keep two FMA units of
// latency 4 to 5 busy; the tiles read 26 and 7 operands per 24 and 12 FMAs, within two loads a cycle.
// Rows are multiples of 4 because panels are packed by transposing 4 rows at a time.
var (
	avx512F32 = shape{"AVX512", f32, 64, 12, 2}
	avx512F64 = shape{"AVX512", f64, 64, 12, 2}
	avx2F32   = shape{"AVX2", f32, 32, 4, 3}
	avx2F64   = shape{"AVX2", f64, 32, 4, 3}

	avx512Int16 = shape{"AVX512", int16s, 64, 12, 2} // with VNNI
)

func (s shape) name(rows, vectors int) string {
	return fmt.Sprintf("tile%s%sx%dx%d", s.set, s.elem.name, rows, vectors)
}

func (s shape) vector(ctx *Context) Register {
	if s.width == 64 {
		return ctx.ZMM()
	}
	return ctx.YMM()
}

// writeTable writes the table tiles<set><elem>[rows-1][vectors-1].
func writeTable(w io.Writer, s shape) {
	fmt.Fprintf(w, "\nvar tiles%s%s = [][]tileFunc[%s]{\n", s.set, s.elem.name, s.elem.goType)
	for r := 1; r <= s.rows; r++ {
		fmt.Fprint(w, "{")
		for v := 1; v <= s.vectors; v++ {
			fmt.Fprintf(w, "%s, ", s.name(r, v))
		}
		fmt.Fprint(w, "},\n")
	}
	fmt.Fprint(w, "}\n")
}

func writeTiles(ctx *Context, s shape) {
	for r := 1; r <= s.rows; r++ {
		for v := 1; v <= s.vectors; v++ {
			writeTile(ctx, s, r, v)
		}
	}
}

// writeTile writes the tile of rows×vectors; the contract is tileFunc's.
func writeTile(ctx *Context, s shape, rows, vectors int) {
	const arguments = "k int, a *%[1]s, aRow, aCol int, b *%[1]s, bRow int, c *%[1]s, cRow int, bias *%[1]s, accumulate bool"
	signature := fmt.Sprintf("func("+arguments+")", s.elem.goType)
	begin(ctx, s.name(rows, vectors), signature, fmt.Sprintf("is a tileFunc of %d rows and %d vectors.", rows, vectors))
	t := tile{ctx: ctx, shape: s, rows: rows, vectors: vectors}
	t.prefetchC()
	t.clear()
	t.loop()
	t.store()
	end(ctx)
}

// tile is the state of writing one tile.
type tile struct {
	ctx *Context
	shape
	rows, vectors int
	sum           [][]Register // [row][vector]
}

func (t *tile) bytes(param string) Register { return scaled(t.ctx, param, t.elem) }

func (t *tile) pointer(param string) Register { return t.ctx.Load(t.ctx.Param(param), t.ctx.GP64()) }

// prefetchC asks for the tile's lines of C, which are needed when the loop ends.
func (t *tile) prefetchC() {
	c, row := t.pointer("c"), t.bytes("cRow")
	for r := range t.rows {
		for v := 0; v < t.vectors*t.width; v += 64 {
			t.ctx.PREFETCHT0(Mem{Base: c, Disp: v})
		}
		if r < t.rows-1 {
			t.ctx.ADDQ(row, c)
		}
	}
}

func (t *tile) clear() {
	for range t.rows {
		var row []Register
		for range t.vectors {
			z := t.vector(t.ctx)
			if t.width == 64 {
				t.ctx.VPXORD(z, z, z)
			} else {
				t.ctx.VXORPS(z, z, z)
			}
			row = append(row, z)
		}
		t.sum = append(t.sum, row)
	}
}

// loop adds k outer ops. Rows are reached from one pointer for every three of them.
func (t *tile) loop() {
	ctx := t.ctx
	k, aRow, aCol, bRow := t.pointer("k"), t.bytes("aRow"), t.bytes("aCol"), t.bytes("bRow")
	b := t.pointer("b")
	base := []Register{t.pointer("a")}
	for g := 1; g*3 < t.rows; g++ {
		next := ctx.GP64()
		ctx.LEAQ(Mem{Base: base[g-1], Index: aRow, Scale: 2}, next)
		ctx.ADDQ(aRow, next)
		base = append(base, next)
	}
	ctx.Instruction(align(32))
	ctx.Label("loop")
	var bs []Register
	for v := range t.vectors {
		y := t.vector(ctx)
		t.load(Mem{Base: b, Disp: v * t.width}, y)
		bs = append(bs, y)
	}
	for r := range t.rows {
		from := Mem{Base: base[r/3]}
		if r%3 > 0 {
			from.Index, from.Scale = aRow, uint8(r%3)
		}
		t.outer(from, bs, t.sum[r])
	}
	for _, pointer := range base {
		ctx.ADDQ(aCol, pointer)
	}
	ctx.ADDQ(bRow, b)
	ctx.DECQ(k)
	ctx.JNZ(LabelRef("loop"))
}

// outer adds one factor of A times the vectors of B to a row of sums.
func (t *tile) outer(from Mem, bs, sums []Register) {
	ctx, single := t.ctx, t.elem == f32
	if t.width == 64 {
		for v, y := range bs {
			switch {
			case t.elem == int16s:
				ctx.VPDPWSSD_BCST(from, y, sums[v])
			case single:
				ctx.VFMADD231PS_BCST(from, y, sums[v])
			default:
				ctx.VFMADD231PD_BCST(from, y, sums[v])
			}
		}
		return
	}
	x := ctx.YMM()
	if single {
		ctx.VBROADCASTSS(from, x)
	} else {
		ctx.VBROADCASTSD(from, x)
	}
	for v, y := range bs {
		if single {
			ctx.VFMADD231PS(x, y, sums[v])
		} else {
			ctx.VFMADD231PD(x, y, sums[v])
		}
	}
}

// store adds the bias and C where asked and writes the tile.
func (t *tile) store() {
	ctx := t.ctx
	bias := t.pointer("bias")
	ctx.TESTQ(bias, bias)
	ctx.JZ(LabelRef("biased"))
	for v := range t.vectors {
		y := t.vector(ctx)
		t.load(Mem{Base: bias, Disp: v * t.width}, y)
		for r := range t.rows {
			t.add(y, t.sum[r][v])
		}
	}
	ctx.Label("biased")
	row := t.bytes("cRow")
	accumulate := ctx.Load(ctx.Param("accumulate"), ctx.GP8())
	ctx.TESTB(accumulate, accumulate)
	ctx.JZ(LabelRef("accumulated"))
	t.eachC(row, func(m Mem, sum Register) { t.add(m, sum) })
	ctx.Label("accumulated")
	t.eachC(row, func(m Mem, sum Register) { t.load(sum, m) })
}

// eachC visits the tile's vectors in C.
func (t *tile) eachC(row Register, visit func(Mem, Register)) {
	c := t.pointer("c")
	for r := range t.rows {
		for v := range t.vectors {
			visit(Mem{Base: c, Disp: v * t.width}, t.sum[r][v])
		}
		if r < t.rows-1 {
			t.ctx.ADDQ(row, c)
		}
	}
}

func (t *tile) load(from, to Op) {
	if t.elem == f64 {
		t.ctx.VMOVUPD(from, to)
	} else {
		t.ctx.VMOVUPS(from, to)
	}
}

func (t *tile) add(x Op, sum Register) {
	switch t.elem {
	case f32:
		t.ctx.VADDPS(x, sum, sum)
	case f64:
		t.ctx.VADDPD(x, sum, sum)
	default:
		t.ctx.VPADDD(x, sum, sum)
	}
}
