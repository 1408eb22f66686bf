package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// words writes the loops of words.go, for AVX-512 alone: only there products of words are faster than of floats.
func words() {
	roundPairs()
}

// spread returns a vector of the parameter's 32 bits.
func spread(param string) reg.VecVirtual {
	v := ZMM()
	VBROADCASTSS(Load(Param(param), XMM()), v)
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
