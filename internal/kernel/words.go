package kernel

import "math"

// Loops that turn rows of float32 into the 16-bit numbers of GemmPairs.

// Words is the largest magnitude of a number that RoundPairs writes for sure.
const Words = 32700

// RoundPairs writes the whole numbers nearest to x_j·scale, ties to even, two to an element: x_0 and x_1 in the low
// and high half of dst[0]. Where len(x) is odd the last high half is 0.
//
// |x_j·scale| must not exceed Words; beyond it, and for NaN, the number is unspecified. It panics if dst has not
// ⌈len(x)/2⌉ elements.
func RoundPairs(dst []int32, x []float32, scale float32) {
	if len(dst) != (len(x)+1)/2 {
		panic("kernel: RoundPairs needs one element for two numbers")
	}
	done := roundPairsSIMD(dst, x, scale)
	roundPairsGeneric(dst[done/2:], x[done:], scale)
}

func roundPairsGeneric(dst []int32, x []float32, scale float32) {
	number := func(j int) int32 {
		if j >= len(x) {
			return 0
		}
		return int32(math.RoundToEven(float64(x[j] * scale)))
	}
	for p := range dst {
		dst[p] = number(2*p)&0xffff | number(2*p+1)<<16
	}
}
