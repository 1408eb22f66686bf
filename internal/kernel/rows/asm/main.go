// Command asm generates the SIMD loops over one feature row for amd64; see the go:generate line in
// rows_amd64.go. rows.go, functions.go, search.go and gramrow.go hold the generic versions that define them.
//
// Every function wants a positive multiple of 16 elements. Nothing is fused: each operation rounds as
// the generic version does, and the sixteen partial sums are the generic version's.
package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// step is how many elements an iteration takes, and the number of partial sums.
const step = 16

// target is an instruction set: 8 float64 lanes in ZMM registers or 4 in YMM.
type target struct {
	suffix string
	lanes  int
}

func main() {
	for _, t := range []target{{"AVX512", 8}, {"AVX2", 4}} {
		t.addRow()
		t.sumRows()
		t.subRow(true)
		t.subRow(false)
		t.squares()
		t.dot(true)
		t.dot(false)
		t.sumsAbout()
		if t.lanes == 8 {
			t.logs()
			t.exps()
			t.gramRow()
			for _, double := range []bool{false, true} {
				t.largest(false, double)
				t.largest(true, double)
				t.selectProducts(double)
				t.leastGap(double)
			}
		}
	}
	Generate()
}

func (t target) vector() reg.VecVirtual {
	if t.lanes == 8 {
		return ZMM()
	}
	return YMM()
}

// half names the register of half the size that holds the low half of v.
func (t target) half(v reg.VecVirtual) reg.Register {
	if t.lanes == 8 {
		return v.AsY()
	}
	return v.AsX()
}

// vectors is how many float64 vectors an iteration takes.
func (t target) vectors() int { return step / t.lanes }

// at32 and at64 are vector v of the iteration at element i: of float32 and of float64.
func (t target) at32(p, i reg.Register, v int) Mem {
	return Mem{Base: p, Index: i, Scale: 4, Disp: 4 * t.lanes * v}
}

func (t target) at64(p, i reg.Register, v int) Mem {
	return Mem{Base: p, Index: i, Scale: 8, Disp: 8 * t.lanes * v}
}

// begin starts a function; doc goes on from its name.
func begin(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape") // or sums on the caller's stack would move to the heap
	Doc(name + " " + doc)
}

// end returns.
func end() {
	VZEROUPPER()
	RET()
}

// endWith returns a mask.
func endWith(mask reg.Register) {
	bits := GP64()
	KMOVQ(mask, bits)
	VZEROUPPER()
	Store(bits, ReturnIndex(0))
	RET()
}

// elements walks the elements; body handles those from i on.
func (t target) elements(body func(i reg.Register)) {
	n := Load(Param("n"), GP64())
	i := GP64()
	XORQ(i, i)
	Label("loop")
	body(i)
	ADDQ(Imm(step), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
}

// zeros returns the partial sums at their start.
func (t target) zeros() []reg.VecVirtual {
	sums := make([]reg.VecVirtual, t.vectors())
	for v := range sums {
		sums[v] = t.vector()
		if t.lanes == 8 {
			VPXORD(sums[v], sums[v], sums[v])
		} else {
			VXORPS(sums[v], sums[v], sums[v])
		}
	}
	return sums
}

// store writes the partial sums to the array at p.
func (t target) store(sums []reg.VecVirtual, p reg.Register) {
	for v, s := range sums {
		VMOVUPD(s, Mem{Base: p, Disp: 8 * t.lanes * v})
	}
}

func (t target) addRow() {
	begin("addRow"+t.suffix, "func(n int, dst *float64, x *float32)", "is addRowGeneric.")
	dst, x := Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			wide := t.vector()
			VCVTPS2PD(t.at32(x, i, v), wide)
			VADDPD(t.at64(dst, i, v), wide, wide)
			VMOVUPD(wide, t.at64(dst, i, v))
		}
	})
	end()
}

