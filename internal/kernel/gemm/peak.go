package gemm

import (
	"runtime"

	"collapse.example/collapse/internal/kernel"
)

// PeakLoop does rounds of independent multiply-adds in registers and returns the number of floating-point operations. Timed, it
// gives the most that the instruction set in use can reach on one thread: the limit that products are compared with.
func PeakLoop[T kernel.Float](rounds int) (operations float64) {
	if rounds <= 0 {
		return 0
	}
	p := &table.peak64
	if kernel.IsFloat32[T]() {
		p = &table.peak32
	}
	p.loop(rounds)
	return float64(rounds) * float64(p.operations)
}

// peakOperations is the number of operations in a round of peakGeneric.
const peakOperations = 2 * 12

// peakGeneric keeps twelve sums, each its own chain: with the two factors they fill the registers.
func peakGeneric[T float32 | float64](rounds int) {
	var s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11 T
	x, y := T(0.5), T(1)
	for range rounds {
		s0 = T(s0*x) + y
		s1 = T(s1*x) + y
		s2 = T(s2*x) + y
		s3 = T(s3*x) + y
		s4 = T(s4*x) + y
		s5 = T(s5*x) + y
		s6 = T(s6*x) + y
		s7 = T(s7*x) + y
		s8 = T(s8*x) + y
		s9 = T(s9*x) + y
		s10 = T(s10*x) + y
		s11 = T(s11*x) + y
	}
	runtime.KeepAlive(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11) // otherwise the compiler drops the loop
}
