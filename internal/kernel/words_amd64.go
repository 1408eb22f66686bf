package kernel

// wordSteps returns how many of n elements the AVX-512 loops over words take.
func wordSteps(n int) int {
	if active != isaAVX512 {
		return 0
	}
	return n &^ (rowLanes - 1)
}

func roundPairsSIMD(dst []int32, x []float32, scale float32) int {
	n := wordSteps(len(x))
	if n > 0 {
		roundPairsAVX512(n, &dst[0], &x[0], scale)
	}
	return n
}
