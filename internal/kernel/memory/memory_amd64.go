package memory

import "collapse.example/collapse/internal/kernel/isa"

//go:generate go run ./asm -pkg memory -out memory_amd64.s -stubs stubs_amd64.go

func loopsFor(set isa.Set) loops {
	switch set {
	case isa.AVX512:
		return loops{sum: sumAVX2, fingerprint: fingerprintAVX512, prefetch: prefetchLines}
	case isa.AVX2:
		return loops{sum: sumAVX2, fingerprint: fingerprintAVX2, prefetch: prefetchLines}
	}
	return loops{prefetch: prefetchLines}
}
