package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Fields of convTransform, in order.
const (
	formSrc = iota
	formSrcRow
	formSrcCol
	formSrcGap
	formSrcAt
	formSrcMask
	formDst
	formDstRow
	formDstCol
	formDstGap
	formDstMask
	formCount
	formTemp
	formBias
	formBiasGap
	formAdd
	formAddGap
	formReLU
	formStream
	formNow // copies of src, dst, bias, add and count that advance
)

// transform is a linear map of vectors applied to the columns and then to the rows of a small grid.
type transform struct {
	name     string
	from, to int        // extent of the grid before and after
	masked   bool       // grid points of the source may lie outside it
	epilogue bool       // bias, addend, rectifier; grid points of the result may lie outside it
	pieces   []lineFunc // the map on one line: each gives some of its results, in order; only the last may spoil the line
}

type lineFunc func(t target, x []reg.VecVirtual) []reg.VecVirtual

func (t target) transforms() {
	for _, f := range []transform{
		{"winogradInput", 6, 6, true, false, []lineFunc{target.inputLineFirst, target.inputLineLast}},
		{"winogradOutput", 6, 4, false, true, []lineFunc{target.outputLine}},
		{"winogradGradient", 4, 6, true, false, []lineFunc{target.gradientLine}},
		{"winogradFilter", 3, 6, false, false, []lineFunc{target.filterLine}},
		{"winogradFilterGradient", 6, 3, false, false, []lineFunc{target.filterGradientLine}},
	} {
		t.transform(f)
	}
}

func (t target) transform(f transform) {
	args := t.function(t.name(f.name), "convTransform", fmt.Sprintf("transforms grids of %d×%d vectors to %d×%d.", f.from, f.from, f.to, f.to))
	for i, f := range nowFields {
		MOVQ(field(args, f), now(args, i))
	}
	ADDQ(field(args, formSrcAt), now(args, nowSrc))
	Label("grid")
	if t.width == 64 {
		// A piece of the columns fits the registers: 24 vectors at most.
		first := 0
		for i, piece := range f.pieces {
			between := t.columns(f, args, fmt.Sprint("piece", i), i == 0, piece)
			t.lines(f, args, first, between)
			first += len(between)
		}
	} else {
		t.lines(f, args, 0, t.columnsInMemory(f, args))
	}
	advance(args, nowSrc, formSrcGap)
	advance(args, nowDst, formDstGap)
	if f.epilogue {
		advance(args, nowBias, formBiasGap)
		advance(args, nowAdd, formAddGap)
	}
	DECQ(now(args, nowCount))
	JNZ(LabelRef("grid"))
	VZEROUPPER()
	RET()
}

// What advances from grid to grid is kept in memory, because the registers are needed for other things,
// and apart from the pointers, which must stay within their objects for the garbage collector.
const (
	nowSrc = iota
	nowDst
	nowBias
	nowAdd
	nowCount
)

var nowFields = [...]int{formSrc, formDst, formBias, formAdd, formCount}

func now(args reg.Register, i int) Mem { return Mem{Base: args, Disp: 8 * (formNow + i)} }

// load returns what advances in a register.
func load(args reg.Register, i int) reg.Register {
	r := GP64()
	MOVQ(now(args, i), r)
	return r
}

func advance(args reg.Register, i, gap int) { ADDQ(field(args, gap), now(args, i)) }

// line is the whole map on one line, which it spoils.
func (f *transform) line(t target, x []reg.VecVirtual) (out []reg.VecVirtual) {
	for _, piece := range f.pieces {
		out = append(out, piece(t, x)...)
	}
	return out
}

// A between is the rows after the columns have been mapped, in registers or in memory.
type between [][]Op

// columns applies a piece of the map to each column of the source and returns its results in registers. It asks for the next grid if asked to.
func (t target) columns(f transform, args reg.Register, label string, ahead bool, piece lineFunc) (rows between) {
	t.eachColumn(f, args, label, ahead, func(x int, in []reg.VecVirtual) {
		out := piece(t, in)
		if x == 0 {
			rows = make(between, len(out))
		}
		for y, v := range out {
			rows[y] = append(rows[y], v)
		}
	})
	return rows
}

// columnsInMemory maps each column of the source and leaves the results in temp, row by row.
func (t target) columnsInMemory(f transform, args reg.Register) between {
	temp := field(args, formTemp)
	rows := make(between, f.to)
	t.eachColumn(f, args, "column", true, func(x int, in []reg.VecVirtual) {
		for y, v := range f.line(t, in) {
			at := Mem{Base: temp, Disp: (y*f.from + x) * t.width}
			t.move(v, at)
			rows[y] = append(rows[y], at)
		}
	})
	return rows
}

