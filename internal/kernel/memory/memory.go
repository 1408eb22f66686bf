// Package memory has the memory functions of the kernels: aligned slices (alloc.go), pools of reusable values (pool.go), reading at
// full speed (read.go), and detecting whether values have changed (fingerprint.go).
package memory

import "collapse.example/collapse/internal/kernel/isa"

// number is an element type of kernels.
type number interface{ ~float32 | ~float64 | ~int32 }

// loops are the functions of one instruction set. Nil: there is no SIMD version, so the generic one is used.
type loops struct {
	sum         func(x *float32, n int) float32                         // sumGeneric
	fingerprint func(blocks int, bytes *byte, mask, step, sums *uint64) // fingerprintGeneric
	prefetch    func(n int, x *byte)                                    // plain Go cannot
}

var table loops

func init() { isa.Fill(func(set isa.Set) { table = loopsFor(set) }) }
