package memory

import "unsafe"

// sumStep is what loops.sum processes at a time.
const sumStep = 64

// Sum adds x in interleaved float32 sums. It reads as fast as memory delivers and serves to measure that; it is not an accurate way
// to add numbers.
func Sum(x []float32) float32 {
	whole := len(x) - len(x)%sumStep
	var sum float32
	switch {
	case whole == 0:
	case table.sum != nil:
		sum = table.sum(&x[0], whole)
	default:
		sum = sumGeneric(x[:whole])
	}
	for _, v := range x[whole:] {
		sum += v
	}
	return sum
}

// Touch reads x once in address order, so that later strided reads hit the cache: memory delivers twice as fast in order.
// Loops without SIMD, and of float64, are too slow to gain by it.
func Touch[T ~float32 | ~float64](x []T) {
	if table.sum != nil && unsafe.Sizeof(*new(T)) == 4 {
		Sum(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)))
	}
}

// Prefetch prefetches x, which is used soon: rows in random order otherwise cost the full latency of memory.
func Prefetch[T number](x []T) {
	if len(x) > 0 && table.prefetch != nil {
		const line = 64
		table.prefetch((len(x)*int(unsafe.Sizeof(x[0]))+line-1)/line, (*byte)(unsafe.Pointer(&x[0])))
	}
}

// sumGeneric adds x, whose length is a multiple of 8.
func sumGeneric(x []float32) float32 {
	var s [8]float32
	for v := x; len(v) >= 8; v = v[8:] {
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