// strip is how many elements sumRows keeps in registers: eight vectors of float64.
func (t target) strip() int { return 8 * t.lanes }

// sumRows keeps a strip of columns of dst in registers while it walks the rows, and asks for as many bytes from ahead on as it reads: for the second-level
// cache, because the first is full of sums.
func (t target) sumRows() {
	begin("sumRows"+t.suffix, "func(n, count, ld int, dst *float64, x *float32, rows *int32, ahead *float32)",
		"is sumRowsGeneric for n columns, a multiple of "+strconv.Itoa(t.strip())+", and at least one row.")
	n, count, ld := Load(Param("n"), GP64()), Load(Param("count"), GP64()), Load(Param("ld"), GP64())
	dst, x, rows := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("rows"), GP64())
	ahead := Load(Param("ahead"), GP64())
	SHLQ(Imm(2), ld)
	Label("strip")
	sums := make([]reg.VecVirtual, 8)
	for v := range sums {
		sums[v] = t.vector()
		VMOVUPD(Mem{Base: dst, Disp: 8 * t.lanes * v}, sums[v])
	}
	i, row := GP64(), GP64()
	XORQ(i, i)
	Label("row")
	MOVLQSX(Mem{Base: rows, Index: i, Scale: 4}, row)
	IMULQ(ld, row)
	ADDQ(x, row)
	for v, s := range sums {
		wide := t.vector()
		VCVTPS2PD(Mem{Base: row, Disp: 4 * t.lanes * v}, wide)
		VADDPD(wide, s, s)
	}
	for line := 0; line < 4*t.strip(); line += 64 {
		PREFETCHT1(Mem{Base: ahead, Disp: line})
	}
	ADDQ(U32(4*t.strip()), ahead)
	INCQ(i)
	CMPQ(i, count)
	JLT(LabelRef("row"))
	for v, s := range sums {
		VMOVUPD(s, Mem{Base: dst, Disp: 8 * t.lanes * v})
	}
	ADDQ(U32(8*t.strip()), dst)
	ADDQ(U32(4*t.strip()), x)
	SUBQ(U32(t.strip()), n)
	JNZ(LabelRef("strip"))
	end()
}

// subRow writes float64 residuals, or their rounding to float32.
func (t target) subRow(wide bool) {
	suffix, of := element(wide)
	begin("subRow"+suffix+t.suffix, "func(n int, dst *"+of+", x *float32, mean, sums *float64)",
		"is subRowGeneric, and leaves its partial sums in sums.")
	dst, x, mean := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("mean"), GP64())
	sums := t.zeros()
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			r := t.vector()
			VCVTPS2PD(t.at32(x, i, v), r)
			VSUBPD(t.at64(mean, i, v), r, r)
			if wide {
				VMOVUPD(r, t.at64(dst, i, v))
			} else {
				narrow := t.vector()
				t.narrow(r, narrow)
				VMOVUPS(t.half(narrow), t.at32(dst, i, v))
			}
			VMULPD(r, r, r)
			VADDPD(r, sums[v], sums[v])
		}
	})
	t.store(sums, Load(Param("sums"), GP64()))
	end()
}

// narrow rounds the float64 of v to float32, in the low half of out.
func (t target) narrow(v, out reg.VecVirtual) {
	if t.lanes == 8 {
		VCVTPD2PS(v, out.AsY())
	} else {
		VCVTPD2PSY(v, out.AsX())
	}
}

func (t target) squares() {
	begin("squares"+t.suffix, "func(n int, x *float32, sums *float64)", "is squaresGeneric, and leaves its partial sums in sums.")
	x := Load(Param("x"), GP64())
	sums := t.zeros()
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			wide := t.vector()
			VCVTPS2PD(t.at32(x, i, v), wide)
			VMULPD(wide, wide, wide)
			VADDPD(wide, sums[v], sums[v])
		}
	})
	t.store(sums, Load(Param("sums"), GP64()))
	end()
}
