package kernel

//go:generate go run ./asm/neon

// supported returns the instruction sets of this machine: every arm64 processor has NEON.
func supported() []isa { return []isa{isaGeneric, isaNEON} }

// productsFor returns NEON tiles for float32; everything else is the generic version.
func productsFor(set isa) (products[float32], products[float64]) {
	p32, p64 := genericProducts[float32](), genericProducts[float64]()
	if set == isaNEON {
		p32.mr, p32.lanes, p32.nr, p32.tiles = 4, 4, 16, tilesNEON
	}
	return p32, p64
}

// pairsFor returns the generic version.
func pairsFor(isa) (products[int32], bool) { return genericPairs(), false }

func probesFor(set isa) probes {
	p := genericProbes()
	if set == isaNEON {
		p.peak32, p.ops32 = peakNEONF32, 2*16*4
	}
	return p
}
