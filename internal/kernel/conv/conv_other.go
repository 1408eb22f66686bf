//go:build !amd64

package conv

import "collapse.example/collapse/internal/kernel/isa"

// functionsFor returns the versions in plain Go: there are no others.
func functionsFor(isa.Set) functions { return genericFunctions }
