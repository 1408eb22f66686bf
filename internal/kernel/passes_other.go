//go:build !amd64

package kernel

// passesFor returns no SIMD versions: the generic loops take everything.
func passesFor(isa) passes { return passes{} }