// eachColumn hands the columns of the source to body.
func (t target) eachColumn(f transform, args reg.Register, label string, ahead bool, body func(x int, in []reg.VecVirtual)) {
	row, col := field(args, formSrcRow), field(args, formSrcCol)
	row3, row5 := GP64(), GP64()
	LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
	LEAQ(Mem{Base: row, Index: row, Scale: 4}, row5)
	var mask reg.Register
	if f.masked {
		mask = field(args, formSrcMask)
	}
	from, next := load(args, nowSrc), field(args, formSrcGap)
	ADDQ(from, next)
	for x := range f.from {
		in := make([]reg.VecVirtual, f.from)
		for y := range in {
			in[y] = t.vector()
			at := []Mem{{Base: from}, {Base: from, Index: row, Scale: 1}, {Base: from, Index: row, Scale: 2},
				{Base: from, Index: row3, Scale: 1}, {Base: from, Index: row, Scale: 4}, {Base: from, Index: row5, Scale: 1}}[y]
			outside := fmt.Sprintf("%soutside%d", label, y*f.from+x)
			if f.masked {
				t.zero(in[y])
				BTQ(Imm(uint64(y*f.from+x)), mask)
				JCC(LabelRef(outside))
			}
			t.move(at, in[y])
			if ahead {
				at.Base = next
				PREFETCHT0(at)
			}
			if f.masked {
				Label(outside)
			}
		}
		body(x, in)
		if x < f.from-1 {
			ADDQ(col, from)
			ADDQ(col, next)
		}
	}
}

// lines maps rows, those of the result from first on, and stores the results.
func (t target) lines(f transform, args reg.Register, first int, rows between) {
	row, col := field(args, formDstRow), field(args, formDstCol)
	line, to := load(args, nowDst), GP64()
	for range first {
		ADDQ(row, line)
	}
	var mask, gap, stream reg.Register
	if f.epilogue {
		mask, gap, stream = field(args, formDstMask), field(args, formDstGap), field(args, formStream)
	}
	for i, between := range rows {
		y := first + i
		MOVQ(line, to)
		out := f.line(t, t.inRegisters(between))
		if f.epilogue {
			t.finishLine(args, y, out, mask, to, col)
		}
		for x, v := range out {
			if f.epilogue {
				outside := fmt.Sprintf("dropped%d", y*f.to+x)
				BTQ(Imm(uint64(y*f.to+x)), mask)
				JCC(LabelRef(outside))
				t.storePixel(v, to, gap, stream, fmt.Sprint("kept", y*f.to+x), outside)
				Label(outside)
			} else {
				t.move(v, Mem{Base: to})
			}
			if x < f.to-1 {
				ADDQ(col, to)
			}
		}
		if y < f.to-1 {
			ADDQ(row, line)
		}
	}
}

// storePixel stores a vector of the result: past the caches if stream is set and the vector is a line, else with a request for the next grid's.
func (t target) storePixel(v reg.VecVirtual, to, gap, stream reg.Register, kept, done string) {
	if t.width == 64 {
		TESTQ(stream, stream)
		JZ(LabelRef(kept))
		t.stream(v, Mem{Base: to})
		JMP(LabelRef(done))
		Label(kept)
	}
	t.move(v, Mem{Base: to})
	PREFETCHT0(Mem{Base: to, Index: gap, Scale: 1})
}

// inRegisters returns vectors in registers.
func (t target) inRegisters(from []Op) []reg.VecVirtual {
	in := make([]reg.VecVirtual, len(from))
	for i, v := range from {
		if r, ok := v.(reg.VecVirtual); ok {
			in[i] = r
			continue
		}
		in[i] = t.vector()
		t.move(v, in[i])
	}
	return in
}

// finishLine applies the epilogue to row y of the results, which goes to memory at to.
func (t target) finishLine(args reg.Register, y int, out []reg.VecVirtual, mask, to, col reg.Register) {
	t.optional(load(args, nowBias), fmt.Sprint("biased", y), func(bias reg.Register) {
		b := t.vector()
		t.broadcast(Mem{Base: bias}, b)
		for _, v := range out {
			t.add(b, v, v)
		}
	})
	t.optional(load(args, nowAdd), fmt.Sprint("added", y), func(at reg.Register) {
		SUBQ(now(args, nowDst), at) // the addend is laid out as the result
		ADDQ(to, at)
		for x, v := range out {
			point := y*len(out) + x
			outside := fmt.Sprint("alone", point)
			BTQ(Imm(uint64(point)), mask)
			JCC(LabelRef(outside))
			t.add(Mem{Base: at}, v, v)
			Label(outside)
			if x < len(out)-1 {
				ADDQ(col, at)
			}
		}
	})
	t.optional(field(args, formReLU), fmt.Sprint("rectified", y), func(reg.Register) {
		z := t.vector()
		t.zero(z)
		for _, v := range out {
			t.relu(v, z)
		}
	})
}
