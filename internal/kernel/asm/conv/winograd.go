package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The points of interpolation, as winograd.go of package kernel explains them.
const (
	p, q   = 0.75, 1.5
	p2, q2 = p * p, q * q
	p3, q3 = p2 * p, q2 * q
	n0     = p2 * q2
	n1     = 2 * p2 * (p2 - q2)
	n2     = 2 * q2 * (q2 - p2)
)

// Fields of kernel.convTransform, in order.
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

// copyOf returns a register with the content of v.
func (t target) copyOf(v Op) reg.VecVirtual {
	c := t.vector()
	t.move(v, c)
	return c
}

// inputLineFirst is the first three rows of Bᵀ; see winogradInputLine of package kernel for it and its companions.
func (t target) inputLineFirst(d []reg.VecVirtual) []reg.VecVirtual {
	first := t.copyOf(d[4])
	t.fmaConstant(-(p2 + q2), d[2], first)
	t.fmaConstant(p2*q2, d[0], first)
	a, b := t.inputPair(d, p, q2)
	return []reg.VecVirtual{first, a, b}
}

// inputLineLast is the other three.
func (t target) inputLineLast(d []reg.VecVirtual) []reg.VecVirtual {
	a, b := t.inputPair(d, q, p2)
	last := d[5]
	t.fmaConstant(-(p2 + q2), d[3], last)
	t.fmaConstant(p2*q2, d[1], last)
	return []reg.VecVirtual{a, b, last}
}

// inputPair is the rows of Bᵀ for the points ±x; other2 is the square of the other points.
func (t target) inputPair(d []reg.VecVirtual, x, other2 float64) (plus, minus reg.VecVirtual) {
	even, odd := t.copyOf(d[4]), t.copyOf(d[3])
	t.fmaConstant(-other2, d[2], even)
	t.fmaConstant(-other2, d[1], odd)
	return t.plusMinus(x, even, odd)
}

// plusMinus returns even ± x·odd.
func (t target) plusMinus(x float64, even, odd reg.VecVirtual) (plus, minus reg.VecVirtual) {
	plus = t.copyOf(even)
	t.fmaConstant(x, odd, plus)
	t.fmaConstant(-x, odd, even)
	return plus, even
}

// sumDifference returns x + y and x − y.
func (t target) sumDifference(x, y reg.VecVirtual) (sum, difference reg.VecVirtual) {
	sum = t.vector()
	t.add(y, x, sum)
	t.sub(y, x, x)
	return sum, x
}

// outputLine is Aᵀ.
func (t target) outputLine(m []reg.VecVirtual) []reg.VecVirtual {
	s1, d1 := t.sumDifference(m[1], m[2])
	s2, d2 := t.sumDifference(m[3], m[4])
	t.add(s1, m[0], m[0])
	t.add(s2, m[0], m[0])
	y1, y2 := t.vector(), t.vector()
	t.mulConstant(p, d1, y1)
	t.fmaConstant(q, d2, y1)
	t.mulConstant(p2, s1, y2)
	t.fmaConstant(q2, s2, y2)
	t.fmaConstant(p3, d1, m[5])
	t.fmaConstant(q3, d2, m[5])
	return []reg.VecVirtual{m[0], y1, y2, m[5]}
}

// gradientLine is A.
func (t target) gradientLine(y []reg.VecVirtual) []reg.VecVirtual {
	pair := func(x, x2 float64) (plus, minus reg.VecVirtual) {
		even, odd := t.copyOf(y[0]), t.copyOf(y[1])
		t.fmaConstant(x2, y[2], even)
		t.fmaConstant(x2, y[3], odd)
		return t.plusMinus(x, even, odd)
	}
	a, b := pair(p, p2)
	c, e := pair(q, q2)
	return []reg.VecVirtual{y[0], a, b, c, e, y[3]}
}

// filterLine is G.
func (t target) filterLine(g []reg.VecVirtual) []reg.VecVirtual {
	pair := func(x, x2, n float64) (plus, minus reg.VecVirtual) {
		even, odd := t.vector(), t.vector()
		t.mulConstant(1/n, g[0], even)
		t.fmaConstant(x2/n, g[2], even)
		t.mulConstant(x/n, g[1], odd)
		return t.sumDifference(even, odd)
	}
	a, b := pair(p, p2, n1)
	c, e := pair(q, q2, n2)
	t.mulConstant(1/float64(n0), g[0], g[0])
	return []reg.VecVirtual{g[0], a, b, c, e, g[2]}
}

// filterGradientLine is Gᵀ.
func (t target) filterGradientLine(u []reg.VecVirtual) []reg.VecVirtual {
	s1, d1 := t.sumDifference(u[1], u[2])
	s2, d2 := t.sumDifference(u[3], u[4])
	t.mulConstant(1/float64(n0), u[0], u[0])
	t.fmaConstant(1/float64(n1), s1, u[0])
	t.fmaConstant(1/float64(n2), s2, u[0])
	t.mulConstant(p/n1, d1, d1)
	t.fmaConstant(q/n2, d2, d1)
	t.fmaConstant(p2/n1, s1, u[5])
	t.fmaConstant(q2/n2, s2, u[5])
	return []reg.VecVirtual{u[0], d1, u[5]}
}
