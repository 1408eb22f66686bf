// Package memory is what every kernel needs of memory: aligned slices (alloc.go), stacks of values that are lent (pool.go),
// reading at full speed (read.go), and telling whether values have changed (fingerprint.go).
package memory

import "collapse/internal/kernel/isa"

// number is what kernels compute with.
type number interface{ ~float32 | ~float64 | ~int32 }

// loops are the functions of one instruction set. Nil: there is no SIMD version, and the generic one is used.
type loops struct {
	sum         func(x *float32, n int) float32                         // sumGeneric
	fingerprint func(blocks int, bytes *byte, mask, step, sums *uint64) // fingerprintGeneric
	prefetch    func(n int, x *byte)                                    // plain Go cannot
}

var table loops

func init() { isa.Fill(func(set isa.Set) { table = loopsFor(set) }) }
