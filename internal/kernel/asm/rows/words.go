package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// roundPairs is for AVX-512 alone: only there products of words are faster than of floats.
func roundPairs() {
	begin("roundPairsAVX512", "func(n int, dst *int32, x *float32, scale float32)", "is roundPairsGeneric.")
	dst, x, scale := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), ZMM()
	VBROADCASTSS(Load(Param("scale"), XMM()), scale)
	t := target{"AVX512", 8}
	t.elements(func(i reg.Register) {
		v := ZMM()
		VMULPS(Mem{Base: x, Index: i, Scale: 4}, scale, v)
		VCVTPS2DQ(v, v)
		VPMOVSDW(v, Mem{Base: dst, Index: i, Scale: 2})
	})
	end()
}
