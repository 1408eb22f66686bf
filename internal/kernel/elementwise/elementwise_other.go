//go:build !amd64

package elementwise

import "collapse.example/collapse/internal/kernel/isa"

// functionsFor returns no SIMD versions: the generic loops take everything.
func functionsFor(isa.Set) functions { return functions{} }
