//go:build !amd64 && !arm64

package gemm

import "collapse.example/collapse/internal/kernel/isa"

func functionsFor(isa.Set) functions { return genericFunctions() }
