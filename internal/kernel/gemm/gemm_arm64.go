package gemm

import "collapse.example/collapse/internal/kernel/isa"

//go:generate go run ./asm/neon

// functionsFor returns NEON tiles for float32; everything else is the generic version.
func functionsFor(set isa.Set) functions {
	f := genericFunctions()
	if set == isa.NEON {
		f.float32.mr, f.float32.lanes, f.float32.nr, f.float32.tiles = 4, 4, 16, tilesNEON
		f.peak32 = peak{peakNEONF32, 2 * 16 * 4}
	}
	return f
}
