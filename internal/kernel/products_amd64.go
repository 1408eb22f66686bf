package kernel

import "golang.org/x/sys/cpu"

//go:generate go run ./asm/gemm

// supported returns the instruction sets of this machine, the plainest first.
func supported() []isa {
	sets := []isa{isaGeneric}
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return sets
	}
	sets = append(sets, isaAVX2)
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		sets = append(sets, isaAVX512)
	}
	return sets
}

func productsFor(set isa) (products[float32], products[float64]) {
	p32, p64 := genericProducts[float32](), genericProducts[float64]()
	switch set {
	case isaAVX512:
		p32.mr, p32.lanes, p32.nr, p32.tiles = 12, 16, 32, tilesAVX512F32
		p64.mr, p64.lanes, p64.nr, p64.tiles = 12, 8, 16, tilesAVX512F64
	case isaAVX2:
		p32.mr, p32.lanes, p32.nr, p32.tiles = 4, 8, 24, tilesAVX2F32
		p64.mr, p64.lanes, p64.nr, p64.tiles = 4, 4, 12, tilesAVX2F64
	default:
		return p32, p64
	}
	p32.transpose4, p32.transposeStep, p32.copyRows = transpose4AVX2F32, 8, copyRowsAVX2F32
	p64.transpose4, p64.transposeStep, p64.copyRows = transpose4AVX2F64, 4, copyRowsAVX2F64
	return p32, p64
}

// pairsFor returns the tiles of 16-bit pairs, and whether they are SIMD: VNNI multiplies and adds two pairs at once.
func pairsFor(set isa) (products[int32], bool) {
	p := genericPairs()
	if set != isaAVX512 || !cpu.X86.HasAVX512VNNI {
		return p, false
	}
	p.mr, p.lanes, p.nr, p.tiles = 12, 16, 32, tilesAVX512Pairs
	p.transpose4, p.transposeStep, p.copyRows = transpose4AVX2Pairs, 8, copyRowsAVX2Pairs
	return p, true
}

func probesFor(set isa) probes {
	const sums = 12 // vectors of sums in a round of the peak loops
	switch set {
	case isaAVX512:
		return probes{peakAVX512F32, peakAVX512F64, 2 * sums * 16, 2 * sums * 8, sumAVX2}
	case isaAVX2:
		return probes{peakAVX2F32, peakAVX2F64, 2 * sums * 8, 2 * sums * 4, sumAVX2}
	default:
		return genericProbes()
	}
}
