package rows

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
)

//go:generate go run ./asm -pkg rows -out rows_amd64.s -stubs stubs_amd64.go

func functionsFor(set isa.Set) functions {
	f := genericFunctions()
	switch set {
	case isa.AVX512:
		useAVX512(&f)
	case isa.AVX2:
		useAVX2(&f)
	}
	return f
}

// whole returns how many of n elements fill whole steps.
func whole(n int) int { return n &^ (kernel.Parts - 1) }
