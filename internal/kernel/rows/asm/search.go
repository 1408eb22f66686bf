package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// widened loads vector v at element i of float32 or float64.
func (t target) widened(double bool, p, i reg.Register, v int) reg.VecVirtual {
	x := t.vector()
	if double {
		VMOVUPD(t.at64(p, i, v), x)
	} else {
		VCVTPS2PD(t.at32(p, i, v), x)
	}
	return x
}

// element names a type of elements and what ends the names of its functions.
func element(double bool) (suffix, name string) {
	if double {
		return "64", "float64"
	}
	return "32", "float32"
}

// largest finds the largest sum or product, lane by lane.
func (t target) largest(product, double bool) {
	name := "largestSum"
	if product {
		name = "largestProduct"
	}
	suffix, of := element(double)
	begin(name+suffix+t.suffix, "func(n int, x *"+of+", y, most *float64)",
		"raises eight maxima by n elements, a positive multiple of 16; it passes over what is not a number.")
	x, y, kept := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("most"), GP64())
	most := ZMM()
	VMOVUPD(Mem{Base: kept}, most)
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			a := t.widened(double, x, i, v)
			if product {
				VMULPD(t.at64(y, i, v), a, a)
			} else {
				VADDPD(t.at64(y, i, v), a, a)
			}
			VMAXPD(most, a, most) // the second source, if either is not a number: here the first written
		}
	})
	VMOVUPD(most, Mem{Base: kept})
	end()
}

// selectProducts lists the products that are not below a limit.
func (t target) selectProducts(double bool) {
	suffix, of := element(double)
	begin("selectProducts"+suffix+t.suffix, "func(n int, list *int32, values *float64, x *"+of+", y, least *float64) int",
		"selects as SelectProducts does from n elements, a positive multiple of 16; list and values have room for seven more than it finds.")
	list, values := Load(Param("list"), GP64()), Load(Param("values"), GP64())
	x, y, least := Load(Param("x"), GP64()), Load(Param("y"), GP64()), ZMM()
	VBROADCASTSD(Mem{Base: Load(Param("least"), GP64())}, least)
	count, bits, found := GP64(), GP64(), K()
	XORQ(count, count)
	first := GLOBL("firstEight"+suffix, RODATA|NOPTR)
	for j := range 8 {
		DATA(4*j, U32(uint32(j)))
	}
	index, eight := YMM(), YMM()
	VMOVDQU(first, index)
	step := GP32()
	MOVL(U32(8), step)
	VPBROADCASTD(step, eight)
	const notLess = 5
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			a := t.widened(double, x, i, v)
			VMULPD(t.at64(y, i, v), a, a)
			VCMPPD(Imm(notLess), least, a, found)
			KMOVB(found, bits.As32())
			TESTL(bits.As32(), bits.As32())
			next := "next" + string(rune('0'+v))
			JZ(LabelRef(next))
			packed, indices := ZMM(), YMM()
			VCOMPRESSPD_Z(a, found, packed)
			VPCOMPRESSD_Z(index, found, indices)
			VMOVUPD(packed, Mem{Base: values, Index: count, Scale: 8})
			VMOVDQU(indices, Mem{Base: list, Index: count, Scale: 4})
			POPCNTQ(bits, bits)
			ADDQ(bits, count)
			Label(next)
			VPADDD(eight, index, index)
		}
	})
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}

// leastGap finds the least ratio of a gap and a distance, lane by lane.
func (t target) leastGap(double bool) {
	suffix, of := element(double)
	begin("leastGap"+suffix+t.suffix, "func(n int, x *"+of+", base, other, own, least *float64) uint64",
		"lowers eight minima by n elements, a positive multiple of 16; "+
			"own holds the largest sum, the error and the length. It returns whether any ratio is not a number.")
	x, base, other := Load(Param("x"), GP64()), Load(Param("base"), GP64()), Load(Param("other"), GP64())
	own, kept := Load(Param("own"), GP64()), Load(Param("least"), GP64())
	most, err, length, least := ZMM(), ZMM(), ZMM(), ZMM()
	for j, c := range []reg.VecVirtual{most, err, length} {
		VBROADCASTSD(Mem{Base: own, Disp: 8 * j}, c)
	}
	VMOVUPD(Mem{Base: kept}, least)
	lost, none := K(), K()
	KXORQ(lost, lost, lost)
	const unordered = 3
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			a, apart := t.widened(double, x, i, v), ZMM()
			VADDPD(t.at64(base, i, v), a, a)
			VSUBPD(a, most, a)
			VSUBPD(err, a, a)
			VADDPD(t.at64(other, i, v), length, apart)
			VDIVPD(apart, a, a)
			VCMPPD(Imm(unordered), a, a, none)
			KORQ(none, lost, lost)
			VMINPD(a, least, least)
		}
	})
	VMOVUPD(least, Mem{Base: kept})
	endWith(lost)
}
