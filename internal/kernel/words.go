package kernel

import "math"

// Loops that turn rows of float32 into the 16-bit numbers of GemmPairs.

// Words is the largest magnitude of a number that RoundPairs and DitherPairs write for sure.
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

// Dither is the state of the random numbers of DitherPairs: a xorshift generator (Marsaglia 2003) for each j mod 16.
type Dither [rowLanes]uint32

// NewDither returns the state of a stream of random numbers; streams of different seeds are independent.
func NewDither(seed uint64) (d Dither) {
	for i := range d {
		z := seed*rowLanes + uint64(i) + 0x9e3779b97f4a7c15 // splitmix64
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		d[i] = uint32((z^z>>31)>>32) | 1 // 0 would stay 0
	}
	return d
}

// DitherPairs rounds a_j·scale and b_j·scale to whole numbers at random, up or down, and writes them to the low and
// high half of dst[j]: x becomes ⌊x + ξ⌋ with ξ uniform in [0,1), whose mean is x and whose variance is at
// most ¼. Unlike the errors of nearest rounding, those of different numbers are independent whatever the data are.
//
// |a_j·scale| and |b_j·scale| must not exceed Words; beyond it, and for NaN, the number is unspecified. Before the random
// step a number is rounded to a multiple of 2⁻¹⁶. It panics if the lengths differ.
func DitherPairs(dst []int32, a, b []float32, scale float32, state *Dither) {
	if len(a) != len(dst) || len(b) != len(dst) {
		panic("kernel: DitherPairs needs slices of one length")
	}
	done := ditherPairsSIMD(dst, a, b, scale*(1<<16), state)
	ditherPairsGeneric(dst[done:], a[done:], b[done:], scale*(1<<16), state)
}

func ditherPairsGeneric(dst []int32, a, b []float32, scale float32, state *Dither) {
	for j := range dst {
		u := state[j%rowLanes]
		u ^= u << 13
		u ^= u >> 17
		u ^= u << 5
		state[j%rowLanes] = u
		first := int32(math.RoundToEven(float64(a[j]*scale))) + int32(u&0xffff)
		second := int32(math.RoundToEven(float64(b[j]*scale))) + int32(u>>16)
		dst[j] = int32(uint32(first)>>16 | uint32(second)&0xffff0000)
	}
}

// SquareSums adds squares to dst in float64, dst[j] += x[j]², and returns the largest magnitude of x.
// It panics if the lengths differ.
func SquareSums(dst []float64, x []float32) float32 {
	if len(dst) != len(x) {
		panic("kernel: SquareSums needs slices of one length")
	}
	var most [rowLanes]float32
	done := squareSumsSIMD(dst, x, &most)
	peak := squareSumsGeneric(dst[done:], x[done:])
	for _, v := range most {
		peak = max(peak, v)
	}
	return peak
}

func squareSumsGeneric(dst []float64, x []float32) float32 {
	peak := float32(0)
	dst = dst[:len(x)]
	for j, v := range x {
		peak = max(peak, v, -v)
		dst[j] += float64(float64(v) * float64(v))
	}
	return peak
}
