package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// words writes the loops of words.go, for AVX-512 alone: only there products of words are faster than of floats.
func words() {
	roundPairs()
	ditherPairs()
	squareSums()
}

// spread returns a vector of the parameter's 32 bits.
func spread(param string) reg.VecVirtual {
	v := ZMM()
	VBROADCASTSS(Load(Param(param), XMM()), v)
	return v
}

// constant returns a vector of x.
func constant(x uint32) reg.VecVirtual {
	r, v := GP32(), ZMM()
	MOVL(U32(x), r)
	VPBROADCASTD(r, v)
	return v
}

func roundPairs() {
	TEXT("roundPairsAVX512", NOSPLIT, "func(n int, dst *int32, x *float32, scale float32)")
	Pragma("noescape")
	Doc("roundPairsAVX512 is roundPairsGeneric.")
	dst, x, scale := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), spread("scale")
	t := target{"AVX512", 8}
	t.elements(func(i reg.Register) {
		v := ZMM()
		VMULPS(Mem{Base: x, Index: i, Scale: 4}, scale, v)
		VCVTPS2DQ(v, v)
		VPMOVSDW(v, Mem{Base: dst, Index: i, Scale: 2})
	})
	VZEROUPPER()
	RET()
}

// ditherPairs keeps the generators of 16 elements in a register.
func ditherPairs() {
	TEXT("ditherPairsAVX512", NOSPLIT, "func(n int, dst *int32, a, b *float32, scale float32, state *uint32)")
	Pragma("noescape")
	Doc("ditherPairsAVX512 is ditherPairsGeneric.")
	dst, a, b := Load(Param("dst"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	state, scale := Load(Param("state"), GP64()), spread("scale")
	low, high := constant(0xffff), constant(0xffff0000)
	u := ZMM()
	VMOVDQU32(Mem{Base: state}, u)
	t := target{"AVX512", 8}
	t.elements(func(i reg.Register) {
		for _, shift := range []struct {
			by   uint64
			left bool
		}{{13, true}, {17, false}, {5, true}} {
			s := ZMM()
			if shift.left {
				VPSLLD(Imm(shift.by), u, s)
			} else {
				VPSRLD(Imm(shift.by), u, s)
			}
			VPXORD(s, u, u)
		}
		first, second, dither := ZMM(), ZMM(), ZMM()
		VMULPS(Mem{Base: a, Index: i, Scale: 4}, scale, first)
		VMULPS(Mem{Base: b, Index: i, Scale: 4}, scale, second)
		VCVTPS2DQ(first, first)
		VCVTPS2DQ(second, second)
		VPANDD(low, u, dither)
		VPADDD(dither, first, first)
		VPSRLD(Imm(16), u, dither)
		VPADDD(dither, second, second)
		VPSRLD(Imm(16), first, first)
		VPANDD(high, second, second)
		VPORD(first, second, first)
		VMOVDQU32(first, Mem{Base: dst, Index: i, Scale: 4})
	})
	VMOVDQU32(u, Mem{Base: state})
	VZEROUPPER()
	RET()
}

func squareSums() {
	TEXT("squareSumsAVX512", NOSPLIT, "func(n int, dst *float64, x *float32, most *float32)")
	Pragma("noescape")
	Doc("squareSumsAVX512 is squareSumsGeneric; most holds the largest magnitude for each of 16 elements.")
	dst, x, most := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("most"), GP64())
	magnitude, peak := constant(0x7fffffff), ZMM()
	VMOVUPS(Mem{Base: most}, peak)
	t := target{"AVX512", 8}
	t.elements(func(i reg.Register) {
		v := ZMM()
		VPANDD(Mem{Base: x, Index: i, Scale: 4}, magnitude, v)
		VMAXPS(v, peak, peak)
		for half := range t.vectors() {
			wide := ZMM()
			VCVTPS2PD(t.at32(x, i, half), wide)
			VMULPD(wide, wide, wide)
			VADDPD(t.at64(dst, i, half), wide, wide)
			VMOVUPD(wide, t.at64(dst, i, half))
		}
	})
	VMOVUPS(peak, Mem{Base: most})
	VZEROUPPER()
	RET()
}
