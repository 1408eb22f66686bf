package kernel

import (
	"runtime"
	"unsafe"
)

// probes are the loops that measure the machine, in the versions of one instruction set.
type probes struct {
	peak32, peak64 func(rounds int)
	ops32, ops64   int                             // floating-point operations in a round
	sum            func(x *float32, n int) float32 // n is a positive multiple of sumStep
}

// sumStep is what probes.sum takes at a time.
const sumStep = 64

var activeProbes probes

// PeakLoop runs rounds of independent multiply-adds on registers alone and returns how many
// floating-point operations that was. Timed, it is the most the kernel in use can reach on one thread:
// the limit that products are measured against.
func PeakLoop[T Float](rounds int) (operations float64) {
	if rounds <= 0 {
		return 0
	}
	loop, ops := activeProbes.peak64, activeProbes.ops64
	if isFloat32[T]() {
		loop, ops = activeProbes.peak32, activeProbes.ops32
	}
	loop(rounds)
	return float64(rounds) * float64(ops)
}

// Sum adds x in interleaved float32 sums. It reads as fast as memory delivers and serves to measure
// that; it is not the way to add numbers accurately.
func Sum(x []float32) float32 {
	whole := len(x) - len(x)%sumStep
	var sum float32
	if whole > 0 {
		sum = activeProbes.sum(&x[0], whole)
	}
	for _, v := range x[whole:] {
		sum += v
	}
	return sum
}

func genericProbes() probes {
	const ops = 2 * 12
	return probes{
		peak32: peakGeneric[float32], peak64: peakGeneric[float64], ops32: ops, ops64: ops,
		sum: sumGeneric,
	}
}

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
	runtime.KeepAlive(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11) // or the loop is dropped
}

func sumGeneric(x *float32, n int) float32 {
	var s [8]float32
	for v := unsafe.Slice(x, n); len(v) >= 8; v = v[8:] {
		s[0] += v[0]
		s[1] += v[1]
		s[2] += v[2]
		s[3] += v[3]
		s[4] += v[4]
		s[5] += v[5]
		s[6] += v[6]
		s[7] += v[7]
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}
