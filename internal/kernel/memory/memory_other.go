//go:build !amd64

package memory

import "collapse.example/collapse/internal/kernel/isa"

// loopsFor returns no SIMD versions: the generic loops take everything.
func loopsFor(isa.Set) loops { return loops{} }
