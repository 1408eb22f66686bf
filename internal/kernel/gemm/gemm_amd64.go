package gemm

import "collapse.example/collapse/internal/kernel/isa"

//go:generate go run ./asm

func functionsFor(set isa.Set) functions {
	f := genericFunctions()
	const sums = 12 // vectors of sums in a round of the peak loops
	switch set {
	case isa.AVX512:
		f.float32.mr, f.float32.lanes, f.float32.nr, f.float32.tiles = 12, 16, 32, tilesAVX512F32
		f.float64.mr, f.float64.lanes, f.float64.nr, f.float64.tiles = 12, 8, 16, tilesAVX512F64
		f.peak32, f.peak64 = peak{peakAVX512F32, 2 * sums * 16}, peak{peakAVX512F64, 2 * sums * 8}
		f.roundInt16 = roundInt16AVX512
		if isa.VNNI() { // which multiplies and adds two pairs at once
			f.int16.mr, f.int16.lanes, f.int16.nr, f.int16.tiles = 12, 16, 32, tilesAVX512Int16
			f.int16.transpose4, f.int16.transposeStep, f.int16.copyRows = transpose4AVX2Int16, 8, copyRowsAVX2Int16
			f.fastInt16 = true
		}
	case isa.AVX2:
		f.float32.mr, f.float32.lanes, f.float32.nr, f.float32.tiles = 4, 8, 24, tilesAVX2F32
		f.float64.mr, f.float64.lanes, f.float64.nr, f.float64.tiles = 4, 4, 12, tilesAVX2F64
		f.peak32, f.peak64 = peak{peakAVX2F32, 2 * sums * 8}, peak{peakAVX2F64, 2 * sums * 4}
	default:
		return f
	}
	f.float32.transpose4, f.float32.transposeStep, f.float32.copyRows = transpose4AVX2F32, 8, copyRowsAVX2F32
	f.float64.transpose4, f.float64.transposeStep, f.float64.copyRows = transpose4AVX2F64, 4, copyRowsAVX2F64
	return f
}
